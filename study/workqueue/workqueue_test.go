package workqueue

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"reprise/internal/regular/regulartest"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func join(t *testing.T, dir string) *Worker {
	t.Helper()
	w, err := Join(dir, time.Second)
	noError(t, err)
	t.Cleanup(func() { w.Leave() })
	return w
}

func take(t *testing.T, w *Worker, item string) *Lease {
	t.Helper()
	l, err := w.Take(item)
	noError(t, err)
	return l
}

func TestTake(t *testing.T) {
	dir := t.TempDir()
	a, b := join(t, dir), join(t, dir)
	l := take(t, a, "x")
	if l == nil || take(t, b, "x") != nil || take(t, b, "y") == nil {
		t.Fatal("one item is for one worker")
	}
	noError(t, l.GiveBack())
	m := take(t, b, "x")
	if m == nil || take(t, a, "x") != nil {
		t.Fatal("what is given back is for the next one")
	}
	if err := m.Held(); err != nil {
		t.Error(err)
	}
	noError(t, m.Done())
	if left, _ := filepath.Glob(filepath.Join(dir, "leases", "x.*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// pretend writes the file of a worker of another machine, or of a process that is gone, with a
// lease of an item.
func pretend(t *testing.T, dir, item string, change func(*Owner)) Owner {
	t.Helper()
	o, err := self(1)
	noError(t, err)
	change(&o)
	for _, path := range []string{filepath.Join(dir, "workers", o.Name), filepath.Join(dir, "leases", item+".1")} {
		noError(t, create(path, &o))
	}
	return o
}

// TestDead: a process of this machine that is gone frees its lease at once, one of another
// machine when its file was not written to for its period, whatever its clock says.
func TestDead(t *testing.T) {
	if bootID() == "" {
		t.Skip("processes of this machine are not known apart")
	}
	dir := t.TempDir()
	w := join(t, dir)
	pretend(t, dir, "reused", func(o *Owner) { o.Started = "1" }) // the number is that of this process
	if take(t, w, "reused") == nil {
		t.Error("another process with the number of a dead one holds its lease")
	}
	other := pretend(t, dir, "far", func(o *Owner) { o.Boot = "elsewhere" })
	if take(t, w, "far") != nil {
		t.Error("a worker that has just been seen is dead")
	}
	past := w.now().Add(-time.Duration(1.5 * float64(time.Second)))
	noError(t, os.Chtimes(w.file(other.Name), past, past))
	l := take(t, w, "far")
	if l == nil {
		t.Fatal("a worker that was not seen for 1.5 of its 1 s holds its lease")
	}
	if lost := (&Lease{w, "far", 1}).Held(); lost == nil {
		t.Error("the dead one still has it")
	}
}

// TestTorn: a worker that dies while it writes its lease holds it for a period.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	w := join(t, dir)
	path := filepath.Join(dir, "leases", "x.1")
	noError(t, os.WriteFile(path, []byte("held\n{\"wor"), 0o666))
	if take(t, w, "x") != nil {
		t.Error("a lease that is being written is free")
	}
	past := w.now().Add(-2 * time.Second)
	noError(t, os.Chtimes(path, past, past))
	if take(t, w, "x") == nil {
		t.Error("a torn lease is held for ever")
	}
}

// later has a period pass for a worker.
func later(w *Worker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.server = w.server.Add(1500 * time.Millisecond)
}

// TestNoLease: what no worker writes is held for a period as if it were torn, whatever it is.
func TestNoLease(t *testing.T) {
	dir := t.TempDir()
	w := join(t, dir)
	path := func(item string) string { return filepath.Join(dir, LeasesDir, item+".1") }
	pretend(t, dir, "long", func(o *Owner) { o.Boot, o.Period = "elsewhere", 1e300 })
	pretend(t, dir, "never", func(o *Owner) { o.Boot, o.Period = "elsewhere", -1 })
	noError(t, errors.Join(os.Symlink("nowhere", path("link")), syscall.Mkfifo(path("pipe"), 0o666)))
	items := []string{"long", "never", "link", "pipe"}
	for _, item := range items {
		if take(t, w, item) != nil {
			t.Errorf("%s is free at once", item)
		}
	}
	if _, err := Workers(dir); err != nil {
		t.Error(err)
	}
	later(w)
	for _, item := range items {
		if take(t, w, item) == nil {
			t.Errorf("%s is held for ever", item)
		}
	}
}

// TestFuture: what was written to in times that are yet to come holds nothing.
func TestFuture(t *testing.T) {
	dir := t.TempDir()
	w := join(t, dir)
	other := pretend(t, dir, "far", func(o *Owner) { o.Boot = "elsewhere" })
	torn := filepath.Join(dir, LeasesDir, "torn.1")
	noError(t, os.WriteFile(torn, []byte("held\n"), 0o666))
	for _, future := range []time.Time{w.now().Add(2 * time.Second), w.now().Add(200 * 365 * 24 * time.Hour)} {
		noError(t, errors.Join(os.Chtimes(torn, future, future), os.Chtimes(w.file(other.Name), future, future)))
		for _, item := range []string{"far", "torn"} {
			l := take(t, w, item)
			if l == nil {
				t.Errorf("%s is held until %v", item, future)
				continue
			}
			noError(t, os.Remove(l.file(2)))
		}
	}
}

// TestMany: of many that take the same items, each is taken once.
func TestMany(t *testing.T) {
	dir := t.TempDir()
	join(t, dir)
	pretend(t, dir, "0", func(o *Owner) { o.Started = "1" })
	var taken [20]atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		w := join(t, dir)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range taken {
				if l, err := w.Take(string(rune('0' + i))); err == nil && l != nil {
					taken[i].Add(1)
				}
			}
		}()
	}
	wg.Wait()
	for i := range taken {
		if n := taken[i].Load(); n != 1 {
			t.Errorf("item %d was taken by %d", i, n)
		}
	}
}

func TestWorkers(t *testing.T) {
	dir := t.TempDir()
	w := join(t, dir)
	take(t, w, "x")
	dead := pretend(t, dir, "y", func(o *Owner) { o.Name, o.Boot, o.Period = "zz", "elsewhere", 1 })
	past := w.now().Add(-time.Hour)
	noError(t, os.Chtimes(w.file(dead.Name), past, past))
	list, err := Workers(dir)
	if err != nil || len(list) != 2 || !list[0].Alive || list[1].Alive || strings.Join(list[0].Items, "") != "x" {
		t.Errorf("%+v, %v", list, err)
	}
	torn := w.file(fileName(w.Host) + "-999999999-00000000") // no process has this number
	noError(t, os.WriteFile(torn, []byte("held\n"), 0o666))
	noError(t, w.Sweep(func(item string) bool { return item == "x" }))
	if _, err := os.Stat(torn); err == nil && bootID() != "" {
		t.Error("the file of a worker that was killed while it wrote it is left")
	}
	if list, err := Workers(dir); err != nil || len(list) != 1 || len(list[0].Items) != 0 {
		t.Errorf("after sweeping: %+v, %v", list, err)
	}
}

func TestPeriod(t *testing.T) {
	for _, period := range []time.Duration{time.Millisecond, 25 * time.Hour} {
		if _, err := Join(t.TempDir(), period); err == nil || err.Error() != "a lease of "+period.String()+", want 1s to 24h0m0s" {
			t.Errorf("a lease of %v: %v", period, err)
		}
	}
}

// TestFreshPipe: what has the name of a worker of another host and is a pipe is not waited for.
func TestFreshPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other-1-2")
	noError(t, syscall.Mkfifo(path, 0o666))
	if info, err := fresh(path); err != nil || info.Mode().IsRegular() {
		t.Errorf("fresh of a pipe: %v, %v", info, err)
	}
}

// TestForeignName: a lease whose worker is called like a path says nothing of the file there,
// which may be recent for ever; nor does a file of more than a worker writes.
func TestForeignName(t *testing.T) {
	dir := t.TempDir()
	w := join(t, dir)
	busy := filepath.Join(t.TempDir(), "busy")
	noError(t, os.WriteFile(busy, nil, 0o666))
	o := w.Owner
	o.Boot = "elsewhere"
	for item, name := range map[string]string{"absolute": busy, "relative": "../leases", "none": "", "zero": "a\x00b", "line": "a\nb"} {
		o.Name = name
		noError(t, create(filepath.Join(dir, LeasesDir, item+".1"), &o))
	}
	regulartest.Sparse(t, filepath.Join(dir, LeasesDir, "large.1"), 1<<40)
	long := time.Now().Add(-time.Hour)
	for _, item := range []string{"absolute", "relative", "none", "zero", "line", "large"} {
		path := filepath.Join(dir, LeasesDir, item+".1")
		noError(t, os.Chtimes(path, long, long))
		if take(t, w, item) == nil {
			t.Errorf("%s: the lease is held by nobody, and not free", item)
		}
	}
}

// TestClocks: clocks that differ by a minute are an error that says which way.
func TestClocks(t *testing.T) {
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	for skew, want := range map[time.Duration]string{
		0: "", 59 * time.Second: "", -59 * time.Second: "",
		time.Minute: "1m0s ahead of", -90 * time.Second: "1m30s behind", 1000 * time.Hour: "1000h0m0s ahead of",
	} {
		switch err := clocks(now, now.Add(skew)); {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%v: %v, want %q", skew, err, want)
		}
	}
}
