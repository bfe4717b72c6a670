package main

import "io"

func short(l *lab, dir string, w io.Writer) error { return nil }
