#!/usr/bin/env python3
"""Predicts public runs of HPL and HPCG from data sheets and prints how far off they are.

    scripts/truth.py DATA OUT [--bin bin] [--sample 6] [--class cluster,cloud,...] [--ranks 1100] [--tolerance 5%]

DATA has machines.csv and runs.csv, figures of other people that are not in the repository. Of each machine --sample runs,
evenly spaced by nodes, order, grid and block size, are predicted by tracegen, calibrate machine --sheet and replay; OUT is
a directory with the traces and results.csv, which another call goes on with. Runs of more than --ranks ranks are left
out, unless --tolerance has them estimated. Runs of TOP500 lists have a rank a socket, the grid nearest to a square, NB 192.

Errors are by machine (the median of its runs), left out: the level of the others' predictions, the median by machine of
each of the two kinds of software, is taken from each, so that no machine's own runs decide its prediction.
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
            'gflops': float(r['Gflops']), 'per': -(-ranks // nodes), 'class': m['class']}

def predict(x, m, args):
    base = os.path.join(args.out, f"{x['id']}-{x['run']}")
    with open(base + '.yaml', 'w') as f: f.write(sheet(m, x['nodes'], x['per']))
    tool = lambda name: os.path.join(args.bin, name)
    subprocess.run([tool('calibrate'), 'machine', base, '--sheet', base + '.yaml'], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([tool('tracegen'), 'hpl', '--quiet', '-o', base + '.zst'] + [str(v) for kv in x['flags'].items() for v in kv], check=True)
    more = ['--tolerance', args.tolerance] if args.tolerance else []
    out = subprocess.run([tool('replay'), '--machine', base, '--json', '--quiet'] + more + [base + '.zst'], check=True, capture_output=True)
    return json.loads(out.stdout)['gflops']

def table(results):
    by = {}
    for x in results: by.setdefault(x['id'], []).append(x)
    bias = {k: statistics.median(math.log(x['predicted'] / x['gflops']) for x in v) for k, v in by.items()}
    tuned = {k: v[0]['class'] == 'top500' for k, v in by.items()}
    errors = {}
    for k, v in by.items():
        level = statistics.median([bias[o] for o in by if o != k and tuned[o] == tuned[k]] or [0])
        errors[k] = [abs(x['predicted'] / x['gflops'] / math.exp(level) - 1) for x in v]
    sets = {"users' logs, several nodes": [k for k in by if not tuned[k] and by[k][0]['nodes'] > 1 or any(x['nodes'] > 1 for x in by[k]) and not tuned[k]],
            "users' logs, one node": [k for k in by if not tuned[k] and all(x['nodes'] == 1 for x in by[k])],
            'TOP500': [k for k in by if tuned[k]]}
    for name, machines in sets.items():
        if not machines: continue
        medians = {k: statistics.median(errors[k]) for k in machines}
        print(f"{name}: {len(machines)} machines, median {100 * statistics.median(medians.values()):.1f} %, "
              f"worst run {100 * max(e for k in machines for e in errors[k]):.0f} %")
        for k in sorted(machines): print(f"  {k:18} {len(by[k]):4} runs, median {100 * medians[k]:5.1f} %, level {100 * (math.exp(bias[k]) - 1):+.0f} %")
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
