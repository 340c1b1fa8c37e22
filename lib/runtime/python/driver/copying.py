# SPDX-License-Identifier: MIT
"""Makes a copy of the interpreter that works on while cells run.

The copy is a grandchild: session code that waits for its children never sees it, and no exit of it
is reported to this process. It holds no descriptor of session code, because a pipe would not end
before the copy does. What it must not outlive is a time: a thread of faulthandler ends it then,
whatever the code of a value does.
"""

import _signal
import gc
import posix
import sys

from .channel import VALUES_FD
from .limits import FORK_SECONDS, SAVE_SECONDS
from .own import own
from .state import State

HARMLESS_THREADS = ("_MainThread", "TMonitor")  # that of tqdm only sleeps


class Copy:
    page = None  # shared with the copy: its pid, and the number of the value that it works on
    pidfd = None  # of the last copy
    refused = ""  # why no copy is made any more


def why_no_copy():
    """Returns why a copy would not be safe, or an empty string."""
    if Copy.refused:
        return Copy.refused
    if _signal.getsignal(_signal.SIGCHLD) not in (_signal.SIG_DFL, _signal.SIG_IGN):
        return "the code handles SIGCHLD"
    if has_threads():
        return "the code has threads"
    return ""


def has_threads():
    """Returns whether threads of session code run."""
    threading = sys.modules.get("threading")
    known = threading.enumerate() if threading is not None else [None]
    others = [thread for thread in known if thread is not None and type(thread).__name__ not in HARMLESS_THREADS]
    return bool(others) or len(sys._current_frames()) > max(len(known), 1)


def start_copy(work):
    """Runs `work` in a copy. Returns why that failed, or an empty string."""
    end_last_copy()
    if Copy.page is None:
        Copy.page = own("mmap").mmap(-1, 4096)
    Copy.page[:16] = bytes(16)
    pid = fork_silently()
    if pid == 0:
        try:
            become_copy(work)
        finally:
            posix._exit(0)
    if not reap(pid):
        Copy.refused = "a copy of the interpreter could not be made in time"
        return Copy.refused
    try:
        Copy.pidfd = own("os").pidfd_open(copy_number(0))
    except (OSError, AttributeError):
        pass  # it is over, or the kernel has none: it ends by itself
    return ""


def copy_number(index):
    """Returns a number that the copy has set: 0 is its pid, 1 the value that it works on."""
    return int.from_bytes(Copy.page[8 * index : 8 * index + 8], "little")


def set_copy_number(index, number):
    if Copy.page is not None:
        Copy.page[8 * index : 8 * index + 8] = number.to_bytes(8, "little")


def fork_silently():
    """Forks. Python warns of threads, which libraries have: the copy is ended if it hangs by them."""
    warnings = own("warnings")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return posix.fork()


def reap(pid):
    """Waits for the child that has forked the copy. Returns False if it had to be killed."""
    time = own("time")

    end = time.monotonic() + FORK_SECONDS
    while True:
        try:
            if posix.waitpid(pid, posix.WNOHANG)[0]:
                return True
        except ChildProcessError:  # SIGCHLD is ignored
            return True
        if time.monotonic() > end:
            posix.kill(pid, _signal.SIGKILL)
            posix.waitpid(pid, 0)
            return False
        time.sleep(0.0002)


def end_last_copy():
    """Kills the copy that was made before, if it still lives."""
    pidfd, Copy.pidfd = Copy.pidfd, None
    if pidfd is None:
        return
    try:
        _signal.pidfd_send_signal(pidfd, _signal.SIGKILL)
    except OSError:
        pass  # it has ended
    posix.close(pidfd)


def become_copy(work):
    """Forks once more, and does the work in that process."""
    leave_session()
    pid = fork_silently()
    if pid:
        set_copy_number(0, pid)
        return
    faulthandler = own("faulthandler")

    faulthandler.dump_traceback_later(SAVE_SECONDS, exit=True, file=2)
    gc.disable()  # a finalizer could end what is the session's, as a connection
    work()


def name_copy():
    """Gives it a name by which it is told from programs of session code."""
    try:
        own("ctypes").CDLL(None).prctl(PR_SET_NAME, COPY_NAME, 0, 0, 0)
    except Exception:
        pass  # a Python without ctypes


PR_SET_NAME = 15
COPY_NAME = b"ptycell-save"  # killed_programs.c reports no kill of it, as no code has started it
KEPT_FDS = (0, 1, 2, VALUES_FD)


def leave_session():
    """Takes from the copy what it shares with the session."""
    for name in ("SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGURG"):
        _signal.signal(getattr(_signal, name), _signal.SIG_IGN)
    State.running = False
    sys.settrace(None)
    sys.setprofile(None)
    null = posix.open("/dev/null", posix.O_RDWR | posix.O_CLOEXEC)
    for fd in (0, 1, 2):
        posix.dup2(null, fd)
    for name in posix.listdir("/proc/self/fd"):
        if int(name) not in KEPT_FDS:
            try:
                posix.close(int(name))
            except OSError:
                pass  # that of the list itself
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")  # when memory runs out, the copy goes first
    except OSError:
        pass
    name_copy()
    resource = own("resource")

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # it writes no file
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        posix.nice(5)  # cells go first, but it has to end in time
    except OSError:
        pass
