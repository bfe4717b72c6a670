package hpcg

import (
	"reprise/trace"
	"reprise/trace/text"
)

// Words returns the lines of a listing that the recorded runs of HPCG write in another way.
func Words() text.Words {
	return text.Words{
		Wait: "wait {peer} {bytes}",
		Collectives: map[trace.CollectiveKind]string{
			trace.CollAllreduce: "allreduce {count} {size} {operator}",
			trace.CollBcast:     "bcast {count} {size} {root}",
		},
	}
}
