# SPDX-License-Identifier: MIT
"""Closes objects that have no file open and write one by its name, also at their end.

After cells ran again, other files get these names. Databases of dbm.dumb would put today's index over yesterday's.
Lines that a handler of logging holds back are written before that, so that they do not come into yesterday's file.
"""

import gc
import sys

from .channel import channel
from .errors import log
from .state import State


def handle_close_named(request):
    for handler in memory_handlers():
        try:
            handler.flush()
        except Exception as error:  # of a filter, or of a file that cannot be opened
            log(error)
    channel.answer(request, [("status", "ok"), ("vars", "\n".join(sorted(filter(None, map(close_own, databases())))))])


def memory_handlers():
    """Returns handlers of logging that would write lines of today into files of before, when they are full or at the end."""
    kind = getattr(sys.modules.get("logging.handlers"), "MemoryHandler", None)
    if kind is None:
        return []
    files = sys.modules["logging"].FileHandler
    return [thing for thing in gc.get_objects() if type(thing) is kind and type(getattr(thing, "target", None)) is files]


def databases():
    kind = getattr(sys.modules.get("dbm.dumb"), "_Database", None)
    return [thing for thing in gc.get_objects() if type(thing) is kind] if kind is not None else []


def close_own(database):
    """Closes a database in the working folder. Returns its path in there, or None if it is elsewhere or closed already."""
    import os

    try:
        path = os.path.realpath(os.fsdecode(database._datfile))
        home = os.path.realpath(State.home)
        if os.path.commonpath([path, home]) != home:
            return None
    except Exception:  # it is closed already, or there is no such folder any more
        return None
    try:
        database.close()
    except Exception:  # it cannot be written, and is closed nevertheless
        pass
    return os.path.relpath(path, home).replace("\n", "?").removesuffix(".dat")
