# SPDX-License-Identifier: MIT
"""Serves as a zygote: forks itself for sessions.

The fork itself happens in C (sandbox/supervise/zygote.h). This module renews what forked sessions
must not share: the environment and what follows from it, random generators, caches of folders, the number of threads.
"""

import _signal
import _thread
import gc
import posix
import sys

from .channel import channel
from .errors import log
from .greeting import early, greet
from .hello import take_hello
from .interrupt import on_sigint
from .state import State


def handle_serve(request):
    """Serves forks for sessions until the next frame comes. Returns in each forked session, too."""
    import ctypes

    library = ctypes.PyDLL(request.parts["library"])
    library.zygote_variable.restype = ctypes.c_char_p
    if not library.zygote_may_serve(FORK_FD):
        posix._exit(1)
    blas = find_blas()
    channel.answer(request, [("status", "ok")])
    gc.collect()
    gc.freeze()  # objects that are never collected are never written to, and stay shared
    State.serving = True
    outcome = library.zygote_serve_python(FORK_FD, channel.fd)
    if outcome == COPIED:
        begin_session(library, blas)
    elif outcome != WANTED:
        posix._exit(1)
    State.serving = False


FORK_FD = 4
COPIED = 1
WANTED = 3


def begin_session(library, blas):
    """Makes a forked process what an interpreter is that has just started."""
    channel.forget()
    State.main_thread = _thread.get_ident()
    State.terminal = posix.dup(1)
    take_environment(library)
    if "threading" in sys.modules:
        sys.modules["threading"].main_thread()._set_native_id()
    reseed()
    forget_folders()
    hello = greet()
    _signal.signal(_signal.SIGINT, on_sigint)
    if early:
        State.signalled = True
    take_hello(hello)
    give_threads(blas)


def forget_folders():
    """Has imports look into the session's folders again."""
    for path in list(sys.path_importer_cache):
        if not str(path).startswith("/usr/"):
            sys.path_importer_cache.pop(path, None)


def take_environment(library):
    """Replaces the environment by the session's, which `library` holds."""
    import os
    import time

    variables = posix.environ
    variables.clear()
    index = 0
    while True:
        item = library.zygote_variable(index)
        if item is None:
            break
        name, _, value = item.partition(b"=")
        variables[name] = value
        index += 1
    if os.environ._data is not variables:
        os.environ._data.clear()
        os.environ._data.update(variables)
    time.tzset()
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))


# Modules with a shared random generator, and the function that seeds it.
RESEED = (
    ("random", "seed"),
    ("numpy.random", "seed"),
    ("mkl_random", "seed"),
    ("torch", "seed"),
)
# Generators that notice a fork by the process id. Forked sessions have the same id, each in its own
# namespace; a generator that is removed is made again.
DROPPED = (("tempfile", "_name_sequence"),)


def reseed():
    for module, function in RESEED:
        seed = getattr(sys.modules.get(module), function, None)
        if seed is not None:
            seed()
    for module, name in DROPPED:
        if module in sys.modules:
            setattr(sys.modules[module], name, None)
    process = sys.modules.get("multiprocessing.process")
    if process is not None:  # draws its key when it is imported
        process.current_process().authkey = posix.urandom(32)
    if "_ssl" in sys.modules:  # OpenSSL notices a fork by the process id, too
        sys.modules["_ssl"].RAND_add(posix.urandom(32), 32)


def find_blas():
    """Returns the OpenBLAS libraries: OPENBLAS_NUM_THREADS gives them one thread in a zygote."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(None, 5)[-1].strip() for line in maps if "openblas" in line}
    return sorted(path for path in paths if path.startswith("/"))


def give_threads(blas):
    """Gives libraries the number of threads that they would have had without the zygote."""
    import ctypes
    import os

    count = len(posix.sched_getaffinity(0))
    try:
        for path in blas:
            ctypes.CDLL(path, mode=os.RTLD_NOLOAD).openblas_set_num_threads(count)
        if "numexpr" in sys.modules:
            sys.modules["numexpr"].set_num_threads(min(count, 8))
    except Exception as error:
        log(error)
