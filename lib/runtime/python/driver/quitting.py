# SPDX-License-Identifier: MIT
"""Ends the interpreter as the end of a program does.

It waits for threads, runs functions of atexit, and frees objects of session code, which may write at
their end. SIGINT ends a step that hangs, as at a terminal. To tear all modules down takes a tenth of a
second or more where pandas is loaded: that is done only if a file is still open for writing.
"""

import _signal
import gc
import posix
import sys

from .history import forget_values
from .state import NAMESPACE
from .streams import flush_c_streams, flush_streams
from .unwritten import regular_files


def end_interpreter():
    import atexit

    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    shutdown = getattr(sys.modules.get("threading"), "_shutdown", None)
    for step in (shutdown, atexit._run_exitfuncs, drop_names, flush_streams, flush_c_streams):
        attempt(step)
    if any(is_written(fd) for fd, _, _ in regular_files()):
        sys.exit(0)
    posix._exit(0)


def attempt(step):
    try:
        if step is not None:
            step()
    except BaseException:  # an interrupt, which is for what hangs in this step
        pass


def drop_names():
    """Takes the values from session code's names, in the order in which Python does it, and those of cells."""
    names = [name for name in NAMESPACE if not name.startswith("__")]
    for name in sorted(names, key=lambda name: not name.startswith("_")):
        NAMESPACE[name] = None
    forget_values()
    gc.collect(1)


def is_written(fd):
    import fcntl

    try:
        return fcntl.fcntl(fd, fcntl.F_GETFL) & posix.O_ACCMODE != posix.O_RDONLY
    except OSError:
        return False
