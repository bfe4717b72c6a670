// Package percent reads shares of a whole as people write them.
package percent

import (
	"fmt"
	"strconv"
	"strings"
)

// mostFraction is the largest share without a percent sign: 0.5 is more likely
// half a percent than half of the whole.
const mostFraction = 0.1

// Parse reads a percentage of less than 100 %, or a fraction of the whole. It is more than 0,
// unless that makes sense.
func Parse(text, whole string, zero bool) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v < 1 || v == 0 && zero) {
		least := "more than 0"
		if zero {
			least = "at least 0"
		}
		return 0, fmt.Errorf("%q, want %s and less than 100%%, such as 0.5%%", text, least)
	}
	if !percent && v > mostFraction {
		return 0, fmt.Errorf("%s would be %.6g%% of %s: write %.6g%%, or %s%%", text, 100*v, whole, 100*v, strings.TrimSpace(number))
	}
	return v, nil
}
