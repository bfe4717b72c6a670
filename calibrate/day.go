package calibrate

import (
	"fmt"
	"strconv"
	"time"
)

// isBefore reports whether a date is before another one of the same table: both are texts that
// order as the dates do, or seconds, which have more digits from 2001 on.
func isBefore(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 == nil && err2 == nil {
		return x < y
	}
	return a < b
}

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
