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
from .state import Cell, Request, State
from .streams import flush_c_streams, flush_streams


def handle_preload(request):
    """Imports a module before a session gets this process.

    Without a module, imports what the driver itself needs and warms it up.
    """
    name = request.parts.get("module")
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
    channel.answer(request, outcome)


WARM_CELLS = 20  # after these Python has specialised the code that each cell runs through


def warm_up():
    """Runs cells whose answers go to /dev/null.

    The first cell of the session is then faster, and writes to fewer pages that it shares with the
    zygote.
    """
    control, shown = channel.fd, vars(builtins).get("_")
    channel.fd = posix.open("/dev/null", posix.O_WRONLY | posix.O_CLOEXEC)
    try:
        for _ in range(WARM_CELLS):
            handle_exec(Request(("exec", 0, {"code": "1+1"})))
    finally:
        posix.close(channel.fd)
        channel.fd = control
    State.cell = Cell(0, "<cell 0>", "")
    sources.drop("<cell 0>")
    sources.leaves.clear()
    vars(builtins).pop("_", None)
    if shown is not None:
        builtins._ = shown


def compiled_driver():
    """Returns the compiled driver for the next start of this interpreter, if the stub compiled it.

    The format is that of scripts/pack-driver.
    """
    code = globals().pop("compiled", None)
    if not code:
        return []
    import _imp
    import marshal
    from _frozen_importlib_external import MAGIC_NUMBER

    data = marshal.dumps(code)
    return [("compiled", MAGIC_NUMBER + _imp.source_hash(3, data) + data)]


# Modules that the driver itself loads for first cells, and those that a module loads at its first
# use.
OWN_NEEDS = ("ast", "linecache", "traceback", "warnings")
ALONG = {"matplotlib.pyplot": ("matplotlib.backends.backend_agg",)}


def folder_entries():
    """Returns the entries of the working folder and of `.cache`, which may exist from the start."""
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
