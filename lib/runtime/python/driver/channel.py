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
VALUES_FD = 5  # a pipe: saved variables go up
NOTHING = [b""]  # an inbox without a frame or a part of one
SPARES = 8
SPARE_BYTES = 1 << 20  # what Python asks the system for when it has no room for a small object


class Spares:
    """Blocks of memory that are given up where code has left none, one each time.

    The answer needs room, and so does the next cell, which may delete what fills the memory.
    """

    def __init__(self):
        self.blocks = [bytes(SPARE_BYTES) for _ in range(SPARES)]  # malloc() maps them, and nothing touches them

    def give_up(self):
        if self.blocks:
            self.blocks.pop()

    def take_again(self):
        """Takes those that were given up, by mmap(): malloc() may keep what is freed."""
        try:
            while len(self.blocks) < SPARES:
                mmap = own("mmap")
                self.blocks.append(mmap.mmap(-1, SPARE_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        except (MemoryError, SystemError, OSError, ImportError):
            pass


def encode_frame(kind, ident, parts):
    chunks = [b"%b %d %d\n" % (kind, ident, len(parts))]
    for name, data in parts:
        if type(data) is str:
            data = data.encode("utf-8", "backslashreplace")
        chunks += b"%b %d\n" % (name.encode(), len(data)), data
    return b"".join(chunks)


class Channel:
    """Frames on the control socket: `TYPE ID NPARTS\\n`, then per part `NAME LEN\\n` and the bytes.

    A signal handler of the user may raise between any two steps here. Each change of `inbox` or
    `torn` is therefore one call into C: no byte is lost, read twice or written twice. A channel
    that fails means that the server has ended or that the user closed the channel: the process ends
    without a message.
    """

    def __init__(self, fd, received):
        self.fd = fd
        self.pid = posix.getpid()
        self.inbox = [bytes(received)]  # frames (kind, id, parts), then bytes that are no frame yet
        self.torn = None  # the frame that is being written, then the size of each partial write
        self.sending = False
        self.held = b""  # a frame that goes out with the next one
        self.writer = None
        self.spares = Spares()

    def send(self, kind, ident, parts):
        # Also checked here, because a fork in C runs no hooks of os.register_at_fork().
        if posix.getpid() != self.pid:
            return
        frame = self.held + encode_frame(kind, ident, parts)
        self.held = b""
        self._write(frame)

    def hold(self, kind, ident, parts):
        """Sends a frame together with the next one, so that one write wakes the server once."""
        self.release()
        self.held = encode_frame(kind, ident, parts)

    def release(self):
        if self.held and posix.getpid() == self.pid:
            frame, self.held = self.held, b""
            self._write(frame)

    def write_whole(self, frame):
        """Sends a frame while a signal handler of the user may raise at any moment.

        A BufferedWriter takes a frame that fits into it whole, and counts in C what it has written.
        The rest goes out before the next frame. Raises RuntimeError when called from a handler that
        interrupted the same writer.
        """
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

    def answer(self, request, parts):
        """Answers a request with `done`. After an interruption finish_answer() sends the rest."""
        request.answer = [self.held + encode_frame(b"done", request.ident, parts)]
        self.finish_answer(request)

    def finish_answer(self, request):
        self.held = b""
        if self.torn is not request.answer:
            self.finish(self.torn)
            self.torn = request.answer
        self.finish(request.answer)
        self.torn = None

    def finish(self, torn):
        """Writes the rest of a frame."""
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
        """Returns the next frame as (kind, id, parts). It stays the next one until drop_frame().

        `wait`, if given, lets other work run until data is there.
        """
        while type(self.inbox[0]) is not tuple:
            self.inbox != NOTHING and self._parse_frame() or self._read_some(wait)
        return self.inbox[0]

    def drop_frame(self, frame):
        if self.inbox[0] is frame:
            del self.inbox[0]

    def forget(self):
        """Forgets what was sent and read: in a forked session that belongs to the zygote."""
        self.pid = posix.getpid()
        self.inbox = [b""]
        self.torn = self.writer = None
        self.held = b""

    def look_ahead(self):
        """Returns the frames that have arrived. They stay unread."""
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
        """Returns the parts of the next frame of this kind; other frames stay in the inbox.

        `wait` is as for peek_frame().
        """
        while True:
            for i, item in enumerate(self.inbox):
                if type(item) is tuple and item[0] == kind:
                    return self.inbox.pop(i)[2]
            self._parse_frame() or self._read_some(wait)

    def _read_some(self, wait=None):
        if wait is not None:
            wait()
        try:
            try:
                self.inbox.extend(map(posix.read, (self.fd,), (65536,)))
            except MemoryError:
                self.spares.give_up()
                self.inbox.extend(map(posix.read, (self.fd,), (256,)))
        except OSError as error:
            self._end_unless_raised_by_user(error)
            return
        if not self.inbox[-1]:
            posix._exit(0)

    @staticmethod
    def _end_unless_raised_by_user(error):
        if error.errno is None:  # for example TimeoutError from a handler of SIGALRM
            raise error
        if error.errno == 9:  # EBADF: the cell closed it, and the server still waits
            posix.write(2, b"\nThe code closed the interpreter's control channel.\n")
            posix._exit(1)
        posix._exit(0)

    def _parse_frame(self):
        """Makes a frame of the bytes at the end of the inbox.

        Returns whether a whole one was there.
        """
        count = 0
        while type(self.inbox[count]) is tuple:
            count += 1
        data = b"".join(self.inbox[count:])
        frame, end = parse_frame(data) if data else (None, 0)
        self.inbox[count:] = [frame, data[end:]] if frame else [data]
        return frame is not None


def parse_frame(data):
    """Returns the frame at the start of these bytes and its end; (None, 0) if it is incomplete."""
    end = data.find(b"\n") + 1
    if end == 0:
        return None, 0
    kind, ident, count = data[:end].split()
    parts = {}
    for _ in range(int(count)):
        start, end = end, data.find(b"\n", end) + 1
        if end == 0:
            return None, 0
        name, size = data[start:end].split()
        start, end = end, end + int(size)
        if len(data) < end:
            return None, 0
        parts[name.decode()] = data[start:end].decode("utf-8", "replace")
    return (kind.decode(), int(ident), parts), end


channel = Channel(CONTROL_FD, globals().pop("received", bytearray()))
