package calibrate

import "testing"

func TestDayOf(t *testing.T) {
	for date, want := range map[string]string{
		"2024-05-01": "2024-05-01", "2024-05-01T23:59:00Z": "2024-05-01", "20240501": "2024-05-01",
		"1714521600": "2024-05-01", "0": "1970-01-01", "86400.5": "1970-01-02",
		"20241301": "1970-08-23", // no month 13: seconds, 234 days and some hours
		"":         "", "1e12": "", "-1": "", "May 1": "", "2024-5-1": "",
	} {
		if got, err := DayOf(date); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v, want %q", date, got, err, want)
		}
	}
}

func TestIsBefore(t *testing.T) {
	for _, order := range [][2]string{{"999999999", "1000000000"}, {"2024-05-01", "2024-05-02"}, {"20240501", "20240502"}, {"9.5", "10.25"}} {
		if !isBefore(order[0], order[1]) || isBefore(order[1], order[0]) || isBefore(order[0], order[0]) {
			t.Errorf("%q is before %q", order[0], order[1])
		}
	}
}
