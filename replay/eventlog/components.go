package eventlog

// Component is one thing that paths spend time on.
type Component struct {
	Kind    Kind
	Account int32 // OnAccount
	Phase   int32 // innermost, OnAccount; -1: none
	Level   int32 // of links, OnWire and InContention
}

// Kind is a kind of component.
type Kind uint8

// Kinds of components.
const (
	OnAccount    Kind = iota // a rank spends its time on an account
	InLatency                // the latency of messages
	OnWire                   // messages carried at the rate that they would have alone
	InContention             // what they lose as they share links
)

var kindNames = [...]string{OnAccount: "on an account", InLatency: "latency", OnWire: "on the wire",
	InContention: "contention"}

// String names the kind.
func (k Kind) String() string { return kindNames[k] }

// components has a place for everything that time may be spent on, and numbers what is on a path
// that lasts, so that vectors have no more than it takes. The places of ranks come first: for
// each phase and for none those of accounts; then latency, then for each level wire and contention.
type components struct {
	list    []Component
	numbers []int32 // by place: number+1; 0: it has none yet
	stride  int32   // accounts
	latency int32   // place
}

func newComponents(accounts, phases, levels int) components {
	latency := (phases + 1) * accounts
	return components{numbers: make([]int32, latency+1+2*levels), stride: int32(accounts), latency: int32(latency)}
}

// row returns where the places of a phase begin, -1 for none.
func (c *components) row(phase int32) int32 { return (phase + 1) * c.stride }

// wire returns the place of what messages spend time on, on links of a level. Contention has the
// next one.
func (c *components) wire(level int32) int32 { return c.latency + 1 + 2*level }

// number returns the number of what is at a place, which is on a path that lasts.
func (c *components) number(place int32) int {
	if n := c.numbers[place]; n > 0 {
		return int(n) - 1
	}
	return c.add(place)
}

// add numbers what is at a place.
func (c *components) add(place int32) int {
	c.list = append(c.list, c.at(place))
	c.numbers[place] = int32(len(c.list))
	return len(c.list) - 1
}

// at returns what is at a place.
func (c *components) at(place int32) Component {
	links := place - c.latency - 1
	switch {
	case links < -1:
		return Component{Kind: OnAccount, Account: place % c.stride, Phase: place/c.stride - 1}
	case links < 0:
		return Component{Kind: InLatency}
	case links%2 == 0:
		return Component{Kind: OnWire, Level: links / 2}
	}
	return Component{Kind: InContention, Level: links / 2}
}
