package replay

import (
	"fmt"

	"reprise/kernels"
	"reprise/trace"
)

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
			c.bindRow(row, signatures, kh)
			if varies[host] {
				c.varyRow(row, signatures, kh, class.varying)
			}
			at = c.shareRow(row)
			rows[class] = at
		}
		c.rowOf[r] = at
	}
}

func (c *costs) bindRow(row []kernelModel, signatures []kernels.Signature, host kernels.Host) {
	for i, sig := range signatures {
		if c.set == nil {
			row[i].err = fmt.Errorf("kernel %v: %w: no kernel file was given", sig, kernels.ErrNoModel)
			continue
		}
		m := &row[i]
		m.speed = 0
		m.Model, m.err = c.set.Bind(host, sig)
		m.plain = m.err == nil && !m.Noisy()
	}
}

// varyRow lets those of a row's times that are in flop go by what a host, whose speed changes
// from the one given, gives at each time. Those in seconds are measured times and stay.
func (c *costs) varyRow(row []kernelModel, signatures []kernels.Signature, host kernels.Host, speed float64) {
	for i, sig := range signatures {
		if m := &row[i]; m.err == nil && c.set.CostUnit(host, sig) == kernels.Flop {
			m.plain, m.speed = false, speed
		}
	}
}

// shareRow returns where in the models there is a row equal to this one.
func (c *costs) shareRow(row []kernelModel) int32 {
	n := len(row)
	for at := len(c.models) - n; n > 0 && at >= 0 && at >= len(c.models)-recentRows*n; at -= n {
		if sameModels(c.models[at:at+n], row) {
			return int32(at)
		}
	}
	at := len(c.models)
	c.models = append(c.models, row...)
	return int32(at)
}

func sameModels(a, b []kernelModel) bool {
	for i := range a {
		if a[i].Model != b[i].Model || a[i].speed != b[i].speed || (a[i].err == nil) != (b[i].err == nil) {
			return false
		}
	}
	return true
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
