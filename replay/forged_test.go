package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/internal/snapshot/snapshottest"
	"reprise/replay"
)

// forgery is a run whose checkpoints are forged.
type forgery struct {
	name   string
	run    rerun
	pauses int      // of the run
	files  [][]byte // checkpoints on the way
}

// forgeries are runs of all kinds.
func forgeries(t testing.TB) []*forgery {
	var list []*forgery
	add := func(name string, run rerun) { list = append(list, &forgery{name: name, run: run}) }
	for _, c := range resumeLists() {
		add(c.name, c.rerun(t))
	}
	for _, c := range resumeHPL {
		add("HPL "+c.name, c.rerun(t))
	}
	_, noisy := noisyHPL(t)
	add("HPL with noise", noisy)
	dir := t.TempDir()
	for i, name := range unzip(t, replayOracle, dir) {
		if folder := filepath.Join(dir, name); isCase(folder) && i%40 == 0 {
			add(name, rerunCase(t, folder, i%80 == 0))
		}
	}
	for i, name := range unzip(t, profilesOracle, filepath.Join(dir, "profiles")) {
		if i%8 == 0 {
			add("profiles "+name, rerunCase(t, filepath.Join(dir, "profiles", name), false))
		}
	}
	for _, f := range list {
		f.save(t)
	}
	return list
}

// save plays the run and keeps some of its checkpoints.
func (f *forgery) save(t testing.TB) {
	t.Helper()
	_, err := f.run(func(o *replay.Options) {
		o.Checkpoints = &replay.Checkpoints{Write: func(*replay.Pause) error { f.pauses++; return nil }}
	})
	if err != nil {
		t.Fatal(err)
	}
	at := []int{}
	for i := range min(6, f.pauses) {
		at = append(at, 1+i*(f.pauses-1)/max(1, min(6, f.pauses)-1))
	}
	f.files, _ = saveAt(t, at, f.run, nil)
}

// stateAt is where the state begins in the content of a checkpoint, behind what names the run.
func stateAt(content []byte) int { return bytes.Index(content, []byte("engine")) - 1 }

// errTooLong is the end of a replay that takes more than its bounds.
var errTooLong = errors.New("it does not come to an end")

// play goes on from a forged checkpoint, for some time more than the run takes.
func (f *forgery) play(file []byte, pauses int, limit time.Duration) error {
	begin := time.Now()
	_, err := f.run(func(o *replay.Options) {
		o.Resume = checkpointOf(file)
		o.Checkpoints = &replay.Checkpoints{Write: func(*replay.Pause) error {
			if pauses--; pauses < 0 || pauses%64 == 0 && time.Since(begin) > limit {
				return fmt.Errorf("%w: %d pauses left after %v", errTooLong, pauses, time.Since(begin))
			}
			return nil
		}}
	})
	return err
}

// TestForgedCheckpoints: a checkpoint whose content was changed, and its checksum with it, is
// refused, or played to an end: of what the trace has left, the pauses of the whole run, and
// what a few numbers that nothing contradicts may add.
func TestForgedCheckpoints(t *testing.T) {
	const forged = 300
	list := forgeries(t)
	refused, ended, failed := 0, 0, 0
	for i := range forged {
		f, r := list[i%len(list)], rand.New(rand.NewPCG(uint64(i), 22))
		content, other := snapshottest.Content(t, f.files[r.IntN(len(f.files))]), snapshottest.Content(t, f.files[r.IntN(len(f.files))])
		changed := snapshottest.Forge(r, content, other, stateAt(content))
		switch err := f.play(snapshottest.File(t, f.files[0], changed), 20*f.pauses+1000, 10*time.Second); {
		case errors.Is(err, errTooLong):
			t.Errorf("%s, forgery %d: %v", f.name, i, err)
		case err == nil:
			ended++
		case strings.Contains(err.Error(), "corrupt checkpoint"):
			refused++
		default:
			failed++
			t.Logf("%s, forgery %d: %v", f.name, i, err)
		}
	}
	t.Logf("%d of %d are refused, %d are played to their end, %d end with another error", refused, forged, ended, failed)
	if refused < forged/2 {
		t.Errorf("%d of %d are refused: is their checksum right?", refused, forged)
	}
}

// FuzzResume goes on from any bytes as the state of one of several runs.
func FuzzResume(f *testing.F) {
	list := forgeries(f)
	for i, run := range list {
		for _, file := range run.files {
			content := snapshottest.Content(f, file)
			f.Add(uint8(i), content[stateAt(content):])
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, state []byte) {
		run := list[int(which)%len(list)]
		content := snapshottest.Content(t, run.files[0])
		content = append(content[:stateAt(content):stateAt(content)], state...)
		_ = run.play(snapshottest.File(t, run.files[0], content), 2000, 5*time.Second) // whatever comes of it
	})
}
