// Package yamlfile reads the YAML files of the models: a plain subset of YAML, with
// errors that begin with file:line and say what was found and what is allowed.
//
// A [Document] reads the text into the nodes of package ast and takes values out of them. Each method gets a node and
// what it stands for, such as "dgemm: terms", with which its error begins; an error ends the reading ([Document.Stop]):
//
//	list := d.Entries(n, "kernels")               // a mapping, in the order of the file
//	fields := d.Fields(n, "hosts", "host!", "cpu") // a mapping with known keys only, of which host must be there
//	cpu := d.Integer(fields["cpu"], "hosts: cpu", 0, 3)
//
// Values are texts until somebody asks for a number: the types that YAML gives to scalars depend on its version.
// Anchors, tags and the like are refused, and so are nesting and sizes that no model needs, before the parser of YAML
// runs: files come from anywhere.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"reprise/internal/textutil"
)

// MaxBytes is the largest size of a file.
const MaxBytes = 4 << 20

// ByteOrderMark is what some editors begin a file with; it is passed over.
const ByteOrderMark = "\ufeff"

// Limits of a file's form. The YAML parser's time and stack grow with the nesting,
// which models do not need, so nesting is checked before it runs.
const (
	maxNesting = 16  // of [ and {, and of block collections opened on one line
	maxIndent  = 100 // columns
)

// Document is a YAML file during parsing; it makes the errors.
type Document struct {
	File string // for errors
}

// Errorf returns an error that begins with file:line of n.
func (d *Document) Errorf(n ast.Node, format string, args ...any) error {
	return d.errorAt(n.GetToken(), format, args...)
}

// errorAt is Errorf with the place of a token.
func (d *Document) errorAt(t *token.Token, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", d.File, t.Position.Line, textutil.Brief(fmt.Errorf(format, args...)))
}

// Read parses the text into its root node.
func (d *Document) Read(r io.Reader) (ast.Node, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.File, err)
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%s: more than %d bytes", d.File, MaxBytes)
	}
	// What is no text in UTF-8 is a binary file, most likely.
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r) {
			line := 1 + bytes.Count(text[:i], []byte{'\n'})
			return nil, fmt.Errorf("%s:%d: byte %#02x at offset %d: want a text in UTF-8", d.File, line, text[i], i)
		}
		i += size
	}

	// Nesting that no model needs is refused before the parser runs, and so are the parts of YAML by which a short
	// file can stand for a long one or for a typed value.
	toks := lexer.Tokenize(strings.TrimPrefix(string(text), ByteOrderMark))
	flow, block, line := 0, 0, 0 // nesting of brackets, and of block collections opened on the line
	for _, t := range toks {
		if t.Position.Line != line {
			line, block = t.Position.Line, 0
			if flow == 0 && t.Position.Column > maxIndent {
				return nil, d.errorAt(t, "indented by more than %d columns", maxIndent)
			}
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType, token.MappingValueType:
			if flow <= 0 {
				block++
			}
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType, token.DirectiveType, token.MappingKeyType:
			return nil, d.errorAt(t, "%q: anchors, aliases, merge keys, tags, directives and ? keys are not supported (quote a text that begins so)", t.Value)
		}
		if max(flow, block) > maxNesting {
			return nil, d.errorAt(t, "nested deeper than %d", maxNesting)
		}
	}

	f, err := parser.Parse(toks, 0)
	if err != nil {
		if y, ok := errors.AsType[yaml.Error](err); ok && y.GetToken() != nil { // its message gets the form of ours
			return nil, d.errorAt(y.GetToken(), "%s", y.GetMessage())
		}
		return nil, fmt.Errorf("%s:1: %w", d.File, textutil.Brief(err))
	}
	if len(f.Docs) != 1 || f.Docs[0].Body == nil {
		bodies := slices.DeleteFunc(f.Docs, func(doc *ast.DocumentNode) bool { return doc.Body == nil })
		return nil, fmt.Errorf("%s:1: want one YAML document, found %d", d.File, len(bodies))
	}
	return f.Docs[0].Body, nil
}

// Stop ends the reading of the file at an error of a node (textutil.Stop), as all methods that take values do: so
// readers of files, which defer textutil.Stopped, need not ask for errors.
func (d *Document) Stop(n ast.Node, format string, args ...any) {
	textutil.Stop(d.Errorf(n, format, args...))
}

// Check ends the reading at a node if there is an error, the last argument of the format.
func (d *Document) Check(err error, n ast.Node, format string, args ...any) {
	if err != nil {
		d.Stop(n, format, append(args, err)...)
	}
}

// Entry is a key of a mapping with its value.
type Entry struct {
	Key   string
	Node  ast.Node // the key's
	Value ast.Node
}

// Entries returns the entries of the mapping n; what says what n is.
func (d *Document) Entries(n ast.Node, what string) []Entry {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		d.Stop(n, "%s: want a mapping, found %s", what, Describe(n))
	}
	list := make([]Entry, len(values))
	for i, v := range values {
		list[i] = Entry{d.Text(v.Key, what+": key"), v.Key, v.Value}
	}
	return list
}

// Fields returns the entries of the mapping n by key, which must be one of the given keys. Those that end in "!" must
// be there.
func (d *Document) Fields(n ast.Node, what string, keys ...string) map[string]ast.Node {
	list := d.Entries(n, what)
	byKey := make(map[string]ast.Node, len(list))
	for _, e := range list {
		if !slices.Contains(keys, e.Key) && !slices.Contains(keys, e.Key+"!") {
			d.Stop(e.Node, "%s: unknown key %s: want %s", what, Quote(e.Key), strings.ReplaceAll(strings.Join(keys, ", "), "!", ""))
		}
		byKey[e.Key] = e.Value
	}
	for _, key := range keys {
		if needed, ok := strings.CutSuffix(key, "!"); ok && byKey[needed] == nil {
			d.Stop(n, "%s: no key %q", what, needed)
		}
	}
	return byKey
}

// Head checks the keys with which files of models begin: the version, which is 1, and the texts description and source,
// which may be missing. It returns the unit, one of some.
func (d *Document) Head(f map[string]ast.Node, units ...string) (unit string) {
	d.Integer(f["version"], "version", 1, 1)
	for _, key := range []string{"description", "source"} {
		if f[key] != nil {
			d.Text(f[key], key)
		}
	}
	return d.Choice(f["unit"], "unit", units...)
}

// Items returns the items of the sequence n.
func (d *Document) Items(n ast.Node, what string) []ast.Node {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		d.Stop(n, "%s: want a list, found %s", what, Describe(n))
	}
	return s.Values
}

// Text returns the text of the scalar n, whatever its YAML type.
func (d *Document) Text(n ast.Node, what string) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value
	}
	d.Stop(n, "%s: want a text or number, found %s", what, Describe(n))
	return ""
}

// Choice returns the text of n, which must be one of some words; "" if n is nil.
func (d *Document) Choice(n ast.Node, what string, words ...string) string {
	if n == nil {
		return ""
	}
	text := d.Text(n, what)
	if !slices.Contains(words, text) {
		d.Stop(n, "%s: want %s, found %s", what, strings.Join(words, " or "), Quote(text))
	}
	return text
}

// Number returns the finite number that n stands for.
func (d *Document) Number(n ast.Node, what string) float64 {
	text := d.Text(n, what)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xX_") || math.IsInf(v, 0) || math.IsNaN(v) {
		d.Stop(n, "%s: want a finite number, found %s", what, Quote(text))
	}
	return v
}

// Integer returns the whole number in [lo, hi] that n stands for.
func (d *Document) Integer(n ast.Node, what string, lo, hi int) int {
	text := d.Text(n, what)
	v, err := strconv.Atoi(text)
	if err != nil || v < lo || v > hi {
		d.Stop(n, "%s: want a whole number in [%d,%d], found %s", what, lo, hi, Quote(text))
	}
	return v
}

// Describe names the kind of a node in a message.
func Describe(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	default:
		return Quote(n.GetToken().Value)
	}
}

// Quote quotes a text, cut if it is long.
func Quote(text string) string { return textutil.Quote(text) }
