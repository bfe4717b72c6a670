package study

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"reprise/calibrate/hosts"
	"reprise/internal/atomicfile"
	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/internal/yamlfile"
	"reprise/kernels"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/platforms/compose"
	"reprise/platforms/machines"
	"reprise/replay"
	"reprise/smpi/option"
)

// This file reads, copies and names by their content what the runs of a study depend on: Input.

const (
	// inputsDir is the directory of the copies.
	inputsDir = "inputs"

	// Largest sizes of files, in bytes.
	maxInput = 64 << 20
	maxTrace = 512 << 20
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

// limit returns the largest size of the file.
func (in *Input) limit() int64 {
	if in.Word == "trace" {
		return maxTrace
	}
	return maxInput
}

// find returns where a file is: beside the study's own, or in the working directory.
func (s *Study) find(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	// A study can be run from any directory; names are nearer to its file than to the caller.
	if beside := filepath.Join(filepath.Dir(s.File), name); beside != name {
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	return name
}

// inputsOf returns the inputs of a machine.
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

// read reads the text of an input: of a file, of an inline specification, or of something built in. A file goes first.
func (in *Input) read(s *Study) (err error) {
	in.at = s.find(in.Name)
	switch {
	case isInline(in.Word, in.Name) && !regular.IsFile(in.at):
		return in.readInline(s)
	case regular.IsFile(in.at) || in.Word != "platform" && in.Word != "kernels":
		return in.readFile()
	case in.Word == "platform":
		if in.text, err = machines.Platform(in.Name); err != nil {
			_, err = platforms.Find(in.Name, 1) // its error lists the known ones
		}
	default:
		if in.text, err = kernels.BuiltinText(in.Name); err != nil {
			err = regular.Missing(in.Name, err)
		}
	}
	in.SHA256 = sumOf(in.text)
	return err
}

// readFile reads a file of which the study's directory gets a copy, and checks it: an error of
// the plan is better than one of each run.
func (in *Input) readFile() (err error) {
	if in.text, err = regular.Read(in.at, in.limit()); err != nil {
		return err
	}
	in.copied(filepath.Ext(in.Name))
	switch in.Word {
	case "kernels":
		_, err = kernels.Parse(bytes.NewReader(in.text), in.at)
	case "network-noise":
		_, err = netmodel.ParseNoise(bytes.NewReader(in.text), in.at)
	case "platform":
		var p *platforms.Platform
		// The hash of a platform is over all files that it reads; that of the text is over one.
		if p, err = platforms.Load(in.at); err == nil && p.Hash() != sha256.Sum256(in.text) {
			err = errors.New(in.at + " reads other files, which a study cannot take with it: put the profiles into it," +
				" as <trace> elements")
		}
	}
	return err
}

// unusual matches characters that extensions of copies, and so names in archives, do not have.
var unusual = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// copied names the copy by its content, as inputName wants it.
func (in *Input) copied(extension string) {
	in.SHA256 = sumOf(in.text)
	in.File = filepath.Join(inputsDir, in.SHA256[:16]+unusual.ReplaceAllString(extension, "_"))
}

// sumOf returns the SHA-256 of a text, in hexadecimal digits.
func sumOf(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// store writes the copy of an input.
func (in *Input) store(dir string) error {
	if in.File == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(dir, inputsDir), 0o777); err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(dir, in.File), atomicfile.Bytes(in.text))
}

// path returns where the copy of an input is; before the plan is written, the input itself.
func (p *Plan) path(in *Input) string {
	if p.dir == "" {
		return in.at
	}
	return filepath.Join(p.dir, in.File)
}

// textOf returns the content of an input, which must be that of the time when the study was planned.
func (p *Plan) textOf(in *Input) (text []byte, err error) {
	switch {
	// Texts stay in memory only while the study is planned, or comes from an archive; workers read the copies.
	case in.text != nil:
		return in.text, nil
	case in.File != "":
		text, err = regular.Read(p.path(in), in.limit())
	case in.Word == "platform":
		text, err = machines.Platform(in.Name)
	default:
		text, err = machines.Kernels(in.Name)
	}
	if err != nil {
		return nil, err
	}
	return text, in.unchanged(text, p.path(in))
}

// unchanged returns an error if a text, which was read from a path, is not the input's.
func (in *Input) unchanged(text []byte, at string) error {
	if sum := sumOf(text); sum != in.SHA256 {
		return fmt.Errorf("%s %s is not what it was when the study was planned (SHA-256 %s, was %s)", in.Word, at, sum,
			in.SHA256)
	}
	return nil
}

// Inline specifications stand in place of the names of files: "new --nodes 64" is the platform
// that replay platform new --nodes 64 writes ([compose.Inline]), "hosts --draw 64 --from
// dahu-node" the kernel models that calibrate hosts writes.

// isInline reports whether the value of a parameter is an inline specification.
func isInline(word, value string) bool {
	command := map[string]string{"platform": "new", "kernels": "hosts"}[word]
	rest, ok := strings.CutPrefix(value, command)
	return command != "" && ok && (rest == "" || rest[0] == ' ')
}

// readInline writes the file of an inline specification, as the input's text.
func (in *Input) readInline(s *Study) (err error) {
	var b bytes.Buffer
	// Platforms are XML, kernel models YAML.
	extension := ".xml"
	if in.Word == "platform" {
		var spec *compose.Spec
		if spec, _, err = compose.Inline(in.Name); err == nil {
			err = spec.Write(&b)
		}
	} else {
		extension = ".yaml"
		var h *hostsSample
		if h, err = sampleOf(in.Name); err == nil {
			err = h.write(&b, s)
		}
	}
	// The text becomes a file of the study: the study stays the same when the built-in machine models, or
	// the writer, change.
	if err != nil {
		return fmt.Errorf("%s %s: %w", in.Word, in.Name, err)
	}
	in.text = b.Bytes()
	in.copied(extension)
	if in.Word == "platform" {
		_, err = platforms.Parse(&b, in.Name)
	} else {
		_, err = kernels.Parse(&b, in.Name)
	}
	return err
}

// hostsSample is an inline specification of kernel models: hosts that are sampled from a machine model.
type hostsSample struct {
	hosts.DrawOptions
	hosts.FileOptions
	from string
}

// sampleOf reads the flags behind the word hosts, which are those of calibrate hosts.
func sampleOf(text string) (*hostsSample, error) {
	flags, err := option.ParseFlags(strings.TrimPrefix(text, "hosts"),
		[]string{"draw", "from", "seed", "day", "host-name", "empty", "base"}, nil)
	if err != nil {
		return nil, err
	}
	h := &hostsSample{DrawOptions: hosts.DrawOptions{Seed: 1, Day: 1},
		FileOptions: hosts.FileOptions{HostName: "node-{}", Empty: "free"}}
	// Flags with texts, by their names; the others have numbers.
	texts := map[string]*string{"from": &h.from, "host-name": &h.HostName, "empty": &h.Empty, "base": &h.BaseName}
	for _, f := range flags {
		var err error
		switch f.Name {
		case "draw":
			h.Hosts, err = strconv.Atoi(f.Value)
		case "day":
			h.Day, err = strconv.Atoi(f.Value)
		case "seed":
			h.Seed, err = strconv.ParseUint(f.Value, 10, 64)
		default:
			*texts[f.Name] = f.Value
		}
		if err != nil {
			return nil, fmt.Errorf("--%s: %s, want a whole number", f.Name, textutil.Quote(f.Value))
		}
	}
	if h.from == "" {
		return nil, errors.New("want --from MODEL, a machine model that calibrate hosts has written, or a built-in one")
	}
	return h, h.DrawOptions.Validate()
}

// write samples the hosts and writes their kernel models. The base, if there is one, is a kernel
// file or a built-in set.
func (h *hostsSample) write(w io.Writer, s *Study) (err error) {
	defer textutil.Stopped(&err)
	model := textutil.Must(hosts.Find(s.find(h.from)))
	if found := s.find(h.BaseName); regular.IsFile(found) {
		h.Base, err = regular.Read(found, yamlfile.MaxBytes)
	} else if h.BaseName != "" {
		h.Base, err = kernels.BuiltinText(h.BaseName)
		err = regular.Missing(h.BaseName, err)
	}
	if err != nil {
		return fmt.Errorf("base: %w", err)
	}
	// The file says where its hosts come from, as one that calibrate hosts has written does.
	h.Description = fmt.Sprintf("%s drawn from %s, seed %d, day %d", textutil.Count(h.Hosts, "host"),
		filepath.Base(h.from), h.Seed, h.Day)
	// The source says of which measurement the model is, as licences want it.
	h.Source = model.SourceOfDraw(h.from)
	return textutil.Must(model.Draw(h.DrawOptions)).WriteYAML(w, h.FileOptions)
}
