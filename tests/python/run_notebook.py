"""run_notebook.py NOTEBOOK.ipynb: runs its code cells one after the other in an empty folder, as jupyter does. Each cell that
draws has to leave a figure, and the file may have no outputs. Skips (77) without matplotlib or what the module needs."""
import json
import os
import sys
import tempfile

import systems  # noqa: F401 (which skips)

try:
    import matplotlib
except ImportError as reason:
    print(f"skipped: {reason}")
    sys.exit(77)
matplotlib.use("Agg")
from matplotlib import pyplot

with open(sys.argv[1]) as file:
    notebook = json.load(file)
cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
if any(cell["outputs"] or cell["execution_count"] is not None for cell in cells):
    sys.exit("the notebook has outputs: take them out before you commit it")
names = {"__name__": "__main__"}
figures = 0
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for number, cell in enumerate(cells, 1):
        code = "".join(cell["source"])
        exec(compile(code, f"cell {number}", "exec"), names)
        drawn = [pyplot.figure(k) for k in pyplot.get_fignums()]
        if "plt." in code and not any(axes.has_data() for figure in drawn for axes in figure.axes):
            sys.exit(f"cell {number} draws nothing")
        for k, figure in enumerate(drawn):
            figure.savefig(f"{number}-{k}.png")
            figures += 1
        pyplot.close("all")
    os.chdir("/")
print(f"{len(cells)} cells, {figures} figures")
sys.exit(0 if cells and figures else "there are no cells or no figures")
