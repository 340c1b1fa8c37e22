# SPDX-License-Identifier: MIT
"""Makes Python's modules that look at stacks and sources show those of the user.

The hooks run when somebody imports the module: linecache, inspect or pdb cost too much to be
imported by us.
"""

import sys

from .kinds import DRIVER_FILE
from .own import is_own, own
from .run import await_codes, run_codes
from .sources import sources


def outermost_code():
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code


STUB_CODE = outermost_code()


def is_ours(frame):
    """Whether it is a frame of what runs the cells."""
    return frame.f_code.co_filename == DRIVER_FILE or frame.f_code is STUB_CODE


def hook_traceback(module):
    """A stack, as logging shows it with an error of its own, begins with the cell."""
    original = module.walk_stack

    def walk_stack(f):
        return filter(lambda place: not is_ours(place[0]), original(f))

    walk_stack.__doc__ = original.__doc__
    module.walk_stack = walk_stack


def hook_warnings(module):
    """A warning about who called the cell is about the interpreter, as at a prompt."""
    original = module._showwarnmsg

    def show(told):
        if told.filename == DRIVER_FILE:
            told.filename, told.lineno = "sys", 1
        original(told)

    module._showwarnmsg = show


def hook_linecache(linecache):
    if is_own(linecache):
        linecache.cache.pop("<string>", None)  # Python 3.13.0 takes what it was started with for what exec() runs
        sources.fill_all(linecache)


def hook_inspect(inspect):
    """inspect cannot find the source of a class that has no file; the cell's name is as good."""
    original = inspect.getfile

    def getfile(object):
        if isinstance(object, type) and object.__module__ == "__main__":
            name = sources.owner.get(object.__qualname__.partition(".")[0])
            if name is not None:
                own("linecache")  # its hook fills in the cells
                return name
        return original(object)

    outer = inspect.getouterframes

    def getouterframes(frame, context=1):
        return [place for place in outer(frame, context) if not is_ours(place.frame)]

    getouterframes.__doc__ = outer.__doc__
    inspect.getfile = getfile
    inspect.getouterframes = getouterframes


def hook_pdb(pdb):
    """At its prompt pdb takes an interrupt for a change of mind and asks again, so a cell that
    nobody answers could only be killed, with all state. Here the interrupt ends the cell. And a
    stack begins with the cell, not with what runs it: who steps on at its end is done."""

    def loop_once(debugger):
        debugger.allow_kbdint = True
        try:
            debugger.cmdloop()
        finally:
            debugger.allow_kbdint = False

    whole_stack = pdb.Pdb.get_stack

    def own_stack(debugger, frame, traceback):
        stack, index = whole_stack(debugger, frame, traceback)
        names = [entry[0].f_code.co_filename for entry in stack]
        first = next((i for i, name in enumerate(names) if name.startswith("<cell ")), 0)
        return (stack[first:], index - first) if first <= index else (stack, index)

    stops = pdb.Pdb.stop_here

    def stop_here(debugger, frame):
        if frame.f_code.co_filename != DRIVER_FILE:
            return stops(debugger, frame)
        if frame.f_code in (run_codes.__code__, await_codes.__code__):
            debugger.set_continue()
        return False

    pdb.Pdb._cmdloop = loop_once
    pdb.Pdb.get_stack = own_stack
    pdb.Pdb.stop_here = stop_here
