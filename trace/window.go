package trace

// This file says what one-sided communication is in a trace: accesses to windows (Builder.Access), and synchronisations
// of windows (Builder.Sync). A window is named by a family and a number. The rank's group in the family is the group of
// the window's communicator; the number can be used again once the window is freed.

// AccessKind is a one-sided access to memory of another rank.
type AccessKind uint8

// The accesses. A put or accumulate has bytes that go to the target, a get bytes that come back, the others have both.
const (
	AccessPut AccessKind = iota
	AccessGet
	AccessAccumulate
	AccessGetAccumulate
	AccessFetchAndOp
	AccessCompareAndSwap
	numAccesses
)

// accessNames are MPI's names of the accesses, without MPI_ and in small letters.
var accessNames = [numAccesses]string{"put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"}

// String returns MPI's name in small letters.
func (k AccessKind) String() string { return nameOf(accessNames[:], uint8(k), "access") }

// Fetches reports whether bytes come back to the origin.
func (k AccessKind) Fetches() bool { return k != AccessPut && k != AccessAccumulate }

// SyncKind is a synchronisation of a window.
type SyncKind uint8

// The synchronisations. Those that are collective are called by all ranks of the window's group,
// in the same order; of the others a comment says whom they name.
const (
	SyncCreate        SyncKind = iota // collective
	SyncFree                          // collective
	SyncFence                         // collective
	SyncPost                          // one rank of the group that may access now
	SyncStart                         // one rank of the group whose post is waited for
	SyncComplete                      // one rank of the group of the start
	SyncWait                          // one rank of the group of the post
	SyncLockShared                    // the target
	SyncLockExclusive                 // the target
	SyncUnlock                        // the target
	SyncLockAll                       // all
	SyncUnlockAll                     // all
	SyncFlush                         // the target, or all
	SyncFlushLocal                    // the target, or all
	numSyncs
)

// syncNames are MPI's names of the synchronisations, without MPI_Win_ and in small letters.
var syncNames = [numSyncs]string{"create", "free", "fence", "post", "start", "complete", "wait", "lock_shared",
	"lock_exclusive", "unlock", "lock_all", "unlock_all", "flush", "flush_local"}

// String returns MPI's name in small letters, without what says that it concerns windows.
func (k SyncKind) String() string { return nameOf(syncNames[:], uint8(k), "synchronisation") }

// Collective reports whether all ranks of the window's group call it.
func (k SyncKind) Collective() bool { return k <= SyncFence }

// one reports whether a synchronisation may name a rank, all whether it may name AllRanks.
func (k SyncKind) one() bool { return k >= SyncPost && k <= SyncUnlock || k >= SyncFlush }
func (k SyncKind) all() bool { return k.Collective() || k >= SyncLockAll }

// AllRanks is the peer of a synchronisation that concerns all ranks of the group.
const AllRanks = -1

// Assertions of a synchronisation, as MPI_MODE_NOCHECK and the others have them: bits.
const (
	AssertNoCheck = 1 << iota
	AssertNoStore
	AssertNoPut
	AssertNoPrecede
	AssertNoSucceed
	numAsserts = 1 << iota
)

// MaxWindows bounds the windows of a family: their numbers are below it.
const MaxWindows = 1 << 16

// AccessKind returns that of a KindAccess or KindIaccess action.
func (a *Action) AccessKind() AccessKind { return AccessKind(a.X[2]) }

// SyncKind returns that of a KindSync action.
func (a *Action) SyncKind() SyncKind { return SyncKind(a.X[0]) }

// Access appends an access to a window of a family: out bytes go to the peer, in bytes come
// back. A request of 0 or more is one that a wait completes, of -1 none.
func (b *Builder) Access(kind AccessKind, family int, req int32, peer, window, out, in Operand) {
	it := Item{Op: OpAccess, Slot: uint8(kind), Sym: family, Args: []Operand{peer, window, out, in}}
	if req >= 0 {
		it.Op, it.Req = OpIaccess, req
	}
	b.Add(it)
}

// Sync appends a synchronisation of a window. Peer is a rank of the world, or AllRanks.
func (b *Builder) Sync(kind SyncKind, family int, peer, window, assert Operand) {
	b.Add(Item{Op: OpSync, Slot: uint8(kind), Sym: family, Args: []Operand{peer, window, assert}})
}

// access stores the action of an access; it fails on one that cannot be. A get sends nothing and a put fetches
// nothing, so that bytes on the wrong side are a mistake of the writer.
func (c *Cursor) access(a *Action, in *instr, r *registers) bool {
	peer, window, out, back := r[in.a]+int64(in.x), r[in.b]+int64(in.y), r[in.c]+int64(in.z), r[in.d]+int64(in.w)
	kind := AccessKind(in.flags)
	switch {
	case !c.isMember(in.sym, peer):
		c.fail("%v with rank %d, which is not in the window's group", kind, peer)
	case uint64(window) >= MaxWindows:
		c.fail("%v in window %d, allowed [0,%d)", kind, window, MaxWindows)
	case out < 0 || back < 0:
		c.fail("%v of %d bytes and %d that come back", kind, out, back)
	case kind == AccessGet && out != 0 || !kind.Fetches() && back != 0:
		c.fail("%v of %d bytes and %d that come back: one of them must be 0", kind, out, back)
	default:
		a.set(KindAccess, in.sym, peer, window, 0)
		if in.op == opIaccess {
			a.Kind, a.Req = KindIaccess, int32(c.set.aux[0])
		}
		a.X = [4]int64{out, back, int64(kind)}
		return true
	}
	return false
}

// sync stores the action of a synchronisation; it fails on one that cannot be.
func (c *Cursor) sync(a *Action, in *instr, r *registers) bool {
	peer, window, assert := r[in.a]+int64(in.x), r[in.b]+int64(in.y), r[in.c]+int64(in.z)
	kind := SyncKind(in.flags)
	switch {
	case peer == AllRanks && !kind.all():
		c.fail("%v with all ranks", kind)
	case peer != AllRanks && !kind.one():
		c.fail("%v with rank %d, want %d for all", kind, peer, AllRanks)
	case peer != AllRanks && !c.isMember(in.sym, peer):
		c.fail("%v with rank %d, which is not in the window's group", kind, peer)
	case uint64(window) >= MaxWindows:
		c.fail("%v of window %d, allowed [0,%d)", kind, window, MaxWindows)
	case uint64(assert) >= numAsserts:
		c.fail("%v with assertions %d, allowed [0,%d)", kind, assert, numAsserts)
	default:
		a.set(KindSync, in.sym, peer, window, 0)
		a.X = [4]int64{int64(kind), assert}
		return true
	}
	return false
}

// isMember reports whether a rank is in the cursor's own group of a family.
func (c *Cursor) isMember(family uint16, rank int64) bool {
	groups := c.set.trace.Program().groups[family]
	return uint64(rank) < uint64(len(groups)) && groups[rank] == groups[c.rank]
}
