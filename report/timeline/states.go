package timeline

import "reprise/replay"

// numKinds is how many kinds of time there are.
const numKinds = int(replay.TimeOverhead) + 1

// States returns the names of what time is spent on, by Slice.State.
func States() []string {
	names := make([]string, numKinds)
	for k := range names {
		names[k] = replay.TimeKind(k).String()
	}
	return names
}
