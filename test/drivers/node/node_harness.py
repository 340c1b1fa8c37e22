# SPDX-License-Identifier: MIT
"""Drives the JavaScript driver over a pty, a socketpair and the interrupt pipe, without the server."""
import array
import fcntl
import functools
import os
import pathlib
import pty
import socket
import subprocess
import sys
import tempfile
import termios
import time

DRIVERS = pathlib.Path(__file__).resolve().parents[1]
SOURCES = DRIVERS.parents[1] / "lib/runtime/node"
sys.path.insert(0, str(DRIVERS / "python"))
import harness  # noqa: E402

Died = harness.Died
PACKED = ("driver", "syntax", "values")
GUARD_WAITS = "const GUARD_WAITS_MS = 100;"


@functools.cache
def packed(part):
    """The program that scripts/pack-node-driver makes of the modules of a part."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "part.cjs")
        subprocess.run([sys.executable, DRIVERS.parents[1] / "scripts/pack-node-driver", out, SOURCES / part / "main.mjs"],
                       check=True)
        return out.read_text()


class Session(harness.Session):
    """One Node with the driver in it."""

    def __init__(self, node, cwd=".", env=None, output="", patient=False, broken=None):
        """`patient`: the guard waits a day before it ends a callback of a cell that waits. `broken`: a text of the
        sources, and what stands in its place."""
        self.folder = pathlib.Path(cwd)
        self.master, slave = pty.openpty()
        harness.set_raw(slave)
        ours, theirs = socket.socketpair()
        interrupts, self.interrupts = os.pipe()
        self.descriptors = [self.master, self.interrupts]
        self.socket, self.buffer, self.ident, self.output = ours, bytearray(), 0, b""
        self.pid = os.fork()
        if self.pid == 0:
            command = [node, "-e", (SOURCES / "stub.cjs").read_text()]
            become_session(slave, (theirs.fileno(), interrupts), command, cwd, env or {})
        os.close(slave)
        os.close(interrupts)
        theirs.close()
        os.set_blocking(self.master, False)
        sources = [*((part, packed(part)) for part in PACKED), ("output", (SOURCES / "output.cjs").read_text())]
        if patient:
            assert GUARD_WAITS in sources[0][1]
            sources[0] = ("driver", sources[0][1].replace(GUARD_WAITS, "const GUARD_WAITS_MS = 86400000;"))
        if broken:
            assert any(broken[0] in text for _, text in sources)
            sources = [(name, text.replace(*broken)) for name, text in sources]
        self.send("boot", 0, sources)
        self.send("hello", 0, [("proto", "1"), ("nonce", harness.NONCE), ("output", output)])
        self.ready = self.next_frame()

    def interrupt(self):
        """As the server does: who is meant, then the guard's line, then the signal."""
        self.send("interrupt", self.ident)
        os.write(self.interrupts, b"%d\n" % self.ident)
        super().interrupt()

    def interrupt_unguarded(self):
        """As if the guard were not up yet."""
        self.send("interrupt", self.ident)
        super().interrupt()

    def await_guard(self):
        """The guard comes up behind the first cell: it has read the pipe then."""
        os.write(self.interrupts, b" ")
        unread = array.array("i", [1])
        while unread[0] > 0:
            time.sleep(0.001)
            fcntl.ioctl(self.interrupts, termios.FIONREAD, unread)

    def run_interrupted(self, code, after=0.02, seen="begun"):
        """Interrupts code that has no end, a little after it has written `seen`; it is made to where it begins its loop."""
        begin, loop = "process.stdout.write('begun');", "while (true) {}"
        if seen == "begun" and "begun" not in code:
            code = code.replace(loop, begin + loop) if loop in code else f"{begin}\n{code}"
        return super().run_interrupted(code, after, seen)


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
