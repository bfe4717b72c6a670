package capture_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
	"reprise/tracegen/capture"
)

// TestMessages: the messages of testdata/messages.c are those that a second tool counts.
func TestMessages(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "messages.c")
		dir, out, err := m.record(t, "4", program)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		got := sent(actions(t, merged(t, dir, capture.Options{})))
		if diff := cmp.Diff(m.counted(t, "4", program), got); diff != "" {
			t.Errorf("messages (-counted +recorded):\n%s", diff)
		}
	})
}

// sent lists the messages of a trace: source, destination, tag and bytes.
func sent(ranks [][]trace.Action) (list []string) {
	for rank, actions := range ranks {
		for _, a := range actions {
			switch a.Kind {
			case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindStart, trace.KindSendrecv:
				list = append(list, fmt.Sprintln(rank, a.Peer, a.Tag, a.X[0]))
			}
		}
	}
	slices.Sort(list)
	return list
}

// counted runs a program with the tool of testdata/counter.c alone.
func (m mpi) counted(t *testing.T, ranks string, program ...string) (list []string) {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "counter.so")
	if out, err := exec.Command(m.compiler, "-shared", "-fPIC", "-o", tool, "testdata/counter.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	counts := filepath.Join(t.TempDir(), "counts")
	args := slices.Concat(m.launcher, []string{ranks, "env", "LD_PRELOAD=" + tool, "COUNTS=" + counts}, program)
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, _ := filepath.Glob(counts + ".*")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, strings.SplitAfter(strings.TrimSuffix(string(data), "\n")+"\n", "\n")...)
	}
	list = slices.DeleteFunc(list, func(line string) bool { return line == "" })
	slices.Sort(list)
	return list
}
