package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"reprise/internal/command"
	"reprise/internal/regular"
	"reprise/replay"
)

// prepare opens the checkpoint to go on from and says what the run depends on.
func (k *checkpointer) prepare(s *settings, in *input, source replay.MachineSpec, o *replay.Options) (err error) {
	if info, err := os.Stat(s.trace); err == nil && !info.Mode().IsRegular() {
		return command.Usagef("--checkpoint and --resume need a trace that can be read again, and %s is no file", s.trace)
	}
	if err := k.find(); err != nil {
		return err
	}
	if o.Identity, err = identity(s, in, source); err != nil || k.resume == "" {
		return err
	}
	info, err := os.Stat(k.resume)
	if err == nil && !info.Mode().IsRegular() { // not opened: a pipe may wait for ever
		return command.Usagef("--resume %s: want a regular file", k.resume)
	}
	k.from, err = os.Open(k.resume)
	if k.again() && errors.Is(err, fs.ErrNotExist) {
		k.from = nil
		command.Tell(k.notes, "replay", fmt.Sprintf("there is no %s yet: replaying from the beginning", k.resume))
		return nil
	}
	if err != nil {
		return err
	}
	if info, err = k.from.Stat(); err != nil {
		return err
	}
	o.Resume = &replay.Checkpoint{File: k.from, Size: info.Size(), Name: k.resume}
	k.resumed = true
	return nil
}

// find looks at what is there where checkpoints should be written. A checkpoint is what
// the replay goes on from, as if --resume named it: the same command again, after a job
// was killed, must not lose what that had done. Anything else is not replaced.
func (k *checkpointer) find() error {
	there, err := os.Stat(k.file)
	switch {
	case k.file == "" || err != nil:
		return nil
	case there.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0:
		return command.Usagef("--checkpoint %s: want a file that can be read again, not a pipe", k.file)
	case !there.Mode().IsRegular() || there.Size() == 0:
		return nil
	}
	if is, err := isCheckpoint(k.file); err != nil {
		return err
	} else if !is {
		return command.Usagef("--checkpoint %s: it exists and is no checkpoint, so it is not replaced", k.file)
	}
	if k.resume == "" {
		k.resume, k.found = k.file, true
		return nil
	}
	if from, err := os.Stat(k.resume); err == nil && !os.SameFile(from, there) {
		return command.Usagef("--checkpoint %s: it is a checkpoint already, and is not replaced by what follows %s: go on from it with --resume %s, or remove it", k.file, k.resume, k.file)
	}
	return nil
}

func isCheckpoint(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return replay.IsCheckpoint(head[:n]), nil
}

// identity names what a replay depends on and the library does not see: files by
// their content, what is built in by its name.
func identity(s *settings, in *input, source replay.MachineSpec) ([]replay.Property, error) {
	list := []replay.Property{{Name: "program", Value: "replay " + command.Version()}}
	platform, kernels := s.spec.Platform, s.spec.Kernels
	if s.spec.Machine != "" {
		platform, kernels = source.Platform, source.Kernels
	}
	files := [][2]string{{"platform", platform}, {"kernels", kernels}}
	if s.spec.NetworkNoise != "" {
		files = append(files, [2]string{"network noise", s.spec.NetworkNoise})
	}
	for _, p := range files {
		text, err := contentHash(p[1])
		if err != nil {
			return nil, err
		}
		list = append(list, replay.Property{Name: p[0], Value: text})
	}
	if in.text != nil {
		hash, err := in.text.Hash()
		if err != nil {
			return nil, err
		}
		list = append(list, replay.Property{Name: "trace", Value: fmt.Sprintf("%x", hash)})
	}
	return list, nil
}

// contentHash names a file by its content, or something that is built in.
func contentHash(name string) (string, error) {
	switch {
	case name == "":
		return "by default", nil
	case !regular.IsFile(name):
		return "built-in " + name, nil
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() { // not opened: a pipe may wait for ever
		return "", command.Usagef("--checkpoint, --resume and --workers need regular files, and %s is none", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
