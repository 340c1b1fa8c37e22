# SPDX-License-Identifier: MIT
"""Bulk output: a cell that prints very much does so in blocks on the control channel.

A terminal takes about 30 MB of lines a second and wakes the server for each line. Everything else
that could write to the terminal has to end the bulk output first (`settling`).
"""

import _thread
from _weakref import ref
import posix
import sys

from .channel import channel, encode_frame
from .interrupt import in_child
from .kinds import BuiltinType, DRIVER_FILE, FunctionType, MISSING
from .limits import BULK_BLOCK, BULK_BYTES, BULK_ROOM, BULK_TICK
from .state import State


class BulkOutput:
    """The bulk output of a cell, sent in blocks on the control channel.

    Before it begins, and whenever the order of output could be lost, each line goes to the terminal
    at once: children and C code write there by themselves. A terminal takes 30 MB of lines a second
    and wakes the server for each line. After BULK_BYTES the text of sys.stdout therefore gathers,
    and goes out when a block is full or a tick is over. A flush, a child, input, a figure or text
    on stderr ends the bulk output: the server acknowledges the last block, and BULK_BYTES must come
    again. Only C code that writes to the terminal meanwhile may come before text of the last tick.
    """

    def __init__(self):
        self.active = False
        self.count = 0  # bytes printed line by line
        self.parts = []
        self.size = 0
        self.stream = None  # the binary side of sys.stdout
        self.stop = self.gone = None  # releasing `stop` ends the ticks, which then release `gone`
        self.runs = None  # returns None once the thread is gone, also one that had no memory to begin
        self.originals = {}  # (module, name) -> the function that is watched
        self.has_room = False

    def begin(self, stream):
        """Begins the bulk output, unless something else could write to the terminal.

        Called from a flush of sys.stdout.
        """
        text = State.streams[1]
        if getattr(text, "buffer", None) is not stream or not text.line_buffering:
            return
        size, self.count = self.count, 0
        # A thread could write to the terminal directly, before what it has printed.
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
            stream.write = stream.write_freely() if size < 2 * BULK_BYTES else stream.write_amid_bulk()
            text.reconfigure(line_buffering=False)
            self.active = True
            with printing:
                self._send([])  # the server must know of it in case this process crashes
        except BaseException as error:  # for example from a signal handler of the user
            self._undo()
            if not isinstance(error, RuntimeError):  # the thread could not be started
                raise

    def _start_ticks(self):
        stop, gone = _thread.allocate_lock(), _thread.allocate_lock()
        stop.acquire()
        gone.acquire()
        held = set()
        self.runs = ref(held)
        _thread.start_new_thread(self._tick, (stop, gone, held))
        self.stop, self.gone = stop, gone

    def _undo(self):
        self.active = False
        self._forget_calls()
        self._end_ticks()
        self.restore()

    def _keep_room(self):
        """Makes glibc keep the memory of large prints, once.

        glibc returns a block to the kernel that is larger than all blocks freed before, and more
        than twice that size at the end of its heap (mallopt(3), M_MMAP_THRESHOLD and
        M_TRIM_THRESHOLD). Each print of a megabyte would touch 512 new pages.
        """
        if not self.has_room:
            self.has_room = True
            try:
                bytes(BULK_ROOM)
            except MemoryError:
                pass

    def add(self, data):
        """Adds bytes to the current block. The caller holds `printing`."""
        self.parts.append(data)
        self.size += len(data)
        if self.size >= BULK_BLOCK:
            self._send([])

    def flushed(self):
        """Ends the bulk output if the main thread flushes; another thread only sends its block."""
        if _thread.get_ident() == State.main_thread:
            self.end()
        else:
            with printing:
                self._send([])

    def end(self):
        """Ends the bulk output.

        A signal handler of the user may call this recursively, and raise.
        """
        try:
            self.active = False
            with printing:
                if self._send([("ack", b"")]):
                    channel.await_ack()
        finally:
            self._undo()

    def _end_ticks(self):
        """Ends the thread and waits for that: a process that forks must have one thread."""
        stop, gone = self.stop, self.gone
        if stop is not None:
            if stop.locked():
                stop.release()
            while self.runs() is not None:
                if gone.acquire(True, BULK_TICK):
                    gone.release()
                    break
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
        for at in range(0, max(len(data), 1), BULK_BLOCK):
            last = at + BULK_BLOCK >= len(data)
            block = memoryview(data)[at : at + BULK_BLOCK]
            parts = [("text", block)] + (more if last else [])
            try:
                channel.write_whole(encode_frame(b"output", State.cell.ident, parts))
            except RuntimeError:
                self.parts.insert(0, data[at:])
                self.size += len(data) - at
                return False
        return True

    def _tick(self, stop, gone, _held):
        while not stop.acquire(True, BULK_TICK):
            # The holder of the lock may be waiting for the end of this thread.
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


printing = _thread.RLock()  # its holder writes to the terminal
bulk = BulkOutput()

# Functions that write to the terminal, redirect it, end this process or start something that may do
# so, all without flushing sys.stdout.
WATCHED = {
    "os": (
        *("system", "posix_spawn", "posix_spawnp", "write", "writev", "dup2", "close", "closerange"),
        *("_exit", "abort", "execv", "execve", "kill", "killpg"),
    ),
    "_thread": ("start_new_thread", "start_joinable_thread"),
    "_signal": ("raise_signal", "pthread_kill"),
    "signal": ("raise_signal", "pthread_kill"),
}
TAKE_DESCRIPTORS = ("dup2", "close")  # matter only if a descriptor is 1


def watched_calls():
    """Returns (module, name) -> function for WATCHED, of loaded modules.

    Returns None if session code has replaced one of the functions: that one stays as it is.
    """
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
    """Ends the bulk output, so that what was printed comes before what follows."""
    if bulk.active:
        State.streams[1].flush()


def settling(original, takes_descriptors=False):
    """Returns a function that calls settle() and then the original."""

    def call(*args, **kwargs):
        if not takes_descriptors or 1 in args or 1 in kwargs.values():
            settle()
        return original(*args, **kwargs)

    call.__name__ = original.__name__
    call.__doc__ = original.__doc__
    call.__wrapped__ = original
    return call
