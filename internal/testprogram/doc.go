// Package testprogram reads the programs of testdata/oracle/smpi-mpi, which SimGrid's SMPI has
// executed as programs in C, and makes traces of them. Tests and scripts/crosscheck use it.
package testprogram
