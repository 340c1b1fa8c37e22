# SPDX-License-Identifier: MIT
"""The Python driver: runs the cells of one session inside the user's own interpreter.

The server starts `python -c STUB` with a pty as fds 0-2 and the control socket as fd 3. The stub
reads this program from the socket and runs it in a module of its own, so that the user's
`__main__` holds nothing of the driver. Code and answers travel as frames on the socket; output of
the code goes to the pty, as in any terminal. It runs on CPython 3.9 and later.

Two rules shape everything here:

* Nothing but builtin modules is imported before READY is sent, and afterwards each module only
  when it is needed: `re` or `traceback` cost more than starting the interpreter does.
* Session code shares the process and may replace anything (streams, hooks, signal handlers,
  descriptors). The driver therefore keeps private references, and repairs what a cell needs before
  the next one.

scripts/pack-driver makes one program of these modules when ptycell is built.
"""

import _signal
import builtins
import gc
import posix
import sys

# First, so that READY is sent before the rest is defined.
from .greeting import HELLO, early
from .bulk_output import printing, settle
from .cells import handle_exec
from .channel import channel
from .descriptors import take_streams
from .display import display, show_value
from .errors import print_traceback
from .fork import handle_serve
from .hello import take_hello
from .history import begin_history
from .hooks import install_hooks
from .imported import handle_imported
from .interrupt import on_sigint
from .kinds import clean_word
from .limits import FAILURES_REPORTED
from .loop import pump_loop
from .magics_table import install_magics
from .names import names
from .preload import handle_preload
from .named_files import handle_close_named
from .queries import handle_vars
from .quitting import end_interpreter
from .restoring import handle_restore
from .saving import handle_save
from .shell import Shell
from .stand_in import for_cells, no_ipython
from .state import NAMESPACE, Request, State


def set_up():
    import faulthandler
    import os

    _signal.signal(_signal.SIGINT, on_sigint)
    if early:
        State.signalled = True
    # The server sends SIGURG to end a system call before which an interrupt came. This does
    # nothing, and has no frame: an interrupt meanwhile is raised in session code.
    _signal.signal(_signal.SIGURG, {}.get)
    take_streams()
    State.streams = (sys.stdin, sys.stdout, sys.stderr)
    State.terminal = posix.dup(1)
    os.register_at_fork(before=settle, after_in_child=close_in_child)
    faulthandler.enable(2)
    # The server sends SIGUSR2 for a dump of the stack when SIGINT does not stop the code.
    faulthandler.register(_signal.SIGUSR2, 2, all_threads=True, chain=False)
    State.shell = Shell()
    builtins.display = display
    begin_history()
    builtins.get_ipython = for_cells(no_ipython)
    sys.displayhook = show_value
    sys.argv = [""]
    if sys.path[:1] != [""]:
        sys.path.insert(0, "")
    install_magics()
    install_hooks()
    take_hello(HELLO)
    # The stub turned it off: a collection while the driver loads finds nothing. Nor does one of
    # what is there now, which becomes old without it.
    gc.freeze()
    gc.unfreeze()
    gc.enable()
    names.ids = {name: id(value) for name, value in NAMESPACE.items()}


def close_in_child():
    printing._at_fork_reinit()
    if State.serving:
        return  # a forked session has descriptors of its own
    if _signal.getsignal(_signal.SIGINT) is on_sigint:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    try:
        posix.close(channel.fd)
    except OSError:
        pass


HANDLERS = {
    "exec": handle_exec,
    "vars": handle_vars,
    "imported": handle_imported,
    "close-named": handle_close_named,
    "save": handle_save,
    "restore": handle_restore,
    "preload": handle_preload,
    "serve": handle_serve,
}
NOT_REQUESTS = ("ack", "interrupt", "installed")


def serve():
    """Answers frames until the server says quit."""
    while True:
        try:
            answer_requests()
            return
        except BaseException as error:
            # A signal handler or a callback of the user raised, in the driver or between cells.
            State.failures += 1
            report_failure(error)


def answer_requests():
    while True:
        # An event loop that fails again and again does not run until the next frame.
        runs = State.failures < FAILURES_REPORTED and not State.resting
        frame = channel.peek_frame(pump_loop if runs else None)
        if State.request is None or State.request.frame is not frame:
            State.request = Request(frame)
            State.failures = 0
        if frame[0] == "quit":
            return
        answer_request(State.request)
        channel.drop_frame(frame)
        State.request = None


def answer_request(request):
    if request.answer is not None:
        channel.finish_answer(request)
    elif request.kind in HANDLERS:
        HANDLERS[request.kind](request)
    elif request.kind not in NOT_REQUESTS:
        channel.send(b"log", 0, [("text", "unknown frame %s" % clean_word(request.kind))])


def report_failure(error):
    """Ends a cell that has no outcome yet with the error.

    Prints any other error, of many the first.
    """
    State.running = False
    request = State.request
    if request is not None and request.cell is not None and request.outcome is None:
        request.trouble = error
    elif State.failures <= FAILURES_REPORTED:
        try:
            print_traceback(error)
        except BaseException:
            pass


set_up()
serve()
end_interpreter()
