# SPDX-License-Identifier: MIT
"""What the runner asks of a language, and bare interpreters on a terminal of their own."""
import codecs
import dataclasses
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import termios
import time

LIMIT_S = 200  # only what hangs reaches it


@dataclasses.dataclass
class Cell:
    code: str = ""
    events: list = dataclasses.field(default_factory=list)  # ("input", line) or ("interrupt", text), in order


@dataclasses.dataclass
class Rule:
    """A difference that has to be, and is taken out of both texts."""
    name: str
    pattern: str
    replacement: str = ""

    def apply(self, text):
        return re.sub(self.pattern, self.replacement, text, flags=re.MULTILINE)


# What ptycell says of a cell beside its text.
SENTENCES = [
    Rule("what a cell waits for", r"^The (code|debugger|program .*) waits for input.*\n?"),
    Rule("how a package gets there", r"^The package '.*' is not installed for this .*\n?"),
    Rule("that a cell goes on", r"^The cell goes on: .*\n?"),
    Rule("what an interrupt did", r"^The cell was interrupted after .*; variables and files are kept\.\n?"),
]
# For both texts of all languages.
RULES = [
    Rule("a terminal ends its lines with CR LF", r"\r\n", "\n"),
    Rule("a screen has no blanks at the end of a line", r"[ \t]+$"),
]


class Language:
    """One language. Subclasses set `name` (ptycell's) and `rules`, and implement `start`."""
    name = ""
    program = ""  # without it the language is skipped
    rules = []

    def is_here(self):
        return shutil.which(self.program) is not None

    def start(self, folder):
        """Starts the bare interpreter with `folder` as its current folder and returns an Interpreter."""
        raise NotImplementedError

    def text_of(self, result):
        """The text to compare of ptycell's answer to a cell (e2e/client.py)."""
        return result.text

    def normalise(self, text, folder):
        """`folder` is the one that the code saw as its own. Line ends around the text tell nothing."""
        text = text.replace(str(folder), "FOLDER")
        for rule in RULES + self.rules:
            text = rule.apply(text)
        text = "\n".join(line.expandtabs() for line in text.split("\n"))  # a screen has no tabs
        return text.strip("\n")


class Interpreter:
    """A bare interpreter that runs one cell after another. Subclasses implement `run`."""

    def run(self, cell):
        """Returns what the cell wrote, with the events of the cell delivered."""
        raise NotImplementedError

    def close(self):
        raise NotImplementedError


class Terminal:
    """A program on a terminal of its own, without echo."""

    def __init__(self, command, folder, environment):
        self.text = ""  # all that it has written
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a character may come in two parts
        self.master, slave = pty.openpty()
        attributes = termios.tcgetattr(slave)
        attributes[3] &= ~termios.ECHO
        attributes[3] |= termios.NOFLSH  # as ptycell's: an interrupt would throw away what has not been read yet
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, b"\x18\x00\x78\x00\0\0\0\0")  # 24 lines of 120, as ptycell's
        self.pid = os.fork()
        if self.pid == 0:
            self._become(command, slave, folder, environment)
        os.close(slave)
        self.ended = False

    @staticmethod
    def _become(command, slave, folder, environment):
        try:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for number in (0, 1, 2):
                os.dup2(slave, number)
            os.closerange(3, 400)
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        finally:
            os._exit(127)

    def send(self, text):
        os.write(self.master, text.encode())

    def interrupt(self):
        self.send("\x03")

    def wait_for(self, pattern, start):
        """Reads until the text from `start` on matches; the match, or None when the program has ended."""
        end = time.monotonic() + LIMIT_S
        while True:
            match = re.compile(pattern, re.DOTALL).search(self.text, start)
            if match or self.ended:
                return match
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no {pattern!r} in {self.text[start:][-2000:]!r}")
            if select.select([self.master], [], [], left)[0]:
                self._read()

    def _read(self):
        try:
            data = os.read(self.master, 65536)
        except OSError:
            data = b""
        self.ended = not data
        self.text += self.decoder.decode(data, self.ended)

    def reaped(self):
        """The exit status of a program that has ended."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def close(self):
        if not self.ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)
