# SPDX-License-Identifier: MIT
"""Keeps the descriptors 0 to 2 and the streams of sys usable from cell to cell.

A cell may close or redirect them. A closed one is opened again; a redirected one stays as it is,
and the next cell says so once.
"""

import _io
import posix
import sys

from .output import open_output
from .state import State
from .streams import flush_streams


def take_streams():
    """Replaces the interpreter's streams that write to the terminal with the driver's."""
    for fd, name in ((1, "stdout"), (2, "stderr")):
        original = getattr(sys, name)
        if type(original) is _io.TextIOWrapper and posix.isatty(fd):
            original.flush()
            stream = open_output(fd, original)
            setattr(sys, name, stream)
            setattr(sys, "__%s__" % name, stream)


def check_descriptors():
    _, out, err = State.streams
    if posix.isatty(0) and posix.isatty(1) and posix.isatty(2) and sys.stdout is out and sys.stderr is err:
        State.redirected = None
    else:
        repair_descriptors()


def repair_descriptors():
    """Opens descriptors that the last cell closed, and reports what it redirected."""
    redirected = {}
    for fd in (0, 1, 2):
        try:
            posix.get_inheritable(fd)
        except OSError:
            posix.dup2(State.terminal, fd)
        if fd and not posix.isatty(fd):
            redirected[fd] = readlink("/proc/self/fd/%d" % fd)
    for fd, name in ((1, "stdout"), (2, "stderr")):
        target = target_of(getattr(sys, name, None))
        if target is not None:
            redirected[fd] = "%s; sys.%s = sys.__%s__ brings it back" % (target, name, name)
    report_redirection(redirected)


def target_of(stream):
    """Returns the target of a stream that hides what is printed, else None."""
    if type(stream) is _io.StringIO:
        return "a StringIO"
    try:
        fd = stream.fileno() if type(stream) is _io.TextIOWrapper else 1
        return None if fd in (1, 2) or posix.isatty(fd) else readlink("/proc/self/fd/%d" % fd)
    except (OSError, ValueError):
        return None


def report_redirection(where):
    if where != (State.redirected or {}):
        State.redirected = where
        flush_streams()
        for fd, target in where.items():
            note = "[%s is redirected to %s]\n" % ("stdout" if fd == 1 else "stderr", target)
            posix.write(State.terminal, note.encode("utf-8", "backslashreplace"))


def readlink(path):
    try:
        return posix.readlink(path)
    except OSError:
        return "?"


def reopen_streams():
    """Opens streams of sys again: exit() closes sys.stdin, and code may close the others."""
    try:
        if not (sys.stdin.closed or sys.stdout.closed or sys.stderr.closed):
            return
    except Exception:  # one is missing, or an object of the session's own
        pass
    for name, fd in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name, None)
        try:
            closed = stream is not None and stream.closed
        except Exception:
            closed = False
        if closed or (stream is None and fd == 0):
            setattr(sys, name, open_standard(fd))


def open_standard(fd):
    original = State.streams[fd]
    if fd:
        stream = open_output(fd, original)
    else:
        encoding = getattr(original, "encoding", "utf-8")
        stream = open(0, encoding=encoding, errors="surrogateescape", closefd=False)
    if original is None or original.closed:
        State.streams = State.streams[:fd] + (stream,) + State.streams[fd + 1 :]
        setattr(sys, "__%s__" % ("stdin", "stdout", "stderr")[fd], stream)
    return stream
