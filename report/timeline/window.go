package timeline

import "reprise/report/packed"

// Window is what ranks do between two times, as a page draws it. Times are in seconds.
type Window struct {
	Title string  `json:"title"` // such as "step 17"
	From  float64 `json:"from_s"`
	To    float64 `json:"to_s"`
	Note  string  `json:"note,omitempty"` // what was left out or taken together, in a sentence

	Ranks int `json:"ranks"` // rows: ranks [FirstRank, FirstRank+Ranks)
	First int `json:"first_rank"`

	Names  []string `json:"names"`  // of actions: verbs of trace cat, names of kernels
	States []string `json:"states"` // as in record.Data
	Args   []string `json:"args"`   // texts, the first is ""

	// Slices, in the order of rank and begin; slices of a rank do not overlap.
	Slices int          `json:"slices"`
	Rank   packed.Bytes `json:"rank"`  // uint32
	Begin  packed.Bytes `json:"begin"` // float64, seconds
	End    packed.Bytes `json:"end"`   // float64, seconds
	Name   packed.Bytes `json:"name"`  // uint16, of Names
	State  packed.Bytes `json:"state"` // uint16, of States
	Arg    packed.Bytes `json:"arg"`   // uint32, of Args

	// Arrows, messages of which both sides are in the window, in the order of Sent.
	Arrows  int          `json:"arrows"`
	Source  packed.Bytes `json:"source"`  // uint32, ranks
	Target  packed.Bytes `json:"target"`  // uint32
	Sent    packed.Bytes `json:"sent"`    // float64, seconds: post of the send
	Arrived packed.Bytes `json:"arrived"` // float64, seconds: end of the transfer
	Bytes   packed.Bytes `json:"bytes"`   // float64
	Tag     packed.Bytes `json:"tag"`     // uint32, two's complement
}
