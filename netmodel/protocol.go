package netmodel

import (
	"fmt"

	"reprise/internal/textutil"
	"reprise/platforms"
)

// Protocol says what posting and completing messages costs the processes on each
// host, and how messages are sent. Sizes are in bytes and never include the
// envelope; overheads are in seconds.
//
// A message of s bytes is
//
//	eager      if s < EagerBelow:    its transfer starts when it is sent;
//	detached   if s < DetachedBelow: it starts when both sides are posted, but the sender
//	           does not wait for it (Detached is true of eager ones, too);
//	rendezvous otherwise: the sender waits until the transfer has ended.
//
// The receiver pays RecvOverhead only for eager and detached messages. A blocking
// rendezvous send pays no SendOverhead; a nonblocking send always pays
// IsendOverhead.
type Protocol struct {
	eagerBelow    int64
	detachedBelow int64
	tables        []hostTables
	ofHost        []int32 // index into tables by host; nil if all hosts use tables[0]
}

// hostTables are the overheads of the ranks on one or several hosts.
type hostTables struct {
	send, isend, recv Overheads
}

// NewProtocol returns the protocol of the options on the hosts of p. The
// properties smpi/os, smpi/ois and smpi/or of a host replace the option for it.
func NewProtocol(p *platforms.Platform, o Options) (*Protocol, error) {
	pr := &Protocol{
		eagerBelow:    o.EagerBelow,
		detachedBelow: o.DetachedBelow,
		tables:        []hostTables{{o.SendOverhead, o.IsendOverhead, o.RecvOverhead}},
	}
	known := map[[3]string]int32{{}: 0}
	for h := range p.NumHosts() {
		key := overheadProps(p, h)
		at, ok := known[key]
		if !ok {
			t, err := pr.tables[0].override(p, h)
			if err != nil {
				return nil, err
			}
			at = int32(len(pr.tables))
			pr.tables = append(pr.tables, t)
			known[key] = at
		}
		if at != 0 && pr.ofHost == nil {
			pr.ofHost = make([]int32, p.NumHosts())
		}
		if pr.ofHost != nil {
			pr.ofHost[h] = at
		}
	}
	return pr, nil
}

// overheadNames are the properties, in the order of the fields of hostTables.
var overheadNames = [3]string{"smpi/os", "smpi/ois", "smpi/or"}

// overheadProps returns the values of the three properties of host h, "" where it
// has none.
func overheadProps(p *platforms.Platform, h int) (key [3]string) {
	for i, name := range overheadNames {
		if v, ok := p.HostProp(h, name); ok {
			key[i] = v.Value
		}
	}
	return key
}

// override returns t with the tables that the properties of host h say.
func (t hostTables) override(p *platforms.Platform, h int) (hostTables, error) {
	for i, table := range []*Overheads{&t.send, &t.isend, &t.recv} {
		v, _ := p.HostProp(h, overheadNames[i])
		if v.Value == "" {
			continue
		}
		parsed, err := ParseOverheads(v.Value)
		if err == nil {
			err = parsed.validate()
		}
		if err != nil {
			return t, fmt.Errorf("%s:%d: %w", p.Name(), v.Line,
				textutil.Brief(fmt.Errorf("host %q: property %s: %w", p.Host(h).Name, v.Name, err)))
		}
		*table = parsed
	}
	return t, nil
}

// Eager reports whether a transfer of size bytes starts without its receive.
func (p *Protocol) Eager(size int64) bool { return size < p.eagerBelow }

// Detached reports whether the sender of size bytes need not wait for the transfer.
func (p *Protocol) Detached(size int64) bool { return size < p.detachedBelow }

// SendOverhead returns what a blocking send of size bytes costs on host, if it is detached or
// synchronous; another one costs nothing. SMPI charges a synchronous send whatever the size, as
// it does nonblocking sends.
func (p *Protocol) SendOverhead(host int, size int64) float64 {
	return p.of(host).send.At(size)
}

// IsendOverhead returns what a nonblocking send of size bytes costs on host.
func (p *Protocol) IsendOverhead(host int, size int64) float64 {
	return p.of(host).isend.At(size)
}

// RecvOverhead returns what completing a receive costs on host, where size is the
// smaller of the message's and the posted size and detached tells how it was
// sent: nothing for a rendezvous.
func (p *Protocol) RecvOverhead(host int, size int64, detached bool) float64 {
	if !detached {
		return 0
	}
	return p.of(host).recv.At(size)
}

func (p *Protocol) of(host int) *hostTables {
	if p.ofHost == nil {
		return &p.tables[0]
	}
	return &p.tables[p.ofHost[host]]
}
