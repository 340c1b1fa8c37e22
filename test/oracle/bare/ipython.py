# SPDX-License-Identifier: MIT
"""IPython's shell without a kernel: runs the file .cell once for each line that it reads, and ends each with \\x1e.
Tracebacks are Python's own, from the cell on; figures are counted."""
import os
import subprocess
import sys
import traceback

from IPython.core.interactiveshell import InteractiveShell

FILE = os.path.abspath(".cell")
number = 0
figures = 0


def count_figures(*_, **__):
    global figures
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    if helpers is not None:
        figures += len(helpers.Gcf.get_all_fig_managers())
        helpers.Gcf.destroy_all()


def show_traceback(self, exc_tuple=None, *_, **__):
    kind, error, trace = exc_tuple or sys.exc_info()
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("<cell"):
        trace = trace.tb_next
    sys.stderr.write("".join(traceback.format_exception(kind, error, trace)))


def run_command(command):
    """On the terminal itself: IPython's own gives a child another one."""
    sys.stdout.flush()
    shell.user_ns["_exit_code"] = subprocess.call(shell.var_expand(command, depth=1), shell=True)


InteractiveShell.showtraceback = InteractiveShell.showsyntaxerror = show_traceback
InteractiveShell.separate_in = ""
shell = InteractiveShell.instance(colors="NoColor", banner1="", history_length=0)
shell.history_manager.enabled = False
shell.system = run_command
shell.displayhook.write_output_prompt = lambda: None
shell.compile.get_code_name = lambda *_: "<cell %d>" % number
sys.stdout.write("\x1e")
sys.stdout.flush()
for _ in iter(sys.stdin.readline, ""):
    number += 1
    figures = 0
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.show = count_figures
    with open(FILE, encoding="utf-8") as file:
        code = file.read()
    shell.run_cell(code, store_history=True)
    count_figures()
    sys.stderr.flush()
    sys.stdout.write("\n[figures %d]\x1e" % figures if figures else "\x1e")
    sys.stdout.flush()
