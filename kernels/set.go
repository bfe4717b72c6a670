// Package kernels says how long computations take: it maps a kernel (dgemm,
// dtrsm, a copy), its dimensions and the host it runs on to seconds.
//
// The models live in a YAML file ("kernel file", specified in docs/kernels.md) that is parsed once into a [Set]. A
// rank that is mapped to a host then binds each kernel of its trace once,
//
//	set, err := kernels.Load("machine.yaml") // or kernels.Builtin("dahu")
//	m, err := set.Bind(kernels.Host{Name: "dahu-3", Slot: 1, Speed: 32e9},
//		kernels.Signature{Name: "dgemm", Dims: []string{"M", "N", "K"}})
//	t := m.Seconds(&[4]int64{1024, 512, 128})
//
// and asks the bound [Model] for every call. A model is a list of pieces, the first of which whose thresholds hold
// gives the time as a polynomial in the dimensions. Binding resolves names, attributes, hosts and units, so that
// evaluating is a few multiplications.
//
// A kernel that no model covers is an error ([ErrNoModel]), never a silent zero: a kernel that costs nothing is
// declared free in the file. The package knows neither traces nor programs; the vocabulary of kernels and
// dimensions is whatever the caller's signatures say.
//
// Models may have noise (package noise): Seconds is then the time without it, and
// Draw the time of one call, given the random bits of that call.
//
// # Units
//
// Models are in seconds, or in flop at the speed of a core, which is in flop/s; dimensions are numbers of elements.
//
// # Errors
//
// Errors of a file have the line. [ErrNoModel] names the kernel and what to add to the file.
//
// # Source
//
// Files of one's own come from calibrate kernels; where the built-in sets come from stands in
// their files, and in docs/kernels.md.
package kernels

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"reprise/internal/regular"
	"reprise/platforms/machines"
)

// MaxDims is the largest number of dimensions that a signature may have.
const MaxDims = 4

// ErrNoModel is wrapped by the errors of Bind for a kernel that no model of the file covers.
var ErrNoModel = errors.New("no kernel model")

// Attr is one named property of a kernel call that is not a number: side=L, uplo=U, trans=N.
type Attr struct {
	Name, Value string
}

// Signature is the kind of a kernel call: its name, its attributes, and the names of its dimensions in the order in
// which a call gives their values, at most MaxDims.
type Signature struct {
	Name  string   // as the trace writes it: dgemm, dlaswp00N
	Attrs []Attr   // in any order, names distinct
	Dims  []string // "M", "N", "K": the order of the values
}

// String returns the signature as "dtrsm(M,N) side=L uplo=U".
func (sig Signature) String() string {
	var b strings.Builder
	b.WriteString(sig.Name + "(" + strings.Join(sig.Dims, ",") + ")")
	for _, a := range sig.Attrs {
		b.WriteString(" " + a.Name + "=" + a.Value)
	}
	return b.String()
}

// CostUnit is the unit in which a model gives the time of a kernel.
type CostUnit uint8

// Units of models; see Set.CostUnit.
const (
	NoUnit CostUnit = iota
	Seconds
	Flop
)

// Host is where a rank runs, as far as the models can tell hosts apart.
type Host struct {
	Name  string
	Slot  int     // index of the rank among the ranks of its host, from 0
	Speed float64 // flop/s of the share of one rank; used by models in unit flop only
	// Factor is how many times as quick it is as the file says; 0 means 1.
	Factor float64
	Ranks  int // on the host; 0: as many as the file is of
}

// Set is a parsed and checked kernel file, with a cache of the models that have been
// bound. Its methods may be called from several goroutines.
type Set struct {
	name        string
	cpusPerHost int
	base        []rule // for hosts without an override
	overrides   []override
	exact       map[string][]int32 // overrides by exact host name, ascending
	patterns    []int32            // the other overrides, ascending
	usesSpeed   bool               // some model is in unit flop
	scatter     float64            // standard deviation of times from host to host, relative
	quicker     []quickened        // by Quicker
	noisy       []noisyKernel      // by Noisy

	alone        alone
	shared       []sharedError
	networkError float64 // standard deviation of the logarithm of the times of messages

	mu       sync.Mutex
	lastHost hostKey // mostly asked for again
	lastList int32   // index in lists, of lastHost; -1 if none was asked for

	lastOverrides []int32 // of lastHost, for any CPU; nil if none was asked for

	lists    [][]int32
	listIDs  map[string]int32 // of lists, by encoded content
	sigIDs   map[string]int32 // of signatures, by encoded content
	bound    map[boundKey]Model
	programs map[string]*program // by encoded content
}

// hostKey names a CPU of a host, which decides the overrides that apply.
type hostKey struct {
	name string
	cpu  int
}

// A Class holds the properties by which a set tells hosts apart: hosts of equal classes have the same models of
// all kernels.
type Class struct {
	list   int32   // of the overrides that apply
	speed  float64 // 0 unless usesSpeed
	factor float64 // how many times as quick the host is
}

// boundKey decides the model that a bind returns.
type boundKey struct {
	Class
	sig int32
}

func newSet(name string, cpusPerHost int, base []rule, overrides []override) *Set {
	inFlop := func(r rule) bool { return r.model.flop }
	s := &Set{
		name: name, cpusPerHost: cpusPerHost, base: base, overrides: overrides,
		exact:     map[string][]int32{},
		usesSpeed: slices.ContainsFunc(base, inFlop),
		lastList:  -1,
		listIDs:   map[string]int32{},
		sigIDs:    map[string]int32{},
		bound:     map[boundKey]Model{},
		programs:  map[string]*program{},
	}
	for i, o := range overrides {
		s.usesSpeed = s.usesSpeed || slices.ContainsFunc(o.rules, inFlop)
		if o.host.Exact() {
			s.exact[o.host.String()] = append(s.exact[o.host.String()], int32(i))
		} else {
			s.patterns = append(s.patterns, int32(i))
		}
	}
	return s
}

// Load parses the kernel file at path.
func Load(path string) (*Set, error) { return regular.Load(path, Parse) }

// Find loads a file or, if there is none of that name, returns the built-in set.
func Find(name string) (*Set, error) {
	if regular.IsFile(name) {
		return Load(name)
	}
	set, err := Builtin(name)
	return set, regular.Missing(name, err)
}

// Builtin returns the built-in set of the given name, one of BuiltinNames. Each call returns a set of its own.
//
//   - default: a generic node whose speed is the host's; see docs/kernels.md
//   - dahu, dahu-c1, dahu-a1: 32 nodes with 2 x 16-core Xeon Gold 6130, one
//     rank per core
//   - stampede, stampede-constants: one rank per node with a Xeon Phi
func Builtin(name string) (*Set, error) {
	text, err := BuiltinText(name)
	if err != nil {
		return nil, err
	}
	return Parse(bytes.NewReader(text), name)
}

// BuiltinText returns the kernel file of a built-in set.
func BuiltinText(name string) ([]byte, error) {
	text, err := machines.Kernels(name)
	if err != nil {
		return nil, fmt.Errorf("no built-in kernel models %q: want %s, or a file", name, strings.Join(BuiltinNames(), ", "))
	}
	return text, nil
}

// BuiltinNames lists the built-in sets, sorted.
func BuiltinNames() []string { return machines.KernelSets() }

// Name returns the name under which the set was parsed or built in.
func (s *Set) Name() string { return s.name }

// Bind returns the model of the kernel sig on host. The error names the kernel, the file and how to add a model; it
// wraps ErrNoModel if no model covers the kernel, and says file and line if the model that does uses dimensions or
// attributes that sig does not have. Binding the same again is a lookup of about 0.2 us.
func (s *Set) Bind(host Host, sig Signature) (Model, error) {
	if host.Slot < 0 {
		return Model{}, fmt.Errorf("%s: host %s: negative slot %d", s.name, host.Name, host.Slot)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := s.signature(sig)
	if err != nil {
		return Model{}, fmt.Errorf("%s: %w", s.name, err)
	}
	key := boundKey{s.class(&host), id}
	host.Factor = key.factor
	if m, ok := s.bound[key]; ok {
		return m, nil
	}
	m, err := s.bind(s.lists[key.list], host, sig)
	if err == nil {
		s.bound[key] = m
	}
	return m, err
}

// Class returns the class of a host.
func (s *Set) Class(host Host) Class {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.class(&host)
}

// class is Class for callers that hold the lock.
func (s *Set) class(host *Host) Class {
	c := Class{list: s.hostList(hostKey{host.Name, host.Slot % s.cpusPerHost}), factor: cmp.Or(host.Factor, 1)}
	if s.usesSpeed {
		c.speed = host.Speed
	}
	c.factor /= s.alone.time(host.Ranks)
	return c
}

// alone says how much less time a rank takes that has its host to itself: its caches, memory and clock.
type alone struct {
	ranks int     // on a host, of which the models are; 0: nothing is said
	part  float64 // of their time, if there is one
}

// time returns the part of the models' time that each of some ranks on a host takes: between one and the ranks of the
// models it goes by their number.
func (a alone) time(ranks int) float64 {
	if ranks < 1 || ranks >= a.ranks {
		return 1
	}
	return a.part + (1-a.part)*float64(ranks-1)/float64(a.ranks-1)
}

// CostUnit returns the unit of the times of the kernel sig on host: Seconds, which are those whatever the speed of
// the host, or Flop, which go by it; NoUnit if the kernel is free there or has no model.
func (s *Set) CostUnit(host Host, sig Signature) CostUnit {
	m, err := s.Bind(host, sig)
	if err != nil || m.Free() {
		return NoUnit
	}
	host.Speed *= 2
	if faster, err := s.Bind(host, sig); err != nil || faster != m {
		return Flop
	}
	return Seconds
}

// Unmatched returns the names and patterns of hosts that the set has models for, and that
// none of the hosts has, each once, in their order; some reports whether others match.
func (s *Set) Unmatched(hosts iter.Seq[string]) (list []string, some bool) {
	used := make([]bool, len(s.overrides))
	for host := range hosts {
		for _, i := range s.exact[host] {
			used[i] = true
		}
		for _, i := range s.patterns {
			used[i] = used[i] || s.overrides[i].host.Match(host)
		}
	}
	seen := map[string]bool{}
	for i, matched := range used {
		text := s.overrides[i].host.String()
		if matched {
			some = true
		} else if !seen[text] {
			seen[text] = true
			list = append(list, text)
		}
	}
	return list, some
}

// hostList returns the number of the list of the overrides that apply to a CPU of a host, the same number for hosts
// with the same list. The CPUs of a host are mostly asked for one after the other, and each for all its kernels.
func (s *Set) hostList(h hostKey) int32 {
	if s.lastList >= 0 && s.lastHost == h {
		return s.lastList
	}
	// The overrides for the name are the same for all CPUs of the host: patterns are matched once for each host.
	if s.lastOverrides == nil || h.name != s.lastHost.name {
		all := append([]int32{}, s.exact[h.name]...)
		for _, i := range s.patterns {
			if s.overrides[i].host.Match(h.name) {
				all = append(all, i)
			}
		}
		slices.Sort(all)
		s.lastOverrides = all
	}
	var list []int32
	var code []byte
	for _, i := range s.lastOverrides {
		if cpu := s.overrides[i].cpu; cpu == anyCPU || cpu == h.cpu {
			list = append(list, i)
			code = binary.LittleEndian.AppendUint32(code, uint32(i))
		}
	}
	id, ok := s.listIDs[string(code)]
	if !ok {
		id = int32(len(s.lists))
		s.lists = append(s.lists, list)
		s.listIDs[string(code)] = id
	}
	s.lastHost, s.lastList = h, id
	return id
}

// signature returns the number of sig, the same for equal signatures.
func (s *Set) signature(sig Signature) (int32, error) {
	code := make([]byte, 0, 128) // on the stack: looking up does not allocate
	add := func(text string) { code = append(binary.AppendUvarint(code, uint64(len(text))), text...) }
	add(sig.Name)
	code = binary.AppendUvarint(code, uint64(len(sig.Attrs)))
	for i := range sig.Attrs {
		add(sig.Attrs[i].Name)
		add(sig.Attrs[i].Value)
	}
	for _, d := range sig.Dims {
		add(d)
	}
	if id, ok := s.sigIDs[string(code)]; ok {
		return id, nil
	}
	if sig.Name == "" || len(sig.Dims) > MaxDims {
		return 0, fmt.Errorf("kernel %q: want a name and at most %d dimensions, found %d", sig.Name, MaxDims, len(sig.Dims))
	}
	for i, d := range sig.Dims {
		if slices.Contains(sig.Dims[:i], d) {
			return 0, fmt.Errorf("kernel %s: dimension %q twice", sig, d)
		}
	}
	for i, a := range sig.Attrs {
		if slices.ContainsFunc(sig.Attrs[:i], func(b Attr) bool { return b.Name == a.Name }) {
			return 0, fmt.Errorf("kernel %s: attribute %q twice", sig, a.Name)
		}
	}
	id := int32(len(s.sigIDs))
	s.sigIDs[string(code)] = id
	return id, nil
}
