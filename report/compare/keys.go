package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"reprise/internal/textutil"
	"reprise/replay"
)

// keys are those that are read, by the key of the object that has them.
var keys = map[string][]string{
	"": keysOf(document{}), "makespan_s": keysOf(replay.Summary{}), "gflops": keysOf(replay.Summary{}),
	"runs": keysOf(replay.SeedResult{}), "draws": keysOf(replay.SeedResult{}), "time_s": keysOf(replay.PartTimes{}), "time_names": keysOf(replay.PartNames{}),
	"time_by_kind": keysOf(share{}), "time_by_phase": keysOf(share{}), "time_by_kernel": keysOf(share{}),
}

func keysOf(of any) (list []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(of)) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		list = append(list, key)
	}
	return list
}

// checkKeys refuses JSON in which an object has a key twice, or one that is read in other case:
// encoding/json would take the last of them for the value. Keys that are not read may be as they
// like.
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
			return fmt.Errorf("the key %s twice in one object: which of them holds?", textutil.Quote(key))
		}
		seen[key] = true
		if err := checkCase(of, key); err != nil {
			return err
		}
		if err := checkValue(d, key); err != nil {
			return err
		}
	}
	return nil
}

// checkCase refuses a key that differs by its case alone from one that is read in an object.
func checkCase(of, key string) error {
	for _, k := range keys[of] {
		if key != k && strings.EqualFold(key, k) {
			return fmt.Errorf("the key %s: want %s", textutil.Quote(key), textutil.Quote(k))
		}
	}
	return nil
}
