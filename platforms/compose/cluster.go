package compose

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/internal/textutil"
)

// Flat is all nodes on one switch that is never the bottleneck.
type Flat struct{}

func (Flat) check(*Spec) error { return nil }

func (Flat) words(s *Spec) []string {
	return []string{fmt.Sprintf("one switch, a cable of %v to each node: no oversubscription", s.NIC)}
}

// body writes a cluster without a backbone: only the cables of the nodes bound messages.
func (Flat) body(b *xmlBuilder, s *Spec) { b.cluster(1, "cluster", s, 0, s.Nodes, "") }

// Torus is a torus of nodes, by its sizes, each at least 2.
type Torus struct{ Sizes []int }

// ParseTorus reads sizes such as 4x4x8.
func ParseTorus(text string) (Torus, error) {
	var t Torus
	for word := range strings.SplitSeq(text, "x") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 2 {
			return t, fmt.Errorf("torus %s: %s is not a whole number of at least 2, want sizes such as 4x4x8",
				textutil.Quote(text), textutil.Quote(word))
		}
		t.Sizes = append(t.Sizes, n)
	}
	return t, nil
}

// check holds the sizes against the number of nodes: a size of 1 would be no dimension.
func (t Torus) check(s *Spec) error {
	for _, n := range t.Sizes {
		if n < 2 {
			return fmt.Errorf("a torus of %s: sizes are at least 2", t.text("x"))
		}
	}
	if n := product(t.Sizes...); n != s.Nodes {
		return fmt.Errorf("a torus of %s has %s, not %d", t.text("x"), count(n, "node"), s.Nodes)
	}
	return nil
}

// text writes the sizes.
func (t Torus) text(between string) string {
	return strings.Join(textutil.Texts(t.Sizes, strconv.Itoa), between)
}

func (t Torus) words(s *Spec) []string {
	return []string{fmt.Sprintf("a torus of %s, each node with a cable of %v to the next one in each of %s", t.text("x"),
		s.NIC, count(len(t.Sizes), "dimension"))}
}

// body writes a TORUS, whose cables are those of the nodes.
func (t Torus) body(b *xmlBuilder, s *Spec) {
	b.cluster(1, "torus", s, 0, s.Nodes, fmt.Sprintf(` topology="TORUS" topo_parameters="%s"`, t.text(",")))
}

// product multiplies positive numbers; beyond a limit that no machine has it stays there.
func product(list ...int) int {
	const limit = 1 << 30
	n := 1
	for _, k := range list {
		n = min(limit, n*min(k, limit))
	}
	return n
}
