#!/usr/bin/env python3
"""scripts/words.py [FOLDER]...: how often words of our own stand in a tree.

Each FOLDER is a work tree of git (default: this one). The table that it prints has a line for each word, and for each
tree a column for docs, public headers, messages, INI keys, comments and names in the code. Words are counted within
names, too: `free_numbers` has "free numbers". docs/glossary.md, which explains the old words, docs/history and results
of benchmarks are left out.
"""
import re
import subprocess
import sys
from pathlib import Path

# What is printed, and what is counted: a blank also stands for '_'.
WORDS = [
    ("hang(s) on", "hangs? on"),
    ("device text, kernel text", "(device|kernel|set|gpu) texts?"),
    ("growth", "growths?"),
    ("borrow", "borrow(s|ed|ing)?"),
    ("take, give (of a driver)", r"(?:\.|->)(?:take|give)(?= ?[=(])"),
    ("who comes, who leaves", "who(ever)? (comes?|leaves?|goes)|comes and goes|come and go"),
    ("turnover", "turnovers?"),
    ("places", "places"),
    ("free numbers", "free numbers?"),
    ("numbers", "numbers"),
    ("probe", "probes?"),
    ("pace", "paces?"),
    ("books", "books"),
    ("board", "boards?"),
    ("room", "rooms?"),
    ("spread", "spreads?"),
    ("parcel", "parcels?"),
    ("mail", "mails?"),
    ("stretch", "stretch(es)?"),
    ("turn", "turns?"),
    ("rehearsal", "rehears(e|es|ed|al|als)"),
    ("touched", "touched"),
    ("spare", "spares?"),
    ("total facet", "total facets?"),
    ("moving", "moving"),
    ("ahead", "ahead"),
    ("face", "faces?"),
    ("hamiltonian_climb", "hamiltonian climb"),
    ("told in", "told in"),
    ("nobody, somebody, anybody", "(no|some|any)body"),
    ("lower bound (of an error)", "lower bound"),
]
KINDS = ["docs", "headers", "messages", "keys", "comments", "names"]
CODE = {".c", ".h", ".cu", ".cuh"}
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def pattern(words):
    words = words.replace(" ", r"[\s_*]+") if not words.startswith("(?") else words
    return re.compile(words if words.startswith("(?") else rf"(?<![A-Za-z])(?:{words})(?![A-Za-z])", re.I)


def keys_of(reference):
    """First columns of the tables of keys."""
    keys, inside = [], False
    for line in reference.splitlines():
        if line.startswith("| key |"):
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside:
            keys.append(line.split("|")[1].strip())
    return "\n".join(keys)


def parts_of(folder):
    """The text of each kind in a tree."""
    parts = {kind: [] for kind in KINDS}
    names = subprocess.run(["git", "-C", str(folder), "ls-files"], capture_output=True, text=True, check=True)
    for name in names.stdout.splitlines():
        path = Path(name)
        if name == "docs/ini-reference.md":
            parts["keys"].append(keys_of((folder / path).read_text()))
        elif name.startswith("docs/history/") or name.startswith("bench/") or name == "docs/glossary.md":
            continue
        elif path.suffix == ".md":
            parts["docs"].append((folder / path).read_text())
        elif path.suffix in CODE and path.parts[0] in ("core", "lib", "plugins", "programs"):
            text = (folder / path).read_text()
            if name.startswith("core/include/"):
                parts["headers"].append(text)
                continue
            rest, end = [], 0
            for token in TOKEN.finditer(text):
                rest.append(text[end : token.start()])
                end = token.end()
                parts["comments" if token[0].startswith("/") else "messages"].append(token[0])
            rest.append(text[end:])
            parts["names"].append("".join(rest))
    return {kind: "\n".join(texts) for kind, texts in parts.items()}


def main():
    if "--help" in sys.argv:
        print(__doc__.strip())
        return
    trees = [Path(folder) for folder in sys.argv[1:]] or [Path(__file__).resolve().parent.parent]
    parts = [parts_of(folder) for folder in trees]
    print("| word | " + " | ".join(KINDS) + " | all |")
    print("|---|" + "---|" * (len(KINDS) + 1))
    sums = [[0] * (len(KINDS) + 1) for _ in trees]
    for word, words in WORDS:
        counted = []
        for k, tree in enumerate(parts):
            row = [len(pattern(words).findall(tree[kind])) for kind in KINDS]
            row.append(sum(row))
            counted.append(row)
            sums[k] = [a + b for a, b in zip(sums[k], row)]
        print(f"| {word} | " + " | ".join(", ".join(str(row[c]) for row in counted) for c in range(len(KINDS) + 1)) + " |")
    print("| all | " + " | ".join(", ".join(str(row[c]) for row in sums) for c in range(len(KINDS) + 1)) + " |")


main()
