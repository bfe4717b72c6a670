// Package option describes the options of a structure by name: how the text of a value,
// as in --cfg=NAME:VALUE or in a platform's file, becomes a field, how a field becomes
// text, what values make sense, and what a reader is to know. Whatever deals with options
// (flags, files, checks, checkpoints, pages) goes through one table of them.
//
//	type plan struct{ trees int64 }
//	table := option.Table[plan]{
//		option.Bytes("garden/trees", "number of trees", func(p *plan) *int64 { return &p.trees }),
//	}
//	err := table.Find("garden/trees").Apply(&p, "12")
//
// Tables of parts combine: [Of] turns the options of a part into those of the whole.
//
// # Units
//
// An option's Doc says the unit of its value.
//
// # Errors
//
// Those of [Option.Apply] name the option and say what is wanted; [Table.Validate] joins one
// for each value that makes no sense.
//
// # Source
//
// The form is that of SimGrid's --cfg=NAME:VALUE.
package option
