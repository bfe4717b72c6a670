package maxmin

import "math"

// levels holds the next level of each state of a sweep, and knows the first. States come in blocks,
// of which the first level is looked for only when it is asked for: most levels are set
// several times before.
type levels struct {
	keys  []int64 // by state: as keyOf's, but for the number in its block in place of the last bits
	least []int64 // by block that has states: the first key in it, staleKey if that is to be looked for
}

const (
	blockBits = 6
	blockSize = 1 << blockBits
	staleKey  = -1
)

// reserve makes room for states 0 to n-1.
func (l *levels) reserve(n int) {
	for len(l.least)*blockSize < n {
		l.least = append(l.least, neverKey)
		from := len(l.least)*blockSize - blockSize
		l.keys = append(l.keys[:from], neverKeys[:]...)
	}
}

var neverKeys = func() (keys [blockSize]int64) {
	for i := range keys {
		keys[i] = neverKey
	}
	return keys
}()

// set gives a state a level, +Inf if it has none.
func (l *levels) set(state uint32, level float64) {
	key := int64(math.Float64bits(level))&^(blockSize-1) | int64(state%blockSize)
	if math.IsInf(level, 1) {
		key = neverKey
	}
	l.keys[state], l.least[state/blockSize] = key, staleKey
}

// first returns the state of the lowest level, unshared if none has one.
func (l *levels) first() uint32 {
	lowest, at := int64(neverKey), 0
	for i, key := range l.least {
		if key == staleKey {
			key = l.leastOf(i)
			l.least[i] = key
		}
		if key < lowest {
			lowest, at = key, i
		}
	}
	if lowest == neverKey {
		return unshared
	}
	return uint32(at*blockSize) | uint32(lowest%blockSize)
}

// leastOf returns the least key of a block.
func (l *levels) leastOf(block int) int64 {
	keys := (*[blockSize]int64)(l.keys[block*blockSize:])
	least, other := int64(neverKey), int64(neverKey)
	for i := 0; i < blockSize; i += 4 {
		least, other = min(least, keys[i], keys[i+1]), min(other, keys[i+2], keys[i+3])
	}
	return min(least, other)
}

// clear takes all levels away.
func (l *levels) clear() { l.keys, l.least = l.keys[:0], l.least[:0] }
