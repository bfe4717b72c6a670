// Package mpiscript reads the programs of testdata/oracle/smpi-mpi, which SimGrid's SMPI has
// executed as programs in C, and makes traces of them. Only tests use it.
package mpiscript
