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
	"reprise/smpi/option"
)

// Inline specifications stand in place of the names of files: "new --nodes 64" is the platform that replay platform
// new --nodes 64 writes ([compose.Inline]), "hosts --draw 64 --from dahu-node" the kernel models that calibrate hosts
// writes. A file of that name goes before.

// isInline reports whether the value of a parameter is an inline specification.
func isInline(word, value string) bool {
	command := map[string]string{"platform": "new", "kernels": "hosts"}[word]
	rest, ok := strings.CutPrefix(value, command)
	return command != "" && ok && (rest == "" || rest[0] == ' ')
}

// checkInlineKernels checks the flags of calibrate hosts. Those of platforms are checked where they are set.
func checkInlineKernels(s Setting) error {
	if s.Word != "kernels" || !isInline("kernels", s.Value) {
		return nil
	}
	_, err := drawOf(s.Value)
	return err
}

// draw says which hosts are drawn.
type draw struct {
	hosts.DrawOptions
	hosts.FileOptions
	from string
}

// drawOf reads the flags behind the word hosts.
func drawOf(text string) (*draw, error) {
	flags, err := option.ParseFlags(strings.TrimPrefix(text, "hosts"),
		[]string{"draw", "from", "seed", "day", "host-name", "empty", "base"}, nil)
	if err != nil {
		return nil, err
	}
	d := &draw{DrawOptions: hosts.DrawOptions{Seed: 1, Day: 1},
		FileOptions: hosts.FileOptions{HostName: "node-{}", Empty: "free"}}
	for _, f := range flags {
		var err error
		switch f.Name {
		case "draw":
			d.Hosts, err = strconv.Atoi(f.Value)
		case "day":
			d.Day, err = strconv.Atoi(f.Value)
		case "seed":
			d.Seed, err = strconv.ParseUint(f.Value, 10, 64)
		case "from":
			d.from = f.Value
		case "host-name":
			d.HostName = f.Value
		case "empty":
			d.Empty = f.Value
		case "base":
			d.BaseName = f.Value
		}
		if err != nil {
			return nil, fmt.Errorf("--%s: %s, want a whole number", f.Name, textutil.Quote(f.Value))
		}
	}
	if d.from == "" {
		return nil, errors.New("want --from MODEL, a machine model that calibrate hosts has written, or a built-in one")
	}
	return d, d.Validate()
}

// writeInline writes the file that an inline specification describes, as the input's text.
func (in *Input) writeInline(s *Study) error {
	var b bytes.Buffer
	var err error
	extension := ".xml"
	if in.Word == "platform" {
		var spec *compose.Spec
		if spec, _, err = compose.Inline(in.Name); err == nil {
			err = spec.Write(&b)
		}
	} else {
		extension = ".yaml"
		var d *draw
		if d, err = drawOf(in.Name); err == nil {
			err = s.draw(&b, d)
		}
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", in.Word, in.Name, err)
	}
	in.text = b.Bytes()
	in.copied(sha256.Sum256(in.text), extension)
	if in.Word == "platform" {
		_, err = platforms.Parse(bytes.NewReader(in.text), in.Name)
	} else {
		_, err = kernels.Parse(bytes.NewReader(in.text), in.Name)
	}
	return err
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
	d.Description = fmt.Sprintf("%s drawn from %s, seed %d, day %d", textutil.Count(d.Hosts, "host"),
		filepath.Base(d.from), d.Seed, d.Day)
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
