package kernels

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"

	"reprise/internal/regular"
	"reprise/kernels/noise"
	"reprise/platforms/machines"
)

// MaxDims is the largest number of dimensions that a signature may have.
const MaxDims = 4

// ErrNoModel is wrapped by the errors of Bind for a kernel that no model of
// the file covers.
var ErrNoModel = errors.New("no kernel model")

// Attr is one named property of a kernel call that is not a number: side=L,
// uplo=U, trans=N.
type Attr struct {
	Name, Value string
}

// Signature is the kind of a kernel call: its name, its attributes, and the
// names of its dimensions in the order in which a call gives their values, at
// most MaxDims.
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

// CostUnit is what a model gives the time of a kernel in.
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
	Speed float64 // flop/s of what one rank gets; used by models in unit flop only
	// Factor is how many times as quick it is as the file says; 0 means 1.
	Factor float64
}

// Set is a parsed and checked kernel file, with a cache of what has been
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
	hosts       *noise.Source      // that this set is drawn from; nil: hosts are alike
	quicker     []quickened        // by Quicker
	noisy       []noisyKernel      // by Noisy

	mu       sync.Mutex
	lastHost hostKey // mostly asked for again
	lastList int32   // index in lists, of lastHost; -1 if none was asked for

	lastName      string
	lastOverrides []int32 // of the host with lastName, for any CPU; nil if none was asked for

	lists    [][]int32
	listIDs  map[string]int32 // of lists, by encoded content
	sigs     []Signature
	sigIDs   map[uint64][]int32 // of sigs, by hash
	bound    map[boundKey]Model
	programs map[string]*program // by encoded content
}

// hostKey is what decides which overrides apply.
type hostKey struct {
	name string
	cpu  int
}

// A Class is what a set tells hosts apart by: those of equal classes have the same models of
// all kernels.
type Class struct {
	list   int32   // of the overrides that apply
	speed  float64 // 0 unless usesSpeed
	factor float64 // how many times as quick the host is
}

// boundKey is what decides which model a bind returns.
type boundKey struct {
	Class
	sig int32
}

func newSet(name string, cpusPerHost int, base []rule, overrides []override) *Set {
	s := &Set{
		name: name, cpusPerHost: cpusPerHost, base: base, overrides: overrides,
		exact:     map[string][]int32{},
		usesSpeed: usesSpeed(base),
		lastList:  -1,
		listIDs:   map[string]int32{},
		sigIDs:    map[uint64][]int32{},
		bound:     map[boundKey]Model{},
		programs:  map[string]*program{},
	}
	for i, o := range overrides {
		s.usesSpeed = s.usesSpeed || usesSpeed(o.rules)
		if o.host.Exact() {
			s.exact[o.host.String()] = append(s.exact[o.host.String()], int32(i))
		} else {
			s.patterns = append(s.patterns, int32(i))
		}
	}
	return s
}

func usesSpeed(rules []rule) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return r.model.flop })
}

// Load parses the kernel file at path.
func Load(path string) (*Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Parse(f, path)
}

// Name returns the name under which the set was parsed or built in.
func (s *Set) Name() string { return s.name }

// Bind returns the model of the kernel sig on host. The error names the
// kernel, the file and how to add a model; it wraps ErrNoModel if no model
// covers the kernel, and says file and line if the model that does uses
// dimensions or attributes that sig does not have. Binding the same again is
// a lookup of about 0.2 us.
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

func (s *Set) class(host *Host) Class {
	c := Class{list: s.hostList(hostKey{host.Name, host.Slot % s.cpusPerHost}), factor: s.factorOf(host)}
	if s.usesSpeed {
		c.speed = host.Speed
	}
	return c
}

// CostUnit says what the times of the kernel sig on host are given in: Seconds, which are
// those whatever the speed of the host, or Flop, which go by it; NoUnit if the kernel is
// free there or has no model.
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

// hostList returns the number of the list of the overrides that apply to h,
// the same number for hosts with the same list.
func (s *Set) hostList(h hostKey) int32 {
	if s.lastList >= 0 && s.lastHost == h {
		return s.lastList
	}
	var list []int32
	for _, i := range s.overridesOf(h.name) {
		if cpu := s.overrides[i].cpu; cpu == anyCPU || cpu == h.cpu {
			list = append(list, i)
		}
	}
	s.lastHost, s.lastList = h, s.listID(list)
	return s.lastList
}

// overridesOf returns the overrides for any CPU of the host with that name, in their order.
// The CPUs of a host are mostly asked for one after the other.
func (s *Set) overridesOf(name string) []int32 {
	if s.lastOverrides != nil && name == s.lastName {
		return s.lastOverrides
	}
	list := append(make([]int32, 0, len(s.exact[name])), s.exact[name]...)
	for _, i := range s.patterns {
		if s.overrides[i].host.Match(name) {
			list = append(list, i)
		}
	}
	slices.Sort(list)
	s.lastName, s.lastOverrides = name, list
	return list
}

func (s *Set) listID(list []int32) int32 {
	var code []byte
	for _, i := range list {
		code = binary.LittleEndian.AppendUint32(code, uint32(i))
	}
	id, ok := s.listIDs[string(code)]
	if !ok {
		id = int32(len(s.lists))
		s.lists = append(s.lists, list)
		s.listIDs[string(code)] = id
	}
	return id
}

// signature returns the number of sig, the same for equal signatures.
func (s *Set) signature(sig Signature) (int32, error) {
	h := hash(sig)
	for _, id := range s.sigIDs[h] {
		if known := &s.sigs[id]; known.Name == sig.Name && slices.Equal(known.Attrs, sig.Attrs) &&
			slices.Equal(known.Dims, sig.Dims) {
			return id, nil
		}
	}
	if err := sig.check(); err != nil {
		return 0, err
	}
	id := int32(len(s.sigs))
	sig.Attrs, sig.Dims = slices.Clone(sig.Attrs), slices.Clone(sig.Dims)
	s.sigs = append(s.sigs, sig)
	s.sigIDs[h] = append(s.sigIDs[h], id)
	return id, nil
}

// check reports what is wrong with sig.
func (sig Signature) check() error {
	if sig.Name == "" || len(sig.Dims) > MaxDims {
		return fmt.Errorf("kernel %q: want a name and at most %d dimensions, found %d", sig.Name, MaxDims, len(sig.Dims))
	}
	if name, ok := repeated(sig.Dims, func(d string) string { return d }); ok {
		return fmt.Errorf("kernel %s: dimension %q twice", sig, name)
	}
	if name, ok := repeated(sig.Attrs, func(a Attr) string { return a.Name }); ok {
		return fmt.Errorf("kernel %s: attribute %q twice", sig, name)
	}
	return nil
}

// repeated returns the first name that occurs again in list.
func repeated[T any](list []T, name func(T) string) (string, bool) {
	for i := range list {
		for j := range i {
			if name(list[i]) == name(list[j]) {
				return name(list[i]), true
			}
		}
	}
	return "", false
}

// hash is FNV-1a over the parts of sig, each closed by a byte that no UTF-8
// text contains.
func hash(sig Signature) uint64 {
	h := uint64(14695981039346656037)
	add := func(text string) {
		for i := range len(text) {
			h = (h ^ uint64(text[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	add(sig.Name)
	for i := range sig.Attrs {
		add(sig.Attrs[i].Name)
		add(sig.Attrs[i].Value)
	}
	add("")
	for _, d := range sig.Dims {
		add(d)
	}
	return h
}

// Builtin returns the built-in set of the given name, one of BuiltinNames.
// Each call returns a set of its own.
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

// Find loads a file, or a built-in set if there is no file of that name.
func Find(name string) (*Set, error) {
	if regular.IsFile(name) {
		return Load(name)
	}
	set, err := Builtin(name)
	return set, regular.Missing(name, err)
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

// How much hosts differ: by what the caller says (Host.Factor), and by the scatter that a
// file states, in sets that are drawn from it.

// HostScatter returns the standard deviation of times from host to host, relative to
// those of the file; 0 if the file says nothing of it.
func (s *Set) HostScatter() float64 { return s.scatter }

// DrawHosts returns the set for hosts that are not alike: the times of each differ by a
// normal deviate with the standard deviation HostScatter, which goes by the host's name.
func (s *Set) DrawHosts(from noise.Source) *Set {
	drawn := s.clone()
	drawn.hosts = &from
	return drawn
}

// least is the least factor of a host's times: a deviate beyond it stands for none.
const least = 0.1

// factorOf returns how many times as quick a host is as the file says.
func (s *Set) factorOf(h *Host) float64 {
	factor := h.Factor
	if factor == 0 {
		factor = 1
	}
	if s.hosts == nil || s.scatter == 0 {
		return factor
	}
	name := fnv.New64a()
	_, _ = name.Write([]byte(h.Name)) // a hash takes all
	d := s.hosts.Draw(noise.HostScatter, uint32(name.Sum64()>>32), uint32(name.Sum64()), 0)
	return factor / max(least, 1+float64(s.scatter*d.Normal()))
}

// Quicker returns the set in which the kernel of a name is that many times as quick, on all
// hosts, as the set says: what-ifs ask so.
func (s *Set) Quicker(kernel string, factor float64) *Set {
	quick := s.clone()
	quick.quicker = append(quick.quicker, quickened{kernel, factor})
	return quick
}

// quickened is a kernel that is so many times as quick as the file says.
type quickened struct {
	kernel string
	factor float64
}

// quickness returns how many times as quick as the file says a kernel is.
func (s *Set) quickness(kernel string) float64 {
	factor := 1.0
	for _, q := range s.quicker {
		if q.kernel == kernel {
			factor *= q.factor
		}
	}
	return factor
}
