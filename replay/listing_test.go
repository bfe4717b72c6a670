package replay_test

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/trace"
)

// listing collects the actions of recorded runs of HPL, in the form of
// testdata/oracle/hpl: a line per action, kernels with their attributes and
// dimensions, failed probes with a count.
type listing struct {
	header trace.Header
	kernel map[string]uint16 // by name and attributes
	// spin turns the probes into a busy wait that the replay decides: right where
	// nothing lies between them.
	spin bool
}

// listedKernels says of each kernel which fields of its line are attributes (by
// name) and dimensions (with *).
var listedKernels = map[string]string{
	"dgemm": "transa transb *M *N *K", "dtrsm": "side uplo trans diag *M *N", "dgemv": "trans *M *N", "dger": "*M *N",
	"dtrsv": "uplo trans diag *N", "dscal": "*N", "daxpy": "*N", "dcopy": "*N", "idamax": "*N",
	"dlacpy": "*M *N", "dlatcpy": "*M *N", "dlocmax": "*M *COL", "dlocswpN": "*JB *COL", "dlocswpT": "*JB *COL",
	"dlaswp04N": "*M0 *M1 *N", "dlaswp04T": "*M0 *M1 *N",
}

// read parses the lines of one rank.
func (l *listing) read(text string) ([]trace.Action, error) {
	var actions []trace.Action
	for i, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		a, count, err := l.line(f)
		if err != nil {
			return nil, fmt.Errorf("line %d: %q: %w", i+1, line, err)
		}
		for range count {
			actions = append(actions, a)
		}
	}
	return actions, nil
}

// requestSlots are the slots of "wait send" and "wait recv".
var requestSlots = map[string]int32{"send": 0, "recv": 1}

// line parses a line; count is how often its action happened.
func (l *listing) line(f []string) (a trace.Action, count int, err error) {
	kinds := map[string]trace.Kind{
		"send": trace.KindSend, "ssend": trace.KindSsend, "issend": trace.KindIssend, "recv": trace.KindRecv, "irecv": trace.KindIrecv,
	}
	switch verb := f[0]; verb {
	case "#", "begin", "end", "panel", "bwait":
		return a, 0, nil
	case "send", "ssend", "issend", "recv", "irecv":
		n, err := integers(f[1:4])
		if err != nil {
			return a, 0, err
		}
		a = trace.Action{Kind: kinds[verb], Peer: int32(n[0]), Tag: int32(n[2]), X: [4]int64{n[1]}}
		if verb == "irecv" {
			a.Req = requestSlots["recv"]
		}
		return a, 1, nil
	case "wait":
		return trace.Action{Kind: trace.KindWait, Req: requestSlots[f[1]]}, 1, nil
	case "iprobe", "miss":
		if l.spin && verb == "miss" {
			return a, 0, nil
		}
		n, err := integers(f[1:3])
		if err != nil {
			return a, 0, err
		}
		count = 1
		if verb == "miss" {
			count, err = strconv.Atoi(strings.TrimPrefix(f[4], "x"))
		}
		a = trace.Action{Kind: trace.KindIprobe, Peer: int32(n[0]), Tag: int32(n[1])}
		if l.spin {
			a.Kind, a.Flags = trace.KindPoll, trace.FlagSpin
		}
		return a, count, err
	}
	return l.compute(f)
}

func (l *listing) compute(f []string) (a trace.Action, count int, err error) {
	form, ok := listedKernels[f[0]]
	if !ok && strings.HasPrefix(f[0], "dlaswp") {
		form, ok = "*M *N", true
	}
	if !ok {
		return a, 0, fmt.Errorf("unknown verb")
	}
	k := trace.Kernel{Name: f[0]}
	var dims []string
	for i, field := range strings.Fields(form) {
		if dim, ok := strings.CutPrefix(field, "*"); ok {
			k.Dims = append(k.Dims, trace.Dim{Name: dim})
			dims = append(dims, f[1+i])
		} else {
			k.Attrs = append(k.Attrs, trace.Param{Name: field, Value: f[1+i]})
		}
	}
	n, err := integers(dims)
	if err != nil {
		return a, 0, err
	}
	a = trace.Action{Kind: trace.KindCompute, Sym: l.symbol(k)}
	copy(a.X[:], n)
	return a, 1, nil
}

// symbol returns the number of a kernel in the header.
func (l *listing) symbol(k trace.Kernel) uint16 {
	key := fmt.Sprint(k.Name, k.Attrs)
	sym, ok := l.kernel[key]
	if !ok {
		sym = uint16(len(l.header.Kernels))
		if l.kernel == nil {
			l.kernel = map[string]uint16{}
		}
		l.kernel[key] = sym
		l.header.Kernels = append(l.header.Kernels, k)
	}
	return sym
}

func integers(fields []string) ([]int64, error) {
	list := make([]int64, len(fields))
	for i, f := range fields {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, err
		}
		list[i] = n
	}
	return list, nil
}
