# SPDX-License-Identifier: MIT
"""Drives the R driver over a pty and two pipes, as the server does, without the server."""
import fcntl
import os
import pathlib
import pty
import select
import shutil
import signal
import termios
import time

from patience import WAIT_S

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
DRIVER = os.path.join(ROOT, "lib/runtime/r/driver.R")
PROFILE = os.path.join(ROOT, "lib/runtime/programs/profile.R")
TIOCSIG = 0x40045436


def encode(kind, ident, parts):
    chunks = [b"%s %d %d\n" % (kind.encode(), ident, len(parts))]
    for name, text in parts.items():
        data = text.encode()
        chunks.append(b"%s %d\n" % (name.encode(), len(data)) + data)
    return b"".join(chunks)


class Session:
    """One R with the driver in it."""

    def __init__(self, cwd):
        self.master, slave = pty.openpty()
        attributes = termios.tcgetattr(slave)
        attributes[1] &= ~termios.OPOST
        attributes[3] |= termios.NOFLSH
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        commands, self.down = os.pipe()
        self.up, control = os.pipe()
        self.buffer, self.output, self.number = b"", b"", 0
        self.pid = os.fork()
        if self.pid == 0:
            become_r(slave, commands, control, cwd)
        for fd in (slave, commands, control):
            os.close(fd)
        os.set_blocking(self.master, False)
        os.write(self.master, b'eval(parse(text = Sys.getenv("PTYCELL_DRIVER"), keep.source = FALSE), baseenv())\n')
        self.send("hello", 0, proto="1", nonce="nonce", output=str(cwd))
        self.ready = self.frame()

    def send(self, kind, ident, **parts):
        os.write(self.down, encode(kind, ident, parts))

    def drain(self):
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            if not data:
                return
            self.output += data

    def frame(self, timeout=WAIT_S):
        """(kind, id, parts)"""
        end = time.monotonic() + timeout
        while True:
            frame = self._take()
            if frame:
                self.drain()
                return frame
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError("no frame; output %r" % self.output[-2000:])
            ready = select.select([self.up, self.master], [], [], left)[0]
            if self.master in ready:
                self.drain()
            if self.up in ready:
                data = os.read(self.up, 1 << 20)
                if not data:
                    raise EOFError(self.output[-2000:])
                self.buffer += data

    def _take(self):
        head, found, rest = self.buffer.partition(b"\n")
        if not found:
            return None
        kind, ident, count = head.split()
        parts = {}
        for _ in range(int(count)):
            head, found, rest = rest.partition(b"\n")
            if not found:
                return None
            name, size = head.split()
            if len(rest) < int(size):
                return None
            parts[name.decode()], rest = rest[:int(size)], rest[int(size):]
        self.buffer = rest
        return kind.decode(), int(ident), parts

    def start(self, code):
        self.number += 1
        self.output = b""
        self.send("exec", self.number, code=code)

    def finish(self):
        """The frames of the cell, `done` last; displays are acknowledged."""
        frames = [self.frame()]
        while frames[-1][0] != "done":
            if frames[-1][0] == "display":
                self.send("ack", self.number)
            frames.append(self.frame())
        assert frames[-1][1] == self.number
        return frames

    def run(self, code):
        self.start(code)
        return self.finish()

    def interrupt(self):
        fcntl.ioctl(self.master, TIOCSIG, signal.SIGINT)

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        for fd in (self.master, self.down, self.up):
            os.close(fd)


def become_r(slave, commands, control, cwd):
    try:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for fd in (slave, slave, slave, commands, control)]
        for fd, number in zip(high, (0, 1, 2, 5, 6)):
            os.dup2(fd, number)
        os.closerange(3, 5)
        os.closerange(7, 400)
        os.chdir(cwd)
        with open(DRIVER, encoding="utf-8") as file:
            driver = file.read()
        profile = pathlib.Path(cwd) / ".packages/ask/profile.R"
        profile.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROFILE, profile)
        r = shutil.which("R")
        os.execve(r, [r, "--no-save", "--no-restore", "--no-readline", "--no-echo", "--interactive"], {
            "PATH": "/usr/bin:/bin", "PTYCELL_DRIVER": driver, "LC_ALL": "C.UTF-8", "HOME": str(cwd), "R_PROFILE": str(profile)})
    finally:
        os._exit(127)
