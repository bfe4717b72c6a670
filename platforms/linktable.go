package platforms

// A linkTable is the links that a cluster owns, in a few runs of alike ones, so
// that a cluster of any size takes the same few bytes.
type linkTable struct {
	first int32 // platform's number of the table's link 0
	count int64
	runs  []linkRun
	// levels are the names of the kinds of links.
	levels []string
}

// A linkRun is alike links. name makes the name of the i-th of the run.
type linkRun struct {
	start     int64 // in the table
	bandwidth float64
	latency   float64
	policy    Policy
	levels    levelRun // of the table's
	name      func(i int32) string
}

// add appends a run of count >= 0 links like the given one, whose levels are the given ones
// in turn, and returns the platform's number of its first. The caller checks count
// afterwards: until then the table may hold more links than a platform can.
func (t *linkTable) add(count int64, like Link, levels []string, name func(i int32) string) int32 {
	start, of := t.count, levelRun{int32(len(t.levels)), int32(len(levels))}
	if count > 0 {
		t.levels = append(t.levels, levels...)
	}
	t.runs = append(t.runs, linkRun{start, like.Bandwidth, like.Latency, like.Policy, of, name})
	t.count = min(t.count+count, MaxLinks+1)
	return t.first + int32(start)
}

// run returns the run that holds link i of the table.
func (t *linkTable) run(i int32) *linkRun {
	k := len(t.runs) - 1
	for t.runs[k].start > int64(i) {
		k--
	}
	return &t.runs[k]
}

func (t *linkTable) capacity(i int32) (bandwidth, latency float64, policy Policy) {
	r := t.run(i)
	return r.bandwidth, r.latency, r.policy
}

// level returns the index of the level of link i of the table among the table's.
func (t *linkTable) level(i int32) int {
	r := t.run(i)
	return r.levels.of(i - int32(r.start))
}

func (t *linkTable) linkName(i int32) string {
	r := t.run(i)
	return r.name(i - int32(r.start))
}
