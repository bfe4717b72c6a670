package study

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"reprise/trace"
	"reprise/tracegen/hpl"
)

// mostTraces is how many bytes of traces are kept, about.
const mostTraces = 128 << 20

// traces makes traces, and keeps those that were used last.
type traces struct {
	version string
	mu      sync.Mutex
	young   map[string]*traceBytes // used since old ones were forgotten for the last time
	old     map[string]*traceBytes
	bytes   int // of the young ones
}

func newTraces(version string) *traces {
	return &traces{version: version, young: map[string]*traceBytes{}}
}

// traceBytes is a trace, as a file would hold it.
type traceBytes struct {
	once sync.Once
	text []byte
	err  error

	counted bool
}

// open opens the trace for one goroutine.
func (b *traceBytes) open() (*trace.Trace, error) {
	return trace.NewReaderAt(bytes.NewReader(b.text), int64(len(b.text)), "HPL")
}

// of returns the trace of a configuration.
func (ts *traces) of(ctx context.Context, c *Config) (*traceBytes, error) {
	key := fmt.Sprint(c.HPL.List(), c.FirstSteps)
	b := ts.use(key)
	b.once.Do(func() {
		var file bytes.Buffer
		b.err = hpl.Generate(ctx, &file, c.HPL, hpl.Options{Tool: "study " + ts.version, FirstSteps: c.FirstSteps})
		b.text = file.Bytes()
	})
	ts.kept(key, b)
	return b, b.err
}

// use returns what there is under a key.
func (ts *traces) use(key string) *traceBytes {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	b := ts.young[key]
	if b == nil {
		b = ts.old[key]
	}
	if b == nil {
		b = &traceBytes{}
	}
	ts.young[key] = b
	return b
}

// kept counts a trace that has been made, and forgets old ones; one that could not be made is
// forgotten: the context of who needed it may have ended.
func (ts *traces) kept(key string, b *traceBytes) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if b.err != nil {
		delete(ts.young, key)
		return
	}
	if b.counted {
		return
	}
	b.counted = true
	if ts.bytes += len(b.text); ts.bytes > mostTraces/2 {
		ts.old, ts.young, ts.bytes = ts.young, map[string]*traceBytes{}, 0
	}
}
