# SPDX-License-Identifier: MIT
"""Runs programs for cells, on the terminal or with their output captured.

An interrupt reaches the program by the terminal. The driver waits until it has ended, as a shell
does, and ends it at a second interrupt.
"""

import posix
import sys

from .interrupt import check_interrupt
from .own import own
from .state import NAMESPACE, State
from .streams import flush_streams

READ_S = 1e6


class Lines(list):
    """What `x = !cmd` gives: the lines, and as text `.n` (newlines) and `.s` (spaces)."""

    n = nlstr = property(lambda self: "\n".join(self))
    s = spstr = property(lambda self: " ".join(self))
    l = list = property(list)

    def grep(self, pattern, prune=False, field=None):
        """Those that match, or with `prune` all others; `field` is the number of the word that is looked at."""
        re = own("re")

        matches = pattern if callable(pattern) else lambda text: re.search(pattern, text, re.I)
        asked = lambda line: line if field is None else "".join(self._words(line, [field]))
        return Lines(line for line in self if bool(matches(asked(line))) != bool(prune))

    def fields(self, *numbers):
        """These words of each line that has any; without numbers all, each by itself."""
        if not numbers:
            return [line.split() for line in self]
        return Lines(filter(None, (" ".join(self._words(line, numbers)) for line in self)))

    @staticmethod
    def _words(line, numbers):
        words = line.split()
        return [words[number] for number in numbers if -len(words) <= number < len(words)]


def call_shell(command, capture, fed=None):
    """Its lines when they are captured, those of its errors among them. `fed` is what it reads, None: the terminal."""
    subprocess = own("subprocess")

    flush_streams()
    out, err = stays_inside(sys.stdout), stays_inside(sys.stderr)
    pipes = {"stdout": subprocess.PIPE if out else None, "stderr": subprocess.PIPE if err else None}
    if capture:
        pipes["stdout"] = subprocess.PIPE
        if fed is None:  # why an install failed is told where it is seen
            err, pipes["stderr"] = False, subprocess.STDOUT
    code, told, errors = run_program(command, fed, shell=True, executable=shell_path(), **pipes)
    note_exit(code)
    if err:
        sys.stderr.write(errors.decode("utf-8", "replace"))
    if capture:
        return Lines(told.decode("utf-8", "replace").splitlines())
    if out:
        sys.stdout.write(told.decode("utf-8", "replace"))
    return None


def run_program(arguments, fed=None, **options):
    """Its exit code, and what came by its pipes. A program that an interrupt ends has the time for it, as below a shell."""
    subprocess = own("subprocess")

    if fed is not None:
        options["stdin"] = subprocess.PIPE
    State.starting = True
    try:
        process = subprocess.Popen(arguments, **options)
    finally:
        State.starting = False
    with process:
        told = wait_for_program(process, fed)
    return (process.returncode, *told)


def wait_for_program(process, fed):
    """What came by its pipes. An interrupt is raised when the program has ended, a second one ends it."""
    interrupt = None
    while True:
        try:
            check_interrupt()
            told = read_program(process, fed)
            break
        except KeyboardInterrupt as error:
            if interrupt is not None:
                process.kill()
                raise
            fed, interrupt = None, error
        except BaseException:
            process.kill()
            raise
    if interrupt is not None:
        raise interrupt
    return told


def read_program(process, fed):
    if process.stdin is process.stdout is process.stderr is None:
        process.wait()
        return None, None
    while True:
        try:  # with a time it can be called again when an interrupt has ended it
            return process.communicate(fed, timeout=READ_S)
        except own("subprocess").TimeoutExpired:
            fed = None


def note_exit(code):
    """Of a shell command: as in a shell, the last one's is told."""
    NAMESPACE["_exit_code"] = State.cell.shell_code = code


def stays_inside(stream):
    """Whether what is written to it reaches no descriptor, as with %%capture."""
    try:
        stream.fileno()
    except Exception:
        return True
    return False


def shell_path():
    return "/bin/bash" if posix.access("/bin/bash", posix.X_OK) else "/bin/sh"
