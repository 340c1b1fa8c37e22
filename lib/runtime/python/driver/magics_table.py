# SPDX-License-Identifier: MIT
"""The tables of all magics, and the functions that rewritten cells call."""

import builtins
import sys

from .history import magic_history
from .magics_expand import expand_names
from .magics_files import magic_cd, magic_env, magic_pwd, magic_set_env, magic_writefile
from .magics_names import magic_debug, magic_reset, magic_who, magic_whos, show_help
from .magics_output import magic_capture, markup_magic
from .magics_run import magic_run
from .magics_settings import (
    magic_config, magic_load_ext, magic_matplotlib, magic_pylab, without_effect,
)
from .magics_shell import magic_pip, magic_script, magic_shell, run_command, run_shell, script_magic
from .magics_syntax import UsageError
from .magics_timing import magic_prun, magic_time, magic_time_cell, magic_timeit, magic_timeit_cell


def install_magics():
    builtins.__ptycell_line__ = run_line_magic
    builtins.__ptycell_cell__ = run_cell_magic
    builtins.__ptycell_shell__ = run_shell
    builtins.__ptycell_help__ = show_help


ELSEWHERE = {
    "sql": ", queries are for exec_sql",
    "javascript": ', exec_code runs it with language "javascript"',
    "js": ', exec_code runs it with language "javascript"',
    "r": ', exec_code runs it with language "r"',
}


def sent_elsewhere(name):
    return ELSEWHERE.get(name.lower(), "")


def run_line_magic(text, frame=None):
    name, _, line = text.strip().partition(" ")
    line = line.strip()
    magic = LINE_MAGICS.get(name)
    if magic is None:
        raise UsageError("no line magic %%%s%s; there are: %s" % (name, sent_elsewhere(name), listed(LINE_MAGICS, "%")))
    frame = frame or sys._getframe(1)
    if magic in SEE_LOCALS:
        return magic(line, frame)
    return magic(expand_names(line, frame))


def run_cell_magic(name, line, body, lineno, frame=None):
    magic = CELL_MAGICS.get(name)
    if magic is None:
        raise UsageError("no cell magic %%%%%s%s; there are: %s" % (name, sent_elsewhere(name), listed(CELL_MAGICS, "%%")))
    if magic not in TAKE_CODE:
        line = expand_names(line, frame or sys._getframe(1))
    return magic(line, body, lineno)


def listed(magics, mark):
    return " ".join(mark + name for name in sorted(magics))


def magic_lsmagic(line):
    print(listed(LINE_MAGICS, "%"))
    print(listed(CELL_MAGICS, "%%"))


LINE_MAGICS = {
    "cd": magic_cd,
    "pwd": magic_pwd,
    "env": magic_env,
    "set_env": magic_set_env,
    "pip": magic_pip,
    "run": magic_run,
    "who": magic_who,
    "whos": magic_whos,
    "reset": magic_reset,
    "debug": magic_debug,
    "time": magic_time,
    "timeit": magic_timeit,
    "prun": magic_prun,
    "lsmagic": magic_lsmagic,
    "history": magic_history,
    "hist": magic_history,
    "sx": lambda line: run_command(line, True),
    "system": lambda line: run_command(line, True),
}
LINE_MAGICS.update((n, magic_shell(n)) for n in "ls cat cp mv rm mkdir rmdir head tail conda mamba micromamba uv".split())
LINE_MAGICS.update(
    matplotlib=magic_matplotlib,
    pylab=magic_pylab,
    load_ext=magic_load_ext,
    reload_ext=magic_load_ext,
    autoreload=without_effect("autoreload", "importlib.reload(module) loads a module anew"),
    config=magic_config,
    precision=without_effect("precision", "round() and format() say how many digits are shown"),
)
SEE_LOCALS = {magic_time, magic_timeit, magic_prun}

CELL_MAGICS = {
    "bash": script_magic("bash"),
    "sh": script_magic("sh"),
    "script": magic_script,
    "python3": lambda line, body, lineno: magic_script("python3 " + line, body, lineno),
    "perl": lambda line, body, lineno: magic_script("perl " + line, body, lineno),
    "writefile": magic_writefile,
    "file": magic_writefile,
    "time": magic_time_cell,
    "timeit": magic_timeit_cell,
    "capture": magic_capture,
    "html": markup_magic("text/html"),
    "HTML": markup_magic("text/html"),
    "markdown": markup_magic("text/markdown"),
    "svg": markup_magic("image/svg+xml"),
    "latex": markup_magic("text/latex"),
}
TAKE_CODE = {magic_time_cell, magic_timeit_cell}
