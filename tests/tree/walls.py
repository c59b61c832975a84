#!/usr/bin/env python3
"""tests/tree/walls.py SOURCE [BUILD]: the graph of the libraries and of their files.

* core/ and each library of lib/ use those that their READMEs allow ("May use: ..."), in CMakeLists.txt and in their
  includes; so do the folders of core/src among each other.
* No circle: neither between libraries, nor between files (a .c and its .h are one).
* With BUILD: each library links whole with those that it may use alone, so that nothing is called behind their back.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

CORE_FOLDERS = {'system': [], 'plugin': [], 'energy': ['system'], 'engine': ['energy', 'plugin', 'system']}
SYSTEM_LIBRARIES = ['-lm', '-ldl', '-fopenmp', '-lpthread']

source = sys.argv[1]
faults = []


def files_of(folder):
    for where, _, names in os.walk(os.path.join(source, folder)):
        for name in names:
            if name.endswith(('.c', '.h', '.cu')):
                yield os.path.join(where, name)


def unit(path):
    """('gpu', 'device') of lib/gpu/device.c and of lib/gpu/include/gpu/device.h alike."""
    parts = os.path.relpath(path, source).split(os.sep)
    folder = parts[1] if parts[0] == 'lib' else parts[2] if len(parts) > 3 else 'core'
    return folder, os.path.splitext(parts[-1])[0]


def allowed():
    """{library: [libraries that it may use]}, as the READMEs say."""
    out = {}
    for folder in ['core'] + sorted('lib/' + name for name in os.listdir(os.path.join(source, 'lib'))):
        name, page = folder.split('/')[-1], os.path.join(source, folder, 'README.md')
        if not os.path.isdir(os.path.dirname(page)):
            continue
        found = re.search(r'^May use: (.*)\.$', open(page).read(), re.M) if os.path.exists(page) else None
        if not found:
            faults.append(f'{folder}/README.md does not say what it may use')
            continue
        out[name] = [] if found[1] == 'none' else found[1].split()
    return out


def declared():
    text = open(os.path.join(source, 'lib', 'CMakeLists.txt')).read()
    out = {}
    for call in re.findall(r'plugmc_library\(([^)]*)\)', text):
        words = call.split()
        uses = words[words.index('USES') + 1:] if 'USES' in words else []
        out[words[0]] = [w for w in uses if w == w.lower()][:next(
            (i for i, w in enumerate(uses) if w in ('LIBRARIES', 'DEFINITIONS')), len(uses))]
    core = open(os.path.join(source, 'core', 'CMakeLists.txt')).read()
    out['core'] = re.findall(r'plugmc_(\w+)', re.search(r'target_link_libraries\(plugmc_core PUBLIC ([^)]*)', core)[1])
    return out


def arrows():
    """{unit: units that it includes}, of lib/ and core/src."""
    paths = list(files_of('lib')) + list(files_of('core/src'))
    known = {unit(p) for p in paths}
    out = collections.defaultdict(set)
    for path in paths:
        me = unit(path)
        for name in re.findall(r'^#include "([^"]+)"', open(path).read(), re.M):
            stem = os.path.splitext(name)[0].split('/')
            other = (stem[-2], stem[-1]) if len(stem) > 1 else (me[0], stem[0])
            if other in known and other != me:
                out[me].add(other)
    return known, out


def circles(nodes, edges):
    """Tarjan: the sets of nodes that reach each other."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in edges[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            at = stack.index(v)
            if len(stack) - at > 1:
                found.append(set(stack[at:]))
            del stack[at:]

    for v in sorted(nodes):
        if v not in index:
            visit(v)
    return found


def link(build, name, uses):
    """The whole of a library with what it may use."""
    def archive(library):
        return os.path.join(build, 'core' if library == 'core' else 'lib', f'libplugmc_{library}.a')

    def closure(names):
        return [x for n in names for x in [n] + closure(may[n])]

    cache = open(os.path.join(build, 'CMakeCache.txt')).read()
    others = []
    if 'archive' in [name] + closure(uses):
        others += re.findall(r'HDF5_C_LIBRARY_hdf5:FILEPATH=(\S+)', cache) or ['-lhdf5']
    if 'input' in [name] + closure(uses):
        others += ['-linih']
    with tempfile.TemporaryDirectory() as folder:
        main = os.path.join(folder, 'main.c')
        open(main, 'w').write('int main(void) { return 0; }\n')
        command = [os.environ.get('CC', 'cc'), main, '-o', os.path.join(folder, 'whole'),
                   '-Wl,--whole-archive', archive(name), '-Wl,--no-whole-archive',
                   *map(archive, closure(uses)), *others, *SYSTEM_LIBRARIES]
        made = subprocess.run(command, capture_output=True, text=True)
        missing = sorted(set(re.findall(r"undefined reference to `([^']+)'", made.stderr)))
        if made.returncode:
            faults.append(f'{name} does not link with {" ".join(uses) or "nothing"} alone: '
                          f'{", ".join(missing[:5]) or made.stderr[-300:]}')


may, built = allowed(), declared()
for name in sorted(set(may) | set(built)):
    if sorted(may.get(name, [])) != sorted(built.get(name, [])):
        faults.append(f'{name}: README allows {may.get(name)}, CMakeLists.txt gives {built.get(name)}')
known, edges = arrows()
for me in sorted(edges):
    for other in sorted(edges[me]):
        mine, its = (('core' if u[0] in CORE_FOLDERS else u[0]) for u in (me, other))
        if mine != its and its not in may.get(mine, []):
            faults.append(f'{me[0]}/{me[1]} includes "{other[0]}/{other[1]}", which the README of {mine} does not allow')
        if mine == its == 'core' and other[0] != me[0] and other[0] not in CORE_FOLDERS[me[0]]:
            faults.append(f'core/src/{me[0]}/{me[1]} includes "{other[0]}/{other[1]}", which is above it')
for circle in circles(may, collections.defaultdict(list, may)):
    faults.append(f'libraries use each other in a circle: {" ".join(sorted(circle))}')
for circle in circles(known, edges):
    faults.append('files know each other in a circle: ' + ' '.join(sorted('/'.join(u) for u in circle)))
if len(sys.argv) > 2 and not faults:
    for name in may:
        link(sys.argv[2], name, may[name])

for name in sorted(may):
    print(f'{name}: {" ".join(may[name]) or "none"}')
for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(bool(faults))
