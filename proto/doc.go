// Package proto holds the messages of a trace file, generated from trace.proto.
// docs/trace-format.md says how they are framed; package trace reads and writes them.
package proto
