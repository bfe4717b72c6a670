package timeline_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"reprise/replay"
	"reprise/report/timeline"
)

// perfettoSchema is what perfetto_trace.proto says of the messages that are written: for each
// field its number, type and name.
const perfettoSchema = `
Trace: 1 repeated TracePacket packet
TracePacket: 8 uint64 timestamp, 10 uint32 trusted_packet_sequence_id, 11 TrackEvent track_event, 12 InternedData interned_data, 13 uint32 sequence_flags, 60 TrackDescriptor track_descriptor
TrackDescriptor: 1 uint64 uuid, 2 string name, 5 uint64 parent_uuid, 11 int32 child_ordering, 12 int32 sibling_order_rank
TrackEvent: 3 repeated uint64 category_iids, 4 repeated DebugAnnotation debug_annotations, 9 int32 type, 10 uint64 name_iid, 11 uint64 track_uuid, 47 repeated fixed64 flow_ids, 48 repeated fixed64 terminating_flow_ids
DebugAnnotation: 1 uint64 name_iid, 4 int64 int_value, 5 double double_value, 6 string string_value
InternedData: 1 repeated EventCategory event_categories, 2 repeated EventName event_names, 3 repeated DebugAnnotationName debug_annotation_names
EventCategory: 1 uint64 iid, 2 string name
EventName: 1 uint64 iid, 2 string name
DebugAnnotationName: 1 uint64 iid, 2 string name
`

// schemaOf makes descriptors of messages.
func schemaOf(t testing.TB, text string) protoreflect.FileDescriptor {
	t.Helper()
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("trace.proto"), Syntax: proto.String("proto2"), Package: proto.String("perfetto.protos")}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		name, fields, _ := strings.Cut(line, ": ")
		m := &descriptorpb.DescriptorProto{Name: proto.String(name)}
		for _, field := range strings.Split(fields, ", ") {
			words := strings.Fields(field)
			var number int32
			if _, err := fmt.Sscan(words[0], &number); err != nil {
				t.Fatal(err)
			}
			f := &descriptorpb.FieldDescriptorProto{Number: proto.Int32(number), Name: proto.String(words[len(words)-1]), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
			if words[1] == "repeated" {
				f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
			}
			kind := words[len(words)-2]
			if scalar, ok := descriptorpb.FieldDescriptorProto_Type_value["TYPE_"+strings.ToUpper(kind)]; ok {
				f.Type = descriptorpb.FieldDescriptorProto_Type(scalar).Enum()
			} else {
				f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), proto.String(".perfetto.protos."+kind)
			}
			m.Field = append(m.Field, f)
		}
		file.MessageType = append(file.MessageType, m)
	}
	schema, err := protodesc.NewFile(file, nil)
	noError(t, err)
	return schema
}

// noneUnknown fails if a message has fields that the schema does not know.
func noneUnknown(t testing.TB, m protoreflect.Message) {
	t.Helper()
	if len(m.GetUnknown()) > 0 {
		t.Fatalf("unknown fields in %v", m.Descriptor().Name())
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				noneUnknown(t, v.List().Get(i).Message())
			}
		default:
			noneUnknown(t, v.Message())
		}
		return true
	})
}

// field returns a field of a message by its name.
func field(m protoreflect.Message, name string) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name)))
}

// perfettoTrace is a file as a reader understands it.
type perfettoTrace struct {
	tracks map[uint64]string // names, with those of their parents
	slices []perfettoSlice
	open   map[uint64][]perfettoSlice
	last   map[uint64]uint64 // time of a track, ns
	names  [4]map[uint64]string
	flows  map[uint64][2]string // slices at both ends

	instants []string
}

type perfettoSlice struct {
	track, name, category string
	args                  []string
	begin, end            uint64 // ns
	depth                 int
}

// readPerfetto reads a file by its schema, and checks what a reader relies on.
func readPerfetto(t testing.TB, file []byte) *perfettoTrace {
	t.Helper()
	m := dynamicpb.NewMessage(schemaOf(t, perfettoSchema).Messages().ByName("Trace"))
	noError(t, proto.Unmarshal(file, m))
	noneUnknown(t, m)
	p := &perfettoTrace{tracks: map[uint64]string{}, open: map[uint64][]perfettoSlice{}, last: map[uint64]uint64{}, flows: map[uint64][2]string{}}
	for i := range p.names {
		p.names[i] = map[uint64]string{}
	}
	type event struct {
		at    uint64 // ns
		event protoreflect.Message
	}
	var events []event
	packets := field(m, "packet").List()
	for i := range packets.Len() {
		packet := packets.Get(i).Message()
		if flags, want := field(packet, "sequence_flags").Uint(), map[bool]uint64{true: 3, false: 2}[i == 0]; flags != want || field(packet, "trusted_packet_sequence_id").Uint() != 1 {
			t.Fatalf("packet %d has flags %d, want %d", i, flags, want)
		}
		p.intern(field(packet, "interned_data").Message())
		if d := field(packet, "track_descriptor").Message(); d.IsValid() {
			name := field(d, "name").String()
			if parent := field(d, "parent_uuid").Uint(); parent != 0 {
				name = p.tracks[parent] + "/" + name
			}
			p.tracks[field(d, "uuid").Uint()] = name
		}
		if e := field(packet, "track_event").Message(); e.IsValid() {
			at, track := field(packet, "timestamp").Uint(), field(e, "track_uuid").Uint()
			if at < p.last[track] {
				t.Fatalf("%s: an event at %d ns after one at %d", p.tracks[track], at, p.last[track])
			}
			p.last[track] = at
			events = append(events, event{at, e})
		}
	}
	// As Perfetto does, which sorts by time and keeps what has the same as it comes.
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	for _, e := range events {
		p.event(t, e.event, e.at)
	}
	for track, open := range p.open {
		if len(open) > 0 {
			t.Errorf("slices of %s without end: %v", p.tracks[track], open)
		}
	}
	return p
}

func (p *perfettoTrace) intern(data protoreflect.Message) {
	for i, name := range []string{1: "event_categories", 2: "event_names", 3: "debug_annotation_names"} {
		if i == 0 {
			continue
		}
		list := field(data, name).List()
		for j := range list.Len() {
			e := list.Get(j).Message()
			p.names[i][field(e, "iid").Uint()] = field(e, "name").String()
		}
	}
}

func (p *perfettoTrace) event(t testing.TB, e protoreflect.Message, at uint64) {
	t.Helper()
	track := field(e, "track_uuid").Uint()
	if p.tracks[track] == "" {
		t.Fatalf("an event on track %d, which has no description", track)
	}
	if field(e, "type").Int() == 3 {
		p.instants = append(p.instants, fmt.Sprintf("%s: %s at %d", p.tracks[track], p.names[2][field(e, "name_iid").Uint()], at))
		return
	}
	open := p.open[track]
	if field(e, "type").Int() == 1 {
		s := perfettoSlice{track: p.tracks[track], name: p.names[2][field(e, "name_iid").Uint()], begin: at, depth: len(open)}
		s.category = p.names[1][field(e, "category_iids").List().Get(0).Uint()]
		args := field(e, "debug_annotations").List()
		for i := range args.Len() {
			s.args = append(s.args, p.argument(args.Get(i).Message()))
		}
		p.open[track] = append(open, s)
		for _, id := range numbers(field(e, "flow_ids").List()) {
			p.flows[id] = [2]string{s.track + " " + s.name}
		}
		return
	}
	if len(open) == 0 {
		t.Fatalf("%s: an end without a begin at %d ns", p.tracks[track], at)
	}
	s := open[len(open)-1]
	s.end = at
	p.open[track] = open[:len(open)-1]
	p.slices = append(p.slices, s)
	for _, id := range numbers(field(e, "terminating_flow_ids").List()) {
		f, begun := p.flows[id]
		if !begun && !t.Failed() {
			t.Errorf("flow %d ends in %s of %s, and has not begun", id, s.name, s.track)
		}
		f[1] = s.track + " " + s.name
		p.flows[id] = f
	}
}

func (p *perfettoTrace) argument(a protoreflect.Message) string {
	text := p.names[3][field(a, "name_iid").Uint()]
	for _, kind := range []string{"int_value", "double_value", "string_value"} {
		if f := a.Descriptor().Fields().ByName(protoreflect.Name(kind)); a.Has(f) {
			text += fmt.Sprint(" ", a.Get(f))
		}
	}
	return text
}

func numbers(list protoreflect.List) (n []uint64) {
	for i := range list.Len() {
		n = append(n, list.Get(i).Uint())
	}
	return n
}

// export writes a run in a format.
func export(t testing.TB, f timeline.Format, run *timeline.Run, play func(observing), labels ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	sink := f(&out, run)
	r := timeline.NewRecorder(run.Header, run.Span, sink)
	play(r)
	r.End()
	for _, text := range labels {
		sink.Label(text, 3)
	}
	noError(t, sink.Close())
	return out.Bytes()
}

// exportPair writes the pair of TestSlices.
func exportPair(t testing.TB, f timeline.Format, labels ...string) []byte {
	t.Helper()
	h := pairHeader()
	return export(t, f, &timeline.Run{Header: h, Hosts: []string{"n0", "n1"}}, func(o observing) { play(t, h, o, pair()...) }, labels...)
}

// exportHPL writes a run of HPL.
func exportHPL(t testing.TB, f timeline.Format, span timeline.Span) ([]byte, *hplRun, *replay.Result) {
	t.Helper()
	run := newHPL(t, 300, 2, 2, "")
	var res *replay.Result
	out := export(t, f, &timeline.Run{Header: run.header, Hosts: run.hosts(), Span: span}, func(o observing) { res = run.play(t, o) })
	return out, run, res
}

// TestPerfettoPair: the pair by arithmetic: 1 s, and 1.000100000 s + 8.000128 ms.
func TestPerfettoPair(t *testing.T) {
	p := readPerfetto(t, exportPair(t, timeline.Perfetto))
	const sent, arrived, end = 1_000_000_000, 1_008_100_128, 2_008_100_128
	want := []perfettoSlice{
		{"MPI ranks/n0/rank 0", "flops", "compute", []string{"flop 1e+09"}, 0, sent, 1},
		{"MPI ranks/n0/rank 0", "send", "send", []string{"peer 1", "bytes 1000000", "tag 7"}, sent, arrived, 1},
		{"MPI ranks/n0/rank 0", "first", "phase", nil, 0, arrived, 0},
		{"MPI ranks/n0/rank 0", "flops", "compute", []string{"flop 1e+09"}, arrived, end, 0},
		{"MPI ranks/n1/rank 1", "irecv", "overhead", []string{"peer 0", "bytes 1000000", "tag 7"}, 0, 0, 0},
		{"MPI ranks/n1/rank 1", "flops", "compute", []string{"flop 5e+08"}, 0, 500_000_000, 0},
		{"MPI ranks/n1/rank 1", "wait", "wait", []string{"of recv", "peer 0", "bytes 1000000", "tag 7"}, 500_000_000, arrived, 0},
		{"MPI ranks/n1/rank 1", "flops", "compute", []string{"flop 1e+09"}, arrived, end, 0},
	}
	slices.SortStableFunc(p.slices, func(a, b perfettoSlice) int { return strings.Compare(a.track, b.track) })
	if diff := gocmp.Diff(want, p.slices, gocmp.AllowUnexported(perfettoSlice{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff(map[uint64][2]string{1: {"MPI ranks/n0/rank 0 send", "MPI ranks/n1/rank 1 wait"}}, p.flows); diff != "" {
		t.Errorf("flows (-want +got):\n%s", diff)
	}
}

// TestPerfettoHPL: a run of HPL is valid, each message is a flow between two slices, and the
// slices of actions last as long as the ranks.
func TestPerfettoHPL(t *testing.T) {
	file, run, res := exportHPL(t, timeline.Perfetto, timeline.Span{})
	p := readPerfetto(t, file)
	if len(p.tracks) != 1+4+4 || len(run.header.Phases) == 0 {
		t.Errorf("%d tracks, want one for each of 4 ranks and 4 hosts, and one of all", len(p.tracks))
	}
	if int64(len(p.flows)) != res.Messages {
		t.Errorf("%d flows, want %d", len(p.flows), res.Messages)
	}
	for id, f := range p.flows {
		if f[0] == "" || f[1] == "" {
			t.Errorf("flow %d leads from %q to %q", id, f[0], f[1])
		}
	}
	sums := map[string]uint64{}
	for _, s := range p.slices {
		if s.category != "phase" {
			sums[s.track] += s.end - s.begin
		}
	}
	for rank, want := range res.Ranks {
		track := fmt.Sprintf("MPI ranks/%s/rank %d", want.Host, rank)
		if got := sums[track]; got != uint64(want.End*1e9+0.5) {
			t.Errorf("%s: slices of %d ns, want %v s", track, got, want.End)
		}
	}
	again, _, _ := exportHPL(t, timeline.Perfetto, timeline.Span{})
	if !bytes.Equal(file, again) {
		t.Error("the same run gives another file")
	}
}

// TestPerfettoWindow: a window is valid, too, though messages lead out of it.
func TestPerfettoWindow(t *testing.T) {
	whole, _, _ := exportHPL(t, timeline.Perfetto, timeline.Span{})
	part, _, _ := exportHPL(t, timeline.Perfetto, timeline.Span{FirstStep: 3, EndStep: 5, FirstRank: 1, Ranks: 2})
	p := readPerfetto(t, part)
	if len(part) > len(whole)/2 || len(p.slices) == 0 {
		t.Errorf("a window of %d bytes with %d slices, the whole has %d bytes", len(part), len(p.slices), len(whole))
	}
	for _, s := range p.slices {
		if !strings.HasSuffix(s.track, "rank 1") && !strings.HasSuffix(s.track, "rank 2") {
			t.Fatalf("a slice of %s", s.track)
		}
	}
}

// TestTooLate: nanoseconds end after 292 years.
func TestTooLate(t *testing.T) {
	h := pairHeader()
	for _, c := range []struct {
		format timeline.Format
		fails  bool
	}{{timeline.Perfetto, true}, {timeline.Paje, false}} {
		var told error
		sink := c.format(&bytes.Buffer{}, &timeline.Run{Header: h, Hosts: []string{"a", "b"}, Fail: func(err error) { told = err }})
		r := timeline.NewRecorder(h, timeline.Span{}, sink)
		o := r.Observer()
		o.ActionBegins(0, flops(1), 1e10)
		o.ActionEnds(0, 2e10)
		if err := sink.Close(); (err != nil) != c.fails || (told != nil) != c.fails {
			t.Errorf("fails %t: error %v, told %v", c.fails, err, told)
		}
	}
}
