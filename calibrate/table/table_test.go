package table

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/textutil"
)

// readAll returns the header and the rows of a table.
func readAll(r io.Reader) (rows [][]string, err error) {
	t, err := NewReader(r, "t.csv")
	if err != nil {
		return nil, err
	}
	rows = append(rows, t.Header())
	for {
		if err := t.Next(); errors.Is(err, io.EOF) {
			return rows, t.Close()
		} else if err != nil {
			return nil, err
		}
		var row []string
		for i := range t.Header() {
			row = append(row, t.Text(i))
		}
		rows = append(rows, row)
	}
}

const sample = "# measured on Monday\r\nFunction, M,seconds\r\n\r\ndgemm,10, 0.5\r\n\"a \"\"b\"\", c\",,\r\n"

var sampleRows = [][]string{{"function", "m", "seconds"}, {"dgemm", "10", "0.5"}, {`a "b", c`, "", ""}}

func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.Bytes()
}

// TestRead: packed or not, with the byte order mark that some editors begin a file with or without.
func TestRead(t *testing.T) {
	for _, text := range []string{sample, "\ufeff" + sample, "\ufeff\n" + sample, "\ufeff" + strings.TrimPrefix(sample, "# measured on Monday\r\n")} {
		for _, r := range []io.Reader{strings.NewReader(text), bytes.NewReader(zipped(text))} {
			got, err := readAll(r)
			if diff := cmp.Diff(sampleRows, got); err != nil || diff != "" {
				t.Errorf("%q: %v\n%s", text, err, diff)
			}
		}
	}
}

// TestErrors: line ends and encodings that spreadsheets may write are named, whatever the length of the table.
func TestErrors(t *testing.T) {
	const endings, encoding = "t.csv:1: lines end in CR alone: want LF, or CR LF", "t.csv:1: UTF-16, or no text: want a table in UTF-8"
	for _, test := range []struct{ text, want string }{
		{"", "t.csv: empty table: want a header line with the names of the columns"},
		{"#\n\n", "t.csv: empty table"},
		{"a,b\n1\n", "t.csv:2: 1 fields, want 2 as in the header"},
		{"a,A\n", `t.csv:1: columns 1 and 2 are both called "a"`},
		{"a\n\n\"x\n", "t.csv:3: field 1: no closing quote"},
		{"a\n\"x\"y\n", "t.csv:2: field 1: no closing quote"},
		{"a\n\"x\"\"\n", "t.csv:2: field 1: no closing quote"},
		{"a\n" + strings.Repeat("x", MaxLine+1), "t.csv:2: line longer than 65536 bytes"},
		{strings.Repeat("a,", MaxColumns), "t.csv:1: more than 256 columns"},
		{"a,b\r1,2\r", endings}, {"# c\ra,b\r" + strings.Repeat("1,2\r", MaxLine), endings},
		{"\xff\xfea\x00,\x00b\x00\n\x00", encoding}, {"\xfe\xff\x00a\x00\n", encoding}, {"a\x00,\x00b\x00\n\x00", encoding},
		{"\x1f\x8bnonsense", "t.csv: "},
		{string(zipped(sample)[:30]), "t.csv:"},
	} {
		list := []io.Reader{strings.NewReader(test.text), bytes.NewReader(zipped(test.text))}
		if strings.HasPrefix(test.text, "\x1f") { // is unpacked once
			list = list[:1]
		}
		for _, r := range list {
			if _, err := readAll(r); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%.20q: got %v, want %s", test.text, err, test.want)
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	r, err := NewReader(strings.NewReader("n\nx\nNaN\n1e999\n-1\n1.5\n1e17\n1_0\n0x1p3\n"), "t.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`t.csv:2: n: want a number, found "x"`, `t.csv:3: n: want a number, found "NaN"`, `t.csv:4: n: want a number, found "1e999"`,
		`t.csv:5: n: want a whole number from 0 to 2^53, found "-1"`, `t.csv:6: n: want a whole number from 0 to 2^53, found "1.5"`, `t.csv:7: n: want a whole number from 0 to 2^53, found "1e17"`,
		`t.csv:8: n: want a number, found "1_0"`, `t.csv:9: n: want a number, found "0x1p3"`,
	} {
		if err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Count(0); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestColumn(t *testing.T) {
	r, err := NewReader(strings.NewReader("a,b,c\n"), "t.csv")
	if err != nil {
		t.Fatal(err)
	}
	if i, err := r.Column("x", "b"); i != 1 || err != nil {
		t.Errorf("b: %d, %v", i, err)
	}
	if i, err := r.Column("x"); i != -1 || err != nil {
		t.Errorf("x: %d, %v", i, err)
	}
	if _, err := r.Column("c", "a"); err == nil || err.Error() != `t.csv:1: columns "a" and "c" mean the same` {
		t.Errorf("a and c: %v", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(sample))
	f.Add(zipped(sample))
	f.Add([]byte("a,\"b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := readAll(bytes.NewReader(data))
		for _, row := range rows {
			if err == nil && len(row) != len(rows[0]) {
				t.Fatalf("row of %d fields under %d columns", len(row), len(rows[0]))
			}
		}
	})
}

// TestIdleLines: a kilobyte of gzip may stand for any number of empty lines, which are not
// read to their end.
func TestIdleLines(t *testing.T) {
	for name, head := range map[string]string{"t:4194305": "", "t:4194306": "a,b\n"} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, err := io.WriteString(z, head)
		for range 64 {
			_, werr := z.Write(bytes.Repeat([]byte("\n"), 1<<20))
			err = errors.Join(err, werr)
		}
		if err := errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(&packed, "t")
		if err == nil {
			err = r.Next()
		}
		if !errors.Is(err, textutil.ErrIdle) || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%q: %v, want %s", head, err, name)
		}
	}
}
