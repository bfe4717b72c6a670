package option

import (
	"fmt"
	"slices"
	"strings"

	"reprise/internal/textutil"
)

// Flag is a flag of a command with its value.
type Flag struct{ Name, Value string }

// ParseFlags reads flags as a shell would, such as "--nodes 64 --fat-tree 'leaf=16 up=8'", for a specification that
// stands in place of a file. Switches have no value. Flags that are not known, or given twice, are an error.
func ParseFlags(text string, known, switches []string) ([]Flag, error) {
	words, err := splitWords(text)
	if err != nil {
		return nil, err
	}
	var list []Flag
	for len(words) > 0 {
		name, isFlag := strings.CutPrefix(words[0], "--")
		words = words[1:]
		name, value, has := strings.Cut(name, "=")
		switch {
		case !isFlag:
			return nil, fmt.Errorf("%s, want flags such as --%s", textutil.Quote(name), known[0])
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("no flag --%s here: there are --%s", name, strings.Join(known, ", --"))
		case slices.ContainsFunc(list, func(f Flag) bool { return f.Name == name }):
			return nil, fmt.Errorf("--%s is there twice", name)
		case has || slices.Contains(switches, name):
		case len(words) == 0:
			return nil, fmt.Errorf("--%s has no value", name)
		default:
			value, words = words[0], words[1:]
		}
		list = append(list, Flag{name, value})
	}
	return list, nil
}

// splitWords splits a text at blanks that are in no quotes, single or double.
func splitWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, inWord := rune(0), false
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("%s: a quotation mark %c is not closed", textutil.Quote(text), quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
