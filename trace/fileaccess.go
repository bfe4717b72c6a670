package trace

import "fmt"

// FileKind says whether an access to a file reads or writes.
type FileKind uint8

// What an access to a file does.
const (
	FileRead FileKind = iota
	FileWrite
	numFileKinds
)

// NumFileKinds is the number of kinds of accesses to files.
const NumFileKinds = int(numFileKinds)

var fileNames = [numFileKinds]string{"file_read", "file_write"}

// String returns the name of it in a listing.
func (k FileKind) String() string {
	if k < numFileKinds {
		return fileNames[k]
	}
	return fmt.Sprintf("file access %d", uint8(k))
}

// collectiveFile is the bit of an item's Slot that says that all ranks of the family's group
// access the file together.
const collectiveFile = 1 << 1

// FileKind returns that of a KindFile action, and whether it is collective.
func (a *Action) FileKind() (kind FileKind, collective bool) { return FileKind(a.X[1]), a.X[2] != 0 }

// File appends an access to a file of the communicator that is the own group of a family. A
// collective one is called by all ranks of the group.
func (b *Builder) File(kind FileKind, collective bool, family int, bytes Operand) {
	it := Item{Op: OpFile, Slot: uint8(kind), Sym: family, Args: []Operand{bytes}}
	if collective {
		it.Slot |= collectiveFile
	}
	b.add(it)
}

// FileKind returns that of an OpFile, and whether it is collective.
func (it *Item) FileKind() (kind FileKind, collective bool) {
	return FileKind(it.Slot &^ collectiveFile), it.Slot&collectiveFile != 0
}

// file stores the action of an access to a file; it fails on one that cannot be.
func (c *Cursor) file(a *Action, in *instr, r *registers) bool {
	bytes := r[in.a] + int64(in.x)
	kind := FileKind(in.flags &^ collectiveFile)
	if bytes < 0 {
		c.fail("%v of %d bytes", kind, bytes)
		return false
	}
	a.set(KindFile, in.sym, 0, 0, 0)
	a.X = [4]int64{bytes, int64(kind), int64(in.flags / collectiveFile)}
	return true
}
