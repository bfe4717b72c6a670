package text

import (
	"strconv"
	"strings"

	"reprise/trace"
)

// Words are forms of lines that replace the usual ones, where the recorder of a program
// writes others; empty ones replace nothing. In a form {name} stands for a value.
type Words struct {
	Wait        string                          // of {verb} (send or recv), {peer}, {bytes}, {tag}
	Collectives map[trace.CollectiveKind]string // of {count} elements of {size} bytes, {root}, {operator}
}

// waitText fills in the form of a wait.
func waitText(form string, r request) string {
	return strings.NewReplacer("{verb}", r.verb, "{peer}", strconv.Itoa(int(r.peer)),
		"{bytes}", strconv.FormatInt(r.bytes, 10), "{tag}", strconv.Itoa(int(r.tag))).Replace(form)
}

// collectiveText fills in the form of a collective operation.
func collectiveText(form string, c *trace.Collective) string {
	return strings.NewReplacer("{count}", strconv.FormatInt(c.Send, 10), "{size}", strconv.FormatInt(c.SendSize, 10),
		"{root}", strconv.Itoa(int(c.Root)), "{operator}", c.Operator.String()).Replace(form)
}
