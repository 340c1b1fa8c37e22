# SPDX-License-Identifier: MIT
"""Makes Python's modules that look at stacks and sources show those of the user.

Each hook runs when session code imports the module: linecache, inspect and pdb cost too much to be
imported by the driver.
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
    """Returns whether a frame belongs to the driver or the stub."""
    return frame.f_code.co_filename == DRIVER_FILE or frame.f_code is STUB_CODE


def hook_traceback(module):
    """Makes a printed stack begin with the cell."""
    original = module.walk_stack

    def walk_stack(f):
        return filter(lambda place: not is_ours(place[0]), original(f))

    walk_stack.__doc__ = original.__doc__
    module.walk_stack = walk_stack


def hook_warnings(module):
    """Makes a warning about the caller of the cell be about `sys`, as at Python's prompt."""
    original = module._showwarnmsg

    def show(message):
        if message.filename == DRIVER_FILE:
            message.filename, message.lineno = "sys", 1
        original(message)

    module._showwarnmsg = show


def hook_linecache(linecache):
    if is_own(linecache):
        linecache.cache.pop("<string>", None)  # 3.13.0 takes the stub for the source of exec()
        sources.fill_all(linecache)


def hook_inspect(inspect):
    """Lets inspect find the source of a class that a cell defines: such a class has no file."""
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
    """Lets an interrupt end a cell that is at pdb's prompt, and makes stacks begin with the cell.

    pdb itself asks again after an interrupt, so the session could only be killed. A step beyond the
    end of the cell continues without the debugger.
    """

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
