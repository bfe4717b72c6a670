// Package regular opens and reads regular files only ([Open]). It is for files at known places with unknown content: of
// a study's directory, of recordings, of checkpoints. Anybody may have put something else there: reading a pipe waits
// for ever, a device never ends, and a file may be larger than the memory. IsFile and Missing tell names of files from
// names of built-in things, and Load reads whatever a user has named.
package regular

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// ErrSpecial is the error of what is no regular file.
var ErrSpecial = errors.New("want a regular file")

// Open opens a regular file, or one that a link leads to, for reading. Anything else is an error
// that says what it is, without waiting.
func Open(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil { // to open a device may change its state
		if err := Check(path, info); err != nil {
			return nil, err
		}
	}
	// Somebody may put a pipe there in between: opened so, it does not wait for a writer, and the second check finds
	// it.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = Check(path, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Check returns an error that says what is at path if it is no regular file.
func Check(path string, info fs.FileInfo) error {
	what := "something else"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	case mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	}
	return fmt.Errorf("%s: %w, this is %s", path, ErrSpecial, what)
}

// Read reads a regular file of at most so many bytes.
// The size is asked for first, so that nothing is allocated for a file that is too long.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, TooLong(path, most)
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1)) // it may grow
	if err == nil && int64(len(text)) > most {
		err = TooLong(path, most)
	}
	return text, err
}

// Hash names a regular file by its content: the SHA-256 in hexadecimal digits.
func Hash(path string) (string, error) {
	f, err := Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// TooLong is the error of a file of more than so many bytes.
func TooLong(path string, most int64) error {
	if most < 1<<20 {
		return fmt.Errorf("%s: more than %d KiB", path, most>>10)
	}
	return fmt.Errorf("%s: more than %d MiB", path, most>>20)
}

// Load opens a file, which need not be a regular one, and returns what parse makes of it.
func Load[T any](path string, parse func(r io.Reader, name string) (T, error)) (v T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return v, err
	}
	defer f.Close()
	return parse(f, path)
}

// IsFile reports whether there is something at path that is no directory.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// Missing gives err, of a name that is neither a file nor built in, another text if it is a
// directory, or looks like a path.
func Missing(path string, err error) error {
	if err == nil {
		return nil
	}
	if info, serr := os.Stat(path); serr == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory, want a file or a built-in name", path)
	}
	if strings.ContainsAny(path, "./\\") {
		return fmt.Errorf("%s: %w; %w", path, fs.ErrNotExist, err)
	}
	return err
}
