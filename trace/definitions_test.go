package trace

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	pb "reprise/proto"
)

// decodeByReflection is decodeDefinitions by protobuf's own decoder.
func decodeByReflection(b []byte) ([]Block, []string, error) {
	var m pb.Definitions
	if err := unmarshal(b, &m); err != nil {
		return nil, nil, err
	}
	blocks := make([]Block, len(m.Blocks))
	for i, d := range m.Blocks {
		items, err := itemsByReflection(d.Items, 0)
		if err != nil {
			return nil, nil, corruptf("block %q: %v", d.Name, err)
		}
		blocks[i] = Block{Name: d.Name, Params: fit(d.Params), Items: items}
	}
	return blocks, m.Features, nil
}

func itemsByReflection(from []*pb.Item, depth int) ([]Item, error) {
	if len(from) == 0 {
		return nil, nil
	}
	if depth > maxNesting {
		return nil, corruptf("nested deeper than %d", maxNesting)
	}
	items := make([]Item, len(from))
	for i, m := range from {
		if max(m.Op, m.Dst, m.Slot) > math.MaxUint8 {
			return nil, corruptf("item %d: operation %d, register %d, slot %d: at most 255", i, m.Op, m.Dst, m.Slot)
		}
		it := Item{Op: Op(m.Op), Dst: Reg(m.Dst), Slot: uint8(m.Slot), Req: m.Req, Sym: fit(m.Sym), GuardSym: fit(m.GuardSym), Comm: fit(m.Comm)}
		if len(m.Coefs) > 0 {
			it.Coefs = m.Coefs
		}
		var err error
		if it.Args, err = operandsByReflection(m.ArgRegs, m.ArgConsts); err != nil {
			return nil, err
		}
		if it.Guard, err = operandsByReflection(m.GuardRegs, m.GuardConsts); err != nil {
			return nil, err
		}
		if it.Body, err = itemsByReflection(m.Body, depth+1); err != nil {
			return nil, err
		}
		items[i] = it
	}
	return items, nil
}

func operandsByReflection(regs []byte, consts []int64) ([]Operand, error) {
	if len(regs) != len(consts) {
		return nil, corruptf("%d registers, %d constants", len(regs), len(consts))
	}
	if len(regs) == 0 {
		return nil, nil
	}
	args := make([]Operand, len(regs))
	for i := range args {
		args[i] = Operand{Reg(regs[i]), consts[i]}
	}
	return args, nil
}

// onTheWire are definitions with fields that come twice, in parts, in another order, as another
// type, or that nobody knows.
func onTheWire() map[string][]byte {
	item := func(b ...byte) []byte {
		return protowire.AppendBytes([]byte{0x0a}, protowire.AppendBytes([]byte{0x1a}, b))
	}
	nested := func(depth int) []byte {
		b := []byte{0x08, 30}
		for range depth {
			b = protowire.AppendBytes([]byte{0x08, 25, 0x62}, b)
		}
		return item(b...)
	}
	return map[string][]byte{
		"nested as deep as may be":     nested(maxNesting),
		"nested deeper":                nested(maxNesting + 1),
		"nothing":                      {},
		"an operation twice":           item(0x08, 3, 0x08, 4),
		"no message":                   {0xff},
		"an operation of 256":          item(0x08, 0x80, 0x02),
		"256, then 4":                  item(0x08, 0x80, 0x02, 0x08, 4),
		"constants one by one":         item(0x08, 1, 0x3a, 2, 1, 2, 0x40, 7, 0x40, 9),
		"constants in two parts":       item(0x08, 1, 0x42, 1, 7, 0x3a, 3, 1, 2, 3, 0x42, 2, 3, 4),
		"coefficients of both kinds":   item(0x48, 5, 0x4a, 2, 3, 4),
		"a guard":                      item(0x52, 2, 1, 2, 0x5a, 2, 3, 4),
		"an operation as bytes":        item(0x0a, 1, 4),
		"a body, then the operation":   item(0x62, 2, 0x08, 5, 0x08, 30),
		"an unknown field of 4 bytes":  item(0xfd, 0x01, 1, 2, 3, 4, 0x08, 9),
		"a group":                      item(0xfb, 0x01, 0x08, 1, 0xfc, 0x01, 0x08, 9),
		"a group without an end":       item(0xfb, 0x01, 0x08, 1),
		"a request of 33 bits":         item(0x20, 0xff, 0xff, 0xff, 0xff, 0x1f),
		"a symbol of 64 bits":          item(0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
		"a name that is no text":       {0x0a, 3, 0x0a, 1, 0xff},
		"a feature that is no text":    {0x12, 1, 0xff},
		"a feature":                    {0x12, 1, 'x', 0x12, 1, 'y'},
		"a block that is too short":    {0x0a, 3, 0x1a, 4},
		"a field beyond 2^29":          {0x85, 0x80, 0x80, 0x80, 0x30, 1, 2, 3, 4},
		"field 0":                      {0x00, 1},
		"constants that are cut":       item(0x42, 1, 0x80),
		"an empty body":                item(0x62, 0),
		"registers without constants":  item(0x3a, 1, 1),
		"a number of parameters twice": {0x0a, 4, 0x10, 3, 0x10, 5},
	}
}

// TestFieldsOnTheWire: what protobuf's decoder makes of such, decodeDefinitions makes of them, too.
func TestFieldsOnTheWire(t *testing.T) {
	for name, b := range onTheWire() {
		t.Run(name, func(t *testing.T) { sameDefinitions(t, b) })
	}
}

// sameDefinitions holds the two decoders to the same.
func sameDefinitions(t *testing.T, b []byte) {
	t.Helper()
	blocks, features, err := decodeDefinitions(b)
	want, wantFeatures, wantErr := decodeByReflection(b)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("error %v, protobuf's own decoder's %v", err, wantErr)
	}
	if err != nil {
		return
	}
	if !reflect.DeepEqual(want, blocks) { // cmp takes twice as long for each body in a body
		t.Errorf("%+v, want %+v", blocks, want)
	}
	if !slices.Equal(wantFeatures, features) {
		t.Errorf("features %q, want %q", features, wantFeatures)
	}
}
