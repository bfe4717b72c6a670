package collective

// doubling is a round of recursive doubling for any number p of places: in step i
// groups of 2^i places, which begin at multiples of 2^i and know the data of
// their members, join with their neighbours. Place v exchanges with v xor 2^i. If
// p is no power of two, the last group is smaller than its neighbour, of which
// some find no partner; they get the data from the others, in i further rounds, by
// recursive halving. Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
// Collective Communication Operations in MPICH", IJHPCA 19(1), 2005, section 4.1.
type doubling struct {
	move         doublingMove
	peer         int // place
	mine, theirs int // first place of the own group and of the other one
	mask         int // places of a full group
}

type doublingMove uint8

const (
	idle doublingMove = iota
	swap              // the data of the own group for that of the other
	pass              // the data of the other group on
	take              // the data of the other group
)

// newDoubling returns what place v does in a round, and whether more follow.
func newDoubling(v, p, round int) (d doubling, more bool) {
	i := 0
	for ; round > i; i++ {
		round -= i + 1
	}
	d.mask = 1 << i
	d.mine = v &^ (d.mask - 1)
	d.theirs = d.mine ^ d.mask
	more = round < i || 2*d.mask < p
	if round == 0 {
		if d.peer = v ^ d.mask; d.peer < p {
			d.move = swap
		}
		return d, more
	}
	if d.theirs+d.mask <= p {
		return d, more
	}
	half := d.mask >> round
	d.peer = v ^ half
	served := v&^(2*half-1) + p - d.theirs // first place that has no partner, of those around v
	switch {
	case v < d.peer && v < served && d.peer >= served:
		d.move = pass
	case d.peer < v && d.peer < served && v >= served:
		d.move = take
	}
	return d, more
}
