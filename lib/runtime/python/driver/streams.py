# SPDX-License-Identifier: MIT
"""Brings what was printed to the terminal before a frame says what comes next.

The server reads the terminal and the control socket in no common order, so every frame with a
place in the output needs a flush before it.
"""

import _thread
import sys

from .channel import channel
from .state import State


def flush_streams():
    """Writes everything printed so far to the pty."""
    _, out, err = State.streams
    flush(out)
    flush(err)
    if sys.stdout is not out:
        flush(sys.stdout)
    if sys.stderr is not err:
        flush(sys.stderr)


def flush(stream):
    """Flushes a stream, which may be broken or None."""
    try:
        stream.flush()
    except Exception:
        pass


def flush_c_streams():
    """Flushes C's stdout, which extensions print to, if session code has loaded ctypes.

    fflush(NULL) could block: a thread that waits in input() holds the lock of C's stdin.
    """
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None:
        try:
            libc = ctypes.PyDLL(None)
            libc.fflush(ctypes.c_void_p.in_dll(libc, "stdout"))
        except Exception:
            pass


def print_note(text):
    """Prints a note of the driver into the cell's output."""
    flush_streams()
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except Exception:
        pass


def may_send():
    """Returns whether a frame may be sent now.

    Only the main thread may, within a cell, and not from a finalizer in the middle of another
    frame.
    """
    return State.running and _thread.get_ident() == State.main_thread and not channel.sending


def clear_shown():
    """Removes what the cell has shown. The next figures get the names of the removed ones."""
    State.clears = False
    if State.captured is not None:
        State.captured.clear()
        return
    if not may_send():
        return
    flush_streams()
    State.cell.images = State.cell.images_left_out = State.cell.images_lost = 0
    channel.send(b"clear", State.cell.ident, [])
    channel.await_ack()
