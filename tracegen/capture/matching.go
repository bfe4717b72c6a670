package capture

import "reprise/trace"

// matching says what steps of several ranks belong together.
type matching struct {
	table  *table
	groups [][]int32 // by family and rank: the rank's group
}

// place is where a message or an operation belongs: a channel, or a group of a family. The zero
// place is none.
type place struct {
	kind             placeKind
	family, from, to int32 // of an operation: the group, 0
	tag              int64
}

type placeKind uint8

const (
	ofMessages placeKind = 1 + iota
	ofOperations
	ofPosts     // of windows
	ofCompletes // of windows
	ofWindows
)

func newMatching(t *table, families []trace.CommFamily, ranks int) matching {
	m := matching{table: t}
	for i := range families {
		groups := make([]int32, ranks)
		for g := range families[i].Groups {
			for k := range families[i].Groups[g].Len() {
				groups[families[i].Groups[g].Member(k)] = int32(g)
			}
		}
		m.groups = append(m.groups, groups)
	}
	return m
}

// ends returns where a step of a rank sends to and receives from, and the operation that it is.
func (m *matching) ends(rank int, s *step) (out, in, operation place) {
	own, peer := int32(rank), int32(s.args[argPeer])
	switch s.kind {
	case trace.KindSend, trace.KindSsend, trace.KindIsend, trace.KindIssend, trace.KindStart:
		out = place{ofMessages, s.family, own, peer, s.args[argTag]}
	case trace.KindRecv, trace.KindIrecv:
		in = place{ofMessages, s.family, peer, own, s.args[argTag]}
	case trace.KindSendrecv:
		out = place{ofMessages, s.family, own, peer, s.args[argTag]}
		in = place{ofMessages, s.family, int32(s.args[argSource]), own, s.args[argSent]}
	case trace.KindCollective, trace.KindIcollective:
		operation = place{kind: ofOperations, family: s.family, from: m.groups[s.family][rank]}
	case trace.KindSync:
		window := s.args[argTag]
		switch {
		case s.sync.Collective():
			operation = place{kind: ofWindows, family: s.family, from: m.groups[s.family][rank], tag: window}
		case s.sync == trace.SyncPost:
			out = place{ofPosts, s.family, own, peer, window}
		case s.sync == trace.SyncStart:
			in = place{ofPosts, s.family, peer, own, window}
		case s.sync == trace.SyncComplete:
			out = place{ofCompletes, s.family, own, peer, window}
		case s.sync == trace.SyncWait:
			in = place{ofCompletes, s.family, peer, own, window}
		}
	}
	return out, in, operation
}
