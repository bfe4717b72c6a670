package timeline

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"reprise/trace"
)

// Perfetto is the [Format] of protobuf, as perfetto_trace.proto says. A file begins with the tracks of the ranks, below
// their hosts, below one of all.
func Perfetto(w io.Writer, run *Run) Sink {
	p := &perfetto{failing: failing{run: run}, w: bufio.NewWriterSize(w, 64<<10), names: Names(run.Header)}
	p.flags = stateCleared | needsState
	p.categories.field, p.labels.field, p.keys.field = internedCategory, internedName, internedAnnotation
	hosts, of := hostsOf(p.run)
	p.track(trackOfAll, 0, "MPI ranks", 0)
	for i, host := range hosts {
		p.track(uint64(trackOfAll+1+i), trackOfAll, host, i)
	}
	for i, host := range of {
		rank := p.run.Span.FirstRank + i
		p.track(trackOf(int32(rank), 0), uint64(trackOfAll+1+host), rankName(rank), rank)
		queues(p.run, func(queue int, name string) {
			p.track(trackOf(int32(rank), queue), trackOf(int32(rank), 0), name, queue)
		})
	}
	return p
}

// perfetto writes packets of one sequence, whose timestamps Perfetto sorts: packets of one
// time stay as they come. Names are interned where they come first. The tracks of the ranks
// are children of those of their hosts; phases are slices around those of actions.
type perfetto struct {
	failing
	w     *bufio.Writer
	names []string

	categories, labels, keys interner

	packet, event, part []byte // under way
	interned            []byte // texts that the next packet has to define
	flags               uint64 // of the next packet
}

// interner numbers texts that have been defined. field is that of their definitions.
type interner struct {
	field protowire.Number
	numbering
}

// Fields of perfetto_trace.proto, by message.
const (
	tracePacket = 1 // Trace.packet

	packetTimestamp  = 8 // TracePacket
	packetSequence   = 10
	packetEvent      = 11
	packetInterned   = 12
	packetFlags      = 13
	packetDescriptor = 60

	descriptorUUID     = 1 // TrackDescriptor
	descriptorName     = 2
	descriptorParent   = 5
	descriptorOrdering = 11
	descriptorRank     = 12

	eventCategory   = 3 // TrackEvent
	eventAnnotation = 4
	eventType       = 9
	eventName       = 10
	eventTrack      = 11
	eventFlow       = 47
	eventFlowEnds   = 48

	annotationKey   = 1 // DebugAnnotation
	annotationInt   = 4
	annotationFloat = 5
	annotationText  = 6

	internedCategory   = 1 // InternedData
	internedName       = 2
	internedAnnotation = 3
	internedID         = 1 // EventCategory, EventName, DebugAnnotationName
	internedText       = 2
)

// Values of its enumerations.
const (
	sliceBegins      = 1 // TrackEvent.Type
	sliceEnds        = 2
	instant          = 3
	explicitOrdering = 3 // TrackDescriptor.ChildTracksOrdering
	stateCleared     = 1 // TracePacket.SequenceFlags
	needsState       = 2
)

// The numbers of the track above those of the hosts, which follow it, of that of rank 0, and of that of its queue 0, less 1.
const (
	trackOfAll  = 1
	firstTrack  = 1 << 32
	firstQueues = 1 << 33
)

// trackOf returns the number of the track of a rank, or of a queue of its device, beyond those of all hosts that there
// may be.
func trackOf(rank int32, queue int) uint64 {
	if queue > 0 {
		return firstQueues + uint64(rank)*trace.MaxQueues + uint64(queue)
	}
	return firstTrack + uint64(rank)
}

// track writes the description of a track. Without an explicit order Perfetto sorts tracks by their names, in which
// rank 10 comes before rank 2.
func (p *perfetto) track(track, parent uint64, name string, place int) {
	d := appendNumber(p.event[:0], descriptorUUID, track)
	if parent > 0 {
		d = appendNumber(d, descriptorParent, parent)
	}
	d = appendText(d, descriptorName, name)
	d = appendNumber(d, descriptorOrdering, explicitOrdering)
	d = appendNumber(d, descriptorRank, uint64(place))
	p.event = d
	p.packet = appendBytes(p.packet[:0], packetDescriptor, d)
	p.write()
}

// PhaseBegins implements Sink.
func (p *perfetto) PhaseBegins(rank int32, phase int, at float64) {
	p.begin(rank, 0, sliceBegins)
	p.label(p.run.Header.Phases[phase], "phase")
	p.end(at)
}

// PhaseEnds implements Sink.
func (p *perfetto) PhaseEnds(rank int32, at float64) {
	p.begin(rank, 0, sliceEnds)
	p.end(at)
}

// Slice implements Sink. The flow of a message goes from the beginning of the slice that
// sends it to the end of the one that has received it: a receive may begin before its send.
func (p *perfetto) Slice(s *Slice) {
	p.begin(s.Rank, s.Queue, sliceBegins)
	p.label(p.names[s.Name], s.State.String())
	for i := range s.Args {
		a := &s.Args[i]
		b := appendNumber(p.part[:0], annotationKey, p.intern(&p.keys, a.Name))
		switch a.Kind {
		case IntArg:
			b = appendNumber(b, annotationInt, uint64(a.Int))
		case FloatArg:
			b = protowire.AppendTag(b, annotationFloat, protowire.Fixed64Type)
			b = protowire.AppendFixed64(b, math.Float64bits(a.Float))
		case TextArg:
			b = appendText(b, annotationText, a.Text)
		}
		p.part = b
		p.event = appendBytes(p.event, eventAnnotation, b)
	}
	for _, m := range s.Sends {
		p.flow(eventFlow, m.Number)
	}
	p.end(s.Begin)
	p.begin(s.Rank, s.Queue, sliceEnds)
	for _, m := range s.Receives {
		p.flow(eventFlowEnds, m)
	}
	p.end(s.End)
}

// Message implements Sink: slices have the flows.
func (p *perfetto) Message(*Message) {}

// Label implements Sink: it is an instant on the track above all hosts.
func (p *perfetto) Label(text string, at float64) {
	p.event = appendNumber(p.event[:0], eventType, instant)
	p.event = appendNumber(p.event, eventTrack, trackOfAll)
	p.label(text, "label")
	p.end(at)
}

// Close implements Sink.
func (p *perfetto) Close() error {
	p.fail(p.w.Flush())
	return p.err
}

// begin begins an event of a rank, or of a queue.
func (p *perfetto) begin(rank int32, queue int, kind uint64) {
	p.event = appendNumber(p.event[:0], eventType, kind)
	p.event = appendNumber(p.event, eventTrack, trackOf(rank, queue))
}

// label sets the name and the category of the event. Perfetto colours slices by their names and filters by categories.
func (p *perfetto) label(name, category string) {
	p.event = appendNumber(p.event, eventName, p.intern(&p.labels, name))
	p.event = appendNumber(p.event, eventCategory, p.intern(&p.categories, category))
}

// flow adds a message to the flows of the event: an arrow goes from the event that it is in first to the one it ends
// in.
func (p *perfetto) flow(field protowire.Number, message int64) {
	p.event = protowire.AppendTag(p.event, field, protowire.Fixed64Type)
	p.event = protowire.AppendFixed64(p.event, uint64(message))
}

// intern returns the number of a text, which the packet defines if it is the first with it. Texts are defined once for
// the sequence, as its state is cleared by the first packet only.
func (p *perfetto) intern(in *interner, text string) uint64 {
	known := len(in.list)
	n := uint64(in.of(text)) + 1 // 0 is none
	if len(in.list) == known {
		return n
	}
	entry := appendNumber(nil, internedID, n)
	entry = appendText(entry, internedText, text)
	p.interned = appendBytes(p.interned, in.field, entry)
	return n
}

// end ends an event, at a time, which is rounded to whole nanoseconds. Times of all events are rounded alike, so that
// slices which meet still do.
func (p *perfetto) end(at float64) {
	ns := int64(math.MaxInt64)
	if v := math.Round(at * 1e9); v < math.MaxInt64 {
		ns = int64(v)
	} else {
		p.fail(fmt.Errorf("a time of %.9g s is beyond the nanoseconds that the format has: write Pajé", at))
	}
	p.packet = appendNumber(p.packet[:0], packetTimestamp, uint64(ns))
	p.packet = appendBytes(p.packet, packetEvent, p.event)
	p.write()
}

// write writes the packet, with the texts that were interned for it: a reader needs them in the same packet or before.
func (p *perfetto) write() {
	const sequence = 1
	p.packet = appendNumber(p.packet, packetSequence, sequence)
	if len(p.interned) > 0 {
		p.packet = appendBytes(p.packet, packetInterned, p.interned)
		p.interned = p.interned[:0]
	}
	p.packet = appendNumber(p.packet, packetFlags, p.flags)
	p.flags = needsState
	p.part = appendBytes(p.part[:0], tracePacket, p.packet)
	_, err := p.w.Write(p.part)
	p.fail(err)
}

// appendNumber appends an integer field of the wire format; negative ones as two's complement, as int64 fields have.
func appendNumber(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendText(b []byte, field protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), text)
}

func appendBytes(b []byte, field protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), content)
}
