package trace

// This file holds what an access of the traced program to a file is in a trace: Builder.File appends one to a
// block, a cursor yields it as a KindFile action.

// FileKind says whether an access to a file reads or writes.
type FileKind uint8

// What an access to a file does.
const (
	FileRead FileKind = iota
	FileWrite
	numFileKinds
)

// fileNames are the verbs of accesses to files in listings.
var fileNames = [numFileKinds]string{"file_read", "file_write"}

// String returns the name of it in a listing.
func (k FileKind) String() string { return nameOf(fileNames[:], uint8(k), "file access") }

// collectiveFile is the bit of an item's Slot that says that all ranks of the family's group access the file together.
const collectiveFile = 1 << 1

// FileKind returns that of a KindFile action, and whether it is collective.
func (a *Action) FileKind() (kind FileKind, collective bool) { return FileKind(a.X[1]), a.X[2] != 0 }

// File appends an access to a file of the communicator that is the own group of a family. A
// collective one is called by all ranks of the group.
func (b *Builder) File(kind FileKind, collective bool, family int, bytes Operand) {
	b.Add(Item{Op: OpFile, Slot: FileSlot(kind, collective), Sym: family, Args: []Operand{bytes}})
}

// FileSlot returns the Slot of an OpFile.
func FileSlot(kind FileKind, collective bool) uint8 {
	if collective {
		return uint8(kind) | collectiveFile
	}
	return uint8(kind)
}

// FileKind undoes FileSlot for an OpFile.
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
