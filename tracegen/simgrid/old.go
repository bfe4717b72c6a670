package simgrid

// convertOld says what to do with a text of SimGrid before 3.20.
const convertOld = "a text of SimGrid before 3.20 must be converted first, by SimGrid's tools/simgrid_convert_TI_traces.py"

// oldVerbs are the actions that SimGrid before 3.20 called by other names.
var oldVerbs = map[string]bool{
	"Isend": true, "Irecv": true, "waitAll": true, "allReduce": true, "allToAll": true, "allToAllV": true, "allToAllv": true,
	"gatherV": true, "scatterV": true, "allGather": true, "allGatherV": true, "reduceScatter": true,
}

// untraceable are actions that SMPI writes but that its replay does not know, with why.
var untraceable = map[string]string{
	"waitAny": "which request ended is not in the text", "waitany": "which request ended is not in the text",
	"testany": "which requests are tested is not in the text", "testall": "which requests are tested is not in the text", "testsome": "which requests are tested is not in the text",
	"Start": "persistent requests are not in the text", "Startall": "persistent requests are not in the text",
}

// unsupported leaves the mistake that an action is not known.
func (f *fields) unsupported(verb string) {
	switch why := untraceable[verb]; {
	case oldVerbs[verb]:
		f.failf("action %q is not supported: %s", verb, convertOld)
	case why != "":
		f.failf("action %q is not supported, by SimGrid's replay neither: %s", verb, why)
	default:
		f.failf("action %q is not supported", verb)
	}
}
