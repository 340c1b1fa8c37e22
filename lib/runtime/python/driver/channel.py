# SPDX-License-Identifier: MIT
"""Frames on the control socket.

A signal handler of the user may raise between any two steps. Each change of the inbox and of the
frame that is being written is therefore one call into C.
"""

import _io
import posix

from .limits import WHOLE_MAX
from .own import own

CONTROL_FD = 3


def encode_frame(kind, ident, parts):
    chunks = [b"%b %d %d\n" % (kind, ident, len(parts))]
    for name, data in parts:
        if type(data) is str:
            data = data.encode("utf-8", "backslashreplace")
        chunks.append(b"%b %d\n" % (name.encode(), len(data)))
        chunks.append(data)
    return b"".join(chunks)


class Channel:
    """Frames on the control socket: `TYPE ID NPARTS\\n`, then per part `NAME LEN\\n` and the bytes.

    A signal handler of the user's may raise between any two steps here. So whatever changes `inbox`
    or `torn` is one call into C: no byte is lost, read twice or written twice. A channel that fails
    means that the server is gone (or that the user closed it): the process ends without a word.
    """

    def __init__(self, fd, received):
        self.fd = fd
        self.pid = posix.getpid()
        self.inbox = [bytes(received)]  # frames (kind, id, parts), then bytes that are no frame yet
        self.torn = None  # the frame that is being written, then how much each write took
        self.sending = False
        self.held = b""  # a frame that goes out with the next one
        self.writer = None

    def send(self, kind, ident, parts):
        # Also checked here and not only at fork: a fork in C runs no hooks.
        if posix.getpid() != self.pid:
            return
        frame = self.held + encode_frame(kind, ident, parts)
        self.held = b""
        self._write(frame)

    def hold(self, kind, ident, parts):
        """Sends with the next frame, soon: one write wakes the server once."""
        self.release()
        self.held = encode_frame(kind, ident, parts)

    def release(self):
        if self.held and posix.getpid() == self.pid:
            frame, self.held = self.held, b""
            self._write(frame)

    def write_whole(self, frame):
        """Where handlers of the user's may raise at any moment, as they do in a long output: a
        BufferedWriter takes a frame that fits into it whole, and keeps in C how much it has
        written: what is left goes before the next one. RuntimeError: it is at it already, and this
        is such a handler."""
        if self.writer is None:
            self.writer = _io.BufferedWriter(_io.FileIO(self.fd, "wb", closefd=False), WHOLE_MAX)
        try:
            self.writer.write(frame)
            self.writer.flush()
        except OSError as error:
            self._end_unless_raised_by_user(error)

    def _write(self, frame):
        self.finish(self.torn)
        self.torn = [frame]
        self.finish(self.torn)
        self.torn = None

    def answer(self, turn, parts):
        """Ends a turn with `done`; once the bytes are in `turn.answer`, finish_answer() is enough."""
        turn.answer = [self.held + encode_frame(b"done", turn.ident, parts)]
        self.finish_answer(turn)

    def finish_answer(self, turn):
        self.held = b""
        if self.torn is not turn.answer:
            self.finish(self.torn)
            self.torn = turn.answer
        self.finish(turn.answer)
        self.torn = None

    def finish(self, torn):
        """Writes what is not written yet of a frame."""
        if torn is None:
            return
        frame = torn[0]
        self.sending = True
        try:
            if self.writer is not None:
                if len(torn) == 1 and len(frame) <= WHOLE_MAX:
                    torn.extend(map(self.writer.write, (frame,)))
                self.writer.flush()
            while len(torn) == 1 or sum(torn[1:]) < len(frame):
                rest = memoryview(frame)[sum(torn[1:]) :] if len(torn) > 1 else frame
                torn.extend(map(posix.write, (self.fd,), (rest,)))
        except OSError as error:
            self._end_unless_raised_by_user(error)
        finally:
            self.sending = False

    def peek_frame(self, wait=None):
        """The next frame as (kind, id, parts), which stays the next until drop_frame(); `wait` lets other
        work run until data is there."""
        while type(self.inbox[0]) is not tuple:
            self._parse_frame() or self._read_some(wait)
        return self.inbox[0]

    def drop_frame(self, frame):
        if self.inbox[0] is frame:
            del self.inbox[0]

    def forget(self):
        """In a copy for a session: what was sent and read is the parent's."""
        self.pid = posix.getpid()
        self.inbox = [b""]
        self.torn = self.writer = None
        self.held = b""

    def look_ahead(self):
        """Frames that are there and stay unread."""
        while self._parse_frame() or self._has_data():
            if self._has_data():
                self._read_some()
        return [item for item in self.inbox if type(item) is tuple]

    def _has_data(self):
        select = own("select")

        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        return bool(poll.poll(0))

    def await_ack(self):
        self.await_frame("ack")

    def await_frame(self, kind, wait=None):
        """The parts of the next frame of this kind; others wait. `wait` as above."""
        while True:
            for i, item in enumerate(self.inbox):
                if type(item) is tuple and item[0] == kind:
                    return self.inbox.pop(i)[2]
            self._parse_frame() or self._read_some(wait)

    def _read_some(self, wait=None):
        if wait is not None:
            wait()
        try:
            self.inbox.extend(map(posix.read, (self.fd,), (65536,)))
        except OSError as error:
            self._end_unless_raised_by_user(error)
            return
        if not self.inbox[-1]:
            posix._exit(0)

    @staticmethod
    def _end_unless_raised_by_user(error):
        if error.errno is None:  # say TimeoutError, from a handler of SIGALRM
            raise error
        if error.errno == 9:  # EBADF: the cell closed it, and the server still waits
            posix.write(2, b"\nThe code closed the interpreter's control channel.\n")
            posix._exit(1)
        posix._exit(0)

    def _parse_frame(self):
        """Makes a frame of the bytes at the end of the inbox; whether there was a whole one."""
        count = 0
        while type(self.inbox[count]) is tuple:
            count += 1
        data = b"".join(self.inbox[count:])
        frame, end = parse_frame(data) if data else (None, 0)
        self.inbox[count:] = [frame, data[end:]] if frame else [data]
        return frame is not None


def parse_frame(data):
    """The frame at the start of these bytes and where it ends; (None, 0) when it is not whole."""
    end = data.find(b"\n")
    if end < 0:
        return None, 0
    kind, ident, count = data[:end].split()
    parts = {}
    for _ in range(int(count)):
        start, end = end + 1, data.find(b"\n", end + 1)
        if end < 0:
            return None, 0
        name, size = data[start:end].split()
        start, end = end + 1, end + int(size)
        if len(data) <= end:
            return None, 0
        parts[name.decode()] = data[start : end + 1].decode("utf-8", "replace")
    return (kind.decode(), int(ident), parts), end + 1


channel = Channel(CONTROL_FD, globals().pop("received", bytearray()))
