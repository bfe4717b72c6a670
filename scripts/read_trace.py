#!/usr/bin/env python3
"""Lists the actions of all ranks of a trace as `trace cat` does, with polls that all hit: read_trace.py FILE

Written from docs/trace-format.md alone, with the schema in proto/trace.proto. It trusts checksums and hashes, which `trace
verify` checks, and needs Python 3.8 and zstd's library, which Debian always has."""
import ctypes, ctypes.util, operator, re, struct, sys
from decimal import Decimal
from itertools import accumulate, islice
from types import SimpleNamespace

SCHEMA = {name: {int(n): (field, bool(repeated), kind) for repeated, kind, field, n in
                 re.findall(r'^ +(repeated )?(\w+) (\w+) = (\d+);', body, re.M)}
          for name, body in re.findall(r'^message (\w+) {(.*?)^}', open(sys.path[0] + '/../proto/trace.proto').read(), re.M | re.S)}
FEATURES = {'lists', 'vectors', 'vectors:pivot-owners/1', 'polls', 'requests', 'collectives', 'operators',
            'communicators', 'nonblocking', 'completions', 'spreads', 'one-sided', 'files', 'queues', 'relays', 'beside'}
# Lines of operations: P peer, T tag, B bytes, I bytes in, or from a sendrecv's source S with tag U; C communicator.
LINES = {9: 'flops', 10: 'sleep', 17: 'wait', 18: 'test', 34: 'free', 19: 'waitall', 11: 'send P B T C', 12: 'ssend P B T C',
         13: 'isend P B T C', 14: 'issend P B T C', 15: 'recv P B T C', 16: 'irecv P B T C', 22: 'sendrecv P B T S I U C',
         20: 'irecv P I T C/send P B T C/wait recv P I T', 21: 'issend P B T C/recv P I T C/wait send P B T',
         23: 'probe P T C', 24: 'iprobe P T C', 37: 'probewait P T C', 38: 'start P B T C',
         0: 'sendrecv P B T C'}  # of nobody
RANKS, TAGS, SIZES = {-1: 'any', -2: 'null'}, {1 - 2**31: 'any'}, {-1: '?'}
NAMED = {'P': RANKS, 'S': RANKS, 'T': TAGS, 'U': TAGS, 'B': SIZES, 'I': SIZES}
COLLECTIVES = [c.strip() for c in '''barrier, bcast send root, reduce send root flops, allreduce send flops, alltoall send recv,
    alltoallv send+ recv+, gather send recv root, gatherv send recv+ root, allgather send recv, allgatherv send recv+ span,
    scatter send recv root, scatterv send+ recv root, reducescatter recv+ flops, scan send flops,
    exscan send flops'''.split(',')]  # with their arguments; with + a vector of counts
OPERATORS = [[], *map(str.split, 'sum max min prod land band lor bor lxor bxor maxloc minloc'.split())]  # of reductions
ACCESSES = 'put get accumulate get_accumulate fetch_and_op compare_and_swap'.split()
QUEUE = 'record E Q/wait-event Q E/sync-event E/sync-stream Q/sync-device/leaf-to-host/leaf-to-device'.split('/')  # event, queue
MEMORIES = ['', 'dev', 'host', 'pageable']
SYNCS = '''create free fence post start complete wait lock_shared lock_exclusive unlock lock_all unlock_all flush
    flush_local'''.split()
MASK, signed, unzigzag = 2**64 - 1, lambda v: (v + 2**63 & MASK) - 2**63, lambda v: v >> 1 ^ -(v & 1)

def varint(b):
    """Takes a varint from an iterator over bytes; None at its end."""
    value = shift = 0
    for byte in b:
        value, shift = value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value

def message(name, b):
    """Decodes a protobuf message. What is absent is 0 or empty; a double is left as bytes."""
    m = {f: [] if repeated else {'bytes': b'', 'string': ''}.get(kind, 0) for f, repeated, kind in SCHEMA[name].values()}
    b = iter(b)
    for key in iter(lambda: varint(b), None):
        field, repeated, kind = SCHEMA[name].get(key >> 3, ('unknown', False, 'bytes'))
        number = unzigzag if kind[:4] == 'sint' else signed if kind[:3] == 'int' else int
        size = varint(b) if key & 7 in (0, 2) else 8 if key & 7 == 1 else 4
        part = bytes(islice(b, size if key & 7 else 0))
        values = [message(kind, part) if kind in SCHEMA else part.decode() if kind == 'string' else part]
        if kind not in SCHEMA and kind not in ('bytes', 'double', 'string'):
            values = [number(v) for v in (iter(lambda p=iter(part): varint(p), None) if key & 7 else [size])]
        m[field] = m[field] + values if repeated else values[-1]
    return SimpleNamespace(**m)

def records(data, zstd=ctypes.CDLL(ctypes.util.find_library('zstd') or 'libzstd.so.1')):
    data[:20] == bytes.fromhex('522a4d1810000000') + b'reprise\n\1\0\0\0' or sys.exit(f'{sys.argv[1]}: not a trace of version 1')
    at, kind, zstd.ZSTD_decompress.restype = 24, b'', ctypes.c_size_t
    while at < len(data):
        kind, plain, packed = struct.unpack('<8x4s16xII52x', data[at:at + 88])
        content, out = data[at + 88:at + 88 + packed], ctypes.create_string_buffer(plain + 1)
        if packed and zstd.ZSTD_decompress(out, ctypes.c_size_t(plain), content, ctypes.c_size_t(packed)) != plain:
            sys.exit(f'{sys.argv[1]}: offset {at}: corrupt')
        yield kind, out.raw[:plain]
        at += 88 + packed
    kind == b'END.' or sys.exit(f'{sys.argv[1]}: truncated')

def table(b, rows, n=1):
    """Takes a table from an iterator over the columns of a chunk: rows of n values."""
    coding, values, zeros = next(b) if rows * n else 0, [], -1
    for i in range(rows * n):
        token, zeros = (0, zeros - 1) if zeros > 0 else (varint(b), -1)
        if coding & 8 and token == 0 and zeros < 0:
            zeros = varint(b)
        before = values[i - (1 if i < n else n if i % n == 0 else (1, n, n + 1)[(coding & 7) - 2])] if coding & 7 > 1 and i else 0
        values.append(signed((unzigzag(token) if coding & 7 else token) + before))
    return values

def pivot_owners(count, seed, first, rows, block, owners):
    def mix(x):
        z = x + 0x9E3779B97F4A7C15 & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31
    drawn = [(c, c + mix(mix(seed & MASK) + c & MASK) % (rows - c)) for c in range(first, first + count)]
    return [0 if r == c else 1 + (r // block - first // block) % owners for c, r in drawn]

class Trace:
    def __init__(self, data):
        self.blocks, self.chunks = [], []
        for kind, content in records(data):
            m = message({b'HEAD': 'Header', b'DEFS': 'Definitions', b'WIND': 'Chunk'}.get(kind, 'Index'), content)
            for feature in set(getattr(m, 'features', ())) - FEATURES:
                sys.exit(f'{sys.argv[1]}: unknown feature "{feature}": made by a newer program')
            if kind == b'HEAD':
                groups = [[g.ranks or [g.start + i * g.stride for i in range(g.count)] for g in f.groups] for f in m.comm_families]
                self.header, self.own = m, [{r: (g, ranks) for g, ranks in enumerate(f) for r in ranks} for f in groups]
                self.classes = [[(0, a.kind == 1 and self.own[a.family][r][0], r)[a.kind] for r in range(m.ranks)] for a in m.axes]
                self.layout = [[('mask', 1 + a) for a in t.masks] + [('count', t.counts)] * (t.counts > 0) +
                               [('block', t.block)] + [('argument', p.axis) for p in t.params] for t in m.call_sites]
            self.blocks += m.blocks if kind == b'DEFS' else []
            self.chunks += [self.chunk(m, iter(m.columns))] if kind == b'WIND' else []
    def chunk(self, m, columns):
        """Returns the chunk's calls in order, each a call site and the values of its columns; its blocks; its vectors."""
        ends = [0, *accumulate(m.shape_sizes)]
        calls = [(t, []) for s in m.shapes for t in m.sites[ends[s]:ends[s + 1]]]
        for t, layout in enumerate(self.layout):
            own = [values for site, values in calls if site == t]
            for _, axis in layout if own else ():
                if axis:
                    values = table(columns, 1 + max(self.classes[axis - 1]), len(own))
                    parts = [values[i::len(own)] for i in range(len(own))]
                else:  # per item
                    sizes = [sum(values[[what for what, _ in layout].index('count')]) for values in own]
                    values = table(columns, sum(sizes))
                    parts = [values[end - size:end] for end, size in zip(accumulate(sizes), sizes)]
                for call, part in zip(own, parts):
                    call.append(part)
        kinds, counts = table(columns, m.vectors), table(columns, m.vectors)
        elements = iter(table(columns, sum(n for k, n in zip(kinds, counts) if k == 0)))
        made = [zip(*[table(columns, kinds.count(1 + g)) for _ in range(5)]) for g in range(len(m.generators))]
        vectors = [pivot_owners(n, *next(made[k - 1])) if k else list(islice(elements, n)) for k, n in zip(kinds, counts)]
        return calls, m.blocks, vectors

class Rank:
    def __init__(self, trace, rank):
        self.trace, self.own, self.slots, self.requests, self.rank = trace, [family[rank] for family in trace.own], {}, {}, rank
        self.relays = {}  # by number: slots, each a rank that a chunk comes from, one that it goes to, bytes, COMM; pointers
        self.comms = ['' if f.name == '-' else f.name for f in trace.header.comm_families]
        print('# rank', rank, *(f'my{name} {g}' for name, (g, _) in zip(self.comms, self.own) if name))
        for calls, blocks, self.vectors in trace.chunks:
            for t, values in calls:
                self.call([(what, axis and trace.classes[axis - 1][rank], axis) for what, axis in trace.layout[t]], values, blocks)
    def call(self, layout, values, blocks):
        columns = list(zip(layout, values))
        items = [range(sum(v[:at]), sum(v[:at + 1])) for (what, at, _), v in columns if what == 'count'] or [[0]]
        for item in items[0] if all(v[at] for (what, at, _), v in columns if what == 'mask') else []:
            block, *args = [v[at if axis else item] for (what, at, axis), v in columns if what in ('block', 'argument')]
            if block:
                self.run(blocks[block - 1], args)
    def run(self, block, args):
        b = self.trace.blocks[block]
        self.items(b.items, [0, *args[:b.params]] + [0] * (200 - b.params))
    def items(self, items, r):
        for it in items:
            a = [signed(r[reg] + c) for reg, c in zip(it.arg_regs, it.arg_consts)]
            if it.op <= 7:
                r[it.dst] = signed(self.value(it, a))
            elif it.op in (30, 31):
                for _ in range(a[0] if it.op == 31 else a[0] != 0):
                    self.items(it.body, r)
            elif it.op == 32:
                self.run(it.sym, a)
            elif it.op == 25:
                self.slots[it.slot] = it.sym, a
            elif it.op in (26, 27):
                if it.slot in self.slots:
                    self.run(*self.slots.pop(it.slot))
            elif it.op == 28:
                while it.slot in self.slots:
                    self.run(it.sym, [min(a[:2]), *a[2:]])
                    a[0] -= min(a[:2])
                    self.run(*self.slots.pop(it.slot))
                if a[0] > 0:
                    self.run(it.sym, [a[0], *a[2:]])
            elif it.op == 45:
                self.relay(it, *a)
            elif it.op == 46:
                for n in range(4):
                    if it.slot >> n & 1 and n in self.relays and self.advance(n, it.slot >> 4 == 2) and it.slot >> 4 == 1:
                        break
            elif it.op == 47:  # all that is asked for is there at once
                if it.coefs:
                    print('testall', *it.coefs)
                elif it.slot < 16 and a[0] > 0:
                    self.advance((it.slot & 15).bit_length() - 1, False)
                r[it.dst] = a[0]
            elif it.op == 48:
                self.ring(it, *a)
            elif it.op == 22 and -2 in (a[0], a[3]):  # with nobody on one side, or on both
                self.action(it, *((15, a[3:]) if a[3] != -2 else (11, a[:3]) if a[0] != -2 else (0, a[:3])))
            elif it.op != 20 or a[2] or a[3]:  # an exchange with an empty side is a send or a recv
                half = it.op == 20 and not (a[2] and a[3])
                self.action(it, (11 if a[2] else 15) if half else it.op, [*a[:2], a[2] or a[3]] if half else a)
    def relay(self, it, size, root):
        ranks, (least, parts, window) = self.own[it.sym][1], it.coefs
        n, me, chunk = len(ranks), ranks.index(self.rank), max(least, -(-size // parts))
        d, half, before, behind = (me - root) % n, n // 2, ranks[me - 1], ranks[(me + 1) % n]
        source = None if d == 0 else before if d <= half else behind
        to = [behind, before][:n - 1] if d == 0 else [behind if d < half else before if d > half + 1 else None]
        slots = self.relays.setdefault(it.slot, ([], it.req, window, [0, 0, 0]))[0]
        if n > 1:
            slots += [(source, t, min(chunk, size - at), self.comms[it.sym]) for at in range(0, size, chunk) for t in to]
    def advance(self, n, finish):
        slots, req, window, at = self.relays[n]  # at: received, sent, completed
        def post(verb, i, peer):
            print(verb, peer, slots[i][2], 0, *[slots[i][3]] * (slots[i][3] != ''))
        def done(i, verb, peer):
            print(*(['wait', verb, peer, slots[i][2], 0] if finish else ['test', req + i % window])) if peer is not None else None
        while at[2] < len(slots):
            for _ in range(1 if finish else max(0, at[0] - at[1])):
                if at[1] < at[0]:
                    done(at[1], 'recv', slots[at[1]][0])
                    if slots[at[1]][1] is not None:
                        post('isend', at[1], slots[at[1]][1])
                    at[1] += 1
            for _ in range(1 if finish else at[1] - at[2]):
                if at[2] < at[1]:
                    done(at[2], 'send', slots[at[2]][1])
                    at[2] += 1
            while at[0] < len(slots) and at[0] - at[2] < window:
                if slots[at[0]][0] is not None:
                    post('irecv', at[0], slots[at[0]][0])
                at[0] += 1
        if finish:
            del self.relays[n]
        return True
    def ring(self, it, size, root):
        ranks, skips, chunk = self.own[it.sym][1], it.slot >> 1, it.coefs[0]
        n, me, chunks = len(ranks) - skips, ranks.index(self.rank), range(0, size, chunk)
        y, up = (me - root) % len(ranks), (len(chunks) + 1) // 2 if it.slot & 1 else len(chunks)
        if n < 2 or skips and y == 1:
            return
        y, open_, place = max(0, y - skips), {}, lambda y: (root + y % n + skips * (y % n > 0)) % len(ranks)
        ways = [[way, part, 0 if y else len(part), 0, y < n - 1 if way > 0 else y != 1] for way, part in ((1, chunks[:up]), (-1, chunks[up:]))]
        def post(i, verb):  # 0 irecv, 1 isend of way i
            way, part, received, sent, _ = ways[i]
            peer, at = place(y + way if verb else y - way), part[sent if verb else received]
            open_[i + 2 * verb] = print(('irecv', 'isend')[verb], ranks[peer], min(chunk, size - at), me if verb else peer,
                                        *[self.comms[it.sym]] * (self.comms[it.sym] != ''))
        for i in (0, 1):
            if ways[i][1]:
                post(i, y == 0)
        while open_:
            which = min(open_)
            print('waitany', it.req + which, 'of', *(it.req + slot for slot in sorted(open_)))
            del open_[which]
            w = ways[which % 2]
            free = w[2] == w[3]
            w[2 + which // 2] += 1
            if w[4] and (free if which < 2 else w[3] < w[2]):
                post(which % 2, 1)
            if which < 2 and w[2] < len(w[1]):
                post(which, 0)
    def value(self, it, a):
        if it.op in (6, 7):
            v = self.own[it.sym][1] if it.op == 6 else self.vectors[a[0]]
            return sum(v[i % len(v)] for i in (a[:1] if it.op == 6 else range(a[1], a[2])))
        return sum(map(operator.mul, it.coefs, a)) if it.op == 1 else (operator.mul, min, max, operator.eq)[it.op - 2](*a)
    def action(self, it, op, a):
        args, header = iter(a), self.trace.header
        if op == 8:
            k = header.kernels[it.sym]
            print(k.name, *(x.value for x in k.attrs), *(d.values[v] if d.values else v for d, v in zip(k.dims, a)))
        elif op == 43:
            k, queue, waits = header.kernels[it.sym], header.queues[it.slot & 15], '-blocking' * (it.slot >> 4 & 1)
            words = [*(x.value for x in k.attrs), *(d.values[v] if d.values else v for d, v in zip(k.dims, a))]
            if k.name.startswith('copy'):
                print(k.name + waits, *[queue] * (not waits), *words)
            else:
                print('launch' + waits, queue, k.name, *words)
        elif op == 44:
            words = {'Q': header.queues[it.slot >> 4], 'E': (header.events or [''])[it.sym]}
            print(*(words.get(w, w) for w in QUEUE[it.slot & 15].split()))
        elif op in (9, 10, 17, 18, 34):
            print(LINES[op], *(self.requests[it.req] if op > 10 else [amount(a[0])]), *(['spread', amount(a[1])] if a[1:] and a[1] else []))
        elif op in (49, 50):
            print(*(['after' + '-begin' * it.slot, *a] if op == 49 else ['beside', *['processor', it.slot] * (it.slot > 0)]))
        elif op == 29:
            text = re.sub('{}|{list}|{sums}', lambda place: self.place(place[0], next(args)), header.markers[it.sym].text)
            print(text, end='\n' if text else '')
        elif op in (39, 40, 41, 42):
            comm = [self.comms[it.sym]] * (self.comms[it.sym] != '')
            if op == 42:
                print(('file_read', 'file_write')[it.slot & 1] + '_all' * (it.slot >> 1), *a, *comm)
            elif op == 41:
                peer = [a[0]] if a[0] != -1 else ['all'] * (it.slot >= 12)
                print('win_' + SYNCS[it.slot], *peer, 'window', a[1], *comm, *['assert', a[2]] * (a[2] != 0))
            else:
                name = 'r' * (op == 40) + ACCESSES[it.slot]
                print(name, a[0], *a[2:3] * (it.slot != 1), *a[3:] * (it.slot not in (0, 2)), 'window', a[1], *comm)
                if op == 40:
                    self.requests[it.req] = [name]
        elif op == 36:
            print('waitall waitany waitsome testall testany testsome'.split()[it.sym], *it.coefs)
        elif op in (33, 35):
            name, *words = self.collective(*COLLECTIVES[it.sym].split(), args=args)
            name, comm = 'i' * (op == 35) + name, ['comm', self.comms[it.comm - 1] or it.comm - 1] if it.comm else []
            print(name, *words, *comm, *OPERATORS[it.slot])
            if op == 35:
                self.requests[it.req] = [name]
        else:
            words = {w: NAMED[w].get(v, v) for w, v in zip('PTBSUI' if op == 22 else 'PTBI', a)}
            words['C'] = ' '.join([self.comms[it.sym] if header.comm_families else '', *[MEMORIES[it.slot]] * (1 + (op == 22))]).strip()
            for line in LINES[op].split('/'):
                print(*(w for w in (words.get(w, w) for w in line.split()) if w != ''))
            if op in (13, 14, 16, 38):
                self.requests[it.req] = ['recv' if op == 16 else 'send', *(words[w] for w in 'PBT')]
    def place(self, p, v):
        return ','.join(map(str, [v] if p == '{}' else self.vectors[v] if p == '{list}' else accumulate([0, *self.vectors[v]])))
    def collective(self, name, *has, args):
        words = {what.strip('+'): amount(next(args)) if what == 'flops' else next(args) if what in ('root', 'span') else
                 f"{self.place('{list}' if what[-1] == '+' else '{}', next(args))}x{next(args)}" for what in has}
        return [name, *(x for w in ('root', 'send', 'recv', 'flops', 'span') if w in words for x in (w, words[w]))]

def amount(bits):
    v, = struct.unpack('<d', struct.pack('<q', bits))
    if v == int(v) and v < 1e18 or 1e-4 <= v < 1e6:
        return int(v) if v == int(v) else repr(v)
    return f"{v:.{len(Decimal(repr(v)).normalize().as_tuple().digits) - 1}e}"

trace = Trace(open(sys.argv[1], 'rb').read() if len(sys.argv) == 2 else sys.exit(__doc__))
for rank in range(trace.header.ranks):
    Rank(trace, rank)
