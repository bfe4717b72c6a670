package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/sniff/snifftest"
)

// TestForeignFiles: files of other formats are called by their names wherever one is read.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := filepath.Join(dir, "index")
	for name, text := range map[string]string{"index": filepath.Join(dir, "a") + "\n" + filepath.Join(dir, "b") + "\n", "a": "0 init\n", "b": "1 init\n"} {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	play := func(args ...string) error {
		return run(context.Background(), append([]string{"replay", "--quiet"}, args...), strings.NewReader(""), io.Discard, io.Discard)
	}
	option := func(name string) func(string) error {
		return func(path string) error { return play("--"+name, path, good) }
	}
	snifftest.Check(t, "trace", func(path string) error { return play(path) }, "trace", "index", "actions")
	snifftest.Check(t, "file of an index", func(path string) error {
		index := filepath.Join(dir, "foreign")
		if err := os.WriteFile(index, []byte(path+"\n"+path+"\n"), 0o600); err != nil {
			return err
		}
		return play(index)
	}, "actions")
	snifftest.Check(t, "stdin", func(path string) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		err = run(context.Background(), []string{"replay", "--quiet", "-"}, f, io.Discard, io.Discard)
		if err != nil && !strings.Contains(err.Error(), "stdin") {
			t.Errorf("%v does not name stdin", err)
		}
		return renamed{err, path}
	}, "trace")
	snifftest.Check(t, "platform", option("platform"), "platform")
	snifftest.Check(t, "platform", func(path string) error { return play("platform", path) }, "platform")
	snifftest.Check(t, "kernels", option("kernels"), "kernels", "json")
	snifftest.Check(t, "network noise", option("network-noise"), "kernels", "json")
	snifftest.Check(t, "hostfile", option("hostfile"))
	snifftest.Check(t, "checkpoint", option("resume"), "checkpoint")
	snifftest.Check(t, "result", func(path string) error {
		return run(context.Background(), []string{"replay", "compare", path, path}, strings.NewReader(""), io.Discard, io.Discard)
	}, "report")
}

// renamed is an error about standard input, with the name of what that was.
type renamed struct {
	error
	path string
}

func (r renamed) Error() string { return r.path + ": " + r.error.Error() }
