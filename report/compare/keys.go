package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"reprise/internal/wording"
	"reprise/replay"
)

// keys are those that are read.
var keys = keysOf(document{}, share{}, replay.SeedResult{}, replay.Summary{}, replay.PartNames{}, replay.PartTimes{})

func keysOf(structs ...any) (list []string) {
	for _, s := range structs {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(s)) {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			list = append(list, key)
		}
	}
	return list
}

// checkKeys refuses JSON in which an object has a key twice, or one that is read in other case:
// encoding/json would take the last of them for the value.
func checkKeys(text []byte) error { return checkValue(json.NewDecoder(bytes.NewReader(text)), "") }

// checkValue checks the next value, that of a key.
func checkValue(d *json.Decoder, of string) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		err = checkObject(d, of)
	case json.Delim('['):
		for err == nil && d.More() {
			err = checkValue(d, of)
		}
	default:
		return nil
	}
	if err == nil {
		_, err = d.Token()
	}
	return err
}

// checkObject checks the members of an object, that of a key.
func checkObject(d *json.Decoder, of string) error {
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		key := token.(string)
		if seen[key] {
			return fmt.Errorf("the key %s twice in one object: which of them holds?", wording.Quote(key))
		}
		seen[key] = true
		if of != "parameters" { // whose keys are names of the program
			if err := checkCase(key); err != nil {
				return err
			}
		}
		if err := checkValue(d, key); err != nil {
			return err
		}
	}
	return nil
}

// checkCase refuses a key that differs from one that is read by its case alone.
func checkCase(key string) error {
	for _, k := range keys {
		if key != k && strings.EqualFold(key, k) {
			return fmt.Errorf("the key %s: want %s", wording.Quote(key), wording.Quote(k))
		}
	}
	return nil
}
