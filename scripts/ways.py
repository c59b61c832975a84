#!/usr/bin/env python3
"""scripts/ways.py [--build FOLDER] [--source FOLDER] [--against PAGE] [--LEG STATION]...

Which files the step of a mover, the energy of a pair and a sample of an observable pass on their ways: the tables of
docs/architecture/ways.md, which says what they mean.

What is needed of the program is built in FOLDER (build/ways), with every function instrumented and none inlined. A
small library (ways_tracer.c) is loaded with it and counts by which calls each function was reached, in short runs on
one CPU. It takes a minute and a half on two cores, and some seconds once everything is built.

--source   another tree, such as that of an earlier commit
--against  nothing is printed; exit code 1 if PAGE does not have these tables
--LEG      another station of this leg, for a tree in which functions have other names. The names are those of WAYS,
           below, each a regular expression; A>B is B, where A is on the stack.
"""
import argparse
import os
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PLUGINS = ['hard_disk', 'lennard_jones', 'serial', 'hard_pressure']
# Behind all flags of the tree, so that these are the last ones. binutils 2.40 mistakes files of DWARF 5.
COMPILE = ('<CMAKE_C_COMPILER> <DEFINES> -DPLUGMC_ONE_TARGET <INCLUDES> <FLAGS> -O0 -gdwarf-4 -w '
           '-finstrument-functions -o <OBJECT> -c <SOURCE>')
# The table of ways_tracer.c.
HEAD, MODULES, PATH, STEPS = 16, 64, 512, 1 << 18
STEP = struct.Struct('QQII')

INPUT = """
[run]
sweeps = 40
equilibrate = {}
seed = 1
threads = 1
device = cpu
[box]
dimension = 2
packing_fraction = 0.3
[species disk]
count = 64
diameter = 1
[initial]
state = lattice
[mover serial]
step = 0.3
"""
HARD = INPUT.format(0) + '[potential hard_disk]\n[observable hard_pressure]\n'
SOFT = INPUT.format(0) + '[potential lennard_jones]\nepsilon = 1\nsigma = 1\ncutoff = 2.5\n'
TUNED = INPUT.format(400) + 'target_acceptance = 0.4\n[potential hard_disk]\n'

# Runs: input (that of the run before, to go on with it, if it is None), and what of it is changed.
RUNS = {
    'samples': (HARD, ['observable hard_pressure.period=2']),
    'more samples': (HARD, ['observable hard_pressure.period=1']),
    'pairs': (SOFT, ['run.sweeps=20']),
    'more pairs': (SOFT, []),
    'steps': (TUNED, []),
    'resumed': (None, ['run.sweeps=60']),
}

# Ways: title; two runs of which the second one does the same 20 times more often; the function below which what is
# called besides is looked for; legs: name, what happens, run, station. In the second one of two runs only calls count
# that are not in the first.
MORE = 20
WAYS = [
    ('The step of a mover', None, None, [
        ('read', 'its number is read from the INI', 'steps', 'engine_open>parameters_fill>parse_real'),
        ('taken', 'the core takes it', 'steps', 'read_steps>parameter_real'),
        ('told', 'a trial move is proposed with it', 'steps', 'sweep_watched>propose'),
        ('tuned', 'it is tuned', 'steps', 'handle_events>note_tuning'),
        ('copied', 'a checkpoint copies it', 'steps', 'checkpoint_last>copy_moves'),
        ('kept', 'a checkpoint writes it', 'steps', 'checkpoint_last>write_move>draft_array'),
        ('stored', '... in the process that calls HDF5', 'steps', 'draft_serve>driver_write'),
        ('found', 'a resumed run reads it', 'resumed', 'read_move>reader_array'),
        ('fetched', '... in the process that calls HDF5', 'resumed', 'store_serve_reader>driver_read'),
        ('back', 'the core takes that', 'resumed', 'fit_moves'),
    ]),
    ('The energy of a pair', ('pairs', 'more pairs'), 'sweep_watched', [
        ('asked', 'the potential is asked for it', 'more pairs', 'sweep_watched>pair_energy'),
    ]),
    ('A sample of hard_pressure', ('samples', 'more samples'), 'measuring', [
        ('measured', 'the observable measures', 'more samples', 'handle_events>measure'),
        ('recorded', 'series and averages take what it gives', 'more samples',
         'handle_events>(record_quantity|block_average_add)'),
        ('written', 'a checkpoint writes the series', 'samples', 'checkpoint_last>write_scalar>draft_array'),
        ('saved', '... in the process that calls HDF5', 'samples', 'draft_serve>driver_write'),
    ]),
]


def build(source, folder):
    os.umask(0o022)  # plugins that others may write to are refused
    quiet = {'stdout': subprocess.DEVNULL}
    subprocess.run(['cmake', '-S', source, '-B', folder, '-DBUILD_TESTING=OFF', '-DCMAKE_BUILD_TYPE=Release',
                    '-DCMAKE_C_COMPILE_OBJECT=' + COMPILE], check=True, **quiet)
    subprocess.run(['cmake', '--build', folder, '--parallel', str(os.cpu_count()), '--target', 'plugmc', *PLUGINS],
                   check=True, **quiet)
    tracer = os.path.join(folder, 'ways_tracer.so')
    subprocess.run(['cc', '-std=c17', '-D_GNU_SOURCE', '-O2', '-Wall', '-Wextra', '-shared', '-fPIC', '-o', tracer,
                    os.path.join(HERE, 'ways_tracer.c')], check=True)
    return tracer


def files_of(source, module, places):
    """{place in a module: (function, file)}."""
    found = subprocess.run(['addr2line', '-f', '-e', module], text=True, check=True, stdout=subprocess.PIPE,
                           input='\n'.join(hex(p) for p in places)).stdout.split('\n')
    return {p: (found[2 * k], os.path.relpath(found[2 * k + 1].rsplit(':', 1)[0], source))
            for k, p in enumerate(places)}


def stacks_of(source, table):
    """{((function, file), ...): how often that was the call stack}."""
    data = open(table, 'rb').read()
    _, modules, full, _ = struct.unpack_from('4I', data)
    if full:
        sys.exit('the table of scripts/ways_tracer.c is too small')
    steps = {k: (f >> 48, f & (1 << 48) - 1, count, above)
             for k, (f, count, above, _) in enumerate(STEP.iter_unpack(data[HEAD + MODULES * PATH:])) if f}
    names = {}
    for k in range(modules):
        module = data[HEAD + k * PATH:HEAD + (k + 1) * PATH].split(b'\0')[0].decode()
        places = sorted({place for m, place, _, _ in steps.values() if m == k + 1})
        names.update({(k + 1, p): v for p, v in files_of(source, module, places).items()})
    stacks = {}
    for module, place, count, above in steps.values():
        stack = [names[module, place]]
        while above:
            module, place, _, above = steps[above]
            stack.append(names[module, place])
        stack = tuple(reversed(stack))
        stacks[stack] = stacks.get(stack, 0) + count
    return stacks


def trace(source, folder, tracer):
    """{run: its stacks}."""
    out, before = {}, None
    kept = {k: v for k, v in os.environ.items() if not k.startswith('PLUGMC_')}
    with tempfile.TemporaryDirectory() as here:
        for name, (text, changes) in RUNS.items():
            table, ini, output = (os.path.join(here, name + end) for end in ('.table', '.ini', '.h5'))
            with open(table, 'wb') as f:
                f.truncate(HEAD + MODULES * PATH + STEP.size * STEPS)
            if text:
                open(ini, 'w').write(text)
                command, changes = ['run', ini], changes + ['run.output=' + output]
            else:
                command = ['run', '--resume', before]
            command = [os.path.join(folder, 'plugmc')] + command + [w for c in changes for w in ('--set', c)]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env=dict(kept, LD_PRELOAD=tracer, WAYS_TABLE=table, OMP_NUM_THREADS='1'))
            if done.returncode:
                sys.exit(f'{" ".join(command)}: exit code {done.returncode}\n{done.stdout}')
            out[name], before = stacks_of(source, table), output
    return out


def passes(stack, names):
    """Whether these functions are on a stack, in this order, the last one as the last."""
    calls = iter(function for function, _ in stack)
    return re.fullmatch(names[-1], stack[-1][0]) and all(any(re.fullmatch(n, f) for f in calls) for n in names)


def grown(runs, two):
    """Stacks of calls that the second one of two runs makes more often."""
    less, more = runs[two[0]], runs[two[1]]
    return [stack for stack, count in more.items() if count >= less.get(stack, 0) + MORE]


def files_on(stacks):
    """Files in the order in which stacks come to them."""
    out = []
    for stack in sorted(stacks, key=lambda s: [f for _, f in s]):
        for _, file in stack:
            if file not in out:
                out.append(file)
    return out


def described(runs, stations):
    """The tables, as lines."""
    for title, two, below, legs in WAYS:
        way, rows = [], []
        for name, what, run, station in legs:
            names = stations.get(name, station).split('>')
            stacks = [s for s in (grown(runs, two) if two and run == two[1] else runs[run]) if passes(s, names)]
            if not stacks:
                sys.exit(f'no call of {">".join(names)} in the run "{run}": --{name}=FUNCTION says where else to look')
            files = files_on(stacks)
            new = [f for f in files if f not in way]
            way += new
            rows.append(f'| {what} | {len(files)} | {len(way)} | {", ".join(new)} |')
        yield from ('', f'## {title}: {len(way)} files', '',
                    '| leg | files | with those above | which are on no leg above |', '|---|---|---|---|')
        yield from rows
        if two:
            called = {f for s in grown(runs, two) if any(n == below for n, _ in s) for _, f in s} - set(way)
            yield from ('', f'Called besides, each time: {len(called)} files. {", ".join(sorted(called))}.')


def main():
    options = argparse.ArgumentParser(usage=__doc__, allow_abbrev=False)
    options.add_argument('--build', default=os.path.join(HERE, '..', 'build', 'ways'))
    options.add_argument('--source', default=os.path.join(HERE, '..'))
    options.add_argument('--against')
    for _, _, _, legs in WAYS:
        for leg in legs:
            options.add_argument('--' + leg[0], metavar='STATION', help=argparse.SUPPRESS)
    given = vars(options.parse_args())
    source, folder = (os.path.realpath(given.pop(k)) for k in ('source', 'build'))
    against = given.pop('against')
    text = '\n'.join(described(trace(source, folder, build(source, folder)),
                               {k: v for k, v in given.items() if v})).strip() + '\n'
    if not against:
        print(text, end='')
    elif text not in open(against).read():
        sys.exit(f'{against} is not what scripts/ways.py prints')


main()
