package study

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"reprise/calibrate/hosts"
	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
	"reprise/kernels"
	"reprise/platforms"
	"reprise/platforms/compose"
)

// Files that a study describes, in place of naming them, by the flags of the command that
// writes them: "new --nodes 64" is what replay platform new --nodes 64 writes, "hosts --draw 64
// --from dahu-node" what calibrate hosts does.

// descriptions are the commands, by the words that such files are the values of.
var descriptions = map[string]string{"platform": "new", "kernels": "hosts"}

// described returns the flags of a value that describes a file.
func described(word, value string) (flags string, ok bool) {
	command := descriptions[word]
	if command == "" {
		return "", false
	}
	rest, ok := strings.CutPrefix(value, command)
	return rest, ok && (rest == "" || strings.HasPrefix(rest, " "))
}

// checkDescribed checks the flags of a value, if it describes a file.
func checkDescribed(word, value string) error {
	flags, ok := described(word, value)
	if !ok {
		return nil
	}
	var err error
	if word == "platform" {
		_, err = specOf(flags)
	} else {
		_, err = drawOf(flags)
	}
	return err
}

// specOf returns the machine that flags of replay platform new describe.
func specOf(text string) (*compose.Spec, error) {
	flags, err := parseFlags(text, compose.FlagNames(), []string{"flat"})
	if err != nil {
		return nil, err
	}
	var list []compose.Flag
	for _, f := range flags {
		list = append(list, compose.Flag{Name: f.name, Value: f.value})
	}
	s, err := compose.FromFlags(list)
	if err == nil {
		err = s.Check()
	}
	return s, err
}

// draw says which hosts are drawn.
type draw struct {
	hosts.DrawOptions
	hosts.FileOptions
	from string
}

// drawOf reads flags of calibrate hosts.
func drawOf(text string) (*draw, error) {
	flags, err := parseFlags(text, []string{"draw", "from", "seed", "day", "host-name", "empty", "base"}, nil)
	if err != nil {
		return nil, err
	}
	d := &draw{DrawOptions: hosts.DrawOptions{Seed: 1, Day: 1}, FileOptions: hosts.FileOptions{HostName: "node-{}", Empty: "free"}}
	for _, f := range flags {
		if err := d.set(f); err != nil {
			return nil, fmt.Errorf("--%s: %w", f.name, err)
		}
	}
	if d.from == "" {
		return nil, errors.New("want --from MODEL, a machine model that calibrate hosts has written, or a built-in one")
	}
	return d, d.Validate()
}

func (d *draw) set(f flag) (err error) {
	switch f.name {
	case "draw":
		d.Hosts, err = strconv.Atoi(f.value)
	case "day":
		d.Day, err = strconv.Atoi(f.value)
	case "seed":
		d.Seed, err = strconv.ParseUint(f.value, 10, 64)
	case "from":
		d.from = f.value
	case "host-name":
		d.HostName = f.value
	case "empty":
		d.Empty = f.value
	case "base":
		d.BaseName = f.value
	}
	if err != nil {
		err = fmt.Errorf("%s, want a whole number", textutil.Quote(f.value))
	}
	return err
}

// describe writes the file that an input's name describes.
func (in *Input) describe(s *Study, flags string) error {
	text, err := s.write(in.Word, flags)
	if err != nil {
		return fmt.Errorf("%s %s: %w", in.Word, in.Name, err)
	}
	in.text = text
	in.copied(sha256.Sum256(text), map[string]string{"platform": ".xml", "kernels": ".yaml"}[in.Word])
	return in.checkText()
}

func (s *Study) write(word, flags string) ([]byte, error) {
	var b bytes.Buffer
	if word == "platform" {
		spec, err := specOf(flags)
		if err == nil {
			err = spec.Write(&b)
		}
		return b.Bytes(), err
	}
	d, err := drawOf(flags)
	if err == nil {
		err = s.draw(&b, d)
	}
	return b.Bytes(), err
}

// draw writes kernel models of hosts that are drawn.
func (s *Study) draw(w io.Writer, d *draw) error {
	model, err := hosts.Find(s.find(d.from))
	if err != nil {
		return err
	}
	if d.Base, err = s.base(d.BaseName); err != nil {
		return fmt.Errorf("base: %w", err)
	}
	d.Description = fmt.Sprintf("%s drawn from %s, seed %d, day %d", textutil.Count(d.Hosts, "host"), filepath.Base(d.from), d.Seed, d.Day)
	d.Source = model.SourceOfDraw(d.from)
	machine, err := model.Draw(d.DrawOptions)
	if err != nil {
		return err
	}
	return machine.WriteYAML(w, d.FileOptions)
}

// base returns the text of a kernel file, or of a built-in set; nil without a name.
func (s *Study) base(name string) ([]byte, error) {
	switch found := s.find(name); {
	case name == "":
		return nil, nil
	case regular.IsFile(found):
		return regular.Read(found, yamlfile.MaxBytes)
	default:
		text, err := kernels.BuiltinText(name)
		return text, regular.Missing(name, err)
	}
}

// checkText checks the text of a description's file.
func (in *Input) checkText() (err error) {
	if in.Word == "platform" {
		_, err = platforms.Parse(bytes.NewReader(in.text), in.Name)
	} else {
		_, err = kernels.Parse(bytes.NewReader(in.text), in.Name)
	}
	return err
}

// FindPlatform loads what the word platform of a study may name, or describe. The generic machine is
// one of a single host.
func FindPlatform(name string) (*platforms.Platform, error) {
	flags, ok := described("platform", name)
	if !ok {
		return platforms.Find(name, 1)
	}
	text, err := (&Study{}).write("platform", flags)
	if err != nil {
		return nil, fmt.Errorf("platform %s: %w", name, err)
	}
	return platforms.Parse(bytes.NewReader(text), name)
}
