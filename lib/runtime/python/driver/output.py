# SPDX-License-Identifier: MIT
"""The streams that stand for sys.stdout and sys.stderr.

Threads, signal handlers and finalizers may print at any moment, so text is gathered and taken out
by single calls into C.
"""

from _collections import deque
import _io
import _operator
import _thread
import posix

from .bulk_output import bulk, printing, settle
from .interrupt import check_interrupt
from .limits import BULK_BYTES, BULK_FREE, PIECES, PIECE_BYTES
from .state import State
from .streams import clear_shown, may_send

# These take all bytes out of a BytesIO. One call of map() runs them; no Python code comes between.
CALL = _operator.methodcaller.__call__
EMPTY = tuple(_operator.methodcaller(*call) for call in (("getvalue",), ("seek", 0), ("truncate",)))


class Output(_io._BufferedIOBase):
    """The binary side of sys.stdout and sys.stderr: writes whole lines to the terminal.

    Threads, signal handlers and finalizers may print between any two steps here. A TextIOWrapper
    loses text that is added while its buffer takes the pending text. It therefore has no pending
    text (write_through), and text is put in and taken out here by one call into C each. During bulk
    output print calls nothing but C: its text goes into `memory`.
    """

    mode = "wb"

    def __init__(self, fd):
        self.fd = fd
        self.name = "<stdout>" if fd == 1 else "<stderr>"
        self.pieces = deque()
        self.memory = None

    def readable(self):
        return False

    def writable(self):
        return True

    def fileno(self):
        return self.fd

    def isatty(self):
        return posix.isatty(self.fd)

    @property
    def raw(self):
        return _io.FileIO(self.fd, "wb", closefd=False)

    def write(self, data):
        if State.clears and may_send():
            State.clears = False  # clear_shown() flushes, which calls write() again
            clear_shown()
        if type(data) is not bytes:
            data = bytes(memoryview(data))
        pieces = self.pieces
        pieces.append(data)
        if data[-1:] == b"\n" or len(pieces) >= PIECES or len(data) >= PIECE_BYTES:
            self.put_out()
        if State.interrupted:
            self.check_interrupt()
        return len(data)

    def write_freely(self):
        """Returns the function that is `write` during bulk output, until text comes too fast."""
        if self.memory is None:
            self.memory = _io.BytesIO()
        return self.memory.write

    def write_amid_bulk(self):
        """Returns the function that is `write` after that: it waits until its text is sent."""
        pieces, append = self.pieces, self.pieces.append

        def write(data):
            if type(data) is not bytes:
                data = bytes(memoryview(data))
            append(data)
            if len(pieces) >= PIECES or len(data) >= PIECE_BYTES:
                self.put_out()
            if State.interrupted:
                self.check_interrupt()
            return len(data)

        return write

    def put_out(self):
        if self.fd == 2:
            settle()
        with printing:
            data = self.take()
            if self.fd == 2:
                self._write(data)
            elif bulk.active:
                if len(data) > BULK_FREE:
                    self.write = self.write_amid_bulk()
                bulk.add(data)
            else:
                bulk.count += len(data)
                self._write(data)

    def take(self):
        self.pieces.append(None)
        if self.memory is None:
            return b"".join(iter(self.pieces.popleft, None))
        older = list(map(CALL, EMPTY, (self.memory,) * len(EMPTY)))[0]
        return older + b"".join(iter(self.pieces.popleft, None))

    def _write(self, data):
        sent = posix.write(self.fd, data) if data else 0
        while sent < len(data):
            data = memoryview(data)[sent:]
            sent = posix.write(self.fd, data)

    def flush(self):
        if self.pieces or (self.memory is not None and self.memory.tell()):
            self.put_out()
        if self.fd == 1:
            if bulk.active:
                bulk.flushed()
            elif bulk.count > BULK_BYTES and State.running and _thread.get_ident() == State.main_thread:
                bulk.begin(self)
        if State.interrupted:
            self.check_interrupt()

    @staticmethod
    def check_interrupt():
        if _thread.get_ident() == State.main_thread:
            check_interrupt()

    def close(self):
        super().close()
        self.write = self.flush = self._refuse

    @staticmethod
    def _refuse(*_):
        raise ValueError("I/O operation on closed file.")


def open_output(fd, original):
    """Returns a text stream for descriptor 1 or 2 with the encoding of the original."""
    text = _io.TextIOWrapper(
        Output(fd),
        encoding=getattr(original, "encoding", None) or "utf-8",
        errors="backslashreplace" if fd == 2 else getattr(original, "errors", "surrogateescape"),
        newline="\n",
        line_buffering=True,
        write_through=True,
    )
    text.mode = "w"
    return text
