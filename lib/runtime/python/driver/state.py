# SPDX-License-Identifier: MIT
"""The state of the driver: of the session, the current request and the running cell.

Also makes the module `__main__` that cells run in. The driver is in a module of its own.
"""

import _thread
import builtins
import sys

from .kinds import ModuleType


class Cell:
    """The state of one cell."""

    failure = None  # the class of the last value that could not be shown, and why
    saved_as = None  # the name of the file of the figure that is being shown, if the cell saved it
    images = 0
    images_left_out = 0
    sounds = 0
    images_lost = 0  # of those left out, how many could not be saved
    shell_code = 0  # exit code of its last shell command
    shows_each = False  # shows every value, not only the last one
    awaits_packages = False  # a request for packages is unanswered

    def __init__(self, ident, name, source):
        self.ident = ident  # its number; 0 for code that is none of the session's
        self.name = name
        self.source = source
        self.assigned = set()  # top-level names that its statements assign
        self.touched = set()  # names that they may change in place: x[0] = 1, x.a = 1, x += 1
        self.figures = []  # matplotlib figures already shown
        self.saved_figures = []  # those that it saved in output/ itself, each with its file's name


class Request:
    """One frame of the server and how far its answer is.

    When a signal handler of the user raises in the middle, main continues the same request:
    finished steps are not repeated.
    """

    cell = None
    outcome = None  # of the cell, as parts of `done`
    trouble = None  # the exception that was raised before there was an outcome
    answer = None  # as Channel.torn

    def __init__(self, frame):
        self.frame = frame
        self.kind, self.ident, self.parts = frame


class State:
    request = None
    failures = 0  # exceptions raised between cells since the last frame
    cell = Cell(0, "<cell 0>", "")
    running = False  # session code is on the stack; SIGINT may interrupt
    interrupted = False  # SIGINT came while a frame of the driver was innermost
    starting = False  # a program of `!` is being started: an interrupt now would leave it running
    waiting = False  # the driver waits for the server; SIGINT may interrupt that
    signalled = False  # SIGINT came between cells
    resting = False  # background tasks wait for a cell: what they change is not saved any more
    future_flags = 0  # of `from __future__ import` in earlier cells
    output = ""  # folder for figures
    home = ""  # the working folder at the start
    loop = None  # the event loop of all cells with await
    task = None  # the asyncio task of the running cell
    task_cancelled = False
    main_thread = _thread.get_ident()
    later = []  # display frames of threads and idle tasks, sent by the next cell
    streams = ()  # sys.stdin, stdout and stderr as they were at the start
    terminal = -1  # private copy of the pty's descriptor
    redirected = None  # where the user sent stdout or stderr, as last reported
    tidy = False  # descriptors and SIGINT's handler were repaired after the last cell
    folder_before = None  # the working folder before the last %cd
    captured = None  # displays that %%capture has caught so far
    clears = False  # the next output removes what the cell has shown
    shell = None  # the Shell that get_ipython() returns
    printer = None  # SymPy's printing function
    check = None  # the checker of code rules, if the user has any
    tracing = None  # the session's functions for sys.settrace and sys.setprofile, suspended
    values_pipe = None  # mode, inode and device of the pipe for saved variables
    serving = False  # this process is a zygote


def make_main():
    main = ModuleType("__main__")
    main.__builtins__ = builtins
    main.__annotations__ = {}
    sys.modules["__main__"] = main
    return main


MAIN = make_main()
NAMESPACE = MAIN.__dict__
