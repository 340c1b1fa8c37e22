# SPDX-License-Identifier: MIT
"""Imports modules and warms the driver up before a session gets this process.

It must leave no trace: files that an import creates in the working folder are removed, and so is
what the cells of the warm-up defined.
"""

import builtins
import posix

from .cells import handle_exec
from .channel import channel
from .errors import log
from .sources import sources
from .state import Cell, State, Turn
from .streams import flush_c_streams, flush_streams


def handle_preload(turn):
    """Imports a module while nobody waits: whoever gets this process finds no other trace of it."""
    name = turn.parts.get("module")
    before = folder_entries()
    try:
        for module in (name, *ALONG.get(name, ())) if name else OWN_NEEDS:
            __import__(module)
    except ModuleNotFoundError:
        pass
    except BaseException as error:
        log(error)
    flush_streams()
    flush_c_streams()
    remove_entries(folder_entries() - before)
    State.tidy = False
    outcome = [("status", "ok")]
    if not name:
        warm_up()
        outcome.extend(compiled_driver())
    channel.answer(turn, outcome)


WARM_CELLS = 20  # after which Python has specialised what each cell runs through


def warm_up():
    """Answers cells to nobody: what a first one does for the first time, a page of a copy that it
    writes to among that, is done. They leave nothing behind."""
    told, shown = channel.fd, vars(builtins).get("_")
    channel.fd = posix.open("/dev/null", posix.O_WRONLY | posix.O_CLOEXEC)
    try:
        for _ in range(WARM_CELLS):
            handle_exec(Turn(("exec", 0, {"code": "1+1"})))
    finally:
        posix.close(channel.fd)
        channel.fd = told
    State.cell = Cell(0, "<cell 0>", "")
    sources.drop("<cell 0>")
    sources.leaves.clear()
    vars(builtins).pop("_", None)
    if shown is not None:
        builtins._ = shown


def compiled_driver():
    """As the stub wants it: for the next start of this interpreter, when this one had to compile."""
    code = globals().pop("compiled", None)
    if not code:
        return []
    import _imp
    import marshal
    from _frozen_importlib_external import MAGIC_NUMBER

    data = marshal.dumps(code)
    return [("compiled", MAGIC_NUMBER + _imp.source_hash(3, data) + data)]


# What the driver itself loads for first cells, and what a module does for its first use.
OWN_NEEDS = ("ast", "linecache", "traceback", "warnings")
ALONG = {"matplotlib.pyplot": ("matplotlib.backends.backend_agg",)}


def folder_entries():
    """Of the working folder and of caches in it, which a session may have from the start."""
    entries = set(posix.listdir("."))
    try:
        entries.update(".cache/" + name for name in posix.listdir(".cache"))
    except OSError:
        pass
    return entries


def remove_entries(entries):
    if not entries:
        return
    import shutil

    for name in entries:
        shutil.rmtree(name, ignore_errors=True)
