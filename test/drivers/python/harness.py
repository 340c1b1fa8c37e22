# SPDX-License-Identifier: MIT
"""Drives the Python driver over a pty and a socketpair, as the server does, without the server."""
import contextlib
import fcntl
import functools
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

from patience import WAIT_S

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
MAIN = os.path.join(ROOT, "lib/runtime/python/driver/main.py")
RULES = os.path.join(ROOT, "lib/runtime/python/rules.py")
STUB = os.path.join(ROOT, "lib/runtime/python/stub.py")
TIOCSIG = 0x40045436
DRAIN_READS = 100
NONCE = "0123456789abcdef"

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "TERM": "xterm-256color",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "MPLBACKEND": "agg",
    "PYTHON_BASIC_REPL": "1",
    "PYTHON_COLORS": "0",
}


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def pack(python, folder):
    """What scripts/pack-driver makes of the driver for this interpreter: its source and its marshalled code."""
    outs = [os.path.join(folder, name) for name in ("driver.py", "driver.marshal")]
    subprocess.run([python, os.path.join(ROOT, "scripts/pack-driver"), *outs, MAIN], check=True)
    return [read_file(out) for out in outs]


@functools.lru_cache(maxsize=None)
def source():
    """The driver as one program."""
    with tempfile.TemporaryDirectory() as folder:
        return pack(sys.executable, folder)[0]


def encode(kind, ident, parts):
    chunks = [b"%s %d %d\n" % (kind.encode(), ident, len(parts))]
    for name, data in parts:
        data = data.encode() if isinstance(data, str) else data
        chunks.append(b"%s %d\n" % (name.encode(), len(data)) + data)
    return b"".join(chunks)


class Frame:
    def __init__(self, kind, ident, parts):
        self.kind, self.ident, self.parts = kind, ident, parts
        self.offset = 0  # characters on the pty before it

    def __getitem__(self, name):
        return self.parts[name].decode()

    def get(self, name, default=None):
        return self.parts[name].decode() if name in self.parts else default

    def __contains__(self, name):
        return name in self.parts

    def __repr__(self):
        parts = {name: data[:200] for name, data in self.parts.items()}
        return "Frame(%s %d %r)" % (self.kind, self.ident, parts)


class Died(Exception):
    """The driver's process ended; `status` is as of waitpid."""

    def __init__(self, status, output):
        super().__init__("status %r after %r" % (status, output[-2000:]))
        self.status = status
        self.output = output


class Result:
    """One answered cell."""

    def __init__(self, frames, output, seconds):
        self.frames = frames
        self.output = output
        self.seconds = seconds
        self.done = frames[-1]
        self.status = self.done["status"]

    @property
    def value(self):
        results = [f for f in self.frames if f.kind == "result"]
        return results[-1]["text/plain"] if results else None

    @property
    def displays(self):
        return [f for f in self.frames if f.kind == "display"]

    @property
    def images(self):
        return [f for f in self.frames if "image/png" in f or "image/jpeg" in f]

    def __repr__(self):
        return "Result(%r, %r, %.3f s)" % (self.frames, self.output[-2000:], self.seconds)


class Session:
    """One interpreter with the driver in it."""

    def __init__(
        self, python="/usr/bin/python3", cwd=".", env=None, output="", marshal=b"", flags=(), rules=None
    ):
        self.master, slave = pty.openpty()
        set_raw(slave)
        ours, theirs = socket.socketpair()
        self.values, values = os.pipe()  # saved variables come up here
        self.socket, self.buffer, self.ident, self.output = ours, bytearray(), 0, b""
        command = [python, *flags, "-c", read_file(STUB).decode()]
        self.pid = os.fork()
        if self.pid == 0:
            become_session(slave, (theirs.fileno(), values), command, cwd, dict(ENVIRONMENT, **(env or {})))
        os.close(slave)
        theirs.close()
        os.close(values)
        self.descriptors = [self.master, self.values]
        os.set_blocking(self.master, False)
        self.send("boot", 0, [("marshal", marshal), ("source", source())])
        hello = [("proto", "1"), ("nonce", NONCE), ("output", output)]
        if rules is not None:
            hello += [("rules", rules), ("checker", read_file(RULES))]
        self.send("hello", 0, hello)
        self.ready = self.next_frame()

    def send(self, kind, ident, parts=()):
        with contextlib.suppress(BrokenPipeError):  # it has ended: the next frame is missing
            self.socket.sendall(encode(kind, ident, parts))

    def drain(self):
        """Reads the pty until it is empty; everything written before a frame is there then. What is
        still more than a terminal can hold was written since."""
        for _ in range(DRAIN_READS):
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            if not data:
                return
            self.output += data

    def next_frame(self, timeout=WAIT_S):
        deadline = time.monotonic() + timeout
        while True:
            frame = self._take_frame()
            if frame is not None and frame.kind == "output":
                self._take_output(frame)
                continue
            if frame is not None and frame.kind == "begun":
                self._take_begun(frame)
                continue
            if frame is not None and frame.kind == "interrupted":  # for the server's ladder of signals
                continue
            if frame is not None:
                self.drain()
                frame.offset = len(self.output)
                return frame
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("no frame; output: %r" % self.output[-2000:])
            ready = select.select([self.socket, self.master], [], [], left)[0]
            if self.master in ready:
                self.drain()
            if self.socket in ready:
                self._receive()

    def _take_begun(self, frame):
        """What came before is not the cell's."""
        self.drain()
        self.background, self.output = self.output, b""
        self.send("ack", frame.ident)

    def _take_output(self, frame):
        self.drain()
        self.output += frame.parts["text"]
        self.blocks += 1
        if "ack" in frame:
            self.send("ack", frame.ident)

    def _receive(self):
        try:
            data = self.socket.recv(1 << 20)
        except ConnectionResetError:
            data = b""
        if not data:
            _, status = os.waitpid(self.pid, 0)
            self.pid = None
            self.drain()
            raise Died(status, self.output)
        self.buffer += data

    def _take_frame(self):
        data, end = bytes(self.buffer), self.buffer.find(b"\n")
        if end < 0:
            return None
        kind, ident, count = data[:end].split()
        parts, at = {}, end + 1
        for _ in range(int(count)):
            end = data.find(b"\n", at)
            if end < 0:
                return None
            name, size = data[at:end].split()
            at = end + 1 + int(size)
            if len(data) < at:
                return None
            parts[name.decode()] = data[end + 1 : at]
        del self.buffer[:at]
        return Frame(kind.decode(), int(ident), parts)

    def start(self, code):
        self.ident += 1
        self.output, self.background, self.blocks = b"", None, 0
        self.started = time.monotonic()
        self.send("exec", self.ident, [("code", code)])
        return self.ident

    def finish(self, timeout=WAIT_S):
        frames = []
        while not frames or frames[-1].kind != "done":
            frames.append(self.next_frame(timeout))
            if frames[-1].kind in ("display", "clear"):
                self.send("ack", frames[-1].ident)
        assert frames[-1].ident == self.ident
        seconds = time.monotonic() - self.started
        return Result(frames, self.output.decode("utf-8", "replace"), seconds)

    def run(self, code, timeout=WAIT_S):
        self.start(code)
        return self.finish(timeout)

    def interrupt(self):
        fcntl.ioctl(self.master, TIOCSIG, signal.SIGINT)

    def run_interrupted(self, code, after=0.3, seen="", timeout=WAIT_S):
        """Runs code that has no end, interrupts it at some moment, `seen` of its output first; `seconds` counts from
        the interrupt."""
        self.start(code)
        self.read_until(seen)
        try:
            frame = self.next_frame(after)
            raise AssertionError("ended by itself: %r" % frame)
        except TimeoutError:
            pass
        self.started = time.monotonic()
        self.interrupt()
        return self.finish(timeout)

    def read_output(self, seconds):
        """What comes on the pty within that time, between cells."""
        self.output = b""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            select.select([self.master], [], [], max(0, deadline - time.monotonic()))
            self.drain()
        return self.output.decode()

    def read_until(self, text, seconds=WAIT_S):
        """What came on the pty since the last cell began, up to that text at least."""
        deadline = time.monotonic() + seconds
        while text.encode() not in self.output and time.monotonic() < deadline:
            ready = select.select([self.master, self.socket], [], [], max(0, deadline - time.monotonic()))[0]
            if self.socket in ready:
                self._receive()
            if self.buffer.startswith(b"begun "):
                self._take_begun(self._take_frame())
            self.drain()
        return self.output.decode()

    def ask_variables(self, limit=200):
        self.ident += 1
        self.send("vars", self.ident, [("limit", str(limit))])
        return self.next_frame()

    def variables(self):
        rows = [line.split("\t") for line in self.ask_variables()["vars"].split("\n") if line]
        return {row[0]: row[1:] for row in rows}

    def processor_seconds(self):
        """What the interpreter has used, which other programs do not lengthen as they do its answers."""
        fields = read_file("/proc/%d/stat" % self.pid).rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def seconds_for(self, act):
        used = self.processor_seconds()
        act()
        return self.processor_seconds() - used

    def close(self):
        if self.pid is not None:
            for kill in (os.killpg, os.kill):
                try:
                    kill(self.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            os.waitpid(self.pid, 0)
            self.pid = None
        self.socket.close()
        while self.descriptors:
            os.close(self.descriptors.pop())


def set_raw(slave):
    """The server's own settings: no output processing; control characters are just text."""
    attributes = termios.tcgetattr(slave)
    attributes[1] &= ~termios.OPOST
    attributes[3] |= termios.NOFLSH
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))


def become_session(slave, descriptors, command, cwd, env):
    try:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in range(3):
            os.dup2(slave, fd)
        control, values = map(os.dup, (os.dup2(descriptors[0], 200), os.dup2(descriptors[1], 201)))
        os.dup2(control, 3)
        os.dup2(values, 5)
        os.set_inheritable(3, True)
        os.set_inheritable(5, True)
        os.close(4)
        os.closerange(6, 256)
        os.chdir(cwd)
        os.execve(command[0], command, env)
    finally:
        os._exit(127)


@functools.cache
def has_module(python, name):
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec(%r) is None)" % name
    return subprocess.run([python, "-c", code]).returncode == 0
