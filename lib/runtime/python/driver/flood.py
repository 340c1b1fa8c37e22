# SPDX-License-Identifier: MIT
"""Bulk output: a cell that prints very much does so in blocks on the control channel.

A terminal takes about 30 MB of lines a second and wakes the server for each line. Everything else
that could write to the terminal has to end the bulk output first (`settling`).
"""

import _thread
import posix
import sys

from .channel import channel, encode_frame
from .interrupt import in_child
from .kinds import BuiltinType, DRIVER_FILE, FunctionType, MISSING
from .limits import FLOOD_BLOCK, FLOOD_BYTES, FLOOD_ROOM, FLOOD_TICK
from .state import State


class Flood:
    """A cell that prints very much does so in blocks on the control channel.

    Until then, and whenever order could be lost, each line goes to the terminal at once: to
    whatever writes there by itself (children, C code) print is what it always was. The terminal
    takes 30 MB of lines a second, though, and wakes the server for each. So after FLOOD_BYTES the
    text of sys.stdout gathers, and goes out when a block is full or a tick is over. A flush, a
    child, input, a figure or something on stderr ends that: the last block is acknowledged, and
    then FLOOD_BYTES must come again. Only C code that writes to the terminal amid a flood, unasked,
    may find itself before what was printed in the last tick.
    """

    def __init__(self):
        self.active = False
        self.count = 0  # bytes printed line by line
        self.parts = []
        self.size = 0
        self.stream = None  # that of sys.stdout, which does not flush its lines
        self.stop = self.gone = None  # of the ticks: releasing `stop` ends them, then they release `gone`
        self.originals = {}  # (module, name) -> what is watched
        self.has_room = False

    def begin(self, stream):
        """From within a flush of sys.stdout."""
        text = State.streams[1]
        if getattr(text, "buffer", None) is not stream or not text.line_buffering:
            return
        size, self.count = self.count, 0
        # What a thread writes to the terminal itself could not be put behind what it has printed.
        if _thread._count() or channel.sending or in_child() or not posix.isatty(1):
            return
        calls = watched_calls()
        if calls is None:
            return
        self._keep_room()
        try:
            self._start_ticks()
            self._watch(calls)
            self.stream = stream
            stream.write = stream.write_freely() if size < 2 * FLOOD_BYTES else stream.write_amid_flood()
            text.reconfigure(line_buffering=False)
            self.active = True
            with printing:
                self._send([])  # so that the server knows it, should this process crash
        except BaseException as error:  # say from a handler of the user's
            self._undo()
            if not isinstance(error, RuntimeError):  # no process or no memory is left for a thread
                raise

    def _start_ticks(self):
        stop, gone = _thread.allocate_lock(), _thread.allocate_lock()
        stop.acquire()
        gone.acquire()
        _thread.start_new_thread(self._tick, (stop, gone))
        self.stop, self.gone = stop, gone

    def _undo(self):
        self.active = False
        self._forget_calls()
        self._end_ticks()
        self.restore()

    def _keep_room(self):
        """Once: glibc gives memory back to the kernel that is larger than all that was freed before,
        and more than twice that at the end of its heap (mallopt(3), M_MMAP_THRESHOLD and
        M_TRIM_THRESHOLD). Each print of a megabyte would meet 512 pages that are new to it."""
        if not self.has_room:
            self.has_room = True
            try:
                bytes(FLOOD_ROOM)
            except MemoryError:
                pass

    def add(self, data):
        """With the lock of the output."""
        self.parts.append(data)
        self.size += len(data)
        if self.size >= FLOOD_BLOCK:
            self._send([])

    def flushed(self):
        """sys.stdout was told to flush."""
        if _thread.get_ident() == State.main_thread:
            self.end()
        else:
            with printing:
                self._send([])

    def end(self):
        """A handler of the user's may come to this in the middle of it, and may raise."""
        try:
            self.active = False
            with printing:
                if self._send([("ack", b"")]):
                    channel.await_ack()
        finally:
            self._undo()

    def _end_ticks(self):
        """Waits until the thread is gone: who forks wants none."""
        stop, gone = self.stop, self.gone
        if stop is not None:
            if stop.locked():
                stop.release()
            with gone:
                self.stop = None

    def restore(self):
        stream, self.stream = self.stream, None
        if stream is not None:
            vars(stream).pop("write", None)
            State.streams[1].reconfigure(line_buffering=True)

    def _send(self, more):
        if channel.sending or in_child():
            return False
        data = b"".join(self.parts)
        self.parts.clear()
        self.size = 0
        for at in range(0, max(len(data), 1), FLOOD_BLOCK):
            last = at + FLOOD_BLOCK >= len(data)
            block = memoryview(data)[at : at + FLOOD_BLOCK]
            parts = [("text", block)] + (more if last else [])
            try:
                channel.write_whole(encode_frame(b"output", State.cell.ident, parts))
            except RuntimeError:
                self.parts.insert(0, data[at:])
                self.size += len(data) - at
                return False
        return True

    def _tick(self, stop, gone):
        while not stop.acquire(True, FLOOD_TICK):
            # Who has the lock may wait for the end of this thread.
            if printing.acquire(False):
                try:
                    State.streams[1].flush()
                except Exception:
                    pass
                finally:
                    printing.release()
        gone.release()

    def _watch(self, calls):
        for (module, name), original in calls.items():
            self.originals[module, name] = original
            setattr(module, name, settling(original, name in TAKE_DESCRIPTORS))

    def _forget_calls(self):
        while self.originals:
            (module, name), original = self.originals.popitem()
            if getattr(getattr(module, name, None), "__wrapped__", None) is original:
                setattr(module, name, original)


printing = _thread.RLock()  # who has it writes to the terminal
flood = Flood()

# What writes to the terminal, leads it elsewhere, ends us or begins what may do so, without asking
# sys.stdout to flush.
WATCHED = {
    "os": (
        *("system", "posix_spawn", "posix_spawnp", "write", "writev", "dup2", "close", "closerange"),
        *("_exit", "abort", "execv", "execve", "kill", "killpg"),
    ),
    "_thread": ("start_new_thread", "start_joinable_thread"),
    "_signal": ("raise_signal", "pthread_kill"),
    "signal": ("raise_signal", "pthread_kill"),
}
TAKE_DESCRIPTORS = ("dup2", "close")  # of any file: only those with a 1 count


def watched_calls():
    """(module, name) -> function of all in WATCHED that are there; None when code has put something
    of its own there, which stays as it is."""
    calls = {}
    for module in WATCHED:
        if module in sys.modules:
            for name in WATCHED[module]:
                call = getattr(sys.modules[module], name, MISSING)
                if call is MISSING:
                    continue
                if type(call) is not BuiltinType and not is_settling(call):
                    return None
                calls[sys.modules[module], name] = call
    return calls


def is_settling(call):
    return type(call) is FunctionType and call.__code__.co_filename == DRIVER_FILE


def settle():
    """All that was printed so far is before what comes now."""
    if flood.active:
        State.streams[1].flush()


def settling(original, takes_descriptors=False):
    def call(*args, **kwargs):
        if not takes_descriptors or 1 in args or 1 in kwargs.values():
            settle()
        return original(*args, **kwargs)

    call.__name__ = original.__name__
    call.__doc__ = original.__doc__
    call.__wrapped__ = original
    return call
