package replay_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"reprise/internal/tracetest"
	"reprise/replay"
	"reprise/smpi"
	"reprise/trace"
)

// wildMachine is one for wild programs, in which the bits of a number choose what is special.
func wildMachine(t testing.TB, kind uint8) *bench {
	t.Helper()
	b := newBench(t, star(tracetest.WildRanks), tracetest.WildRanks)
	b.set(t, "smpi/iprobe:1e-5", "smpi/test:1e-5", "smpi/os:0:1e-6:0")
	if kind&1 != 0 {
		b.set(t, "smpi/grow-injected-times:yes")
	}
	if kind&2 != 0 {
		b.Hosts = []int32{0, 0, 1}
	}
	if kind&4 != 0 {
		b.set(t, "smpi/iprobe:0", "smpi/finalization-barrier:yes")
	}
	if kind&8 != 0 {
		b.Network.Poll = smpi.PollArrived
	}
	if kind&16 != 0 {
		b.set(t, "smpi/coll-selector:ompi", "reprise/solver:reference")
	}
	b.setKernels(t, "version: 1\nunit: s\nkernels:\n  \"*\": {terms: {N: 1e-5}}\n", "work", "move")
	return b
}

// FuzzPrograms plays programs without sense, which may come to an error but not to a
// panic, and if they come to an end do so from a checkpoint on the way too.
func FuzzPrograms(f *testing.F) {
	r := rand.New(rand.NewPCG(22, 2))
	for range 64 {
		data := make([]byte, 20+r.IntN(200))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(uint8(r.Uint32()), data)
	}
	var machines [32]*bench
	for i := range machines {
		machines[i] = wildMachine(f, uint8(i))
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		turns := int64(3)
		if kind&32 != 0 {
			turns = 1 << 60
		}
		file, err := tracetest.Wild(data, turns)
		if err != nil {
			return
		}
		tr, err := trace.NewReaderAt(bytes.NewReader(file), int64(len(file)), "wild")
		if err != nil {
			t.Fatal(err)
		}
		playWild(t, tr, machines[kind%32])
	})
}

// errTooLong is the end of a replay that takes more than its bounds.
var errTooLong = errors.New("it does not come to an end")

// playWild plays a trace for so many pauses, and goes on from one of them.
func playWild(t *testing.T, tr *trace.Trace, b *bench) {
	t.Helper()
	const most, kept = 3000, 20
	var checkpoint bytes.Buffer
	pauses, begin := 0, time.Now()
	bound := func(p *replay.Pause) error {
		if pauses++; pauses == kept {
			return p.Save(&checkpoint, 0)
		}
		if pauses > most || time.Since(begin) > time.Second {
			return errTooLong
		}
		return nil
	}
	o := b.Options
	o.Checkpoints = &replay.Checkpoints{Write: bound}
	want, err := replay.Run(t.Context(), tr, b.Machine, o)
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it looks up after %v", took)
	}
	if checkpoint.Len() == 0 || errors.Is(err, errTooLong) {
		return
	}
	pauses = kept
	o.Resume = checkpointOf(checkpoint.Bytes())
	got, again := replay.Run(t.Context(), tr, b.Machine, o)
	switch {
	case errors.Is(again, errTooLong):
	case err == nil && again == nil:
		sameResult(t, "wild", got, want)
	case err == nil || again == nil || err.Error() != again.Error():
		t.Errorf("error %v, and from a checkpoint %v (%d bytes)", err, again, checkpoint.Len())
	}
}
