package compose

import (
	"fmt"

	"reprise/internal/textutil"
)

// String is what the cable can do.
func (c Cable) String() string { return fmt.Sprintf("%s, %.4g us", rate(c.Bandwidth), c.Latency*1e6) }

// rate writes a bandwidth in Gbps.
func rate(bandwidth float64) string { return fmt.Sprintf("%.4g Gbps", bandwidth*8/1e9) }

// flops writes a speed in Gflop/s.
func flops(speed float64) string { return fmt.Sprintf("%.4g Gflop/s", speed/1e9) }

func count(n int, noun string) string { return textutil.Count(n, noun) }

// sharing says what so many cables below have above them: "16 hosts of 100 Gbps share 8
// uplinks of 200 Gbps: no oversubscription".
func sharing(below int, what string, cable Cable, above int, link string, up Cable) string {
	ratio := float64(below) * cable.Bandwidth / (float64(above) * up.Bandwidth)
	verb := "share"
	if below == 1 {
		verb = "has"
	}
	text := fmt.Sprintf("%s of %s %s %s of %s: ", count(below, what), rate(cable.Bandwidth), verb, count(above, link),
		rate(up.Bandwidth))
	if ratio <= 1 {
		return text + "no oversubscription"
	}
	return text + fmt.Sprintf("oversubscribed %.3g to 1", ratio)
}
