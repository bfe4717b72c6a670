package hpl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/trace"
)

// traffic counts what a trace sends and receives.
type traffic struct{ sends, sent, receives, received int64 }

// count adds up the messages of all ranks, with every poll successful.
func count(t testing.TB, tr *trace.Trace) traffic {
	t.Helper()
	var sum traffic
	var buf [256]trace.Action
	for rank := range tr.Header().Ranks {
		cursors, err := tr.Cursors([]int32{int32(rank)}, trace.CursorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c := &cursors[0]
		for {
			n, err := c.Fill(buf[:])
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				break
			}
			for i := range buf[:n] {
				sum.add(&buf[i])
			}
			if buf[n-1].Kind == trace.KindPoll {
				c.Answer(true)
			}
		}
	}
	return sum
}

func (s *traffic) add(a *trace.Action) {
	switch a.Kind {
	case trace.KindSend, trace.KindSsend:
		s.sends++
		s.sent += a.X[0]
	case trace.KindRecv, trace.KindIrecv:
		s.receives++
		s.received += a.X[0]
	case trace.KindExchange, trace.KindSyncExchange:
		s.sends++
		s.sent += a.X[0]
		s.receives++
		s.received += a.X[1]
	}
}

// splitMixSeed is the seed for which the pivot of column c is
// c + mix(c) mod (N-c), the rule of the recorded simulations: mix(seed) = 0.
const splitMixSeed = 0x61C8864680B583EB

// TestOracleTraffic compares messages and bytes with what the real code sent in
// recorded simulations, of up to 256 ranks and N = 65536.
func TestOracleTraffic(t *testing.T) {
	names, err := filepath.Glob("../../testdata/oracle/smpi-hpl/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no recorded simulations: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) { checkTraffic(t, name) })
	}
}

func checkTraffic(t *testing.T, name string) {
	t.Parallel()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var run struct {
		oracleCase
		Messages     int64
		MessageBytes int64 `json:"message_bytes"`
	}
	if err := json.Unmarshal(data, &run); err != nil {
		t.Fatal(err)
	}
	if testing.Short() && run.Messages > 500000 {
		t.Skip("many messages")
	}
	p := run.params(t)
	p.Pivots = Pivots{Kind: RandomPivots, Seed: splitMixSeed}
	got := count(t, openTrace(t, generate(t, p, Options{})))
	want := traffic{run.Messages, run.MessageBytes, run.Messages, run.MessageBytes}
	if got != want {
		t.Errorf("traffic %+v, want %+v", got, want)
	}
}
