package platforms_test

import (
	"strings"
	"testing"

	"reprise/platforms"
)

// TestParseAlone: a description from elsewhere reads no file of this machine, whatever element names it.
func TestParseAlone(t *testing.T) {
	for _, text := range []string{
		`<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><trace id="t" file="/etc/passwd" periodicity="1"/></zone></platform>`,
		`<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf" speed_file="/etc/passwd"/></zone></platform>`,
		`<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf" availability_file="../secret"/></zone></platform>`,
	} {
		_, err := platforms.ParseAlone(strings.NewReader(text), "p.xml")
		if err == nil || !strings.HasPrefix(err.Error(), "p.xml:1: ") || strings.Contains(err.Error(), "root:") {
			t.Errorf("%v, want an error with the place and without what is in the file", err)
		}
	}
	text := `<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><trace id="t" periodicity="1">0 1
</trace><trace_connect kind="SPEED" trace="t" element="a"/></zone></platform>`
	if _, err := platforms.ParseAlone(strings.NewReader(text), "p.xml"); err != nil {
		t.Error(err)
	}
}
