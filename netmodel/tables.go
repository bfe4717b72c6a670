package netmodel

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/bounds"
	"reprise/internal/textutil"
	"reprise/platforms"
	"reprise/smpi/option"
)

// This file has the options that are tables by message size (Factors, Overheads), and the Protocol that the hosts of a
// platform have by them.

// Factors is a piecewise constant function of the message size: entry i holds for sizes z with Above_i < z <=
// Above_(i+1). It is 1 for z <= Above_0, and for every size if it is empty. Entries are sorted by Above.
type Factors []Factor

// Factor is one interval of [Factors].
type Factor struct {
	Above float64 // bytes; the interval is open on this side
	Value float64
}

// At returns the factor for z bytes. The envelope, if any, is part of z.
func (t Factors) At(z float64) float64 {
	for i := len(t) - 1; i >= 0; i-- {
		if z > t[i].Above {
			return t[i].Value
		}
	}
	return 1
}

// String returns the text that ParseFactors makes the same factors of; "": it is empty.
func (t Factors) String() string {
	if len(t) == 1 && t[0].Above < 0 {
		return strconv.FormatFloat(t[0].Value, 'g', -1, 64)
	}
	return strings.Join(textutil.Texts(t, func(f Factor) string { return row(f.Above, f.Value) }), ";")
}

// Overheads is a piecewise affine function of the message size, in seconds: Fixed_i + PerByte_i*s for Above_i < s <=
// Above_(i+1). Sizes up to Above_0 take entry 0. It is 0 for every size if it is empty. Entries are sorted by Above.
type Overheads []Overhead

// Overhead is one interval of [Overheads].
type Overhead struct {
	Above   float64 // bytes; the interval is open on this side
	Fixed   float64 // seconds
	PerByte float64 // seconds per byte
}

// At returns the overhead of a message of s bytes, without envelope.
func (t Overheads) At(s int64) float64 {
	if len(t) == 0 {
		return 0
	}
	i, size := len(t)-1, float64(s)
	for i > 0 && size <= t[i].Above {
		i--
	}
	return t[i].Fixed + float64(t[i].PerByte*size)
}

// String returns the text that ParseOverheads makes the same overheads of; "": it is empty.
func (t Overheads) String() string {
	return strings.Join(textutil.Texts(t, func(o Overhead) string { return row(o.Above, o.Fixed, o.PerByte) }), ";")
}

// row writes an entry. Its threshold has no exponent, as parseRows wants it.
func row(above float64, values ...float64) string {
	text := strconv.FormatFloat(above, 'f', -1, 64)
	for _, v := range values {
		text += ":" + strconv.FormatFloat(v, 'g', -1, 64)
	}
	return text
}

// ParseFactors reads SimGrid's "th0:f0;th1:f1;..." in any order of thresholds. A
// single number is a factor for every size.
func ParseFactors(s string) (Factors, error) {
	if !strings.ContainsAny(s, ":;") {
		v, err := option.ParseNumber(s)
		if err != nil {
			return nil, err
		}
		return Factors{{Above: -1, Value: v}}, nil
	}
	rows, err := parseRows(s, 2, 2)
	if err != nil {
		return nil, err
	}
	t := make(Factors, len(rows))
	for i, r := range rows {
		t[i] = Factor{Above: r[0], Value: r[1]}
	}
	return t, nil
}

// ParseOverheads reads SimGrid's "th0:a0:b0;th1:a1:b1;..." in any order of
// thresholds. A missing b is 0; SimGrid ignores further values, so they must be 0.
func ParseOverheads(s string) (Overheads, error) {
	rows, err := parseRows(s, 2, 5)
	if err != nil {
		return nil, err
	}
	t := make(Overheads, len(rows))
	for i, r := range rows {
		t[i] = Overhead{Above: r[0], Fixed: r[1]}
		if len(r) > 2 {
			t[i].PerByte = r[2]
		}
		for k := 3; k < len(r); k++ {
			if r[k] != 0 {
				return nil, fmt.Errorf("threshold %v: value %v after fixed and per-byte costs has no meaning", r[0], r[k])
			}
		}
	}
	return t, nil
}

// parseRows splits "a:b:c;d:e:f", with least to most numbers in each row, and sorts the rows by their first number, a
// threshold. A threshold must not have an exponent: SimGrid takes 1e6 there for 1.
func parseRows(s string, least, most int) ([][]float64, error) {
	var rows [][]float64
	for i, entry := range strings.Split(s, ";") {
		if strings.TrimSpace(entry) == "" {
			continue // as behind the last ; of a table
		}
		fields := strings.Split(entry, ":")
		if len(fields) < least || len(fields) > most {
			return nil, fmt.Errorf("entry %d %q: %d values, want %d to %d", i+1, entry, len(fields), least, most)
		}
		if strings.ContainsAny(fields[0], "eE") {
			return nil, fmt.Errorf("entry %d %q: threshold %s, want its digits: SimGrid stops reading at the e", i+1, entry,
				fields[0])
		}
		row := make([]float64, len(fields))
		for k, f := range fields {
			v, err := option.ParseNumber(f)
			if err != nil {
				return nil, fmt.Errorf("entry %d %q: %w", i+1, entry, err)
			}
			row[k] = v
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, errors.New("no entries")
	}
	slices.SortStableFunc(rows, func(a, b []float64) int { return cmp.Compare(a[0], b[0]) })
	for i := 1; i < len(rows); i++ {
		if rows[i][0] == rows[i-1][0] {
			return nil, fmt.Errorf("threshold %v appears twice", rows[i][0])
		}
	}
	return rows, nil
}

// validate reports the first factor that is out of a range, and thresholds out of order: options may be set without
// parseRows.
func (t Factors) validate(allowed bounds.Range) error {
	for i, e := range t {
		if err := allowed.Check("factor", e.Value); err != nil {
			return fmt.Errorf("%s: %w", sizesAbove(e.Above), err)
		}
		if i > 0 && !(t[i-1].Above < e.Above) {
			return fmt.Errorf("threshold %v after %v, want ascending order", e.Above, t[i-1].Above)
		}
	}
	return nil
}

// sizesAbove names the sizes of messages that an entry of a table is for.
func sizesAbove(bytes float64) string {
	if bytes < 0 {
		return "all sizes"
	}
	return fmt.Sprintf("sizes above %v bytes", bytes)
}

func (t Overheads) validate() error {
	for i, e := range t {
		if err := cmp.Or(bounds.Seconds.Check("overhead", e.Fixed), bounds.PerByte.Check("overhead", e.PerByte)); err != nil {
			return fmt.Errorf("%s: %w", sizesAbove(e.Above), err)
		}
		if i > 0 && !(t[i-1].Above < e.Above) {
			return fmt.Errorf("threshold %v after %v, want ascending order", e.Above, t[i-1].Above)
		}
	}
	return nil
}

// Protocol says what it costs the ranks on each host to post and complete messages, and how messages are sent. Sizes
// are in bytes and never include the envelope; overheads are in seconds.
//
// A message of s bytes is
//
//	eager      if s < EagerBelow:    its transfer starts when it is sent;
//	detached   if s < DetachedBelow: it starts when both sides are posted, but the sender
//	           does not wait for it (Detached is true of eager ones, too);
//	rendezvous otherwise: the sender waits until the transfer has ended.
//
// The receiver pays RecvOverhead only for eager and detached messages. A blocking rendezvous send pays no SendOverhead
// unless it is synchronous (MPI_Ssend); a nonblocking send always pays IsendOverhead.
type Protocol struct {
	eagerBelow    int64
	detachedBelow int64
	tables        []HostOverheads
	ofHost        []int32 // index into tables by host; nil if all hosts use tables[0]
}

// HostOverheads are the overheads of the ranks on one or several hosts, by the bytes of a message. SMPI charges a
// synchronous send whatever the size, as it does nonblocking sends.
type HostOverheads struct {
	Send  Overheads // of a blocking send that is detached or synchronous; another one costs nothing
	Isend Overheads // of a nonblocking send
	Recv  Overheads // of completing a detached receive, by the smaller of the message's and the posted size
}

// NewProtocol returns the protocol of the options on the hosts of p. The
// properties smpi/os, smpi/ois and smpi/or of a host replace the option for it.
func NewProtocol(p *platforms.Platform, o Options) (*Protocol, error) {
	pr := &Protocol{
		eagerBelow:    o.EagerBelow,
		detachedBelow: o.DetachedBelow,
		tables:        []HostOverheads{{o.SendOverhead, o.IsendOverhead, o.RecvOverhead}},
	}
	known := map[[3]string]int32{{}: 0}
	for h := range p.NumHosts() {
		var props [3]string // "": it has none
		for i, name := range overheadNames {
			v, _ := p.HostProp(h, name)
			props[i] = v.Value
		}
		at, ok := known[props]
		if !ok {
			t := pr.tables[0]
			for i, table := range []*Overheads{&t.Send, &t.Isend, &t.Recv} {
				if props[i] == "" {
					continue
				}
				var err error
				if *table, err = ParseOverheads(props[i]); err == nil {
					err = table.validate()
				}
				if err != nil {
					v, _ := p.HostProp(h, overheadNames[i])
					return nil, fmt.Errorf("%s:%d: %w", p.Name(), v.Line,
						textutil.Brief(fmt.Errorf("host %q: property %s: %w", p.Host(h).Name, v.Name, err)))
				}
			}
			at = int32(len(pr.tables))
			pr.tables = append(pr.tables, t)
			known[props] = at
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

// overheadNames are the properties of hosts that replace the fields of HostOverheads, in their order.
var overheadNames = [3]string{"smpi/os", "smpi/ois", "smpi/or"}

// Eager reports whether a transfer of size bytes starts without its receive.
func (p *Protocol) Eager(size int64) bool { return size < p.eagerBelow }

// Detached reports whether the sender of size bytes need not wait for the transfer.
func (p *Protocol) Detached(size int64) bool { return size < p.detachedBelow }

// On returns what messages cost the ranks on a host.
func (p *Protocol) On(host int32) *HostOverheads {
	if p.ofHost == nil {
		return &p.tables[0]
	}
	return &p.tables[p.ofHost[host]]
}
