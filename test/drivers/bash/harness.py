# SPDX-License-Identifier: MIT
"""Drives the bash driver over a pty and four pipes, as the server and its codec do, without them."""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import termios
import time

from patience import WAIT_S

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
DRIVER = os.path.join(ROOT, "lib/runtime/bash/driver.bash")
TIOCSIG = 0x40045436
SETTLE = 0.05  # lib/runtime/bash/bash.c


class Session:
    """One bash with the driver in it."""

    def __init__(self, cwd):
        self.master, slave = pty.openpty()
        attributes = termios.tcgetattr(slave)
        attributes[1] &= ~termios.OPOST
        attributes[3] |= termios.NOFLSH
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        commands, self.down = os.pipe()
        self.up, control = os.pipe()
        self.apart, aside = os.pipe2(os.O_NONBLOCK)
        told, self.tell = os.pipe()
        self.buffer, self.output, self.number, self.started, self.parts = b"", b"", 0, 0, True
        self.pid = os.fork()
        if self.pid == 0:
            become_bash(slave, (commands, control, aside, told), cwd)
        for fd in (slave, commands, control, aside, told):
            os.close(fd)
        os.set_blocking(self.master, False)
        os.set_blocking(self.apart, False)
        os.write(self.down, b"hello nonce\n")
        self.ready = self.message()

    def drain(self):
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            if not data:
                return
            self.output += data

    def message(self, timeout=WAIT_S):
        """The words of the next message, and the lines around them; None at the end of the pipe."""
        end = time.monotonic() + timeout
        while not re.search(rb"^@nonce end .*\n", self.buffer, re.MULTILINE):
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError("no message; output %r" % self.output[-2000:])
            ready = select.select([self.up, self.master], [], [], left)[0]
            if self.master in ready:
                self.drain()
            if self.up in ready:
                data = os.read(self.up, 65536)
                if not data:
                    return None
                self.buffer += data
        self.drain()
        text, _, self.buffer = self.buffer.partition(b"@nonce end ")
        told, _, self.buffer = self.buffer.partition(b"\n")
        apart = self.take_apart()
        if not text and apart.count(b"@nonce ") < 2:  # an interrupt can make bash lose it, or a part of it
            apart = b"same\n@nonce " + told + b"\n@nonce names\n"
        self.inline = bool(text)
        traps, _, rest = (text or apart).decode().partition("@nonce ")
        what, _, rest = rest.partition("\n")
        jobs, _, names = rest.partition("@nonce names\n")
        self.traps, self.jobs, self.names = re.sub(r"^trap -- 'for __ptycell_.*\n", "", traps, flags=re.MULTILINE), jobs, names
        return what.split(" ")

    def take_apart(self):
        """What came by the pipe that nobody waits at."""
        data = b""
        try:
            while chunk := os.read(self.apart, 65536):
                data += chunk
        except BlockingIOError:
            pass
        return data

    def start(self, code):
        self.number += 1
        self.output = b""
        self.started = time.monotonic()
        code = code.encode()
        self.parts = self.parts and b"alias" not in code and b"set -v" not in code
        words = [b"1" if word else b"0" for word in (self.parts, code and code.isascii())]
        os.write(self.down, b"@nonce exec %d %s 0 %d\n%s__ptycell_next\n" % (self.number, b" ".join(words), len(code), code))

    def run(self, code):
        """(state, status, output) of a cell."""
        self.start(code)
        what = self.message()
        assert what[:2] == ["done", str(self.number)], what
        return what[2], int(what[3]), self.output.decode()

    def has_begun(self):
        """Does its cell take interrupts, which the shell lets it before anything else, or is it over?"""
        caught = pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").split("SigCgt:")[1].split()[0]
        return int(caught, 16) & 1 << signal.SIGINT - 1 or select.select([self.up, self.apart, self.master], [], [], 0)[0]

    def interrupt(self):
        time.sleep(max(0, self.started + SETTLE - time.monotonic()))
        fcntl.ioctl(self.master, TIOCSIG, signal.SIGINT)

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        for fd in (self.master, self.down, self.up, self.apart, self.tell):
            os.close(fd)


def become_bash(slave, pipes, cwd):
    try:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        commands, control, aside, told = pipes
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for fd in (commands, slave, slave, control, aside, told)]
        for fd, number in zip(high, (0, 1, 2, 15, 13, 11)):
            os.dup2(fd, number)
        os.closerange(3, 11)
        os.closerange(12, 13)
        os.closerange(14, 15)
        os.closerange(16, 400)
        os.chdir(cwd)
        with open(DRIVER, encoding="utf-8") as file:
            driver = file.read()
        os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"], {
            "PATH": "/usr/bin:/bin", "PTYCELL_DRIVER": driver, "PS1": "", "PS2": "", "HISTFILE": "",
            "LC_ALL": "C.UTF-8", "PROMPT_COMMAND": 'builtin eval "$PTYCELL_DRIVER"'})
    finally:
        os._exit(127)
