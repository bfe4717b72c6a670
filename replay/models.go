package replay

import (
	"fmt"
	"slices"

	"reprise/kernels"
	"reprise/trace"
)

// Times of kernels follow from models, which package kernels parses and binds to a host. A replay binds each
// kernel of the trace once for each class of hosts, before the first action, so that a call costs an index and
// a sum of products. What a model lacks is an error where the kernel is called, not before: a trace may declare
// kernels that it never calls.

// kernelModel is the model of a kernel on a host, or why there is none: a
// kernel that is declared but never called needs no model.
type kernelModel struct {
	kernels.Model
	plain bool // there is a model, without noise, whose times do not change with the host's speed
	err   error
	speed float64 // flop/s that the times go by, of a host whose speed changes; else 0
}

// recentRows is the number of rows of models that a new one is compared with.
const recentRows = 64

// hostClass is what decides which models the ranks of a host have.
type hostClass struct {
	kernels.Class
	varying float64 // flop/s that its speed goes by, if it changes; else 0
}

// bindModels binds the kernels of h for each class of hosts. Classes whose models are all
// equal share a row of models.
func (c *costs) bindModels(h *trace.Header, machine *Machine) {
	c.kernelNames = KernelNames(h)
	c.rowOf = make([]int32, len(c.hosts))
	signatures := make([]kernels.Signature, len(h.Kernels))
	for i := range signatures {
		signatures[i] = SignatureOf(&h.Kernels[i])
	}
	row := make([]kernelModel, len(h.Kernels))
	// Hosts of one class have the same models: a class is known by its speed and by what the models know
	// hosts by, such as names and slots. On a host with more ranks than cores those in flop get their part of
	// the speed from the beginning.
	before := make([]int, machine.Platform.NumHosts()) // ranks of lower number on each host
	onHost, varies := machine.ranksOnHosts(), machine.varyingHosts()
	rows := map[hostClass]int32{}
	for r, host := range c.hosts {
		ph := machine.Platform.Host(int(host))
		kh := kernels.Host{Name: ph.Name, Slot: before[host], Speed: ph.Speed, Factor: machine.factor(host)}
		before[host]++
		var class hostClass
		if varies[host] {
			class.varying = kh.Speed * kh.Factor
		} else {
			kh.Speed *= min(1, float64(ph.Cores)/float64(onHost[host]))
		}
		if c.set != nil {
			class.Class = c.set.Class(kh)
		}
		at, bound := rows[class]
		if !bound {
			for i, sig := range signatures {
				m := &row[i]
				if c.set == nil {
					m.err = fmt.Errorf("kernel %v: %w: no kernel file was given", sig, kernels.ErrNoModel)
					continue
				}
				m.speed = 0
				m.Model, m.err = c.set.Bind(kh, sig)
				m.plain = m.err == nil && !m.Noisy()
				// Times in flop go by the speed that a changing host has at each time. Those in
				// seconds are measured times and stay.
				if m.err == nil && varies[host] && c.set.CostUnit(kh, sig) == kernels.Flop {
					m.plain, m.speed = false, class.varying
				}
			}
			// An equal row is shared, if it is among the last ones.
			n, end := len(row), len(c.models)
			at = int32(end)
			for k := end - n; n > 0 && k >= 0 && k >= end-recentRows*n; k -= n {
				if slices.EqualFunc(c.models[k:k+n], row, func(a, b kernelModel) bool {
					return a.Model == b.Model && a.speed == b.speed && (a.err == nil) == (b.err == nil)
				}) {
					at = int32(k)
					break
				}
			}
			if int(at) == end {
				c.models = append(c.models, row...)
			}
			rows[class] = at
		}
		c.rowOf[r] = at
	}
}

// freeKernels reports, by kernel, which cost nothing on any rank.
func (c *costs) freeKernels() []bool {
	free := make([]bool, len(c.kernelNames))
	for k := range free {
		free[k] = true
		for row := k; row < len(c.models); row += len(c.kernelNames) {
			m := &c.models[row]
			free[k] = free[k] && m.err == nil && m.Free()
		}
	}
	return free
}

// SignatureOf returns how kernel models know a kernel of a trace.
func SignatureOf(k *trace.Kernel) kernels.Signature {
	sig := kernels.Signature{Name: k.Name}
	for _, a := range k.Attrs {
		sig.Attrs = append(sig.Attrs, kernels.Attr{Name: a.Name, Value: a.Value})
	}
	for _, d := range k.Dims {
		sig.Dims = append(sig.Dims, d.Name)
	}
	return sig
}

// KernelNames returns the names of the kernels of a trace as results have them: with their
// attributes.
func KernelNames(h *trace.Header) []string {
	names := make([]string, len(h.Kernels))
	for i := range h.Kernels {
		sig := SignatureOf(&h.Kernels[i])
		names[i] = sig.Name
		for _, a := range sig.Attrs {
			names[i] += " " + a.Name + "=" + a.Value
		}
	}
	return names
}
