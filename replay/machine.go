package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/kernels"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/trace"
	"reprise/warning"
)

// Machine is what a trace is played on.
type Machine struct {
	Platform *platforms.Platform
	// Kernels may be nil for a trace that calls no kernels.
	Kernels *kernels.Set
	// NetworkNoise makes overheads and latencies random; nil: they are not.
	NetworkNoise *netmodel.Noise
	// Hosts holds the number of the host of each rank; see FillHosts and
	// ParseHostfile.
	Hosts []int32
	// Factors holds, for each host of the platform, how many times as quick it computes as
	// platform and kernel models say; nil: as they say. Overheads, polls and sleeps go by
	// none of it.
	Factors []float64
	// Source says what LoadMachine has loaded, what was chosen included: for reports.
	Source MachineSpec

	pollCost []warning.Warning // for the result, if the trace polls
}

// check checks the machine against the number of ranks.
func (m *Machine) check(ranks int) error {
	if m.Platform == nil {
		return errors.New("no platform")
	}
	if len(m.Hosts) != ranks {
		return fmt.Errorf("hosts for %d ranks, but the trace has %d", len(m.Hosts), ranks)
	}
	for r, h := range m.Hosts {
		if h < 0 || int(h) >= m.Platform.NumHosts() {
			return fmt.Errorf("rank %d: host %d out of [0,%d)", r, h, m.Platform.NumHosts())
		}
	}
	return m.checkFactors()
}

// kernelModel is the model of a kernel on a host, or why there is none: a
// kernel that is declared but never called needs no model.
type kernelModel struct {
	kernels.Model
	plain bool // there is a model, without noise, whose times do not change with the host's speed
	err   error
	speed float64 // flop/s that the times go by, of a host whose speed changes; else 0
}

// noModel returns why rank r cannot call a kernel, and which others that the trace
// declares it could not call either, so that all can be added at once.
func (e *engine) noModel(r int32, kernel uint16) error {
	row := e.models[e.rowOf[r]:][:len(e.kernelNames)]
	var others []string
	for k := range row {
		if k != int(kernel) && errors.Is(row[k].err, kernels.ErrNoModel) {
			others = append(others, e.kernelNames[k])
		}
	}
	if others == nil || e.machine.Kernels == nil {
		return row[kernel].err
	}
	return fmt.Errorf("%w; of the kernels that the trace declares there is none for %s either", row[kernel].err, strings.Join(others, ", "))
}

// recentRows is the number of rows of models that a new one is compared with.
const recentRows = 64

// bindModels binds the kernels of h for each rank. Ranks whose models are all
// equal share a row of e.models.
func (e *engine) bindModels(h *trace.Header) {
	e.kernelNames = kernelNames(h)
	signatures := make([]kernels.Signature, len(h.Kernels))
	for i := range signatures {
		signatures[i] = SignatureOf(&h.Kernels[i])
	}
	row := make([]kernelModel, len(h.Kernels))
	slots := make([]int, e.machine.Platform.NumHosts())
	onHost, varies := e.machine.ranksOnHosts(), e.machine.varyingHosts()
	for r := range e.ranks {
		host := e.machine.Hosts[r]
		ph := e.machine.Platform.Host(int(host))
		kh := kernels.Host{Name: ph.Name, Slot: slots[host], Speed: ph.Speed, Factor: e.machine.factor(host)}
		if varies[host] {
			e.varyRow(row, signatures, kh)
		} else {
			kh.Speed *= min(1, float64(ph.Cores)/float64(onHost[host]))
			e.bindRow(row, signatures, kh)
		}
		slots[host]++
		e.rowOf[r] = e.shareRow(row)
	}
}

func (e *engine) bindRow(row []kernelModel, signatures []kernels.Signature, host kernels.Host) {
	for i, sig := range signatures {
		if e.machine.Kernels == nil {
			row[i].err = fmt.Errorf("kernel %v: %w: no kernel file was given", sig, kernels.ErrNoModel)
			continue
		}
		m := &row[i]
		m.speed = 0
		m.Model, m.err = e.machine.Kernels.Bind(host, sig)
		m.plain = m.err == nil && !m.Noisy()
	}
}

// shareRow returns the place in e.models of a row equal to this one.
func (e *engine) shareRow(row []kernelModel) int32 {
	n := len(row)
	for at := len(e.models) - n; n > 0 && at >= 0 && at >= len(e.models)-recentRows*n; at -= n {
		if sameModels(e.models[at:at+n], row) {
			return int32(at)
		}
	}
	at := len(e.models)
	e.models = append(e.models, row...)
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
func (e *engine) freeKernels() []bool {
	free := make([]bool, len(e.kernelNames))
	for k := range free {
		free[k] = true
		for row := k; row < len(e.models); row += len(e.kernelNames) {
			m := &e.models[row]
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

// ranksOnHosts returns the number of ranks on each host.
func (m *Machine) ranksOnHosts() []int {
	count := make([]int, m.Platform.NumHosts())
	for _, h := range m.Hosts {
		count[h]++
	}
	return count
}

// Oversubscribed returns the first host that runs more ranks than it has cores, and how many
// those are; ok is false if there is none.
func (m *Machine) Oversubscribed() (host int32, ranks int, ok bool) {
	for h, n := range m.ranksOnHosts() {
		if n > m.Platform.Host(h).Cores {
			return int32(h), n, true
		}
	}
	return 0, 0, false
}

// kernelsIn returns the names of those of the kernels whose models on a host are in the
// unit, each once, in their order.
func (m *Machine) kernelsIn(unit kernels.CostUnit, list []trace.Kernel, host int32) []string {
	if m.Kernels == nil {
		return nil
	}
	var names []string
	ph := m.Platform.Host(int(host))
	for i := range list {
		k := &list[i]
		if m.Kernels.CostUnit(kernels.Host{Name: ph.Name, Speed: ph.Speed}, SignatureOf(k)) == unit && !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
}

// withoutModel returns the names of those of the kernels that have no model on any host that
// a rank is on, and of those that have one on some of these hosts only, each once, in their
// order.
func (m *Machine) withoutModel(list []trace.Kernel) (nowhere, somewhere []string) {
	hosts := slices.Compact(slices.Sorted(slices.Values(m.Hosts)))
	for i := range list {
		sig, models := SignatureOf(&list[i]), 0
		for _, h := range hosts {
			ph := m.Platform.Host(int(h))
			if _, err := m.Kernels.Bind(kernels.Host{Name: ph.Name, Speed: ph.Speed}, sig); err == nil {
				models++
			}
		}
		names := &somewhere
		if models == 0 {
			names = &nowhere
		}
		if models < len(hosts) && !slices.Contains(*names, list[i].Name) {
			*names = append(*names, list[i].Name)
		}
	}
	return nowhere, somewhere
}

// shareCores finds the hosts that run more ranks than they have cores, and those whose
// speed changes, unless they cannot compute at all.
func (e *engine) shareCores() {
	varies := e.machine.varyingHosts()
	for h, n := range e.machine.ranksOnHosts() {
		host := e.machine.Platform.Host(h)
		if host.Speed == 0 || n <= host.Cores && (n == 0 || !varies[int32(h)]) {
			continue
		}
		if e.cpus.index == nil {
			e.cpus.index = make([]int32, e.machine.Platform.NumHosts())
			e.cpus.work = make([]work, len(e.ranks))
		}
		e.cpus.index[h] = int32(len(e.cpus.hosts) + 1)
		e.cpus.hosts = append(e.cpus.hosts, processor{speed: e.speed(int32(h)), cores: float64(host.Cores), limit: math.Inf(1)})
		if varies[int32(h)] {
			e.cpus.hosts[len(e.cpus.hosts)-1].limit = e.speed(int32(h))
		}
	}
	if e.cpus.index == nil {
		return
	}
	for r := range e.ranks {
		e.ranks[r].shared = e.cpus.index[e.machine.Hosts[r]] != 0
	}
}
