package record

import (
	"testing"

	"reprise/replay"
)

// BenchmarkReplay plays HPL with nobody looking, with an observer that looks at nothing, and
// with a recorder.
func BenchmarkReplay(b *testing.B) {
	for _, who := range []string{"none", "ignore", "record"} {
		b.Run("observer="+who, func(b *testing.B) {
			bench := hplBench(b, 2)
			b.ReportAllocs()
			messages := int64(0)
			for b.Loop() {
				o := bench.Replay
				switch who {
				case "ignore":
					o.Observers = []replay.Observer{{}}
				case "record":
					o.Observers = []replay.Observer{bench.recorder(b).Observer()}
				}
				res, err := bench.play(b, o)
				if err != nil {
					b.Fatal(err)
				}
				messages += res.Messages
			}
			b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
