// Package workqueue shares work between processes, on one host or many, by files alone: no lock,
// no database, NFS allowed.
//
// A worker joins a directory and takes leases of items, which nobody else can take while it
// lives.
//
//	w, err := workqueue.Join(dir, 30*time.Second)
//	defer w.Leave()
//	l, err := w.Take("item") // nil if somebody alive has it
//	...
//	err = l.Done()           // or l.GiveBack()
//
// The directory holds
//
//	workers/NAME      who a worker is; written to again as long as it lives
//	leases/ITEM.K     the K-th lease of an item, created exclusively
//
// Both kinds of files are two lines: held or free, and the worker as JSON. The lease of an item
// that counts is the one of the largest K. Where its worker is dead, or has given it back, the
// next one is K+1: that, too, only one worker can create. Done removes all leases of an item; who
// takes one after that must find out by other means that the item is done, before it begins.
//
// A worker is dead if it ran on this machine, since the same boot, and its process is gone, which is
// known at once; else if its file was not written to for as long as it said. That is measured by the
// times that the file server gives to files: clocks of hosts may differ. A lease that is not whole, or that
// no worker can have written, is held for the period of who looks.
//
// # Units
//
// Periods are in seconds in files.
//
// # Errors
//
// Errors are those of the file system. A worker that cannot write to its file for longer
// than its period may lose its leases; Take and Held say so.
//
// # Source
//
// The method is that of lock files with exclusive creation, as in open(2), with a number that
// grows instead of a file that is removed, so that no two workers can remove each other's.
package workqueue
