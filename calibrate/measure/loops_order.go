package measure

// loopCall is a call of a kernel of HPCG on vectors of a level, which helper/loops.h names: x what multigrid results in, r its
// right-hand side, a the product; on the finest grid also the solution s, the direction p, its product q, and b.
type loopCall struct {
	kernel  string
	level   int
	vectors string
	n       int64 // elements, of what works on vectors alone
	beta    float64
	dims    [4]int64
}

// step and momentum stand for the coefficients of conjugate gradients, which come from dot products: with these the
// iteration x += step p, p = z + momentum p approaches the solution as well, whatever the box.
const (
	step     = 0.5
	momentum = 0.5
)

// iterations of a set that is measured.
const loopIterations = 10

// Values of labels of dot and waxpby.
const (
	sameVector, twoVectors               = 0, 1
	alphaOne                             = 1
	aliasNone, aliasXY, aliasWX, aliasWY = 0, 1, 2, 3
)

// loopOrder collects the calls of a run in their order. Source: HPCG 3.1, by docs/hpcg.md.
type loopOrder struct {
	box  box
	list []loopCall
}

func (o *loopOrder) add(c loopCall) { o.list = append(o.list, c) }

// pack is what is computed of an exchange with neighbours, if there are some.
func (o *loopOrder) pack(level int, vector string) {
	if l := o.box.level(level); l.columns() > l.rows() {
		n := l.columns() - l.rows()
		o.add(loopCall{kernel: "pack", level: level, vectors: vector, n: n, dims: [4]int64{int64(level), n}})
	}
}

// matrix is a call on the matrix of a level, behind an exchange of a vector.
func (o *loopOrder) matrix(kernel string, level int, exchanged, vectors string) {
	o.pack(level, exchanged)
	l := o.box.level(level)
	o.add(loopCall{kernel: kernel, level: level, vectors: vectors, dims: [4]int64{int64(level), l.rows(), l.nonzeros(), l.columns()}})
}

// transfer is a call between a level and the next coarser one.
func (o *loopOrder) transfer(kernel string, level int, vectors string) {
	n := o.box.level(level + 1).rows()
	o.add(loopCall{kernel: kernel, level: level, vectors: vectors, dims: [4]int64{int64(level), n}})
}

// vector is a call of zero or copy.
func (o *loopOrder) vector(kernel string, level int, vectors string, n int64) {
	o.add(loopCall{kernel: kernel, level: level, vectors: vectors, n: n, dims: [4]int64{n}})
}

func (o *loopOrder) dot(vectors string) {
	n, label := o.box.rows(), int64(twoVectors)
	if vectors[0] == vectors[1] {
		label = sameVector
	}
	o.add(loopCall{kernel: "dot", vectors: vectors, n: n, dims: [4]int64{n, label}})
}

// waxpby is w = x + beta y, of the vectors xyw.
func (o *loopOrder) waxpby(vectors string, beta float64) {
	n, alias := o.box.rows(), int64(aliasNone)
	switch {
	case vectors[0] == vectors[1]:
		alias = aliasXY
	case vectors[2] == vectors[0]:
		alias = aliasWX
	case vectors[2] == vectors[1]:
		alias = aliasWY
	}
	o.add(loopCall{kernel: "waxpby", vectors: vectors, n: n, beta: beta, dims: [4]int64{n, alphaOne, alias}})
}

// multigrid is a cycle from a level on.
func (o *loopOrder) multigrid(level int) {
	o.vector("zero", level, "x", o.box.level(level).columns())
	o.matrix("symgs", level, "x", "rx")
	if level == loopLevels-1 {
		return
	}
	o.matrix("spmv", level, "x", "xa")
	o.transfer("restrict", level, "ra")
	o.multigrid(level + 1)
	o.transfer("prolong", level, "x")
	o.matrix("symgs", level, "x", "rx")
}

// start is what comes before the first iteration of a set.
func (o *loopOrder) start() {
	rows := o.box.rows()
	o.vector("zero", 0, "s", rows)
	o.vector("copy", 0, "sp", rows)
	o.matrix("spmv", 0, "p", "pq")
	o.waxpby("bqr", -1)
	o.dot("rr")
}

func (o *loopOrder) iteration(first bool) {
	o.multigrid(0)
	if first {
		o.waxpby("xxp", 0)
	}
	o.dot("rx")
	if !first {
		o.waxpby("xpp", momentum)
	}
	o.matrix("spmv", 0, "p", "pq")
	o.dot("pq")
	o.waxpby("sps", step)
	o.waxpby("rqr", -step)
	o.dot("rr")
}

// set returns the calls of a set of iterations on a box.
func (b box) set(iterations int) []loopCall {
	o := &loopOrder{box: b}
	o.start()
	for i := range iterations {
		o.iteration(i == 0)
	}
	return o.list
}
