package calibrate

import (
	"fmt"
	"strconv"
	"time"
)

// DayOf returns the day of a date, yyyy-mm-dd: the date begins with it, is yyyymmdd, or is a
// number of seconds since 1970 (and the day that of UTC).
func DayOf(date string) (string, error) {
	if day, err := time.Parse("20060102", date); err == nil {
		return day.Format(time.DateOnly), nil
	}
	if len(date) >= len(time.DateOnly) {
		day := date[:len(time.DateOnly)]
		if _, err := time.Parse(time.DateOnly, day); err == nil {
			return day, nil
		}
	}
	seconds, err := strconv.ParseFloat(date, 64)
	if err != nil || !(seconds >= 0 && seconds < 1e11) {
		return "", fmt.Errorf("date %q, want yyyy-mm-dd, yyyymmdd, or seconds since 1970", date)
	}
	return time.Unix(int64(seconds), 0).UTC().Format(time.DateOnly), nil
}
