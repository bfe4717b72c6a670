package record

import (
	"bytes"
	"errors"
	"testing"

	"reprise/replay"
	"reprise/trace"
)

// resumed records what follows a number of pauses, from the checkpoint that is written there.
func (b *bench) resumed(t *testing.T, pauses int) (*Recorder, bool) {
	t.Helper()
	var file bytes.Buffer
	o := b.Replay
	o.Checkpoints = &replay.Checkpoints{Write: func(p *replay.Pause) error {
		if pauses--; pauses == 0 {
			return errors.Join(p.Save(&file, 0), errStop)
		}
		return nil
	}}
	if _, err := b.play(t, o); !errors.Is(err, errStop) {
		return nil, false
	}
	r := b.recorder(t)
	o = b.Replay
	o.Resume, o.Observers = &replay.Checkpoint{File: bytes.NewReader(file.Bytes()), Size: int64(file.Len())}, []replay.Observer{r.Observer()}
	if _, err := b.play(t, o); err != nil {
		t.Fatal(err)
	}
	return r, true
}

// TestResumedBeforeItBegins: rank 2 waits for its first message while others compute. From whatever
// checkpoint, nobody has spent less than no time on anything.
func TestResumedBeforeItBegins(t *testing.T) {
	b := newBench(t, cluster(3), 3, 1)
	b.Header.Steps = 3
	b.lists(
		[]trace.Action{step(0), flops(1e9), send(1, 0, 10), step(1), flops(1e9), send(1, 1, 100000), step(2), flops(1e9)},
		[]trace.Action{step(0), recv(0, 0, 10), step(1), recv(0, 1, 100000), step(2), send(2, 0, 10)},
		[]trace.Action{recv(1, 0, 10), step(0), flops(1e9), step(1), flops(1e9), step(2), flops(1e9)})
	checkpoints := 0
	for pauses := 1; ; pauses++ {
		r, ok := b.resumed(t, pauses)
		if !ok {
			break
		}
		checkpoints++
		if _, err := r.Data(); err != nil {
			t.Fatal(err)
		}
		for i, c := range r.columns.list {
			for row, s := range c.rows {
				if s.least < 0 || s.sum < 0 {
					t.Errorf("checkpoint %d, column %d, row %d: %+v", pauses, i, row, s)
				}
			}
		}
	}
	if checkpoints == 0 {
		t.Error("no checkpoint")
	}
}
