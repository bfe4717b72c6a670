#!/usr/bin/env python3
"""Predicts public runs of HPL and HPCG from data sheets and prints how far off they are.

    scripts/truth.py DATA OUT [--bin bin] [--sample 6] [--class cluster,cloud,...] [--ranks 1100] [--tolerance 5%]

DATA has machines.csv and runs.csv, figures of other people that are not in the repository. Of each machine --sample runs,
evenly spaced by nodes, order, grid and block size, are predicted by tracegen, calibrate machine --sheet and replay; OUT is
a directory with the traces and results.csv, which another call goes on with. Runs of more than --ranks ranks are left
out, unless --tolerance has them estimated. Runs of TOP500 lists have a rank a socket, the grid nearest to a square, NB 192.

Errors are by machine (the median of its runs) of a kind: several nodes, one node, TOP500. Machines are left out: the
level of the other machines of the same software and width of units is taken from its predictions, as a fit of the rates
of matrix products without the machine does: the mean of their median biases (of runs on several nodes, if there are any),
in the logarithm, biases beyond 0.15 of it counting as that.
"""
import argparse, csv, json, math, os, re, statistics, subprocess

def number(text):
    try: return float(text)
    except ValueError: return None

def kind(m):
    words = (m['network'] + ' ' + m['CPU model']).lower()
    if 'virtual' in words: return 'cloud'
    if 'ethernet' in words or 'tcp' in words: return 'ethernet'
    return 'rdma' if m['network'] else ''

def sheet(m, nodes, ranks_per_host):
    """The data sheet of a machine with some of its nodes."""
    lines = [f"nodes: {nodes}", f"sockets: {m['sockets per node'] or 1}", f"cores: {m['cores per socket']}",
             f"clock: {m['nominal clock GHz']}GHz", "clock_kind: nominal",
             f"flop_per_cycle: {m['DP flop per cycle per core']}", f"memory: {number(m['memory GB per node']) or 64:g}GB",
             f"ranks_per_host: {ranks_per_host}", f"software: {'tuned' if m['class'] == 'top500' else 'typical'}"]
    if number(m['memory GB/s per socket']): lines.append(f"memory_bandwidth: {m['memory GB/s per socket']}GBps")
    if number(m['network Gb/s per node']): lines.append(f"network: {m['network Gb/s per node']}Gbps")
    if kind(m): lines.append(f"network_kind: {kind(m)}")
    l3 = re.match(r'\s*([\d.]+ [kM]B)', m['L3 per socket and sharing'])
    if l3: lines.append(f"l3: {l3.group(1)}")
    return '\n'.join(lines) + '\n'

def run_of(r, m):
    """What tracegen and the sheet need, or None if the run says too little."""
    cores = int(number(m['sockets per node']) or 1) * int(number(m['cores per socket']) or 1)
    n, nodes = number(r['N']), int(re.match(r'\d*', r['nodes'] or '1').group() or 1)
    if r['note'].startswith('DOUBT') or not number(m['nominal clock GHz']) or not number(m['DP flop per cycle per core']): return None
    if r['program'] != 'HPL' or not n: return None
    ranks = int(r['ranks'] or nodes * (int(number(m['sockets per node']) or 1) if m['class'] == 'top500' else cores))
    p, q = number(r['P']), number(r['Q'])
    if not p or not q:
        p = max(d for d in range(1, math.isqrt(ranks) + 1) if ranks % d == 0); q = ranks // p
    flags = {'-N': int(n), '--NB': int(number(r['NB']) or 192), '-P': int(p), '-Q': int(q), '--DEPTH': r['DEPTH'] or 1,
             '--BCAST': r['BCAST'] or '1rM', '--PFACT': r['PFACT'] or 'right', '--RFACT': r['RFACT'] or 'crout',
             '--NBMIN': r['NBMIN'] or 4, '--SWAP': {'bin-exch': 'bin', 'spread-roll': 'long'}.get(r['SWAP'], 'mix'),
             '--PMAP': 'col' if r['PMAP'].startswith('col') else 'row'}
    return {'id': r['machine id'], 'run': r['run'], 'nodes': nodes, 'ranks': ranks, 'flags': flags, 'cores': cores,
            'gflops': float(r['Gflops']), 'per': -(-ranks // nodes), 'class': m['class'],
            'sockets': int(number(m['sockets per node']) or 1), 'flop': number(m['DP flop per cycle per core'])}

def predict(x, m, args):
    base = os.path.join(args.out, f"{x['id']}-{x['run']}")
    with open(base + '.yaml', 'w') as f: f.write(sheet(m, x['nodes'], x['per']))
    tool = lambda name: os.path.join(args.bin, name)
    subprocess.run([tool('calibrate'), 'machine', base, '--sheet', base + '.yaml'], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([tool('tracegen'), 'hpl', '--quiet', '-o', base + '.zst'] + [str(v) for kv in x['flags'].items() for v in kv], check=True)
    more = ['--tolerance', args.tolerance] if args.tolerance else []
    out = subprocess.run([tool('replay'), '--machine', base, '--json', '--quiet'] + more + [base + '.zst'], check=True, capture_output=True)
    return json.loads(out.stdout)['gflops']

def group(x):
    """What shares a constant of calibrate/sheet/constants.go."""
    tuned, wide = x['class'] == 'top500', x['flop'] >= 16
    return tuned, wide and (not tuned or x['flop']), not wide and x['sockets'] > 1 and x['cores'] > x['sockets']

def median(values): return statistics.median(values) if values else 0

def robust(values):
    mean = median(values)
    for _ in range(50 * bool(values)): mean += sum(max(-0.15, min(0.15, v - mean)) for v in values) / len(values)
    return mean

def table(results):
    by, kinds = {}, {}
    for x in results: by.setdefault(x['id'], []).append(x)
    several = {k: [x for x in v if x['nodes'] > 1] or v for k, v in by.items()}
    bias = {k: median([math.log(x['predicted'] / x['gflops']) for x in v]) for k, v in several.items()}
    for k, v in by.items():
        others = [o for o in by if o != k and group(by[o][0]) == group(v[0])]
        level = robust([bias[o] for o in others if several[o][0]['nodes'] > 1] or [bias[o] for o in others])
        for x in v:
            x['error'], x['raw'] = (x['predicted'] / x['gflops'] / math.exp(l) - 1 for l in (level, 0))
            kind = 'TOP500' if x['class'] == 'top500' else "users' logs, " + ('several nodes' if x['nodes'] > 1 else 'one node')
            kinds.setdefault(kind, {}).setdefault(k, []).append(x)
    for name, machines in kinds.items():
        medians = {k: median([abs(x['error']) for x in v]) for k, v in machines.items()}
        worst = max((x for v in machines.values() for x in v), key=lambda x: abs(x['error']))
        print(f"{name}: {len(machines)} machines, left out: median {100 * median(medians.values()):.1f} %, worst run "
              f"{100 * worst['error']:+.0f} % ({worst['id']} {worst['run']}); as fitted: median "
              f"{100 * median([median([abs(x['raw']) for x in v]) for v in machines.values()]):.1f} %")
        for k, v in sorted(machines.items()):
            print(f"  {k:18} {len(v):4} runs, left out: median {100 * medians[k]:5.1f} %; as fitted: bias {100 * median([x['raw'] for x in v]):+.0f} %")
    right = pairs = 0
    for v in by.values():
        for i, a in enumerate(v):
            for b in v[:i]:
                same = all(a['flags'][f] == b['flags'][f] for f in a['flags'] if f not in ('-P', '-Q')) and a['nodes'] == b['nodes']
                if same and abs(math.log(a['gflops'] / b['gflops'])) > 0.05:
                    pairs += 1; right += (a['gflops'] > b['gflops']) == (a['predicted'] > b['predicted'])
    if pairs: print(f"pairs of grids in the right order: {right} of {pairs}, {100 * right / pairs:.0f} %")

def main():
    p = argparse.ArgumentParser()
    p.add_argument('data'); p.add_argument('out'); p.add_argument('--bin', default='bin'); p.add_argument('--tolerance')
    p.add_argument('--sample', type=int, default=6); p.add_argument('--ranks', type=int, default=1100)
    p.add_argument('--class', dest='classes', default='cluster,cloud,node,sbc'); p.add_argument('--cores', type=int, default=60000)
    args = p.parse_args()
    read = lambda name: list(csv.DictReader(open(os.path.join(args.data, name))))
    machines = {m['id']: m for m in read('machines.csv')}
    os.makedirs(args.out, exist_ok=True)
    path = os.path.join(args.out, 'results.csv')
    done = {row['run']: float(row['predicted']) for row in csv.DictReader(open(path))} if os.path.exists(path) else {}
    by = {}
    for r in read('runs.csv'):
        x = run_of(r, machines[r['machine id']])
        if x and x['class'] in args.classes.split(',') and x['ranks'] <= args.ranks and x['nodes'] * x['cores'] <= args.cores:
            by.setdefault(x['id'], []).append(x)
    results = []
    for k, v in by.items():
        v.sort(key=lambda x: (x['nodes'], x['flags']['-N'], x['flags']['-P'], x['flags']['--NB']))
        for x in v[::max(1, len(v) // args.sample)]:
            x['predicted'] = done.get(x['run']) or predict(x, machines[k], args)
            if x['run'] not in done:
                with open(path, 'a') as f: f.write(('' if done else 'run,predicted\n') + f"{x['run']},{x['predicted']}\n")
                done[x['run']] = x['predicted']
            results.append(x)
    table(results)

if __name__ == '__main__':
    main()
