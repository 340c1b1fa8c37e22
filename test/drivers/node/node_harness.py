# SPDX-License-Identifier: MIT
"""Drives the JavaScript driver over a pty, a socketpair and the interrupt pipe, without the server."""
import fcntl
import os
import pathlib
import pty
import socket
import sys
import termios

DRIVERS = pathlib.Path(__file__).resolve().parents[1]
SOURCES = DRIVERS.parents[1] / "lib/runtime/node"
sys.path.insert(0, str(DRIVERS / "python"))
import harness  # noqa: E402

Died = harness.Died
PARTS = ("driver", "output", "syntax", "values")


class Session(harness.Session):
    """One Node with the driver in it."""

    def __init__(self, node, cwd=".", env=None, output=""):
        self.master, slave = pty.openpty()
        harness.set_raw(slave)
        ours, theirs = socket.socketpair()
        interrupts, self.interrupts = os.pipe()
        self.socket, self.buffer, self.ident, self.output = ours, bytearray(), 0, b""
        self.pid = os.fork()
        if self.pid == 0:
            command = [node, "-e", (SOURCES / "stub.cjs").read_text()]
            become_session(slave, (theirs.fileno(), interrupts), command, cwd, env or {})
        os.close(slave)
        os.close(interrupts)
        theirs.close()
        os.set_blocking(self.master, False)
        sources = [(name, (SOURCES / f"{name}.cjs").read_text()) for name in PARTS]
        self.send("boot", 0, sources)
        self.send("hello", 0, [("proto", "1"), ("nonce", harness.NONCE), ("output", output)])
        self.ready = self.next_frame(15)

    def interrupt(self):
        """As the server does: who is meant, then the guard's line, then the signal."""
        self.send("interrupt", self.ident)
        os.write(self.interrupts, b"%d\n" % self.ident)
        super().interrupt()

    def interrupt_unguarded(self):
        """As if the guard were not up yet."""
        self.send("interrupt", self.ident)
        super().interrupt()

    def close(self):
        super().close()
        os.close(self.interrupts)


def become_session(slave, descriptors, command, cwd, env):
    try:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        copies = [fcntl.fcntl(fd, fcntl.F_DUPFD, 64) for fd in (slave, slave, slave, *descriptors)]
        for number, fd in enumerate(copies):
            os.dup2(fd, number)
        os.closerange(len(copies), 256)
        os.chdir(cwd)
        os.execve(command[0], command, dict(harness.ENVIRONMENT, NO_COLOR="1", **env))
    finally:
        os._exit(127)
