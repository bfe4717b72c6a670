package study

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"reprise/internal/atomicfile"
	"reprise/internal/regular"
	"reprise/kernels"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/platforms/machines"
	"reprise/replay"
)

// Input is something that runs depend on and that is no setting: a file, of which a study's
// directory has a copy, or something that is built in.
type Input struct {
	Word   string `json:"word"` // platform, kernels, network-noise, hostfile or trace
	Name   string `json:"name"` // as settings have it
	File   string `json:"file"` // the copy, in the study's directory; "": it is built in
	SHA256 string `json:"sha256"`
	at     string // where the file is, when the study is planned
	text   []byte
}

// find returns where a file is: beside the study's own, or in the working directory.
func (s *Study) find(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if beside := filepath.Join(filepath.Dir(s.File), name); beside != name {
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	return name
}

// written returns the name in the study's file of a part of a machine that is called value there:
// a file of its directory, which was found, or something built in.
func written(part, found, value string) string {
	if part == found {
		return value
	}
	return filepath.Join(value, filepath.Base(part))
}

// Largest sizes of files.
const (
	maxInput = 64 << 20
	maxTrace = 512 << 20
)

func (in *Input) limit() int64 {
	if in.Word == "trace" {
		return maxTrace
	}
	return maxInput
}

// inputsOf returns what a machine is made of.
func inputsOf(m *replay.MachineSpec) []Input {
	list := []Input{{Word: "platform", Name: m.Platform}, {Word: "kernels", Name: m.Kernels}}
	if m.NetworkNoise != "" {
		list = append(list, Input{Word: "network-noise", Name: m.NetworkNoise})
	}
	if m.Hostfile != "" {
		list = append(list, Input{Word: "hostfile", Name: m.Hostfile})
	}
	return list
}

// gather reads the inputs of all configurations, each once, in the order in which they come.
func (s *Study) gather(configs []*Config) ([]Input, error) {
	var list []Input
	if s.trace != nil {
		list = append(list, *s.trace)
	}
	known := map[[2]string]bool{}
	for _, c := range configs {
		for _, in := range inputsOf(&c.Machine) {
			if key := [2]string{in.Word, in.Name}; !known[key] {
				known[key] = true
				if err := in.read(s); err != nil {
					return nil, err
				}
				list = append(list, in)
			}
		}
	}
	return list, nil
}

// read reads what a name stands for.
func (in *Input) read(s *Study) (err error) {
	in.at = s.find(in.Name)
	switch {
	case isInline(in.Word, in.Name) && !regular.IsFile(in.at):
		return in.writeInline(s)
	case regular.IsFile(in.at):
		return in.readFile()
	case in.Word == "platform":
		if in.text, err = machines.Platform(in.Name); err != nil {
			_, err = platforms.Find(in.Name, 1) // says what is known
		}
	case in.Word == "kernels":
		if in.text, err = kernels.BuiltinText(in.Name); err != nil {
			err = regular.Missing(in.Name, err)
		}
	default:
		return in.readFile()
	}
	sum := sha256.Sum256(in.text)
	in.SHA256 = hex.EncodeToString(sum[:])
	return err
}

// readFile reads a file that the study's directory gets a copy of.
func (in *Input) readFile() (err error) {
	if in.text, err = regular.Read(in.at, in.limit()); err != nil {
		return err
	}
	sum := sha256.Sum256(in.text)
	in.copied(sum, filepath.Ext(in.Name))
	return in.check(sum)
}

// copied names the copy by what it holds, as inputName wants it: with an underscore for what is
// unusual in an extension.
func (in *Input) copied(sum [sha256.Size]byte, extension string) {
	in.SHA256 = hex.EncodeToString(sum[:])
	in.File = filepath.Join(inputsDir, hex.EncodeToString(sum[:8])+unusual.ReplaceAllString(extension, "_"))
}

// unusual is what extensions of copies do not have, nor names in archives.
var unusual = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// check checks the file: a mistake in it is better told now than by each run.
func (in *Input) check(sum [sha256.Size]byte) (err error) {
	switch in.Word {
	case "kernels":
		_, err = kernels.Parse(bytes.NewReader(in.text), in.at)
	case "network-noise":
		_, err = netmodel.ParseNoise(bytes.NewReader(in.text), in.at)
	case "platform":
		var p *platforms.Platform
		if p, err = platforms.Load(in.at); err == nil && p.Hash() != sum {
			err = errors.New(in.at + " reads other files, which a study cannot take with it: put the profiles into it, as <trace> elements")
		}
	}
	return err
}

// inputsDir is where the copies are.
const inputsDir = "inputs"

// store writes the copy of an input.
func (in *Input) store(dir string) error {
	if in.File == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(dir, inputsDir), 0o777); err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(dir, in.File), func(w io.Writer) error {
		_, err := w.Write(in.text)
		return err
	})
}
