package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"
)

// writeWhole calls write with a writer to the file at path, which appears whole
// or not at all, or to stdout if path is empty or "-". It refuses to write
// binary data to a terminal.
func writeWhole(path string, stdout io.Writer, write func(io.Writer) error) error {
	if path != "" && path != "-" {
		return writeFile(path, write)
	}
	if isTerminal(stdout) {
		return usagef("a trace is binary: name a file with -o, or send standard output to a pipe or a file")
	}
	buffered := bufio.NewWriterSize(stdout, 1<<16)
	if err := write(buffered); err != nil {
		return err
	}
	return buffered.Flush()
}

// writeFile writes to a new file beside path and renames it when it is complete.
func writeFile(path string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeThrough(path, write)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err = fill(f, write); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// fill writes a temporary file and closes it, its content safe on the disk.
func fill(f *os.File, write func(io.Writer) error) error {
	buffered := bufio.NewWriterSize(f, 1<<16)
	err := write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// writeThrough writes to a device or a named pipe, which cannot be replaced.
func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if isTerminal(f) {
		err = fmt.Errorf("%s: a trace is binary, and this is a terminal", path)
	} else {
		buffered := bufio.NewWriterSize(f, 1<<16)
		if err = write(buffered); err == nil {
			err = buffered.Flush()
		}
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// isTerminal reports whether w is a character device that is not the null
// device.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// progress is a bar over the steps; without a bar nobody would see it.
type progress struct{ bar *progressbar.ProgressBar }

func newBar(steps int, quiet bool, stderr io.Writer) progress {
	if quiet || !isTerminal(stderr) {
		return progress{}
	}
	return progress{progressbar.NewOptions(max(1, steps),
		progressbar.OptionSetWriter(stderr),
		progressbar.OptionSetDescription("steps"),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(200*time.Millisecond))}
}

// set shows that done steps of all are done. What a bar fails to draw is no
// failure of the command.
func (p progress) set(done, all int) {
	if p.bar == nil {
		return
	}
	if p.bar.GetMax() != all {
		p.bar.ChangeMax(all)
	}
	_ = p.bar.Set(done)
}

func (p progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
