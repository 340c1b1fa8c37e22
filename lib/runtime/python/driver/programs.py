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
    """The value of `!cmd`: its lines. As text they are `.n` (newlines) and `.s` (spaces)."""

    n = nlstr = property(lambda self: "\n".join(self))
    s = spstr = property(lambda self: " ".join(self))
    l = list = property(list)

    def grep(self, pattern, prune=False, field=None):
        """Returns the lines that match, or with `prune` all others; `field` chooses a word."""
        re = own("re")

        matches = pattern if callable(pattern) else lambda text: re.search(pattern, text, re.I)
        asked = lambda line: line if field is None else "".join(self._words(line, [field]))
        return Lines(line for line in self if bool(matches(asked(line))) != bool(prune))

    def fields(self, *numbers):
        """Returns these words of each line that has any; without numbers, all of them."""
        if not numbers:
            return [line.split() for line in self]
        return Lines(filter(None, (" ".join(self._words(line, numbers)) for line in self)))

    @staticmethod
    def _words(line, numbers):
        words = line.split()
        return [words[number] for number in numbers if -len(words) <= number < len(words)]


def call_shell(command, capture, fed=None):
    """Runs a command in the shell. Returns its Lines if they are captured, else None.

    Captured lines include those of stderr. `fed` is what the command reads; None is the terminal.
    """
    subprocess = own("subprocess")

    flush_streams()
    out, err = stays_inside(sys.stdout), stays_inside(sys.stderr)
    pipes = {"stdout": subprocess.PIPE if out else None, "stderr": subprocess.PIPE if err else None}
    if capture:
        pipes["stdout"] = subprocess.PIPE
        if fed is None:  # else stderr explains why an install failed: it stays visible
            err, pipes["stderr"] = False, subprocess.STDOUT
    code, output, errors = run_program(command, fed, shell=True, executable=shell_path(), **pipes)
    note_exit(code)
    if err:
        sys.stderr.write(errors.decode("utf-8", "replace"))
    if capture:
        return Lines(output.decode("utf-8", "replace").splitlines())
    if out:
        sys.stdout.write(output.decode("utf-8", "replace"))
    return None


def run_program(arguments, fed=None, **options):
    """Runs a program. Returns its exit code and what came through its pipes.

    A program that an interrupt ends has time for its end, as in a shell.
    """
    subprocess = own("subprocess")

    if fed is not None:
        options["stdin"] = subprocess.PIPE
    State.starting = True
    try:
        process = subprocess.Popen(arguments, **options)
    finally:
        State.starting = False
    with process:
        outputs = wait_for_program(process, fed)
    return (process.returncode, *outputs)


def wait_for_program(process, fed):
    """Returns what came through the pipes of a program.

    An interrupt is raised when the program has ended. A second interrupt kills it.
    """
    interrupt = None
    while True:
        try:
            check_interrupt()
            outputs = read_program(process, fed)
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
    return outputs


def read_program(process, fed):
    if process.stdin is process.stdout is process.stderr is None:
        process.wait()
        return None, None
    while True:
        try:  # with a timeout communicate() may be called again after an interrupt
            return process.communicate(fed, timeout=READ_S)
        except own("subprocess").TimeoutExpired:
            fed = None


def note_exit(code):
    """Notes the exit code of a shell command: the cell reports the last one, as a shell does."""
    NAMESPACE["_exit_code"] = State.cell.shell_code = code


def stays_inside(stream):
    """Returns whether text written to the stream reaches no descriptor, as with %%capture."""
    try:
        stream.fileno()
    except Exception:
        return True
    return False


def shell_path():
    return "/bin/bash" if posix.access("/bin/bash", posix.X_OK) else "/bin/sh"
