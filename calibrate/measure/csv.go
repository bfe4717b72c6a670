package measure

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/internal/wording"
)

// Columns of attributes and dimensions, in their order; a table has those that its kernels have.
var (
	attrColumns = []string{"side", "uplo", "trans", "diag", "transa", "transb"}
	dimColumns  = []string{"M", "N", "K", "M0", "M1", "JB", "ROLE", "LEVEL", "ROWS", "NNZ", "COLS", "VECTORS", "BRANCH", "ALIAS"}
)

// WriteCSV writes the timings as calibrate kernels reads them, after facts about
// the measurement as comments.
func (r *Result) WriteCSV(w io.Writer, p *Plan, host string, facts []Fact) error {
	var b strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&b, "# %s: %s\n", f.Name, strings.Join(strings.Fields(f.Value), " "))
	}
	attrs, dims := p.columns()
	fmt.Fprintf(&b, "function,%s", strings.ToLower(strings.Join(slices.Concat(attrs, dims), ",")))
	b.WriteString(",operands,seconds,processor,host,rank,cpu,date\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	prefixes := make([]string, len(p.Calls))
	for i := range p.Calls {
		prefixes[i] = p.row(&p.Calls[i], attrs, dims)
	}
	for _, t := range r.Timings {
		seconds := strconv.FormatFloat(t.Seconds, 'e', 9, 64)
		date := t.Date.UTC().Format(time.RFC3339)
		if _, err := fmt.Fprintf(w, "%s,%s,%.3g,%s,%d,%d,%s\n", prefixes[t.Call], seconds, min(1, t.CPU/t.Seconds), host, t.Rank, p.Groups[t.Rank][0], date); err != nil {
			return err
		}
	}
	return nil
}

// columns returns the attributes and dimensions that some kernel has.
func (p *Plan) columns() (attrs, dims []string) {
	has := func(list []string, in func(k *Kernel, name string) bool) (found []string) {
		for _, name := range list {
			if slices.ContainsFunc(p.Kernels, func(k Kernel) bool { return in(&k, name) }) {
				found = append(found, name)
			}
		}
		return found
	}
	return has(attrColumns, func(k *Kernel, name string) bool { return k.attr(name) != "" }),
		has(dimColumns, func(k *Kernel, name string) bool { return slices.Contains(k.Dims, name) })
}

// row returns the fields of a call up to its operands.
func (p *Plan) row(c *Call, attrs, dims []string) string {
	k := &p.Kernels[c.Kernel]
	fields := []string{k.Name}
	for _, name := range attrs {
		fields = append(fields, k.attr(name))
	}
	for _, name := range dims {
		field := ""
		if i := slices.Index(k.Dims, name); i >= 0 {
			field = strconv.FormatInt(c.Dims[i], 10)
		}
		fields = append(fields, field)
	}
	return strings.Join(append(fields, string(c.Operands)), ",")
}

// HostName returns a name as tables and kernel files have them; that of none is unknown.
func HostName(name string) string {
	if name == "" {
		return unknown
	}
	return wording.Plain(name)
}
