package kernels

import "testing"

func TestBuiltinsParse(t *testing.T) {
	for _, n := range BuiltinNames() {
		if _, err := Builtin(n); err != nil {
			t.Error(err)
		}
	}
	for _, n := range []string{"full", "gemm-only", "none"} {
		if _, err := Load("../testdata/kernels/" + n + ".yaml"); err != nil {
			t.Error(err)
		}
	}
}
