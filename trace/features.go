package trace

import (
	"errors"
	"fmt"
	"hash"
	"io"
	"math/bits"
	"slices"
	"strings"

	"reprise/trace/vectors"
)

// ErrFeature marks a trace with a feature that this package does not know.
var ErrFeature = errors.New("unknown feature")

// feature is a part of the format that a reader must know to expand a file that
// uses it. Parts that every file may use have no feature. A reader refuses a file with a feature that it does not know,
// by name, and reads all others: so an addition to the format needs no new version.
type feature uint8

// Features; those from numFeatures on are the kinds of generated vectors.
const (
	featureLists         feature = iota // call sites with a count column
	featureVectors                      // vectors
	featurePolls                        // pollable operations
	featureRequests                     // nonblocking messages, and what completes them
	featureCollectives                  // collective operations
	featureOperators                    // reductions that name their operator
	featureCommunicators                // messages and collective operations of communicators, peers that are null
	featureNonblocking                  // nonblocking collective operations
	featureCompletions                  // completions of several requests, blocking probes, persistent sends
	featureSpreads                      // computations that state their spread
	featureOneSided                     // windows, accesses to them and what synchronises them
	featureFiles                        // accesses to files
	featureQueues                       // queues of devices, and memories of messages
	featureRelays                       // relays, rings, and work until requests are complete
	featureBeside                       // actions beside a rank
	numFeatures
)

// featureNames are the names in the file.
var featureNames = append([]string{
	featureLists: "lists", featureVectors: "vectors", featurePolls: "polls",
	featureRequests: "requests", featureCollectives: "collectives", featureOperators: "operators",
	featureCommunicators: "communicators", featureNonblocking: "nonblocking", featureCompletions: "completions",
	featureSpreads: "spreads", featureOneSided: "one-sided", featureFiles: "files",
	featureQueues: "queues", featureRelays: "relays", featureBeside: "beside",
}, generatorNames()...)

func generatorNames() (list []string) {
	for _, name := range vectors.Names() {
		list = append(list, "vectors:"+name)
	}
	return list
}

// generatorFeature returns the feature of a kind.
func generatorFeature(kind string) feature {
	return numFeatures + feature(slices.Index(vectors.Names(), kind))
}

// featureSet has bit f set for each feature f.
type featureSet uint64

// add adds one feature.
func (s *featureSet) add(f feature) { *s |= 1 << f }

// names lists the features, sorted.
func (s featureSet) names() []string {
	var names []string
	for rest := uint64(s); rest != 0; rest &= rest - 1 {
		names = append(names, featureNames[bits.TrailingZeros64(rest)])
	}
	slices.Sort(names)
	return names
}

// String lists the features for an error.
func (s featureSet) String() string { return strings.Join(s.names(), ", ") }

// read adds the features that a record lists; tool names the program that wrote the file. All unknown names are
// gathered before the error, so that it tells people all that they lack.
func (s *featureSet) read(names []string, tool string) error {
	var unknown []string
	for i, name := range names {
		f := slices.Index(featureNames, name)
		if f < 0 {
			unknown = append(unknown, fmt.Sprintf("%q", name))
			continue
		}
		if *s&(1<<f) != 0 || i > 0 && name <= names[i-1] {
			return corruptf("feature %q is listed again, or out of order", name)
		}
		s.add(feature(f))
	}
	if unknown != nil {
		return fmt.Errorf("%w %s: made by a newer tracegen (%q) than this program: use one as new", ErrFeature,
			strings.Join(unknown, ", "), tool)
	}
	return nil
}

// lack reports features that are used and not listed.
func (s featureSet) lack(used featureSet) error {
	if missing := used &^ s; missing != 0 {
		return corruptf("uses %v, which the features do not list", missing)
	}
	return nil
}

// features returns the features that the header uses. The checker gathers those of blocks, the Writer those of vectors.
func (h *Header) features() (s featureSet) {
	if h.Pollables > 0 {
		s.add(featurePolls)
	}
	if h.Communicators {
		s.add(featureCommunicators)
	}
	if len(h.Queues) > 0 {
		s.add(featureQueues)
	}
	for i := range h.CallSites {
		t := &h.CallSites[i]
		if t.Counts != NoAxis {
			s.add(featureLists)
		}
		for _, p := range t.Params {
			if p.Vector {
				s.add(featureVectors)
			}
		}
	}
	return s
}

// hashFeatures adds the features that a definitions record lists to its hash.
func hashFeatures(h hash.Hash, names []string) {
	for _, name := range names {
		io.WriteString(h, name+"\n")
	}
}
