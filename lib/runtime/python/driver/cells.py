# SPDX-License-Identifier: MIT
"""Runs one cell, from its frame to the answer `done`.

A signal handler of the user may raise in the middle of it. State.turn therefore holds how far the
answer is, and main continues from there.
"""

import _signal
import _thread
import builtins
import posix
import sys

from .channel import channel
from .children import live_children
from .descriptors import check_descriptors, reopen_streams
from .display import publish_later_ones
from .errors import describe_error, describe_exit, log
from .figures import note_images_left_out, show_figures
from .flood import flood
from .interrupt import in_child, meant_for, on_sigint
from .names import changed_names
from .rules import Refused
from .run import execute
from .state import Cell, MAIN, NAMESPACE, State
from .streams import flush_c_streams, flush_streams, say


def handle_exec(turn):
    if turn.outcome is None:
        turn.outcome = begin_cell(turn) if turn.cell is None else describe_error(turn.trouble, turn.cell)
    if in_child():
        leave_child(turn.outcome)
    told = []
    try:
        told = finish_cell(turn.cell, turn.outcome[0][1] == "ok" or turn.cell.shell_code != 0)
    except Exception as error:  # say a recursion limit too low for us: the answer still goes out
        log(error)
    channel.answer(turn, turn.outcome + told)


def begin_cell(turn):
    """Runs the cell; its outcome as parts of `done`."""
    name, code = turn.parts.get("name") or "<cell %d>" % turn.ident, turn.parts.get("code", "")
    cell = turn.cell = State.cell = Cell(turn.ident, name, code)
    try:
        prepare_process()
    except Exception as error:
        log(error)
    return run_guarded(cell)


def prepare_process():
    """What the last cell may have broken, or code that ran since."""
    if not State.tidy or State.loop is not None or _thread._count():
        _signal.signal(_signal.SIGINT, on_sigint)
        check_descriptors()
    State.tidy = False
    flood.count = 0
    State.clears = False
    State.captured = None
    for scope in (NAMESPACE, globals()):  # what another cell was warned of, this one is, too
        scope.pop("__warningregistry__", None)
    sys.modules["__main__"] = MAIN
    NAMESPACE.setdefault("__name__", "__main__")
    NAMESPACE.setdefault("__builtins__", builtins)
    reopen_streams()
    flood.restore()


def run_guarded(cell):
    """Runs the cell; its outcome as parts of `done`.

    on_sigint never raises in a frame of this file, so nothing here is interrupted half done.
    """
    State.interrupted = False
    State.running = True
    try:
        if State.signalled and meant_for(cell):
            raise KeyboardInterrupt
        try:
            execute(cell)
        except BaseException:
            show_figures(blank=False)
            raise
        show_figures()
        State.running = False
        return ended_well(cell)
    except SystemExit as error:
        State.running = False
        return describe_exit(error)
    except Refused as refusal:
        State.running = False
        text = str(refusal)
        return [
            ("status", "error"),
            ("ename", "CodeRuleError"),
            ("evalue", text),
            ("traceback", "CodeRuleError: %s\n" % text),
        ]
    except BaseException as error:
        State.running = False
        return describe_error(error, cell)


def ended_well(cell):
    if cell.shell_code == 0:
        return [("status", "ok")]
    code = cell.shell_code if cell.shell_code > 0 else 128 - cell.shell_code
    return [("status", "exit"), ("code", str(code))]


def finish_cell(cell, ran_whole):
    """Everything that is told or sent after the code has ended."""
    check_descriptors()
    if cell.images_left_out:
        note_images_left_out()
    if State.later:
        publish_later_ones()
    flush_streams()
    flush_c_streams()
    _signal.signal(_signal.SIGINT, on_sigint)  # with SIG_DFL a late interrupt would end us
    State.tidy = True
    parts = []
    changed = changed_names(cell.assigned | cell.touched if ran_whole else ())
    if changed:
        parts.append(("names", changed))
    children = live_children()
    if children:
        parts.append(("children", str(children)))
    cell.figures.clear()
    return parts


def leave_child(outcome):
    """A child of os.fork() in the cell came to the cell's end: there its program is over."""
    status = dict(outcome)
    if "traceback" in status:
        say(status["traceback"].rstrip("\n"))
    flush_streams()
    posix._exit(int(status.get("code", 0 if status["status"] == "ok" else 1)) & 0xFF)
