package workqueue

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// Owner says who a worker is.
type Owner struct {
	Name string `json:"worker"`
	Host string `json:"host"`
	// of the machine since it was switched on, and of its space of process numbers
	Boot    string  `json:"boot,omitempty"`
	PID     int     `json:"pid"`                 // of the process
	Started string  `json:"started,omitempty"`   // when, by the machine's own count: numbers of processes come again
	Period  float64 `json:"lease_s"`             // after which it is dead if its file is not written to
	Job     string  `json:"slurm_job,omitempty"` // of the scheduler, for people
}

// self returns who this process is, under a name of its own.
func self(period float64) (Owner, error) {
	host, err := os.Hostname()
	if err != nil {
		return Owner{}, err
	}
	var unique [4]byte
	if _, err := rand.Read(unique[:]); err != nil {
		return Owner{}, err
	}
	o := Owner{Host: host, Boot: bootID(), PID: os.Getpid(), Period: period, Job: os.Getenv("SLURM_JOB_ID")}
	o.Started, _ = startOf(o.PID)
	o.Name = fmt.Sprintf("%s-%d-%s", fileName(host), o.PID, hex.EncodeToString(unique[:]))
	return o, nil
}

// fileName makes a text one that can stand in a file's name.
func fileName(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, text)
}

// gone reports whether a worker is known to be dead, or alive, because it is a process of this
// machine; known is false for others.
func (o *Owner) gone(me *Owner) (gone, known bool) {
	if o.Boot == "" || o.Boot != me.Boot {
		return false, false
	}
	started, runs := startOf(o.PID)
	return !runs || started != o.Started, true
}
