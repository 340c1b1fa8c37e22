# SPDX-License-Identifier: MIT
"""Describes how a cell ended: an exception, an interrupt or an exit.

Also the driver's own errors, which go to the server's log.
"""

import _thread
import sys

from .channel import channel
from .cut import shortened
from .kinds import type_name
from .limits import EVALUE_LIMIT
from .own import own
from .state import State
from .streams import print_note
from .tracebacks import chained, format_error, strip_driver_frames, traceback_frames


def error_line(error):
    return shortened("%s: %s" % (type_name(type(error)), error_text(error)), 300)


def error_text(error):
    try:
        text = str(error)
    except BaseException:
        return "<str() failed>"
    return shortened(text, EVALUE_LIMIT)


def print_traceback(error):
    """Prints an error that belongs to no statement of the cell."""
    try:
        strip_driver_frames(error)
        print_note(format_error(error).rstrip("\n"))
    except Exception:
        print_note(error_line(error))


def describe_error(error, cell):
    """Returns the parts of `done` for an exception that ended the cell."""
    for item in chained(error):
        try:
            strip_driver_frames(item)
        except Exception:
            pass
    remember_last(error)
    name = type_name(type(error))
    text = error_text(error)
    try:
        trace = format_error(error)
    except BaseException as trouble:
        trace = "%s: %s\n(no traceback: %s)\n" % (name, text, error_line(trouble))
    interrupted = isinstance(error, KeyboardInterrupt)
    parts = [
        ("status", "interrupted" if interrupted else "error"),
        ("ename", name),
        ("evalue", text),
        ("traceback", trace),
    ]
    line = error_lineno(error, cell)
    if line:
        parts.append(("line", str(line)))
    missing = missing_module(error)
    if missing:
        parts.append(("missing", missing))
    if is_raised_by_cell(error):
        parts.append(("raised", "1"))
    return parts


def remember_last(error):
    """Sets sys.last_exc and its like, for pdb.pm()."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    sys.last_exc = error


def error_lineno(error, cell):
    if isinstance(error, SyntaxError) and error.filename == cell.name:
        return error.lineno
    lines = [
        tb.tb_lineno
        for tb in traceback_frames(error.__traceback__)
        if tb.tb_frame.f_code.co_filename == cell.name
    ]
    return lines[-1] if lines else None


def is_raised_by_cell(error):
    """Returns whether a `raise` statement of a cell raised the error.

    Its text then says nothing about a limit of the session.
    """
    frames = traceback_frames(error.__traceback__)
    if not frames or not frames[-1].tb_frame.f_code.co_filename.startswith("<cell "):
        return False
    code, at = frames[-1].tb_frame.f_code.co_code, frames[-1].tb_lasti
    return code[at] == own("opcode").opmap["RAISE_VARARGS"]


def missing_module(error):
    if isinstance(error, ImportError) and not isinstance(error, ModuleNotFoundError):
        return optional_module(error_text(error))
    if not isinstance(error, ModuleNotFoundError) or type(error.name) is not str:
        return None
    top = error.name.partition(".")[0]
    return top if len(top) <= 200 and top.isidentifier() and top not in sys.modules else None


def optional_module(text):
    """Returns the module that pandas says it lacks, or None."""
    found = own("re").search(r"Missing optional dependency '(\w+)'|tried using: '(\w+)'", text)
    return found and (found[1] or found[2])


def describe_exit(error):
    """Returns the parts of `done` for SystemExit, which ends the cell and not the session."""
    return [("status", "exit"), ("code", str(exit_code(error)))]


def exit_code(error):
    """Returns the exit code that a program would have. Prints a code that is no number."""
    code = error.code
    if code is None:
        code = 0
    elif not isinstance(code, int):
        print_note(error_text(error))
        code = 1
    code = int(code)
    if code.bit_length() > 31:  # as Python converts it to a C int
        code = code & 0xFF if code.bit_length() < 64 else 255
    return code


def log(error):
    """Sends an error of the driver itself to the server's log."""
    if _thread.get_ident() == State.main_thread:
        channel.send(b"log", 0, [("text", error_line(error))])
