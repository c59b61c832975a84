#!/usr/bin/env python3
"""tests/tree/sizes.py SOURCE: host code of core/, lib/, programs/ and plugins/ that is too large to be read at once: files
of more than 600 lines, functions of more than 80, structs of more than 25 members. Not looked at are what plugins include
(core/include); lib/gpu/cuda_api.h, a table of the driver's functions; kernels, which are .cu files and the headers that
plugins/CMakeLists.txt embeds (TEXTS MACRO=file), with the structs that kernels are launched with; and the struct of
parameters of a potential, whose source is compiled for the GPU too.
"""
import os
import re
import sys

FILE, FUNCTION, STRUCT = 600, 80, 25
EXEMPT = {'lib/gpu/include/gpu/cuda_api.h'}


def blank(match):
    return re.sub(r'[^\n]', ' ', match[0])


def code_of(text):
    """The text without comments and strings, line for line."""
    text = re.sub(r'/\*.*?\*/', blank, text, flags=re.S)
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text)


def closing(text, at):
    """Where the bracket that opens at `at` closes."""
    depth = 0
    for i in range(at, len(text)):
        depth += {'{': 1, '}': -1}.get(text[i], 0)
        if depth == 0:
            return i
    return len(text)


def members(body):
    """Names that a struct declares, those of structs within it counted as one."""
    body = re.sub(r'\{[^{}]*\}', '', re.sub(r'\{[^{}]*\}', '', body))
    for _ in range(3):
        body = re.sub(r'\([^()]*\)|\[[^\[\]]*\]', '', body)
    return sum(1 + d.count(',') for d in body.split(';') if d.strip())


faults, count = [], 0
source = sys.argv[1]
recipe = open(os.path.join(source, 'plugins/CMakeLists.txt')).read()
EXEMPT |= {'plugins/' + f for f in re.findall(r'\w+_FILE=(\S+\.h)\b', recipe)}
POTENTIALS = {'plugins/' + f for f in re.findall(r'plugmc_add_potential\(\w+ SOURCE ([^\s)]+)', recipe)}
for top in ('core/src', 'lib', 'programs', 'plugins'):
    for where, _, names in sorted(os.walk(os.path.join(source, top))):
        for name in sorted(names):
            path = os.path.join(where, name)
            shown = os.path.relpath(path, source)
            if not name.endswith(('.c', '.h')) or shown in EXEMPT:
                continue
            count += 1
            text = open(path).read()
            lines, code = text.count('\n'), code_of(text)
            if lines > FILE:
                faults.append(f'{shown}: {lines} lines')
            for m in re.finditer(r'\b(?:struct|union)\s*(\w*)\s*\{', code):
                n = members(code[m.end():closing(code, m.end() - 1)])
                if n > STRUCT and not (m[1] == 'parameters' and shown in POTENTIALS):
                    faults.append(f'{shown}: struct {m[1]} has {n} members')
            for m in re.finditer(r'^\{$', code, re.M):
                n = code.count('\n', m.start(), closing(code, m.start())) + 1
                if n > FUNCTION:
                    head = code[:m.start()].rstrip().rsplit('\n', 1)[-1].strip()
                    faults.append(f'{shown}: {n} lines: {head}')
print(f'{count} files')
for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(bool(faults) or not count)
