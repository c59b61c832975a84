"""run_page.py PAGE.md: runs the Python of a page, from the first example to the last, in an empty folder.

<!-- file: NAME -->     the code block behind it is that file
```python               is run
<!-- check: CODE -->    has to be true afterwards; readers do not see it

Skips (77) without the packages that the module needs.
"""
import re
import sys

import systems  # noqa: F401 (which skips)

import os
import tempfile

import plugmc


def error_of(call):
    """What it raises."""
    try:
        call()
    except plugmc.PlugmcError as error:
        return error
    raise AssertionError("it raises nothing")


with open(sys.argv[1]) as file:
    page = file.read()
parts = re.findall(r"(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)```\n|<!-- check: (.*?) -->\n", page, re.S)
examples = checks = 0
names = {"error_of": error_of}
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name, language, code, check in parts:
        if name:
            with open(name, "w") as file:
                file.write(code)
        elif language == "python":
            examples += 1
            exec(compile(code, f"example {examples}", "exec"), names)
        elif check:
            checks += 1
            if not eval(check, names):
                sys.exit(f"this does not hold after example {examples}: {check}")
    os.chdir("/")
print(f"{examples} examples, {checks} checks")
sys.exit(0 if examples and checks else "there are no examples or no checks")
