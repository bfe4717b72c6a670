package kernels

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
)

// Limits of a file. The YAML parser's time and stack grow with the nesting,
// which a kernel file does not need, so nesting is checked before it runs.
const (
	maxFileBytes = 4 << 20
	maxNesting   = 16  // of [ and {, and of block collections opened on one line
	maxIndent    = 100 // columns
)

// document is a YAML file during parsing; it makes the errors.
type document struct {
	file string
}

// errorf returns an error that begins with file:line of n.
func (d *document) errorf(n ast.Node, format string, args ...any) error {
	return d.errorAt(n.GetToken(), format, args...)
}

func (d *document) errorAt(t *token.Token, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", d.file, t.Position.Line, fmt.Errorf(format, args...))
}

// read parses the text into its root node.
func (d *document) read(r io.Reader) (ast.Node, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.file, err)
	}
	if len(text) > maxFileBytes {
		return nil, fmt.Errorf("%s: more than %d bytes", d.file, maxFileBytes)
	}
	if err := d.checkText(text); err != nil {
		return nil, err
	}
	toks := lexer.Tokenize(string(text))
	if err := d.checkTokens(toks); err != nil {
		return nil, err
	}
	f, err := parser.Parse(toks, 0)
	if err != nil {
		return nil, d.syntaxError(err)
	}
	if len(f.Docs) != 1 || f.Docs[0].Body == nil {
		return nil, fmt.Errorf("%s:1: want one YAML document, found %d", d.file, countDocuments(f))
	}
	return f.Docs[0].Body, nil
}

// checkText refuses what is no text in UTF-8: a binary file, most likely.
func (d *document) checkText(text []byte) error {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r) {
			line := 1 + bytes.Count(text[:i], []byte{'\n'})
			return fmt.Errorf("%s:%d: byte %#02x at offset %d: want a text in UTF-8", d.file, line, text[i], i)
		}
		i += size
	}
	return nil
}

func countDocuments(f *ast.File) int {
	n := 0
	for _, doc := range f.Docs {
		if doc.Body != nil {
			n++
		}
	}
	return n
}

// syntaxError gives the YAML parser's message the form of ours.
func (d *document) syntaxError(err error) error {
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil {
		return d.errorAt(y.GetToken(), "%s", y.GetMessage())
	}
	return fmt.Errorf("%s:1: %w", d.file, err)
}

// checkTokens refuses nesting that no kernel file needs, and the parts of
// YAML by which a short file can stand for a long one or for a typed value.
func (d *document) checkTokens(toks token.Tokens) error {
	flow, block, line := 0, 0, 0
	for _, t := range toks {
		if t.Position.Line != line {
			line, block = t.Position.Line, 0
			if flow == 0 && t.Position.Column > maxIndent {
				return d.errorAt(t, "indented by more than %d columns", maxIndent)
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
			return d.errorAt(t, "%q: anchors, aliases, merge keys, tags, directives and ? keys are not supported (quote a text that begins so)", t.Value)
		}
		if max(flow, block) > maxNesting {
			return d.errorAt(t, "nested deeper than %d", maxNesting)
		}
	}
	return nil
}

// entry is a key of a mapping with its value.
type entry struct {
	key   string
	node  ast.Node // the key's
	value ast.Node
}

// entries returns the entries of the mapping n; what says what n is.
func (d *document) entries(n ast.Node, what string) ([]entry, error) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, d.errorf(n, "%s: want a mapping, found %s", what, describe(n))
	}
	list := make([]entry, 0, len(values))
	for _, v := range values {
		key, err := d.text(v.Key, what+": key")
		if err != nil {
			return nil, err
		}
		list = append(list, entry{key, v.Key, v.Value})
	}
	return list, nil
}

// fields returns the entries of the mapping n by key, which must be one of
// the given keys.
func (d *document) fields(n ast.Node, what string, keys ...string) (map[string]ast.Node, error) {
	list, err := d.entries(n, what)
	if err != nil {
		return nil, err
	}
	byKey := make(map[string]ast.Node, len(list))
	for _, e := range list {
		switch {
		case slices.Contains(futureKeys, e.key):
			return nil, d.errorf(e.node, "%s: %q is not supported: models are free of noise", what, e.key)
		case !slices.Contains(keys, e.key):
			return nil, d.errorf(e.node, "%s: unknown key %s: want %s", what, quote(e.key), strings.Join(keys, ", "))
		}
		byKey[e.key] = e.value
	}
	return byKey, nil
}

// futureKeys are reserved for noisy models.
var futureKeys = []string{"noise", "seed", "seeds", "sigma"}

// items returns the items of the sequence n.
func (d *document) items(n ast.Node, what string) ([]ast.Node, error) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil, d.errorf(n, "%s: want a list, found %s", what, describe(n))
	}
	return s.Values, nil
}

// text returns the text of the scalar n, whatever its YAML type.
func (d *document) text(n ast.Node, what string) (string, error) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, nil
	}
	return "", d.errorf(n, "%s: want a text or number, found %s", what, describe(n))
}

// number returns the finite number that n stands for.
func (d *document) number(n ast.Node, what string) (float64, error) {
	text, err := d.text(n, what)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xX_") || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, d.errorf(n, "%s: want a finite number, found %s", what, quote(text))
	}
	return v, nil
}

// integer returns the whole number in [lo, hi] that n stands for.
func (d *document) integer(n ast.Node, what string, lo, hi int) (int, error) {
	text, err := d.text(n, what)
	if err != nil {
		return 0, err
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < lo || v > hi {
		return 0, d.errorf(n, "%s: want a whole number in [%d,%d], found %s", what, lo, hi, quote(text))
	}
	return v, nil
}

// describe names the kind of a node in a message.
func describe(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	default:
		return quote(n.GetToken().Value)
	}
}

// maxQuoted is how many characters of a text a message repeats.
const maxQuoted = 60

// quote quotes a text, cut if it is long.
func quote(text string) string {
	if runes := []rune(text); len(runes) > maxQuoted {
		return strconv.Quote(string(runes[:maxQuoted])) + "..."
	}
	return strconv.Quote(text)
}
