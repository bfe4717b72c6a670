package trace

import "fmt"

// Operator is what a reduction does with two elements. No time depends on it.
type Operator uint8

// The operators: those that MPI predefines. NoOperator: the trace does not say.
const (
	NoOperator Operator = iota
	OperatorSum
	OperatorMax
	OperatorMin
	OperatorProd
	OperatorLand
	OperatorBand
	OperatorLor
	OperatorBor
	OperatorLxor
	OperatorBxor
	OperatorMaxloc
	OperatorMinloc
	numOperators
)

var operatorNames = [numOperators]string{"", "sum", "max", "min", "prod", "land", "band", "lor", "bor", "lxor", "bxor", "maxloc", "minloc"}

// String returns MPI's name in small letters, as in MPI_MAX; nothing for NoOperator.
func (o Operator) String() string {
	if o < numOperators {
		return operatorNames[o]
	}
	return fmt.Sprintf("operator %d", uint8(o))
}

// check reports an operator that does not exist, or an operation that has none.
func (o Operator) check(kind CollectiveKind) error {
	switch {
	case o >= numOperators:
		return fmt.Errorf("operator %d out of [0,%d)", uint8(o), uint8(numOperators))
	case !kind.Reduces():
		return fmt.Errorf("%v has an operator", kind)
	}
	return nil
}
