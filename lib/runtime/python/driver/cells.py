# SPDX-License-Identifier: MIT
"""Runs one cell, from its frame to the answer `done`.

A signal handler of the user may raise in the middle of it. State.request therefore holds how far
the answer is, and main continues from there.
"""

import _signal
import _thread
import builtins
import posix
import sys

from .bulk_output import bulk
from .channel import channel
from .children import live_children
from .copying import has_threads
from .descriptors import check_descriptors, reopen_streams
from .display import publish_later_ones
from .errors import describe_error, describe_exit, log
from .figures import note_images_left_out, show_figures
from .fork import forget_folders
from .history import remember_source
from .interrupt import in_child, meant_for, on_sigint
from .limits import FAILURES_REPORTED
from .loop import loop_has_work
from .names import changed_names
from .rules import Refused
from .run import execute
from .sources import sources
from .state import Cell, MAIN, NAMESPACE, State
from .streams import flush_c_streams, flush_streams, print_note
from .unwritten import open_files


def handle_exec(request):
    """Runs a cell and answers `done`. May be called again for the same request."""
    State.resting = False
    if request.outcome is None:
        request.outcome = begin_cell(request) if request.cell is None else describe_error(request.trouble, request.cell)
    if in_child():
        leave_child(request.outcome)
    more = []
    try:
        if State.failures < FAILURES_REPORTED:  # what code put in place of sys.stdout may raise each time
            more = finish_cell(request.cell, request.outcome[0][1] == "ok" or request.cell.shell_code != 0)
    except Exception as error:  # for example a recursion limit too low for the driver
        log(error)
    channel.answer(request, request.outcome + more)


def begin_cell(request):
    """Runs the cell. Returns its outcome as parts of `done`."""
    code = request.parts.get("code", "")
    cell = request.cell = State.cell = Cell(request.ident, "<cell %d>" % request.ident, code)
    try:
        prepare_process()
        if "again" in request.parts:  # so soon after the last cell that a folder's time may not show what is new
            forget_folders()
    except Exception as error:
        log(error)
    remember_source(cell)
    return run_guarded(cell)


def prepare_process():
    """Repairs what the last cell may have broken, or code that ran since."""
    if not State.tidy or State.loop is not None or _thread._count():
        _signal.signal(_signal.SIGINT, on_sigint)
        check_descriptors()
    State.tidy = False
    bulk.count = 0
    State.clears = False
    State.captured = None
    NAMESPACE.pop("__warningregistry__", None)  # a warning appears once in each cell
    globals().pop("__warningregistry__", None)
    sys.modules["__main__"] = MAIN
    NAMESPACE.setdefault("__name__", "__main__")
    NAMESPACE.setdefault("__builtins__", builtins)
    reopen_streams()
    bulk.restore()


def run_guarded(cell, work=execute):
    """Runs the cell. Returns its outcome as parts of `done`.

    on_sigint() never raises in a frame of the driver, so no step here is interrupted halfway.
    """
    State.interrupted = False
    State.running = True
    try:
        if State.signalled and meant_for(cell):
            raise KeyboardInterrupt
        try:
            work(cell)
        except BaseException as error:
            if isinstance(error, (MemoryError, SystemError)):  # imports raise that one, too, without memory
                channel.spares.give_up()
            sources.note_failure(cell.name, error)
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
    channel.spares.take_again()
    if cell.shell_code == 0:
        return [("status", "ok")]
    code = cell.shell_code if cell.shell_code > 0 else 128 - cell.shell_code
    return [("status", "exit"), ("code", str(code))]


def finish_cell(cell, ran_whole):
    """Sends what remains after the code has ended. Returns more parts of `done`."""
    check_descriptors()
    if cell.images_left_out:
        note_images_left_out()
    if State.later:
        publish_later_ones()
    open_files.write()
    flush_streams()
    flush_c_streams()
    _signal.signal(_signal.SIGINT, on_sigint)  # with SIG_DFL a late interrupt would end the process
    State.tidy = True
    parts = []
    changed = changed_names(cell.assigned | cell.touched if ran_whole else ())
    if changed:
        parts.append(("names", changed))
    folder = working_folder()
    if folder != State.home:
        parts.append(("cwd", folder))
    children = live_children()
    if children:
        parts.append(("children", str(children)))
    if _thread._count() and has_threads() or loop_has_work():
        parts.append(("active", "1"))
    cell.figures.clear()
    cell.saved_figures.clear()
    return parts


def working_folder():
    try:
        return posix.getcwd()
    except OSError:  # the code removed it
        return State.home


def leave_child(outcome):
    """Ends a child of os.fork() that has come to the end of the cell."""
    status = dict(outcome)
    if "traceback" in status:
        print_note(status["traceback"].rstrip("\n"))
    flush_streams()
    posix._exit(int(status.get("code", 0 if status["status"] == "ok" else 1)) & 0xFF)
