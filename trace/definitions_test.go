package trace

import (
	"bytes"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// schema returns what proto/trace.proto says of the messages, as protobuf's own library has it.
var schema = sync.OnceValue(func() protoreflect.FileDescriptor {
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("trace.proto"), Syntax: proto.String("proto3"), Package: proto.String("reprise.trace")}
	message := regexp.MustCompile(`^message (\w+)`)
	field := regexp.MustCompile(`^  (repeated )?(\w+) (\w+) = (\d+);`)
	for line := range strings.Lines(string(must(os.ReadFile("../proto/trace.proto")))) {
		if m := message.FindStringSubmatch(line); m != nil {
			file.MessageType = append(file.MessageType, &descriptorpb.DescriptorProto{Name: &m[1]})
		}
		m := field.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		f := &descriptorpb.FieldDescriptorProto{Name: &m[3], Number: proto.Int32(int32(must(strconv.Atoi(m[4])))), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
		if m[1] != "" {
			f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		}
		if kind, ok := descriptorpb.FieldDescriptorProto_Type_value["TYPE_"+strings.ToUpper(m[2])]; ok && m[2] != "Group" {
			f.Type = descriptorpb.FieldDescriptorProto_Type(kind).Enum()
		} else {
			f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), proto.String(".reprise.trace."+m[2])
		}
		last := file.MessageType[len(file.MessageType)-1]
		last.Field = append(last.Field, f)
	}
	return must(protodesc.NewFile(file, nil))
})

// canonical returns a message as protobuf's own library reads and writes it, without fields that the schema
// does not have.
func canonical(name string, b []byte) ([]byte, error) {
	m := dynamicpb.NewMessage(schema().Messages().ByName(protoreflect.Name(name)))
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, m); err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// encodeDefinitions returns the content of a definitions record.
func encodeDefinitions(blocks []Block, features []string) ([]byte, error) {
	return marshal(func(m *message) {
		list(m, 1, &blocks, (*Block).write)
		m.texts(2, &features)
	})
}

// TestSchema: protobuf's own library reads every record of the example by proto/trace.proto, and writes the same bytes.
func TestSchema(t *testing.T) {
	frames, plains := records(t, exampleTrace(t))
	names := map[recordKind]string{kindHeader: "Header", kindDefs: "Definitions", kindChunk: "Chunk", kindIndex: "Index"}
	var h Header
	populate(reflect.ValueOf(&h).Elem(), new(int64))
	plains = append(plains, must(encodeHeader(&h, []string{"polls"})))
	frames = append(frames, frame{kind: kindHeader})
	for i, plain := range plains {
		name := names[frames[i].kind]
		if name == "" { // the end record is empty
			continue
		}
		got, err := canonical(name, plain)
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: %v; by protobuf\n%x, want\n%x", name, err, got, plain)
		}
	}
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

// sameDefinitions holds decodeDefinitions to protobuf's own decoder: what that makes of b is read alike, and written
// again unless a number was too large.
func sameDefinitions(t *testing.T, b []byte) {
	t.Helper()
	blocks, features, err := decodeDefinitions(b)
	plain, wantErr := canonical("Definitions", b)
	if wantErr != nil {
		if err == nil {
			t.Fatalf("no error, protobuf's own decoder's %v", wantErr)
		}
		return
	}
	want, wantFeatures, wantErr := decodeDefinitions(plain)
	if (err == nil) != (wantErr == nil) || err == nil && (!reflect.DeepEqual(want, blocks) || !reflect.DeepEqual(wantFeatures, features)) {
		t.Fatalf("%+v %q %v, of the same by protobuf %+v %q %v", blocks, features, err, want, wantFeatures, wantErr)
	}
	if err == nil && !tooLarge(blocks) && !bytes.Equal(must(encodeDefinitions(blocks, features)), plain) {
		t.Errorf("%+v is written in other bytes than protobuf's %x", blocks, plain)
	}
}

// tooLarge reports whether a number that was read did not fit an int.
func tooLarge(blocks []Block) bool {
	var items func([]Item) bool
	items = func(list []Item) bool {
		for _, it := range list {
			if min(it.Sym, it.GuardSym, it.Comm) < 0 || items(it.Body) {
				return true
			}
		}
		return false
	}
	for _, b := range blocks {
		if b.Params < 0 || items(b.Items) {
			return true
		}
	}
	return false
}
