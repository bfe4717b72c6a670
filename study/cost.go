package study

import (
	"math"
	"time"
)

// secondsPerMessage is what a message costs until runs of the study have been timed.
const secondsPerMessage = 1e-6

// An estimate simulates so many steps, about, and all of them where there are fewer than some
// number: HPL polls (docs/sampling.md). A run that turns out to be too chaotic costs more.
const (
	sampledSteps = 600
	exactBelow   = 800
)

// Cost returns about what a run costs, in messages: those that it simulates, and what its ranks cost by themselves.
// Runs take about as long as these numbers say.
func (c *Config) Cost(tolerance float64) float64 {
	steps, messages := c.Run.Size()
	if tolerance > 0 && steps >= exactBelow {
		steps = sampledSteps
	}
	return steps*messages + 100*float64(c.Run.Ranks())
}

// cost returns about what a run of the plan costs, in messages, with the further replays of its responses.
func (p *Plan) cost(run int) float64 {
	messages := p.configs[run].Cost(p.Tolerance)
	if p.Responses.POP {
		messages *= 3
	}
	return messages
}

// costClass puts runs together whose number of messages is alike, within a factor of 2.
func costClass(messages float64) int {
	_, exponent := math.Frexp(messages)
	return exponent
}

// memory returns about how much memory a run takes, in bytes.
func (c *Config) memory() int64 {
	return 32<<20 + int64(c.Run.Ranks())*12<<10
}

// pace is what the messages of runs cost, by those that have been made.
type pace struct{ seconds, messages float64 }

// pace returns that of the runs that have ended.
func (p *Plan) pace(r *Results) pace {
	var sum pace
	seen := map[string]bool{}
	for i, run := range p.Runs {
		if e := r.Of(run.ID); e != nil && e.Outcome != nil && !seen[run.ID] {
			seen[run.ID] = true
			sum.add(p.cost(i), e.Wall)
		}
	}
	return sum
}

func (p *pace) add(messages, seconds float64) {
	p.messages += messages
	p.seconds += seconds
}

// of predicts how long so many messages take.
func (p *pace) of(messages float64) time.Duration {
	each := secondsPerMessage
	if p.seconds > 0 {
		each = p.seconds / p.messages
	}
	return time.Duration(min(each*messages*1e9, math.MaxInt64/4))
}
