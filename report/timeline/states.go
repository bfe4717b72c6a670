package timeline

import "reprise/replay"

// numStates is how many kinds of time there are.
const numStates = int(replay.TimeOverhead) + 1

// States returns the names of what time is spent on, by Slice.State.
func States() []string {
	names := make([]string, numStates)
	for k := range names {
		names[k] = replay.TimeKind(k).String()
	}
	return names
}

// pageStates are what a page tells apart, as in record.Data.
var pageStates = []string{"compute", "wait", "poll", "overhead", "sleep"}

const numPageStates = 5

// pageState returns which of them a kind of time is.
func pageState(k replay.TimeKind) uint16 {
	switch {
	case k.Waits():
		return 1
	case k == replay.TimePoll:
		return 2
	case k == replay.TimeOverhead:
		return 3
	case k == replay.TimeSleep:
		return 4
	}
	return 0
}
