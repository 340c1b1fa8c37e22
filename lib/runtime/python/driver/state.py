# SPDX-License-Identifier: MIT
"""What the driver knows about the session, the current request and the running cell.

Also makes the module `__main__` that cells run in. The driver is in a module of its own.
"""

import _thread
import builtins
import sys

from .kinds import ModuleType


class Cell:
    """What lives as long as one cell."""

    def __init__(self, ident, name, source):
        self.ident = ident
        self.name = name
        self.source = source
        self.assigned = set()  # top-level names that its statements assign
        self.touched = set()  # those that they may change in place: x[0] = 1, x.a = 1, x += 1
        self.figures = []  # matplotlib figures already shown
        self.images = 0
        self.images_left_out = 0
        self.images_lost = 0  # of these
        self.shell_code = 0  # of its last shell command
        self.shows_each = False  # of its values, and not the last one alone
        self.awaits_packages = False  # the server has not answered yet what it was asked for


class Turn:
    """How far the answer to one frame is. When a signal handler of the user's raises in the middle of
    it, what is done is not done again."""

    def __init__(self, frame):
        self.frame = frame
        self.kind, self.ident, self.parts = frame
        self.cell = None
        self.outcome = None  # of the cell, as parts of `done`
        self.trouble = None  # what was raised before there was an outcome
        self.answer = None  # as Channel.torn


class State:
    turn = None
    failures = 0  # raised between cells since the last frame came
    cell = Cell(0, "<cell 0>", "")
    running = False  # user code is on the stack; SIGINT may interrupt
    interrupted = False  # SIGINT came while the driver itself was at work
    starting = False  # a program of ! is being made: one that nobody has got would run on
    waiting = False  # the driver waits for the server, and SIGINT may interrupt that
    signalled = False  # SIGINT came between cells
    future_flags = 0  # of `from __future__ import` in earlier cells
    output = ""  # folder for figures
    loop = None  # the event loop of all cells with await
    task = None  # the asyncio task of the running cell
    task_cancelled = False
    main_thread = _thread.get_ident()
    later = []  # display frames of threads and idle tasks, sent by the next cell
    streams = ()  # sys.stdin, stdout and stderr as they were at the start
    terminal = -1  # private copy of the pty's descriptor
    redirected = None  # where the user sent stdout or stderr, as last told
    tidy = False  # descriptors and SIGINT's handler were put right since the last cell's code
    folder_before = None  # where %cd was last called
    captured = None  # what %%capture has of displays, while it runs
    clears = False  # what was shown goes before the cell shows something else
    shell = None  # what get_ipython() gives to cells
    printer = None  # how SymPy was told to print
    check = None  # of code rules, when the person has any
    tracing = None  # what code gave to sys.settrace and sys.setprofile, while the driver is at work
    serving = False  # this is a parent: no session's, but copied for them


def make_main():
    main = ModuleType("__main__")
    main.__builtins__ = builtins
    main.__annotations__ = {}
    sys.modules["__main__"] = main
    return main


MAIN = make_main()
NAMESPACE = MAIN.__dict__
