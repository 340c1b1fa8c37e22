# SPDX-License-Identifier: MIT
"""The Python driver: runs the cells of one session inside the user's own interpreter.

The server starts `python -c STUB` with a pty as fds 0-2 and the control socket as fd 3. The stub
reads this program from the socket and runs it in a module of its own, so that the user's
`__main__` holds nothing of ours. Program text and answers travel as frames on the socket; what the
code prints goes to the pty as in any terminal. It runs on CPython 3.9 and later.

Two rules shape everything here:

* Nothing but builtin modules is imported before READY is sent, and afterwards each module only
  when it is needed: `re` or `traceback` cost more than starting the interpreter does.
* The user's code shares the process and may replace anything (streams, hooks, signal handlers,
  descriptors). So private references are kept, and what a cell needs is put right again before
  the next one.
"""

import _ast
import _io
import _operator
import _signal
import _thread
import builtins
import gc
import posix
import sys
from _collections import deque
from _frozen_importlib_external import PathFinder

ModuleType = type(sys)
FunctionType = type(lambda: None)
CodeType = type((lambda: 0).__code__)
BuiltinType = type(len)
MISSING = object()
DRIVER_FILE = (lambda: 0).__code__.co_filename
excepthook = sys.__excepthook__
gettrace, settrace, getprofile, setprofile = sys.gettrace, sys.settrace, sys.getprofile, sys.setprofile

PROTOCOL = "1"
CONTROL_FD = 3

TEXT_LIMIT = 1_000_000  # characters of a text on its way to the server, which cuts what is shown
CONTAINER_LIMIT = 1000  # items of a container that are shown
ITEMS_LIMIT = 10_000  # the same of all containers in a value
LONG_STRING = 60  # characters that pprint would break into lines
EVALUE_LIMIT = 2000
FRAMES_KEPT = 20  # at each end of a traceback
SUGGESTED = 20  # errors of one traceback that say what was meant
NAMES_KEPT = 20
IMAGE_SIDE = 1280  # pixels
IMAGE_BYTES = 300_000  # a PNG above this is also tried as JPEG
IMAGES_PER_CELL = 20
# The server takes no larger frame (FRAME_UP_PART_MAX of runtime/frame.h): what is too large is refused here.
PICTURE_MAX = 8 << 20  # bytes of the pictures of a value
NAMED_MAX = 16_000  # characters of a form that answers only name: longer ones go without what is in them
FORMS_MAX = 40  # such forms of a value
LIST_MAX = 50_000  # characters of names and packages
FACTORIES = frozenset(("namedtuple", "NamedTuple", "TypedDict", "make_dataclass"))  # of classes
WRAPPERS = 20  # that a function is looked for below
BROUGHT_BYTES = 1 << 20  # of a value that a child of multiprocessing gets
LEAF_CELLS = 1000  # sources kept of cells that define nothing
FAILURES_TOLD = 5
PIECES = 1000  # of text that gather in a stream until a line is whole
PIECE_BYTES = 1000  # a longer one does not wait
FLOOD_BYTES = 32 << 10  # printed by a cell line by line; what follows goes in blocks
FLOOD_BLOCK = 128 << 10
FLOOD_FREE = 1 << 20  # in a tick: who prints more waits until it is sent
WHOLE_MAX = 2 * FLOOD_BLOCK  # bytes of a frame that a signal's handler cannot tear
FLOOD_TICK = 0.02  # seconds that a block waits at most
FLOOD_ROOM = 4 << 20  # bytes: when less is freed, it stays for the next text


# ---- the control channel --------------------------------------------------------------------


def encode_frame(kind, ident, parts):
    chunks = [b"%b %d %d\n" % (kind, ident, len(parts))]
    for name, data in parts:
        if type(data) is str:
            data = data.encode("utf-8", "backslashreplace")
        chunks.append(b"%b %d\n" % (name.encode(), len(data)))
        chunks.append(data)
    return b"".join(chunks)


class Channel:
    """Frames on the control socket: `TYPE ID NPARTS\\n`, then per part `NAME LEN\\n` and the bytes.

    A signal handler of the user's may raise between any two steps here. So whatever changes `inbox`
    or `torn` is one call into C: no byte is lost, read twice or written twice. A channel that fails
    means that the server is gone (or that the user closed it): the process ends without a word.
    """

    def __init__(self, fd, received):
        self.fd = fd
        self.pid = posix.getpid()
        self.inbox = [bytes(received)]  # frames (kind, id, parts), then bytes that are no frame yet
        self.torn = None  # the frame that is being written, then how much each write took
        self.sending = False
        self.held = b""  # a frame that goes out with the next one
        self.writer = None

    def send(self, kind, ident, parts):
        # Also checked here and not only at fork: a fork in C runs no hooks.
        if posix.getpid() != self.pid:
            return
        frame = self.held + encode_frame(kind, ident, parts)
        self.held = b""
        self._write(frame)

    def hold(self, kind, ident, parts):
        """Sends with the next frame, soon: one write wakes the server once."""
        self.release()
        self.held = encode_frame(kind, ident, parts)

    def release(self):
        if self.held and posix.getpid() == self.pid:
            frame, self.held = self.held, b""
            self._write(frame)

    def write_whole(self, frame):
        """Where handlers of the user's may raise at any moment, as they do in a long output: a
        BufferedWriter takes a frame that fits into it whole, and keeps in C how much it has
        written: what is left goes before the next one. RuntimeError: it is at it already, and this
        is such a handler."""
        if self.writer is None:
            self.writer = _io.BufferedWriter(_io.FileIO(self.fd, "wb", closefd=False), WHOLE_MAX)
        try:
            self.writer.write(frame)
            self.writer.flush()
        except OSError as error:
            self._end_unless_raised_by_user(error)

    def _write(self, frame):
        self.finish(self.torn)
        self.torn = [frame]
        self.finish(self.torn)
        self.torn = None

    def answer(self, turn, parts):
        """Ends a turn with `done`; once the bytes are in `turn.answer`, finish_answer() is enough."""
        turn.answer = [self.held + encode_frame(b"done", turn.ident, parts)]
        self.finish_answer(turn)

    def finish_answer(self, turn):
        self.held = b""
        if self.torn is not turn.answer:
            self.finish(self.torn)
            self.torn = turn.answer
        self.finish(turn.answer)
        self.torn = None

    def finish(self, torn):
        """Writes what is not written yet of a frame."""
        if torn is None:
            return
        frame = torn[0]
        self.sending = True
        try:
            if self.writer is not None:
                if len(torn) == 1 and len(frame) <= WHOLE_MAX:
                    torn.extend(map(self.writer.write, (frame,)))
                self.writer.flush()
            while len(torn) == 1 or sum(torn[1:]) < len(frame):
                rest = memoryview(frame)[sum(torn[1:]) :] if len(torn) > 1 else frame
                torn.extend(map(posix.write, (self.fd,), (rest,)))
        except OSError as error:
            self._end_unless_raised_by_user(error)
        finally:
            self.sending = False

    def peek_frame(self, wait=None):
        """The next frame as (kind, id, parts), which stays the next until drop_frame(); `wait` lets other
        work run until data is there."""
        while type(self.inbox[0]) is not tuple:
            self._parse_frame() or self._read_some(wait)
        return self.inbox[0]

    def drop_frame(self, frame):
        if self.inbox[0] is frame:
            del self.inbox[0]

    def forget(self):
        """In a copy for a session: what was sent and read is the parent's."""
        self.pid = posix.getpid()
        self.inbox = [b""]
        self.torn = self.writer = None
        self.held = b""

    def look_ahead(self):
        """Frames that are there and stay unread."""
        while self._parse_frame() or self._has_data():
            if self._has_data():
                self._read_some()
        return [item for item in self.inbox if type(item) is tuple]

    def _has_data(self):
        select = own("select")

        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        return bool(poll.poll(0))

    def await_ack(self):
        self.await_frame("ack")

    def await_frame(self, kind, wait=None):
        """The parts of the next frame of this kind; others wait. `wait` as above."""
        while True:
            for i, item in enumerate(self.inbox):
                if type(item) is tuple and item[0] == kind:
                    return self.inbox.pop(i)[2]
            self._parse_frame() or self._read_some(wait)

    def wait_interruptible(self):
        """For what may take minutes: an interrupt ends the wait, never the reading behind it."""
        select = own("select")

        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        State.waiting = True
        try:
            check_interrupt()
            poll.poll()
        finally:
            State.waiting = False

    def _read_some(self, wait=None):
        if wait is not None:
            wait()
        try:
            self.inbox.extend(map(posix.read, (self.fd,), (65536,)))
        except OSError as error:
            self._end_unless_raised_by_user(error)
            return
        if not self.inbox[-1]:
            posix._exit(0)

    @staticmethod
    def _end_unless_raised_by_user(error):
        if error.errno is None:  # say TimeoutError, from a handler of SIGALRM
            raise error
        if error.errno == 9:  # EBADF: the cell closed it, and the server still waits
            posix.write(2, b"\nThe code closed the interpreter's control channel.\n")
            posix._exit(1)
        posix._exit(0)

    def _parse_frame(self):
        """Makes a frame of the bytes at the end of the inbox; whether there was a whole one."""
        count = 0
        while type(self.inbox[count]) is tuple:
            count += 1
        data = b"".join(self.inbox[count:])
        frame, end = parse_frame(data) if data else (None, 0)
        self.inbox[count:] = [frame, data[end:]] if frame else [data]
        return frame is not None


def parse_frame(data):
    """The frame at the start of these bytes and where it ends; (None, 0) when it is not whole."""
    end = data.find(b"\n")
    if end < 0:
        return None, 0
    kind, ident, count = data[:end].split()
    parts = {}
    for _ in range(int(count)):
        start, end = end + 1, data.find(b"\n", end + 1)
        if end < 0:
            return None, 0
        name, size = data[start:end].split()
        start, end = end + 1, end + int(size)
        if len(data) <= end:
            return None, 0
        parts[name.decode()] = data[start : end + 1].decode("utf-8", "replace")
    return (kind.decode(), int(ident), parts), end + 1


channel = Channel(CONTROL_FD, globals().pop("received", bytearray()))


def greet():
    """Answers the server's hello, before anything else is defined or imported."""
    frame = channel.peek_frame()
    kind, _, hello = frame
    if kind != "hello":
        posix._exit(1)
    channel.drop_frame(frame)
    # From now on the server may interrupt; the handler needs the rest of this file.
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    channel.send(
        b"ready",
        0,
        [
            ("proto", PROTOCOL),
            ("nonce", hello.get("nonce", "")),
            ("language", "python"),
            ("version", sys.version.partition(" ")[0]),
            ("executable", sys.executable or ""),
            ("pid", str(posix.getpid())),
        ],
    )
    return hello


HELLO = greet()


# ---- what the driver knows about the running cell -------------------------------------------


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


def in_child():
    return posix.getpid() != channel.pid


def check_interrupt():
    """Raises the interrupt that came while a driver frame was innermost."""
    if State.interrupted:
        State.interrupted = False
        tell_interrupted()
        raise KeyboardInterrupt


def tell_interrupted():
    """A second interrupt, in case that this one was lost, would end what code does because of it."""
    if State.running and not channel.sending:
        channel.send(b"interrupted", State.cell.ident, ())


def on_sigint(signum, frame):
    """Interrupts user code, never the driver's own work: a frame must not be torn.

    One that comes between cells is for a cell that has just ended, or for one whose frame is still
    unread: meant_for() tells.
    """
    if in_child():
        raise KeyboardInterrupt
    if not State.running:
        State.signalled = True
        return
    if State.waiting:
        State.waiting = False
    elif State.starting or (frame is not None and frame.f_code.co_filename == DRIVER_FILE):
        State.interrupted = True
        return
    elif cancel_waiting_task():
        tell_interrupted()
        return
    tell_interrupted()
    raise KeyboardInterrupt


def meant_for(cell):
    """Whether the interrupt that came before this cell began is for it: the frame sent before the
    signal names the cell."""
    State.signalled = False
    return any(kind == "interrupt" and ident == cell.ident for kind, ident, _ in channel.look_ahead())


def cancel_waiting_task():
    """The first interrupt of a cell that sits in `await` cancels it, so its finally blocks run."""
    task = State.task
    if task is None or task.done() or State.task_cancelled:
        return False
    asyncio = own("asyncio")
    if asyncio.current_task(State.loop) is not None:
        return False  # it computes: cancelling would not reach it
    State.task_cancelled = True
    task.cancel()
    State.loop.call_soon_threadsafe(lambda: None)
    return True


# ---- output ---------------------------------------------------------------------------------


class Flood:
    """A cell that prints very much does so in blocks on the control channel.

    Until then, and whenever order could be lost, each line goes to the terminal at once: to
    whatever writes there by itself (children, C code) print is what it always was. The terminal
    takes 30 MB of lines a second, though, and wakes the server for each. So after FLOOD_BYTES the
    text of sys.stdout gathers, and goes out when a block is full or a tick is over. A flush, a
    child, input, a figure or something on stderr ends that: the last block is acknowledged, and
    then FLOOD_BYTES must come again. Only C code that writes to the terminal amid a flood, unasked,
    may find itself before what was printed in the last tick.
    """

    def __init__(self):
        self.active = False
        self.count = 0  # bytes printed line by line
        self.parts = []
        self.size = 0
        self.stream = None  # that of sys.stdout, which does not flush its lines
        self.stop = self.gone = None  # of the ticks: releasing `stop` ends them, then they release `gone`
        self.originals = {}  # (module, name) -> what is watched
        self.has_room = False

    def begin(self, stream):
        """From within a flush of sys.stdout."""
        text = State.streams[1]
        if getattr(text, "buffer", None) is not stream or not text.line_buffering:
            return
        size, self.count = self.count, 0
        # What a thread writes to the terminal itself could not be put behind what it has printed.
        if _thread._count() or channel.sending or in_child() or not posix.isatty(1):
            return
        calls = watched_calls()
        if calls is None:
            return
        self._keep_room()
        try:
            self._start_ticks()
            self._watch(calls)
            self.stream = stream
            stream.write = stream.write_freely() if size < 2 * FLOOD_BYTES else stream.write_amid_flood()
            text.reconfigure(line_buffering=False)
            self.active = True
            with printing:
                self._send([])  # so that the server knows it, should this process crash
        except BaseException as error:  # say from a handler of the user's
            self._undo()
            if not isinstance(error, RuntimeError):  # no process or no memory is left for a thread
                raise

    def _start_ticks(self):
        stop, gone = _thread.allocate_lock(), _thread.allocate_lock()
        stop.acquire()
        gone.acquire()
        _thread.start_new_thread(self._tick, (stop, gone))
        self.stop, self.gone = stop, gone

    def _undo(self):
        self.active = False
        self._forget_calls()
        self._end_ticks()
        self.restore()

    def _keep_room(self):
        """Once: glibc gives memory back to the kernel that is larger than all that was freed before,
        and more than twice that at the end of its heap (mallopt(3), M_MMAP_THRESHOLD and
        M_TRIM_THRESHOLD). Each print of a megabyte would meet 512 pages that are new to it."""
        if not self.has_room:
            self.has_room = True
            try:
                bytes(FLOOD_ROOM)
            except MemoryError:
                pass

    def add(self, data):
        """With the lock of the output."""
        self.parts.append(data)
        self.size += len(data)
        if self.size >= FLOOD_BLOCK:
            self._send([])

    def flushed(self):
        """sys.stdout was told to flush."""
        if _thread.get_ident() == State.main_thread:
            self.end()
        else:
            with printing:
                self._send([])

    def end(self):
        """A handler of the user's may come to this in the middle of it, and may raise."""
        try:
            self.active = False
            with printing:
                if self._send([("ack", b"")]):
                    channel.await_ack()
        finally:
            self._undo()

    def _end_ticks(self):
        """Waits until the thread is gone: who forks wants none."""
        stop, gone = self.stop, self.gone
        if stop is not None:
            if stop.locked():
                stop.release()
            with gone:
                self.stop = None

    def restore(self):
        stream, self.stream = self.stream, None
        if stream is not None:
            vars(stream).pop("write", None)
            State.streams[1].reconfigure(line_buffering=True)

    def _send(self, more):
        if channel.sending or in_child():
            return False
        data = b"".join(self.parts)
        self.parts.clear()
        self.size = 0
        for at in range(0, max(len(data), 1), FLOOD_BLOCK):
            last = at + FLOOD_BLOCK >= len(data)
            block = memoryview(data)[at : at + FLOOD_BLOCK]
            parts = [("text", block)] + (more if last else [])
            try:
                channel.write_whole(encode_frame(b"output", State.cell.ident, parts))
            except RuntimeError:
                self.parts.insert(0, data[at:])
                self.size += len(data) - at
                return False
        return True

    def _tick(self, stop, gone):
        while not stop.acquire(True, FLOOD_TICK):
            # Who has the lock may wait for the end of this thread.
            if printing.acquire(False):
                try:
                    State.streams[1].flush()
                except Exception:
                    pass
                finally:
                    printing.release()
        gone.release()

    def _watch(self, calls):
        for (module, name), original in calls.items():
            self.originals[module, name] = original
            setattr(module, name, settling(original, name in TAKE_DESCRIPTORS))

    def _forget_calls(self):
        while self.originals:
            (module, name), original = self.originals.popitem()
            if getattr(getattr(module, name, None), "__wrapped__", None) is original:
                setattr(module, name, original)


printing = _thread.RLock()  # who has it writes to the terminal
flood = Flood()

# What writes to the terminal, leads it elsewhere, ends us or begins what may do so, without asking
# sys.stdout to flush.
WATCHED = {
    "os": (
        *("system", "posix_spawn", "posix_spawnp", "write", "writev", "dup2", "close", "closerange"),
        *("_exit", "abort", "execv", "execve", "kill", "killpg"),
    ),
    "_thread": ("start_new_thread", "start_joinable_thread"),
    "_signal": ("raise_signal", "pthread_kill"),
    "signal": ("raise_signal", "pthread_kill"),
}
TAKE_DESCRIPTORS = ("dup2", "close")  # of any file: only those with a 1 count


def watched_calls():
    """(module, name) -> function of all in WATCHED that are there; None when code has put something
    of its own there, which stays as it is."""
    calls = {}
    for module in WATCHED:
        if module in sys.modules:
            for name in WATCHED[module]:
                call = getattr(sys.modules[module], name, MISSING)
                if call is MISSING:
                    continue
                if type(call) is not BuiltinType and not is_settling(call):
                    return None
                calls[sys.modules[module], name] = call
    return calls


def is_settling(call):
    return type(call) is FunctionType and call.__code__.co_filename == DRIVER_FILE


def settle():
    """All that was printed so far is before what comes now."""
    if flood.active:
        State.streams[1].flush()


def settling(original, takes_descriptors=False):
    def call(*args, **kwargs):
        if not takes_descriptors or 1 in args or 1 in kwargs.values():
            settle()
        return original(*args, **kwargs)

    call.__name__ = original.__name__
    call.__doc__ = original.__doc__
    call.__wrapped__ = original
    return call


# What takes all out of a BytesIO; one call of map() runs them, and no code comes between.
CALL = _operator.methodcaller.__call__
EMPTY = tuple(_operator.methodcaller(*call) for call in (("getvalue",), ("seek", 0), ("truncate",)))


class Output(_io._BufferedIOBase):
    """The binary side of sys.stdout and sys.stderr: the terminal. What is no whole line gathers.

    Threads, signal handlers and finalizers may print between any two steps here. A TextIOWrapper is
    not made for that: what is added to its pending text while its buffer takes some is lost. So it
    has none (write_through), and what gathers here is put in and taken out by one call into C each.
    Amid a flood nothing but C is called by print: its text goes into `memory`.
    """

    mode = "wb"

    def __init__(self, fd):
        self.fd = fd
        self.name = "<stdout>" if fd == 1 else "<stderr>"
        self.pieces = deque()
        self.memory = None

    def readable(self):
        return False

    def writable(self):
        return True

    def fileno(self):
        return self.fd

    def isatty(self):
        return posix.isatty(self.fd)

    @property
    def raw(self):
        return _io.FileIO(self.fd, "wb", closefd=False)

    def write(self, data):
        if State.clears and may_send():
            State.clears = False  # before what is flushed comes here
            clear_shown()
        if type(data) is not bytes:
            data = bytes(memoryview(data))
        pieces = self.pieces
        pieces.append(data)
        if data[-1:] == b"\n" or len(pieces) >= PIECES or len(data) >= PIECE_BYTES:
            self.put_out()
        if State.interrupted:
            self.check_interrupt()
        return len(data)

    def write_freely(self):
        """What is `write` meanwhile, until more comes than is sent."""
        if self.memory is None:
            self.memory = _io.BytesIO()
        return self.memory.write

    def write_amid_flood(self):
        """What is `write` then: it waits."""
        pieces, append = self.pieces, self.pieces.append

        def write(data):
            if type(data) is not bytes:
                data = bytes(memoryview(data))
            append(data)
            if len(pieces) >= PIECES or len(data) >= PIECE_BYTES:
                self.put_out()
            if State.interrupted:
                self.check_interrupt()
            return len(data)

        return write

    def put_out(self):
        if self.fd == 2:
            settle()
        with printing:
            data = self.take()
            if self.fd == 2:
                self._write(data)
            elif flood.active:
                if len(data) > FLOOD_FREE:
                    self.write = self.write_amid_flood()
                flood.add(data)
            else:
                flood.count += len(data)
                self._write(data)

    def take(self):
        self.pieces.append(None)
        if self.memory is None:
            return b"".join(iter(self.pieces.popleft, None))
        older = list(map(CALL, EMPTY, (self.memory,) * len(EMPTY)))[0]
        return older + b"".join(iter(self.pieces.popleft, None))

    def _write(self, data):
        sent = posix.write(self.fd, data) if data else 0
        while sent < len(data):
            data = memoryview(data)[sent:]
            sent = posix.write(self.fd, data)

    def flush(self):
        if self.pieces or (self.memory is not None and self.memory.tell()):
            self.put_out()
        if self.fd == 1:
            if flood.active:
                flood.flushed()
            elif flood.count > FLOOD_BYTES and State.running and _thread.get_ident() == State.main_thread:
                flood.begin(self)
        if State.interrupted:
            self.check_interrupt()

    @staticmethod
    def check_interrupt():
        if _thread.get_ident() == State.main_thread:
            check_interrupt()

    def close(self):
        super().close()
        self.write = self.flush = self._refuse

    @staticmethod
    def _refuse(*_):
        raise ValueError("I/O operation on closed file.")


def open_output(fd, original):
    text = _io.TextIOWrapper(
        Output(fd),
        encoding=getattr(original, "encoding", None) or "utf-8",
        errors="backslashreplace" if fd == 2 else getattr(original, "errors", "surrogateescape"),
        newline="\n",
        line_buffering=True,
        write_through=True,
    )
    text.mode = "w"
    return text


def take_streams():
    """Puts our streams in the place of the interpreter's, where those write to the terminal."""
    for fd, name in ((1, "stdout"), (2, "stderr")):
        original = getattr(sys, name)
        if type(original) is _io.TextIOWrapper and posix.isatty(fd):
            original.flush()
            stream = open_output(fd, original)
            setattr(sys, name, stream)
            setattr(sys, "__%s__" % name, stream)


# ---- streams and descriptors ----------------------------------------------------------------


def flush_streams():
    """Everything printed so far goes to the pty before a frame says what comes next."""
    _, out, err = State.streams
    for stream in (out, err):
        try:
            stream.flush()
        except Exception:
            pass
    for stream, own in ((sys.stdout, out), (sys.stderr, err)):
        if stream is not own and stream is not None:
            try:
                stream.flush()
            except Exception:
                pass


def flush_c_streams():
    """Extensions print through C stdio; ctypes is the only way there, and is not worth loading.

    Not all streams: a thread that waits in input() holds the lock of C's stdin.
    """
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None:
        try:
            libc = ctypes.PyDLL(None)
            libc.fflush(ctypes.c_void_p.in_dll(libc, "stdout"))
        except Exception:
            pass


def check_descriptors():
    _, out, err = State.streams
    if posix.isatty(0) and posix.isatty(1) and posix.isatty(2) and sys.stdout is out and sys.stderr is err:
        State.redirected = None
    else:
        repair_descriptors()


def repair_descriptors():
    """Puts the pty back where the last cell closed a descriptor; says what it redirected."""
    redirected = {}
    for fd in (0, 1, 2):
        try:
            posix.get_inheritable(fd)
        except OSError:
            posix.dup2(State.terminal, fd)
        if fd and not posix.isatty(fd):
            redirected[fd] = readlink("/proc/self/fd/%d" % fd)
    for fd, name in ((1, "stdout"), (2, "stderr")):
        target = target_of(getattr(sys, name, None))
        if target is not None:
            redirected[fd] = "%s; sys.%s = sys.__%s__ brings it back" % (target, name, name)
    tell_redirection(redirected)


def target_of(stream):
    """Where a stream that hides what is printed leads; None for another, which may still print."""
    if type(stream) is _io.StringIO:
        return "a StringIO"
    try:
        fd = stream.fileno() if type(stream) is _io.TextIOWrapper else 1
        return None if fd in (1, 2) or posix.isatty(fd) else readlink("/proc/self/fd/%d" % fd)
    except (OSError, ValueError):
        return None


def tell_redirection(where):
    if where != (State.redirected or {}):
        State.redirected = where
        flush_streams()
        for fd, target in where.items():
            note = "[%s is redirected to %s]\n" % ("stdout" if fd == 1 else "stderr", target)
            posix.write(State.terminal, note.encode("utf-8", "backslashreplace"))


def readlink(path):
    try:
        return posix.readlink(path)
    except OSError:
        return "?"


def reopen_streams():
    """exit() closes sys.stdin, and code may close the others; the next cell needs them all."""
    for name, fd in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name, None)
        try:
            closed = stream is not None and stream.closed
        except Exception:
            closed = False
        if closed or (stream is None and fd == 0):
            setattr(sys, name, open_standard(fd))


def open_standard(fd):
    original = State.streams[fd]
    if fd:
        stream = open_output(fd, original)
    else:
        encoding = getattr(original, "encoding", "utf-8")
        stream = open(0, encoding=encoding, errors="surrogateescape", closefd=False)
    if original is None or original.closed:
        State.streams = State.streams[:fd] + (stream,) + State.streams[fd + 1 :]
        setattr(sys, "__%s__" % ("stdin", "stdout", "stderr")[fd], stream)
    return stream


def say(text):
    """A note of the driver for the person who reads the cell's output."""
    flush_streams()
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except Exception:
        pass


# ---- Python's own modules -------------------------------------------------------------------


class Own:
    modules = {}
    kept = {}  # of sys.modules, where code gets others of these names
    thread = None  # that imports one of them
    folder = "/"
    path = ()

    @classmethod
    def find_places(cls):
        file = getattr(sys.modules["os"], "__file__", None) or "/"
        cls.folder = file.rpartition("/")[0] + "/"
        cls.path = [path for path in sys.path if (path + "/").startswith(cls.folder) and "-packages" not in path]


def own(name):
    """A module of Python itself, even where a file of the session has its name. What code gets when
    it imports that name stays what it would be without us."""
    module = Own.modules.get(name)
    if module is None:
        module = sys.modules.get(name)
        if module is None or not is_own(module):
            module = import_own(name)
        Own.modules[name] = module
    return module


def is_own(module):
    file = getattr(module, "__file__", "")
    return type(module) is ModuleType and (type(file) is not str or file.startswith(Own.folder) or not file)


def import_own(name):
    def work():
        __import__(name)
        return sys.modules[name]

    return among_own(work, name)


def among_own(work, name=""):
    """What `work` gives, which finds Python's own modules where it imports any."""
    modules, hidden = sys.modules, set(names_in_folder())
    if name in modules:  # another's, wherever it is from
        hidden.add(name.partition(".")[0])
    among = lambda key: type(key) is str and key.partition(".")[0] in hidden
    aside = {key: modules[key] for key in list(modules) if among(key) and not is_own(modules[key])}
    for key in aside:
        del modules[key]
    before = set(modules)
    modules.update(Own.kept)
    Own.thread = _thread.get_ident()
    try:
        return work()
    finally:
        Own.thread = None
        for key in [key for key in modules if among(key) and key not in before]:
            Own.kept[key] = modules.pop(key)
        modules.update(aside)


def names_in_folder():
    """What code could import from the working folder."""
    try:
        entries = posix.listdir(".")
    except OSError:
        return []
    return [entry.partition(".")[0] for entry in entries if "." not in entry or entry.endswith((".py", ".pyc", ".so"))]


# ---- sources of cells -----------------------------------------------------------------------


class Sources:
    """The lines of every cell, for tracebacks, warnings, pdb and inspect.

    They go to `linecache` with mtime None, which `checkcache` leaves alone. linecache itself is
    expensive to import, so an import hook fills it when somebody else does. Cells that define
    nothing can hardly be named by a later traceback: of those only the last ones are kept.
    """

    def __init__(self):
        self.text = {}
        self.linecaches = []  # modules
        self.leaves = deque()
        self.owner = {}  # top-level class or function name -> cell that defined it

    def remember(self, name, source):
        self.text[name] = source
        for linecache in self.linecaches:
            self.fill(linecache, name)

    def lines(self, name):
        return [line + "\n" for line in self.text[name].split("\n")]

    def fill(self, linecache, name):
        lines = self.lines(name)
        linecache.cache[name] = (len(self.text[name]) + 1, None, lines, name)

    def fill_all(self, linecache):
        self.linecaches.append(linecache)
        for name in list(self.text):
            self.fill(linecache, name)

    def note_leaf(self, name):
        self.leaves.append(name)
        if len(self.leaves) > LEAF_CELLS:
            self.drop(self.leaves.popleft())

    def drop(self, name):
        self.text.pop(name, None)
        for linecache in self.linecaches:
            linecache.cache.pop(name, None)


sources = Sources()


# ---- from source to code --------------------------------------------------------------------

ONLY_AST = 0x400
TOP_LEVEL_AWAIT = 0x2000
FUTURE_FLAGS = 0x1FE0000  # every CO_FUTURE_* bit
COROUTINE = 0x80

DEFINITIONS = (
    _ast.FunctionDef,
    _ast.AsyncFunctionDef,
    _ast.ClassDef,
    _ast.Import,
    _ast.ImportFrom,
)


def compile_cell(cell):
    """The cell as a list of (code, is_value): its statements, then its last expression."""
    tree = parse_cell(cell)
    if State.check is not None:
        check_rules(tree, cell.source)
    shown = values_shown()
    if shown == "last_expr_or_assign":
        append_target(tree, cell.source)
    last = last_expression(tree, cell.source) if shown != "none" else None
    is_leaf = note_definitions(cell, tree)
    codes = []
    if tree.body and shown in ("all", "last"):
        before, each, tree.body = divided(tree.body, shown, last)
        if before:
            codes.append((compile_tree(_ast.Module(before, []), cell.name, "exec"), False))
        if each:
            cell.shows_each = True
            codes.append((compile_tree(_ast.Interactive(each), cell.name, "single"), False))
    if tree.body:
        codes.append((compile_tree(tree, cell.name, "exec"), False))
    if last is not None:
        codes.append((compile_tree(_ast.Expression(last), cell.name, "eval"), True))
    if is_leaf and not defines_code(codes):
        sources.note_leaf(cell.name)
    return codes


def divided(body, shown, last):
    """A cell's statements without its last value: those before all that show their values, those, and one with a `;` behind it."""
    end = len(body) - (last is None and type(body[-1]) is _ast.Expr)
    start = 0 if shown == "all" else end if last is not None or end < len(body) else end - 1
    return body[:start], body[start:end], body[end:]


def values_shown():
    """Which of a cell's values it shows, as IPython's setting of this name says."""
    shell = loaded_class("IPython.core.interactiveshell", "InteractiveShell")
    asked = getattr(shell, "ast_node_interactivity", None)
    return asked if type(asked) is str else SHELL.ast_node_interactivity


def append_target(tree, source):
    """Makes the name that the cell's last statement assigns its value."""
    last = tree.body[-1] if tree.body else None
    targets = getattr(last, "targets", None) or [getattr(last, "target", None)]
    is_assignment = type(last) in (_ast.Assign, _ast.AugAssign, _ast.AnnAssign) and last.value is not None
    if is_assignment and len(targets) == 1 and type(targets[0]) is _ast.Name and not ends_in_semicolon(source, last):
        place = {key: getattr(last, key) for key in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
        tree.body.append(_ast.Expr(_ast.Name(targets[0].id, _ast.Load(), **place), **place))


def defines_code(parts):
    for code, _ in parts:
        for const in code.co_consts:
            if type(const) is CodeType:
                return True
    return False


def parse_source(source, name):
    return compile(source, name, "exec", ONLY_AST | TOP_LEVEL_AWAIT | State.future_flags, True)


def compile_tree(tree, name, mode):
    code = compile(tree, name, mode, TOP_LEVEL_AWAIT | State.future_flags, True)
    State.future_flags |= code.co_flags & FUTURE_FLAGS
    return code


def parse_cell(cell):
    source = cell.source
    if "\r" in source:
        source = source.replace("\r\n", "\n").replace("\r", "\n")
    if source.startswith("\ufeff"):
        source = source[1:]
    cell.source = source
    sources.remember(cell.name, source)
    try:
        return parse_source(source, cell.name)
    except SyntaxError as error:
        if isinstance(error, IndentationError) and "unexpected indent" in str(error):
            return parse_dedented(cell)
        return parse_magics(cell, error)


def parse_dedented(cell):
    """A pasted cell may be indented as a whole."""
    cell.source = dedent(cell.source)
    sources.remember(cell.name, cell.source)
    try:
        return parse_source(cell.source, cell.name)
    except SyntaxError as error:
        return parse_magics(cell, error)


def parse_magics(cell, error):
    """It may use magics; else the error stands."""
    rewritten = rewrite_magics(cell.source, cell.name)
    if rewritten is None:
        raise error from None
    try:
        tree = parse_source(rewritten, cell.name)
    except SyntaxError as found:
        show_as_written(found, cell.source.split("\n"), rewritten.split("\n"))
        raise found from None
    cell.source = rewritten
    return tree


def show_as_written(error, lines, rewritten):
    """Gives an error in a line that is a call of ours the text of the cell; it points at the magic at most."""
    at = (error.lineno or 0) - 1
    if not 0 <= at < len(lines) or lines[at] == rewritten[at]:
        return
    same = 0
    while lines[at][same : same + 1] == rewritten[at][same : same + 1] != "":
        same += 1
    error.text = lines[at] + "\n"
    error.offset = min(error.offset or 1, same + 1)
    error.end_lineno, error.end_offset = error.lineno, error.offset


def try_parse(source, name):
    try:
        return parse_source(source, name)
    except (SyntaxError, ValueError):
        return None


def dedent(source):
    lines = source.split("\n")
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    return "\n".join(line[len(indent) :] if line.startswith(indent) else line for line in lines)


def last_expression(tree, source):
    """Takes the cell's value off the tree: a last expression that no `;` follows."""
    body = tree.body
    if not body or type(body[-1]) is not _ast.Expr:
        return None
    if ";" in source and ends_in_semicolon(source, body[-1]):
        return None
    return body.pop().value


def ends_in_semicolon(source, statement):
    lines = source.split("\n")[statement.end_lineno - 1 :]
    lines[0] = lines[0].encode("utf-8", "surrogatepass")[statement.end_col_offset :].decode(
        "utf-8", "replace"
    )
    return "\n".join(lines).lstrip(" \t\n\f)").startswith(";")


def note_definitions(cell, tree):
    """Notes what the cell's own statements bind; False when it defines something."""
    is_leaf = True
    for node in tree.body:
        kind = type(node)
        if kind is _ast.Assign:
            for target in node.targets:
                if type(target) is _ast.Name:
                    cell.assigned.add(target.id)
                else:
                    note_targets(cell, target)
        elif kind is _ast.AugAssign or kind is _ast.AnnAssign:
            note_targets(cell, node.target)
        elif kind is _ast.Delete:
            for target in node.targets:
                note_targets(cell, target)
        elif kind in DEFINITIONS:
            is_leaf = False
            if kind is not _ast.Import and kind is not _ast.ImportFrom:
                sources.owner[node.name] = cell.name
    return is_leaf and not cell.assigned


def note_targets(cell, target):
    """Notes the names that a target binds or changes in place."""
    for part in getattr(target, "elts", (target,)):
        while type(part) in (_ast.Subscript, _ast.Attribute, _ast.Starred):
            part = part.value
        if type(part) is _ast.Name:
            cell.touched.add(part.id)
        elif part is not target:
            note_targets(cell, part)


# ---- code rules -----------------------------------------------------------------------------


class Refused(Exception):
    """The person's rules do not want the cell to run."""


def load_rules(source, rules):
    names = {"__name__": "_ptycell_rules", "__builtins__": __builtins__}
    exec(compile(source, DRIVER_FILE, "exec", 0, True), names)
    State.check = names["make_check"](rules)


def check_rules(tree, source):
    """Before anything of the cell runs. What cannot be judged is refused."""
    try:
        refusal, warning = State.check(tree, NAMESPACE, try_parse_body, source)
    except Exception as error:
        refusal, warning = "The code rules cannot judge this cell: " + error_line(error), None
    if refusal is not None:
        raise Refused(refusal)
    if warning is not None:
        say(warning)


# ---- running code ---------------------------------------------------------------------------


def run_codes(codes, source, scope=None):
    """Runs compiled parts in `__main__`, or where a function's locals are `scope`; the value of the last one is returned when it has one."""
    check_interrupt()
    value = None
    for code, _ in codes:
        if code.co_flags & COROUTINE:
            return run_in_loop(await_codes(codes))
    if wants_loop(source):
        return run_in_loop(await_codes(codes))
    for code, is_value in codes:
        if State.tracing is not None:
            resume_tracing()
        try:
            result = eval(code, NAMESPACE, scope)
        finally:  # no call of a function of ours: it would be traced
            if gettrace() is not None or getprofile() is not None:
                State.tracing = gettrace(), getprofile()
                settrace(None)
                setprofile(None)
        check_interrupt()
        if is_value:
            value = result
    return value


def resume_tracing():
    trace, profile = State.tracing
    State.tracing = None
    setprofile(profile)
    settrace(trace)


async def await_codes(codes):
    # All parts run in one task: what the first one starts, the second one may await.
    value = None
    for code, is_value in codes:
        result = eval(code, NAMESPACE)
        if code.co_flags & COROUTINE:
            result = await result
        check_interrupt()
        if is_value:
            value = result
    return value


def execute(cell):
    codes = compile_cell(cell)
    value = run_codes(codes, cell.source)
    if value is not None:
        getattr(sys, "displayhook", show_value)(value)


def evaluate(source, name, scope=None):
    """Runs source for a magic, as a cell within the cell, and returns its value."""
    source = without_magics(source, name)
    tree = parse_source(source, name)
    last = last_expression(tree, source)
    codes = [(compile_tree(tree, name, "exec"), False)] if tree.body else []
    if last is not None:
        codes.append((compile_tree(_ast.Expression(last), name, "eval"), True))
    return run_codes(codes, source, scope)


LOOP_CALLS = ("create_task", "ensure_future", "get_running_loop")


def wants_loop(source):
    """Does a cell without await still expect a running loop, as people know it from notebooks?"""
    create, ensure, running = LOOP_CALLS
    if create not in source and ensure not in source and running not in source:
        return False
    tree = try_parse(source, "<scan>")
    return tree is not None and calls_loop(tree)


def calls_loop(tree):
    functions = (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.Lambda, _ast.ClassDef)
    found = False
    nodes = list(tree.body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, functions):
            continue
        if isinstance(node, _ast.Call):
            owner, name = call_target(node.func)
            found = found or name in LOOP_CALLS
            if name == "run_until_complete" or (name == "run" and owner == "asyncio"):
                return False
        for field in node._fields:
            child = getattr(node, field, None)
            for item in child if isinstance(child, list) else (child,):
                if isinstance(item, _ast.AST):
                    nodes.append(item)
    return found


def call_target(func):
    if isinstance(func, _ast.Attribute):
        return getattr(func.value, "id", ""), func.attr
    return "", getattr(func, "id", "")


def run_in_loop(coroutine):
    asyncio = own("asyncio")

    loop = State.loop
    if loop is None or loop.is_closed():
        loop = State.loop = among_own(asyncio.new_event_loop)
    asyncio.set_event_loop(loop)
    spend_stop(loop, coroutine)
    State.task_cancelled = False
    task = State.task = loop.create_task(coroutine)
    try:
        return loop.run_until_complete(task)
    except asyncio.CancelledError:
        if State.task_cancelled:
            raise KeyboardInterrupt from None
        raise
    except BaseException:  # also what stops the loop: the next cell must not go on with this one's code
        abandon_task(asyncio, loop, task)
        raise
    finally:
        State.task = None


def spend_stop(loop, coroutine):
    """Runs one turn of the loop: a stop that an earlier cell left in it ends that turn, not this cell."""
    try:
        loop.call_soon(loop.stop)
        loop.run_forever()
    except BaseException:
        coroutine.close()
        raise


def abandon_task(asyncio, loop, task):
    """Cancels a task that its loop has left and gives it a moment for its finally blocks."""
    if task.done():
        return
    task.cancel()
    try:
        loop.run_until_complete(asyncio.wait([task], timeout=0.2))
    except BaseException:
        pass


def loop_has_work():
    loop = State.loop
    if loop is None or loop.is_closed():
        return False
    try:
        # One registered file is the loop's own wake-up pipe.
        return bool(loop._ready or loop._scheduled or len(loop._selector.get_map()) > 1)
    except AttributeError:
        return True


def pump_loop():
    """Between cells: lets background tasks run until the server sends something."""
    if not loop_has_work():
        return
    loop = State.loop
    frame_came = loop.create_future()

    def wake():
        if not frame_came.done():
            frame_came.set_result(None)

    loop.add_reader(channel.fd, wake)
    try:
        loop.run_until_complete(frame_came)
    finally:
        loop.remove_reader(channel.fd)


# ---- values as text -------------------------------------------------------------------------

SCALARS = (int, float, bool, complex, str, bytes, type(None))
PLAIN_CONTAINERS = (list, tuple, dict, set, frozenset)


def plain_text(value):
    """repr, bounded in time and length."""
    kind = type(value)
    if kind is int:
        return int_text(value)
    if kind is str or kind is bytes or kind is bytearray:
        return string_text(value)
    if kind in PLAIN_CONTAINERS:
        return container_text(value)
    return bounded(object_text(value))


def object_text(value):
    """repr, or what says more, as long as it is."""
    if State.printer is not None and is_sympy(value):
        return State.printer(value)
    text = styled_text(value) if is_styler(type(value)) else repr(value)
    return text if type(text) is str else str.__str__(text)


def bounded(text, limit=TEXT_LIMIT):
    """Its beginning, and how much is not there: of what is sent the end is always shown."""
    if len(text) <= limit:
        return text
    return "%s\n... [%d characters left out: print shows all]" % (text[:limit], len(text) - limit)


def shortened(text, limit):
    """Its two ends."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    left_out = len(text) - head - tail
    return "%s\n... [%d characters left out] ...\n%s" % (text[:head], left_out, text[-tail:])


def int_text(value):
    # repr of a huge int takes quadratic time, and raises above 4,300 digits since 3.11.
    if value.bit_length() > 14000:
        return "<int with about %d digits>" % (value.bit_length() * 0.30103 + 1)
    return repr(value)


def string_text(value):
    if len(value) <= TEXT_LIMIT:
        return bounded(repr(value))
    text = repr(value[:TEXT_LIMIT])[:TEXT_LIMIT]
    return "%s\n... (%s, length %d, not all shown: print shows all)" % (text, type(value).__name__, len(value))


def container_text(value):
    if len(value) < 50:
        if within_budget(value, [CONTAINER_LIMIT]):
            text = repr(value)
            if len(text) <= 100 and "\n" not in text:
                return text
    head, left_out = container_head(value, [ITEMS_LIMIT], ())
    pprint = own("pprint")

    text = bounded(pprint.pformat(head, width=100, compact=True, sort_dicts=False))
    if left_out:
        text += "\n... (%s, length %d, not all shown)" % (type(value).__name__, len(value))
    return text


def within_budget(value, budget):
    """Are there no more items than `budget` in all plain containers below value?"""
    budget[0] -= 1 + len(value)
    if budget[0] < 0:
        return False
    for item in value.values() if type(value) is dict else value:
        kind = type(item)
        if kind in PLAIN_CONTAINERS and not within_budget(item, budget):
            return False
        if kind is int and item.bit_length() > 14000:
            return False
        if (kind is str or kind is bytes) and len(item) > LONG_STRING:
            return False
    return True


class Raw:
    """Text that pprint prints as it is."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def container_head(value, budget, above):
    """A copy with the first items only, huge ints as words; and whether it is incomplete.

    `above` are the ids of the containers around it.
    """
    kind = type(value)
    if kind is int and value.bit_length() > 14000:
        return Raw(int_text(value)), False
    if (kind is str or kind is bytes) and len(value) > LONG_STRING:
        return Raw(string_text(value)), False
    if kind not in PLAIN_CONTAINERS:
        return value, False
    if id(value) in above:
        return Raw("{...}" if kind in (dict, set) else "[...]"), False
    if len(above) > 20:
        return Raw("..."), True
    above += (id(value),)
    items, left_out = [], False
    pairs = value.items() if kind is dict else ((None, item) for item in value)
    for key, item in pairs:
        if budget[0] <= 0 or len(items) == CONTAINER_LIMIT:
            left_out = True
            break
        budget[0] -= 1
        item, cut = container_head(item, budget, above)
        left_out = left_out or cut
        items.append((key, item))
    if kind is dict:
        return dict(items), left_out
    # A set's order is the hash table's; a copy of a part may differ, which nobody can notice.
    items = [item for _, item in items]
    return (items if kind is list else kind(items)), left_out


def is_pandas(kind):
    return module_of(kind).startswith("pandas.")


def is_styler(kind):
    return is_pandas(kind) and kind.__name__ == "Styler"


def styled_text(styler):
    """The table as it is shown, without colours: its repr says nothing, and its page is mostly CSS."""
    if not hasattr(styler, "to_string"):
        return repr(styler.data)  # pandas before 1.5 draws no such table
    try:
        rows = styled_rows(styler)
    except Exception as error:
        return "%r\n(shown without its style: %s)" % (styler.data, error_line(error))
    lines = aligned(rows)
    if not lines:
        return repr(styler.data)
    if rows[-1][-1] == rows[0][-1] == "..." or set(rows[-1]) == {"..."}:
        lines.append("\n[%d rows x %d columns]" % styler.data.shape)
    caption = styler.caption if type(styler.caption) is str else ""
    return "\n".join([caption, *lines] if caption else lines)


def styled_rows(styler):
    """The cells as they are formatted, none of them merged."""
    option = sys.modules["pandas"].get_option
    table = own("copy").deepcopy(styler)._render(
        False, False, option("display.max_rows"), option("display.max_columns"))
    rows = [[one_line(cell["display_value"]) for cell in row if cell["is_visible"]]
            for row in [*table["head"], *table["body"]]]
    # The row that stands for those left out goes by the limit of rows where that of columns is meant.
    return [["..."] * len(rows[0]) if set(row) == {"..."} else row for row in rows]


def one_line(value):
    """As pandas writes a value into a table; it puts the place of a tooltip behind it."""
    value = own("re").sub(r'<span class="[^"<>]*"></span>$', "", str(value))
    return value.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


PADDED = 100  # characters that a cell is filled up to at most, beside a longer one


def aligned(rows):
    """The lines of a table; none when its rows have different numbers of cells."""
    if not all(row and len(row) == len(rows[0]) for row in rows):
        return []
    widths = [min(max(map(len, column)), PADDED) for column in zip(*rows)]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows]


def module_of(kind):
    """A class's module without asking its metaclass; classes made by hand may have none."""
    try:
        name = type.__dict__["__module__"].__get__(kind)
    except AttributeError:
        return ""
    return name if type(name) is str else ""


def root_of(kind):
    return module_of(kind).partition(".")[0]


def is_a(value, kind):
    """isinstance without asking the value, whose __class__ may be a property."""
    return issubclass(type(value), kind)


# ---- values as MIME bundles -----------------------------------------------------------------

REPR_METHODS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_latex_", "text/latex"),
    ("_repr_json_", "application/json"),
)
MIME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789./+-")
CANARY = "_ptycell_no_object_has_this_attribute_"


def bundle_parts(value):
    """Everything that value can be shown as, as parts of a frame; text/plain is always there."""
    kind = type(value)
    if kind in SCALARS or kind in PLAIN_CONTAINERS or kind is bytearray:
        return [("text/plain", plain_text(value))]
    bundle = rich_forms(value)
    if "text/plain" not in bundle:
        bundle["text/plain"] = object_text(value)
    if is_default_repr(str(bundle["text/plain"])):
        bundle["text/plain"] = text_of_markup(bundle) or bundle["text/plain"]
    return parts_of(bundle)


def is_default_repr(text):
    """Is it of the kind `<IPython.core.display.HTML object>`, which says nothing?"""
    return text.startswith("<") and text.endswith(">") and " object" in text and "\n" not in text


def text_of_markup(bundle):
    for mime in ("text/markdown", "text/latex"):
        if mime in bundle:
            return str(bundle[mime])
    if "text/html" in bundle:
        return page_text(str(bundle["text/html"]))
    if "application/json" in bundle:
        return json_text(bundle["application/json"])
    return drawing_text(bundle["image/svg+xml"]) if "image/svg+xml" in bundle else None


def drawing_text(svg):
    data = svg if isinstance(svg, bytes) else str(svg).encode("utf-8", "replace")
    State.cell.images += 1
    name = save_output(data, "svg")
    return "[drawing: output/%s]" % name if name else "[a drawing as SVG: it could not be kept in output/]"


def page_text(page):
    """Its words. What a browser has to run or play is kept."""
    text = text_of_html(page)
    if own("re").search(r"<(?:script|iframe|video|audio|canvas|img)\b", page, own("re").I):
        State.cell.images += 1
        name = save_output(page.encode("utf-8", "replace"), "html")
        text += "\n[page: output/%s]" % name if name else "\n[a page: it could not be kept in output/]"
    return text.lstrip("\n")


PAGE_LIMIT = 4_000_000  # characters of a page that are read
NOT_SHOWN = ("script", "style", "template", "title", "iframe", "video", "audio")
BLOCKS = frozenset(
    "address article aside blockquote br caption center dd div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr li main nav ol option p pre section summary table tbody tfoot thead tr ul".split()
)


def text_of_html(page):
    """The words of a page, a line a block and a row, with `|` between cells: enough for a model to
    know what it shows. End tags may be missing, as HTML allows."""
    html = own("html")
    re = own("re")

    token = r"""<!--.*?(?:-->|\Z)|<(/?)([a-zA-Z][\w-]*)(?:"[^"<]*"|'[^'<]*'|[^'"<>])*>|<|[^<]+"""
    words = Words()
    for match in re.finditer(token, page[:PAGE_LIMIT], re.S):
        if match[2]:
            words.tag(match[2].lower(), bool(match[1]))
        elif not match[0].startswith("<!"):
            words.text(html.unescape(match[0]))
    return words.result()


class Words:
    def __init__(self):
        self.lines = [""]
        self.hidden = None  # the tag whose content is not shown
        self.cells = 0  # of the row so far
        self.preformatted = False

    def tag(self, name, ends):
        if self.hidden or (name in NOT_SHOWN and not ends):
            self.hidden = None if ends and name == self.hidden else self.hidden or name
        elif name in ("td", "th"):
            if not ends:
                self.lines[-1] += " | " if self.cells else ""
                self.cells += 1
        elif name in BLOCKS:
            in_row = self.cells and name not in ("tr", "table", "tbody", "thead", "tfoot")
            if in_row:
                self.text(" ")
            else:
                self.lines.append("")
                self.cells = 0
            self.preformatted = name == "pre" and not ends

    def text(self, text):
        if self.hidden:
            return
        if self.preformatted:
            first, *others = text.split("\n")
            self.lines[-1] += first
            self.lines += others
            return
        line = self.lines[-1]
        words = " ".join(text.split())
        before = " " if text[:1].isspace() and line and not line.endswith(" ") else ""
        after = " " if text[-1:].isspace() and words else ""
        self.lines[-1] = line + before + words + after

    def result(self):
        return "\n".join(line.rstrip() for line in self.lines if line.strip())


def rich_forms(value):
    if is_a(value, type) or answers_to_anything(value):
        return {}
    if is_pandas(type(value)):
        return {}  # the table as text says the same in a third of the size
    special = special_forms(value)
    if special is not None:
        return special
    bundle = mimebundle_of(value)
    for method, mime in REPR_METHODS:
        if mime not in bundle:
            data = call_repr(value, method)
            if data is not None:
                bundle[mime] = data
    return bundle


def special_forms(value):
    figure = loaded_class("matplotlib.figure", "Figure")
    if figure is not None and is_a(value, figure):
        return figure_forms(value)
    image = loaded_class("PIL.Image", "Image")
    if image is not None and is_a(value, image):
        return pil_forms(value)
    plotly = loaded_class("plotly.basedatatypes", "BaseFigure")
    if plotly is not None and is_a(value, plotly):
        return plotly_forms(value)
    return None


def loaded_class(module, name):
    return getattr(sys.modules.get(module), name, None)


def answers_to_anything(value):
    """Mocks and proxies have every attribute; what their _repr_html_ says is worthless."""
    try:
        return getattr(value, CANARY, None) is not None
    except Exception:
        return True


def mimebundle_of(value):
    data = call_repr(value, "_repr_mimebundle_", include=None, exclude=None)
    if not isinstance(data, dict):
        return {}
    return {str(mime).lower(): item for mime, item in data.items() if item is not None}


def call_repr(value, method, **arguments):
    try:
        function = getattr(value, method, None)
        if function is None:
            return None
        data = function(**arguments)
    except NotImplementedError:
        return None
    except Exception as error:
        say("[%s of %s failed: %s]" % (method, type_name(type(value)), error_line(error)))
        return None
    # IPython allows a pair of data and metadata.
    return data[0] if isinstance(data, tuple) and data else data


PICTURES = ("image/png", "image/jpeg")  # that are shown; others become such a one
FORMATS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
STARTS = {b"\x89PNG": "image/png", b"\xff\xd8": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}


def parts_of(bundle):
    parts = []
    forms = 0
    for mime, data in bundle.items():
        if not mime or len(mime) > 64 or not MIME_CHARACTERS.issuperset(mime):
            continue
        if mime in FORMATS:
            parts.extend(image_parts(data))
        elif mime == "text/plain":
            parts.append((mime, str(data)))
        elif forms < FORMS_MAX:
            forms += 1
            data = data if isinstance(data, (str, bytes)) else json_text(data)
            parts.append((mime, data if len(data) <= NAMED_MAX else b""))
    size = sum(len(data) for mime, data in parts if mime in PICTURES)
    limit = NAMED_MAX if size > 0 else TEXT_LIMIT
    parts = [(mime, bounded(data, limit) if mime == "text/plain" else data) for mime, data in parts]
    refuse_large(size, parts)
    return parts


def refuse_large(size, parts):
    if size <= PICTURE_MAX:
        return
    name = dict(parts).get("file")
    saved = "; it is saved as output/%s" % name if name else ""
    raise ValueError("a picture of %d bytes is too large to be shown: at most %d are%s" % (size, PICTURE_MAX, saved))


def json_text(data):
    json = own("json")

    try:
        return json.dumps(data, default=repr)
    except (TypeError, ValueError):
        return json.dumps(repr(data))


# ---- showing --------------------------------------------------------------------------------


def show_value(value):
    """sys.displayhook: the value of the cell's last expression."""
    if value is None:
        return
    builtins._ = value
    if State.captured is not None or (State.cell is not None and State.cell.shows_each):
        display(value)
        return
    if shows_itself(value) and show_itself(value):
        return
    parts = bundle_parts(value)
    if in_child() or not may_send():
        print(dict(parts)["text/plain"])
        return
    if State.clears:
        clear_shown()
    if State.cell.images:
        flush_streams()  # an image's place is among the output
        channel.send(b"result", State.cell.ident, parts)
    else:
        channel.hold(b"result", State.cell.ident, parts)
    check_interrupt()


def shows_itself(value):
    """Objects with the method `_ipython_display_` show what they like, by display() or print()."""
    kind = type(value)
    if kind in SCALARS or kind in PLAIN_CONTAINERS or is_a(value, type) or answers_to_anything(value):
        return False
    return callable(getattr(value, "_ipython_display_", None))


def show_itself(value):
    """Whether it could."""
    try:
        value._ipython_display_()
        return True
    except NotImplementedError:
        return False
    except Exception as error:
        say("[_ipython_display_ of %s failed: %s]" % (type_name(type(value)), error_line(error)))
        return False


def publish(parts):
    """Shows something at this place of the output; returns when the server has noted the place."""
    if in_child():
        text = dict(parts).get("text/plain")
        if text is not None:
            print(text)
        return
    if not may_send():
        State.later.append(parts)
        return
    if State.captured is not None:
        State.captured.append(Shown(parts))
        return
    if State.clears:
        clear_shown()
    publish_now(parts)
    check_interrupt()


def may_send():
    """Only the main thread, within a cell, and not a finalizer in the middle of another frame."""
    return State.running and _thread.get_ident() == State.main_thread and not channel.sending


def publish_now(parts):
    flush_streams()
    channel.send(b"display", State.cell.ident, parts)
    channel.await_ack()


def publish_later_ones():
    while State.later:
        publish_now(State.later.pop(0))


def display(*objects, raw=False, display_id=None, **_):
    """Shows objects in the output, as IPython's display does."""
    for item in objects:
        if raw:
            publish_display_data(item)
        elif not (shows_itself(item) and show_itself(item)):
            publish(bundle_parts(item))
    return DisplayHandle(display_id) if display_id else None


class DisplayHandle:
    """What display(..., display_id=...) returns; an update is shown as a new output."""

    def __init__(self, display_id):
        self.display_id = display_id

    def display(self, item, **options):
        display(item, **options)

    update = display


def publish_display_data(data, metadata=None, **_):
    bundle = {str(mime).lower(): item for mime, item in dict(data).items() if item is not None}
    if not bundle.keys() & {"text/plain", *FORMATS}:
        shown = text_of_markup(bundle)
        if shown is None and bundle:
            shown = "[only shown as %s]" % ", ".join(bundle)
        if shown is not None:
            bundle["text/plain"] = shown
    parts = parts_of(bundle)
    if parts:
        publish(parts)


def clear_output(wait=False):
    """Takes back what the cell has shown, as in a notebook; with `wait` once it shows something else."""
    settle()
    State.clears = True
    if not wait and may_send():
        clear_shown()


def clear_shown():
    """What was shown goes, and figures with it: the next ones have their names again."""
    State.clears = False
    if State.captured is not None:
        State.captured.clear()
        return
    if not may_send():
        return
    flush_streams()
    State.cell.images = State.cell.images_left_out = State.cell.images_lost = 0
    channel.send(b"clear", State.cell.ident, [])
    channel.await_ack()


# ---- images ---------------------------------------------------------------------------------


def image_parts(data):
    """The parts for an encoded image, of the kind that its bytes are: scaled for the model, and whole as a file."""
    if isinstance(data, str):
        binascii = own("binascii")

        try:
            data = binascii.a2b_base64(data)
        except ValueError:
            return []
    data = bytes(data)
    mime = next((kind for start, kind in STARTS.items() if data.startswith(start)), None)
    if mime is None:
        return []
    cell = State.cell
    cell.images += 1
    name = save_output(data, FORMATS[mime])
    if cell.images > IMAGES_PER_CELL:
        cell.images_left_out += 1
        cell.images_lost += name is None
        return []
    small = shrink(mime, data)
    if small[0] not in PICTURES:
        say("[a picture that PIL does not read: %s]" % ("output/" + name if name else "it could not be kept in output/"))
        return []
    return [small] + ([("file", name)] if name else [])


def shrink(mime, data):
    """(mime, data) with no side above IMAGE_SIDE and not needlessly large, of many pictures the first; needs PIL."""
    side = max(png_size(data)) if mime == "image/png" else 0
    if mime == "image/png" and side <= IMAGE_SIDE and len(data) <= IMAGE_BYTES:
        return mime, data
    try:
        from PIL import Image
        image = Image.open(_io.BytesIO(data))
        if mime in PICTURES and max(image.size) <= IMAGE_SIDE and len(data) <= IMAGE_BYTES:
            return mime, data
        return encode_image(image)
    except Exception:
        return mime, data


def png_size(data):
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def encode_image(image):
    """A PIL image as (mime, data), scaled; photographs become JPEG."""
    if max(image.size) > IMAGE_SIDE:
        image = scaled(image)
    mime, data = "image/png", png_bytes(image)
    if len(data) > IMAGE_BYTES and not has_transparency(image):
        jpeg = saved_bytes(image.convert("RGB"), "jpeg", quality=85)
        if len(jpeg) < len(data):
            return "image/jpeg", jpeg
    return mime, data


def scaled(image):
    factor = IMAGE_SIDE / max(image.size)
    size = [max(1, round(side * factor)) for side in image.size]
    if image.mode not in ("L", "RGB", "RGBA", "LA"):
        image = image.convert("RGBA" if has_transparency(image) else "RGB")
    # reducing_gap makes huge images cheap at no visible loss
    return image.resize(size, 1, reducing_gap=3.0)


def has_transparency(image):
    if image.mode == "P":
        return "transparency" in image.info
    return image.mode in ("RGBA", "LA", "PA") and image.getchannel("A").getextrema()[0] < 255


def png_bytes(image):
    if image.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16"):
        image = image.convert("RGB")
    return saved_bytes(image, "png", compress_level=1)


def saved_bytes(image, form, **options):
    buffer = _io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def pil_forms(image):
    try:
        data = png_bytes(image)
    except Exception as error:
        say("[the image cannot be shown: %s]" % error_line(error))
        return {}
    return {"image/png": data}


def save_output(data, extension, number=None):
    """Saves what is shown into the output folder; its name there, or None when it cannot be."""
    if not State.output:
        return None
    name = "cell-%d-figure-%d.%s" % (State.cell.ident, number or State.cell.images, extension)
    temporary = "%s/.%s.part" % (State.output, name)
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        posix.rename(temporary, "%s/%s" % (State.output, name))
    except OSError:
        return None
    return name


# ---- matplotlib -----------------------------------------------------------------------------


def figure_forms(figure):
    """A figure as the value of a cell or an argument of display()."""
    if any(shown is figure for shown in State.cell.figures) and not figure.stale:
        return {}
    State.cell.figures.append(figure)
    return {"image/png": render_figure(figure)}


def render_figure(figure):
    """The figure as PNG, drawn once and with its empty border cut off.

    savefig(bbox_inches="tight") looks the same but draws twice. It is only needed when something
    (mostly a legend) hangs over the edge of the canvas.
    """
    warnings = own("warnings")

    with warnings.catch_warnings(record=True) as told:
        data = draw_figure(figure)
    tell_warnings(told)
    return data


def tell_warnings(told):
    """Each once a figure, the letters that a font lacks as one: of the places in us nobody learns."""
    re = own("re")

    texts, letters = [], []
    for warning in told:
        text = str(warning.message)
        found = re.match(r"Glyph (\d+) .*missing from", text)
        if found is None:
            texts.append("%s: %s" % (type_name(warning.category), text))
        elif int(found[1]) > 32:
            letters.append(chr(int(found[1])))
    if letters:
        texts.append(
            "UserWarning: the figure's font lacks %s, which are drawn as boxes. matplotlib.font_manager knows the "
            "fonts that are there; plt.rcParams['font.family'] takes a list of them." % "".join(dict.fromkeys(letters))
        )
    for text in dict.fromkeys(texts):
        say(text)


def draw_figure(figure):
    import numpy
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    original = canvas = figure.canvas
    if not isinstance(canvas, FigureCanvasAgg):
        canvas = FigureCanvasAgg(figure)
    try:
        canvas.draw()
        pixels = numpy.asarray(canvas.buffer_rgba())
        box = content_box(numpy, pixels, round(figure.dpi * 0.1))
        if box is None or legend_outside(figure, canvas):
            return tight_png(figure)
        top, bottom, left, right = box
        return encode_pixels(numpy, pixels[top:bottom, left:right])
    finally:
        if original is not canvas:
            figure.set_canvas(original)


def content_box(numpy, pixels, pad):
    """Rows and columns that hold more than background; None when content touches the edge."""
    flat = numpy.ascontiguousarray(pixels).view(numpy.uint32)[:, :, 0]
    drawn = numpy.not_equal(flat, flat[0, 0])  # which raises where memory does not suffice
    rows, columns = numpy.flatnonzero(drawn.any(1)), numpy.flatnonzero(drawn.any(0))
    height, width = flat.shape
    if not len(rows):
        return 0, height, 0, width
    if rows[0] == 0 or columns[0] == 0 or rows[-1] == height - 1 or columns[-1] == width - 1:
        return None
    return (
        max(rows[0] - pad, 0),
        min(rows[-1] + 1 + pad, height),
        max(columns[0] - pad, 0),
        min(columns[-1] + 1 + pad, width),
    )


def legend_outside(figure, canvas):
    """A legend wholly beyond the canvas leaves no trace at its edge."""
    legends = list(figure.legends)
    legends += [axes.get_legend() for axes in figure.axes if axes.get_legend() is not None]
    if not legends:
        return False
    renderer = canvas.get_renderer()
    width, height = canvas.get_width_height()
    boxes = [legend.get_window_extent(renderer) for legend in legends if legend.get_visible()]
    return any(b.x1 > width or b.y1 > height or b.x0 < 0 or b.y0 < 0 for b in boxes)


def tight_png(figure):
    buffer = _io.BytesIO()
    options = {"compress_level": 1}
    figure.savefig(
        buffer, format="png", dpi=figure.dpi, bbox_inches="tight", pil_kwargs=options
    )
    return buffer.getvalue()


def encode_pixels(numpy, pixels):
    """RGBA pixels as a PNG without row filters: of plots as small as PIL's, and much faster."""
    struct = own("struct")
    zlib = own("zlib")

    channels = 3 if (pixels[:, :, 3] == 255).all() else 4
    height, width = pixels.shape[:2]
    rows = numpy.zeros((height, 1 + width * channels), numpy.uint8)
    rows[:, 1:] = pixels[:, :, :channels].reshape(height, -1)

    def chunk(kind, data):
        checksum = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

    color = 2 if channels == 3 else 6
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(rows, 1))
    return b"\x89PNG\r\n\x1a\n" + header + body + chunk(b"IEND", b"")


def show_figures(blank=True):
    """Shows and closes all open figures: at plt.show() and at the end of every cell. Blank ones, with nothing in
    their axes, are what is left of a cell that failed before it drew."""
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    if helpers is None:
        return
    managers = helpers.Gcf.get_all_fig_managers()
    if not managers or in_child():
        return
    channel.release()  # drawing takes long, and may be the end of us
    try:
        for manager in managers:
            if blank or is_drawn(manager.canvas.figure):
                show_figure(manager.canvas.figure)
    finally:
        helpers.Gcf.destroy_all()


def is_drawn(figure):
    if figure.lines or figure.patches or figure.texts or figure.images:
        return True
    return any(axes.has_data() or axes.texts or axes.tables for axes in figure.axes)


def show_figure(figure):
    if not (figure.axes or figure.lines or figure.patches or figure.texts or figure.images):
        return
    if State.clears:
        clear_shown()
    try:
        forms = figure_forms(figure)
    except Exception as error:
        say_traceback(error)
        return
    if forms:
        forms["text/plain"] = repr(figure)
        parts = parts_of(forms)
        if State.cell.images <= IMAGES_PER_CELL:
            publish(parts)


def note_images_left_out():
    left_out, lost = State.cell.images_left_out, State.cell.images_lost
    if left_out:
        kept = "%d could not be saved in output/ and are lost" % lost if lost else "saved in output/"
        say("[%d more images are not named: %d a cell are; %s]" % (left_out, IMAGES_PER_CELL, kept))


def hook_matplotlib(module):
    """Its folders are made once and remembered: in an interpreter whose imports came ahead of the
    session they are gone by then."""
    functools = own("functools")

    def remade(original):
        @functools.wraps(original)
        def folder():
            import os

            path = original()
            os.makedirs(path, exist_ok=True)
            return path

        return folder

    module.get_cachedir = remade(module.get_cachedir)
    module.get_configdir = remade(module.get_configdir)


def hook_pyplot(pyplot):
    original = pyplot.show

    def show(*args, **kwargs):
        if pyplot.get_backend().lower() != "agg":
            return original(*args, **kwargs)
        if kwargs.get("block", True) is not False:  # pyplot.pause() says block=False
            show_figures()

    show.__doc__ = original.__doc__
    pyplot.show = show


def hook_figure(module):
    original = module.Figure.show

    def show(self, *args, **kwargs):
        if type(self.canvas).__name__ != "FigureCanvasAgg":
            return original(self, *args, **kwargs)
        show_figure(self)

    show.__doc__ = original.__doc__
    module.Figure.show = show


# ---- other libraries ------------------------------------------------------------------------


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


def hook_pil(module):
    def show(self, title=None, **_):
        """Shows the image in the output of the cell."""
        display(self)

    module.Image.show = show


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


def hook_subprocess(subprocess):
    subprocess.Popen._execute_child = settling(subprocess.Popen._execute_child)


def hook_threading(threading):
    threading.Thread.start = settling(threading.Thread.start)


def hook_multiprocessing(util):
    util.spawnv_passfds = settling(util.spawnv_passfds)


def hook_ipython(module):
    module.display = display
    module.publish_display_data = publish_display_data
    module.clear_output = clear_output


def hook_getipython(module):
    module.get_ipython = for_cells(module.get_ipython)


def hook_sympy(module):
    """init_printing() would replace sys.displayhook, which shows figures and tables as well."""

    def take_printer(stringify, **settings):
        State.printer = lambda value: stringify(value, **settings)

    module._init_python_printing = take_printer


def is_sympy(value):
    if type(value) in (list, tuple, set):
        return any(root_of(type(item)) == "sympy" for item in value)
    return root_of(type(value)) == "sympy"


def hook_plotly(module):
    def show(self, *args, **kwargs):
        """Shows the figure in the output of the cell."""
        display(self)

    module.BaseFigure.show = show


def plotly_forms(figure):
    """plotly cannot draw without a browser: the page goes to a file, its outline to the model."""
    forms = {"text/plain": plotly_outline(figure)}
    if module_exists("kaleido"):
        try:
            forms["image/png"] = figure.to_image(format="png")
            return forms
        except Exception:
            pass
    try:
        page = figure.to_html(include_plotlyjs="cdn")
        forms["application/vnd.plotly.v1+json"] = figure.to_json()
    except Exception as error:
        say("[the figure cannot be shown: %s]" % error_line(error))
        return forms
    State.cell.images += 1
    name = save_output(page.encode(), "html")
    if name:
        forms["file"] = name
    else:
        say("[the figure could not be kept in output/]")
    return forms


def plotly_outline(figure):
    try:
        traces = [str(getattr(trace, "type", "trace")) for trace in figure.data]
        title = getattr(getattr(figure.layout, "title", None), "text", None)
    except Exception:
        return "<plotly figure>"
    return "<plotly figure, traces: %s%s>" % (
        ", ".join(traces[:20]) or "none",
        ", title: %r" % title if title else "",
    )


def module_exists(name):
    util = own("importlib.util")

    try:
        return name in sys.modules or util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


# ---- multiprocessing ------------------------------------------------------------------------


def hook_spawn(spawn):
    """Children of spawn and forkserver get a `__main__` with what the names of cells hold now.

    They would look for the main module's file, find none, and die one after the other while
    Pool.map waits for ever.
    """
    original = spawn.get_preparation_data

    def get_preparation_data(name):
        data = original(name)
        if "init_main_from_name" not in data and "init_main_from_path" not in data:
            if not in_child():
                data["init_main_from_path"] = write_definitions()
        return data

    spawn.get_preparation_data = get_preparation_data


# Definitions need values, and values need definitions: a value comes as soon as it can.
DEFINITIONS_SCRIPT = """\
def _load(segments, pickled, defaults, stand, flags, names):
    import io, linecache, pickle
    values = {}
    class Unpickler(pickle.Unpickler):
        def find_class(self, module, name):
            if module != "__main__":
                return super().find_class(module, name)
            first, *rest = name.split(".")
            found = names[first]
            for part in rest:
                found = getattr(found, part)
            return found
    def bring():
        for name in list(pickled):
            try:
                values[name] = names[name] = Unpickler(io.BytesIO(pickled[name])).load()
            except Exception:
                continue
            del pickled[name]
    for cell, line, source, name in segments:
        bring()
        lines = linecache.cache.setdefault(cell, (1, None, [], cell))[2]
        lines.extend(["\\n"] * (line - 1 - len(lines)))
        lines[line - 1:] = source.splitlines(True)
        try:
            exec(compile("\\n" * (line - 1) + source, cell, "exec", flags, True), names)
        except Exception:
            names.pop(name, None)
    bring()
    names.update(values)
    for name, data in defaults.items():
        try:
            names[name].__defaults__, names[name].__kwdefaults__ = Unpickler(io.BytesIO(data)).load()
        except Exception:
            names.pop(name, None)
    for name in list(names):
        if name in pickled or name not in stand and not name.startswith("__"):
            del names[name]
_load(%r, %r, %r, %r, %r, globals())
"""


class DefinitionsFile:
    folder = None
    text = ""


def write_definitions():
    """A script that defines the functions and classes of cells that stand, and brings modules and small values as
    they are: it repeats no side effect. What it cannot bring has no name in the child.

    Children read it while the next one is being started, so it is replaced as a whole.
    """
    import os
    tempfile = own("tempfile")

    if DefinitionsFile.folder is None:
        atexit = own("atexit")

        DefinitionsFile.folder = tempfile.mkdtemp(prefix="ptycell-main-")
        atexit.register(remove_definitions, posix.getpid())
    path = DefinitionsFile.folder + "/cells.py"
    text = DEFINITIONS_SCRIPT % definitions()
    if text != DefinitionsFile.text or not os.path.exists(path):
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".part", path)
        DefinitionsFile.text = text
    return path


def remove_definitions(pid):
    if pid == posix.getpid():
        shutil = own("shutil")

        shutil.rmtree(DefinitionsFile.folder, ignore_errors=True)


def definitions():
    """What DEFINITIONS_SCRIPT loads: texts, values, defaults of functions, the names that stand."""
    segments = []
    for name in list(sources.text):
        segments.extend(definition_segments(name, sources.lines(name)))
    chosen, pickled, defaults = {}, {}, {}
    for name, value in list(NAMESPACE.items()):
        if type(name) is not str or not is_users(name):
            continue
        place = place_of_definition(name, value, segments)
        if place is None:
            pickled[name] = pickle_briefly(value)
            continue
        chosen[name] = place
        if type(value) is FunctionType and (value.__defaults__ or value.__kwdefaults__):
            defaults[name] = pickle_briefly((value.__defaults__, value.__kwdefaults__)) or b""
    pickled = {name: data for name, data in pickled.items() if data is not None}
    texts = [segment for segment in segments if chosen.get(segment[3], segment) is segment]
    return texts, pickled, defaults, {*chosen, *pickled}, State.future_flags


def definition_segments(name, lines):
    """(cell, first line, text, name that it defines or an empty string) of each definition."""
    tree = try_parse("".join(lines), name)
    for node in tree.body if tree is not None else ():
        if isinstance(node, DEFINITIONS):
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno] + [item.lineno for item in decorators])
            yield name, first, statement_text(lines, first, node), getattr(node, "name", "")
        elif isinstance(node, _ast.Assign) and makes_definition(node.value):
            if type(node.targets[0]) is _ast.Name:
                yield name, node.lineno, statement_text(lines, node.lineno, node), node.targets[0].id


def makes_definition(node):
    """A lambda, or a class as collections.namedtuple() makes it."""
    made_by = getattr(node, "func", None)
    return isinstance(node, _ast.Lambda) or getattr(made_by, "attr", getattr(made_by, "id", "")) in FACTORIES


def place_of_definition(name, value, segments):
    """The segment that has defined the value; None when the name holds something else."""
    found = [segment for segment in segments if segment[3] == name]
    codes = codes_of(value) if found else ()
    for segment in reversed(found):
        cell, first, text, _ = segment
        lines = range(first, first + text.count("\n") + 1)
        if any(code.co_filename == cell and code.co_firstlineno in lines for code in codes):
            return segment
    if not found:
        return None
    own_class = is_a(value, type) and (value.__module__, value.__qualname__) == ("__main__", name)
    decorated = found[-1][2].startswith("@") and callable(value)
    return found[-1] if own_class or decorated else None


def codes_of(value):
    """Of a function below its wrappers, or of a class's methods."""
    if is_a(value, type):
        return [item.__code__ for item in vars(value).values() if type(item) is FunctionType]
    for _ in range(WRAPPERS):
        value = getattr(value, "__wrapped__", value)
    return [value.__code__] if type(value) is FunctionType else []


class SmallFile(_io.BytesIO):
    def write(self, data):
        if self.tell() + memoryview(data).nbytes > BROUGHT_BYTES:
            raise ValueError("too large to be brought to a child")
        return super().write(data)


def pickle_briefly(value):
    """The value as bytes; None when it cannot be pickled, or is too large then."""
    copyreg = own("copyreg")
    importlib = own("importlib")
    pickle = own("pickle")

    file = SmallFile()
    pickler = pickle.Pickler(file, 5)
    pickler.dispatch_table = dict(copyreg.dispatch_table)
    pickler.dispatch_table[ModuleType] = lambda module: (importlib.import_module, (module.__name__,))
    try:
        pickler.dump(value)
    except Exception:
        return None
    return file.getvalue()


def statement_text(lines, first, node):
    """The statement alone: another one on its line may have side effects."""
    text = [line.encode("utf-8", "replace") for line in lines[first - 1 : node.end_lineno]]
    text[-1] = text[-1][: node.end_col_offset]
    if first == node.lineno:
        text[0] = text[0][node.col_offset :]
    return b"".join(text).decode("utf-8", "replace")


# ---- import hooks ---------------------------------------------------------------------------

HOOKS = {
    "traceback": hook_traceback,
    "warnings": hook_warnings,
    "linecache": hook_linecache,
    "inspect": hook_inspect,
    "pdb": hook_pdb,
    "matplotlib": hook_matplotlib,
    "matplotlib.pyplot": hook_pyplot,
    "matplotlib.figure": hook_figure,
    "PIL.Image": hook_pil,
    "IPython.core.display_functions": hook_ipython,
    "IPython.core.getipython": hook_getipython,
    "plotly.basedatatypes": hook_plotly,
    "sympy.interactive.printing": hook_sympy,
    "multiprocessing.spawn": hook_spawn,
    "multiprocessing.util": hook_multiprocessing,
    "subprocess": hook_subprocess,
    "threading": hook_threading,
}


class HookFinder:
    """Runs a hook right after the module it is meant for was imported."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        hook = HOOKS.get(name)
        is_ours = path is None and Own.thread == _thread.get_ident()
        if hook is None and not is_ours:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is HookFinder or find is None:
                continue
            spec = find(name, Own.path, target) if is_ours and finder is PathFinder else None
            spec = spec or find(name, path, target)
            if spec is not None:
                if hook is not None and spec.loader is not None:
                    spec.loader = HookLoader(spec.loader, hook)
                return spec
        return None


class HookLoader:
    def __init__(self, loader, hook):
        self._loader = loader
        self._hook = hook

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        run_hook(self._hook, module)


def run_hook(hook, module):
    try:
        hook(module)
    except Exception as error:
        log(error)


def install_hooks():
    Own.find_places()
    sys.meta_path.insert(0, HookFinder)
    sys.meta_path.append(StandIn)
    for name, hook in HOOKS.items():
        if name in sys.modules:  # site, or a newer Python, already did
            run_hook(hook, sys.modules[name])


# ---- errors ---------------------------------------------------------------------------------


def type_name(kind):
    """A class's name without asking its metaclass."""
    return clean_word(type.__dict__["__name__"].__get__(kind))


def clean_word(text):
    return "".join(c if c.isprintable() and not c.isspace() else "?" for c in text[:80])


def error_line(error):
    return shortened("%s: %s" % (type_name(type(error)), error_text(error)), 300)


def error_text(error):
    try:
        text = str(error)
    except BaseException:
        return "<str() failed>"
    return shortened(text, EVALUE_LIMIT)


def traceback_frames(tb):
    frames = []
    while tb is not None:
        frames.append(tb)
        tb = tb.tb_next
    return frames


def link_frames(frames):
    for tb, following in zip(frames, frames[1:] + [None]):
        if tb.tb_next is not following:
            tb.tb_next = following
    return frames[0] if frames else None


def strip_driver_frames(error):
    """Leaves the user's frames: neither ours, nor what runs a cell, nor the signal handler."""
    frames = traceback_frames(error.__traceback__)
    if frames and frames[0].tb_frame.f_code.co_filename in (DRIVER_FILE, "<string>"):
        # Between our frames and the cell's there may be the event loop's.
        cells = (i for i, tb in enumerate(frames) if is_cell(tb.tb_frame.f_code.co_filename))
        frames = frames[next(cells, 0) :]
    frames = [tb for tb in frames if tb.tb_frame.f_code.co_filename != DRIVER_FILE]
    error.__traceback__ = link_frames(frames)


def is_cell(name):
    return name in sources.text


def chained(error):
    """The error and all that it came from."""
    seen, queue = [], [error]
    while queue and len(seen) < 100:
        item = queue.pop()
        if item is None or any(item is other for other in seen):
            continue
        seen.append(item)
        queue += [item.__cause__, item.__context__]
        queue += getattr(item, "exceptions", ()) if is_group(item) else ()
    return seen


def is_group(error):
    group = getattr(builtins, "BaseExceptionGroup", None)
    return group is not None and isinstance(error, group)


SKIPPED = "ptycell-frames-left-out"


def format_error(error):
    """The traceback text, with the middle of very deep stacks left out.

    Formatting a million frames takes ten seconds, so the chain is shortened before and put
    together again after.
    """
    traceback = own("traceback")

    cuts = {}
    for item in chained(error):
        frames = traceback_frames(item.__traceback__)
        if len(frames) > 2 * FRAMES_KEPT:
            head = frames[FRAMES_KEPT - 1]
            cuts[id(item)] = head, head.tb_next, len(frames) - 2 * FRAMES_KEPT
            head.tb_next = frames[-FRAMES_KEPT]
    try:
        summary = among_own(lambda: traceback.TracebackException(type(error), error, error.__traceback__))
        mark_cuts(traceback.FrameSummary, summary, error, cuts)
        if sys.version_info < (3, 12):
            for told, of in own("itertools").islice(paired(summary, error), SUGGESTED):
                told._str += suggestion(of)
        text = among_own(lambda: "".join(summary.format()))
    finally:
        for head, following, _ in cuts.values():
            head.tb_next = following
    return shortened(say_cuts(text), TEXT_LIMIT)


class Aside(_io.StringIO):
    """Stands for a stream of Python's where one thread writes; what others write goes on to it."""

    def __init__(self, stream):
        super().__init__()
        self.stream = stream
        self.thread = _thread.get_ident()

    def write(self, text):
        return super().write(text) if _thread.get_ident() == self.thread else self.stream.write(text)


def suggestion(error):
    """`. Did you mean: 'name'?`: before 3.12 Python has that only where it prints an error itself."""
    if not isinstance(error, (NameError, AttributeError)):
        return ""
    sys.stderr = aside = Aside(sys.stderr)
    try:
        excepthook(type(error), error, error.__traceback__)
    finally:
        if sys.stderr is aside:
            sys.stderr = aside.stream
    found = own("re").search(r"\. Did you mean: '[^'\n]*'\?$", aside.getvalue().rstrip())
    return found[0] if found else ""


def mark_cuts(new_frame, summary, error, cuts):
    """Puts a stand-in frame where frames are missing; say_cuts makes a sentence of it."""
    for told, of in paired(summary, error):
        if id(of) in cuts:
            count = cuts[id(of)][2]
            stand_in = new_frame(SKIPPED, count, "-", lookup_line=False, line="")
            told.stack.insert(FRAMES_KEPT, stand_in)


def paired(summary, error):
    """What is told of an error, of those that it came from and of its members, each with the error."""
    pairs, seen = [(summary, error)], set()
    while pairs:
        summary, error = pairs.pop()
        if summary is None or error is None or id(summary) in seen:
            continue
        seen.add(id(summary))
        yield summary, error
        pairs.append((summary.__cause__, error.__cause__))
        pairs.append((summary.__context__, error.__context__))
        members = getattr(summary, "exceptions", None)
        if members:
            pairs += zip(members, error.exceptions)


def say_cuts(text):
    if SKIPPED not in text:
        return text
    lines = []
    for line in text.split("\n"):
        if line.lstrip(" |+-").startswith('File "%s"' % SKIPPED):
            line = "  ... %s frames left out ..." % line.split(" line ")[1].partition(",")[0]
        lines.append(line)
    return "\n".join(lines)


def say_traceback(error):
    """Prints an error that belongs to no statement of the cell."""
    try:
        strip_driver_frames(error)
        say(format_error(error).rstrip("\n"))
    except Exception:
        say(error_line(error))


def describe_error(error, cell):
    """The parts of `done` for an exception that ended the cell."""
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
    """For pdb.pm() and friends."""
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
    """Whether a `raise` of a cell made it: whatever it says, no call met a limit there."""
    frames = traceback_frames(error.__traceback__)
    if not frames or not frames[-1].tb_frame.f_code.co_filename.startswith("<cell "):
        return False
    code, at = frames[-1].tb_frame.f_code.co_code, frames[-1].tb_lasti
    return code[at] == own("opcode").opmap["RAISE_VARARGS"]


def missing_module(error):
    if not isinstance(error, ModuleNotFoundError) or type(error.name) is not str:
        return None
    top = error.name.partition(".")[0]
    return top if len(top) <= 200 and top.isidentifier() and top not in sys.modules else None


def describe_exit(error):
    """SystemExit ends the cell, not the session."""
    return [("status", "exit"), ("code", str(exit_code(error)))]


def exit_code(error):
    """What a program's would be that ends so; it would print what is no number."""
    code = error.code
    if code is None:
        code = 0
    elif not isinstance(code, int):
        say(error_text(error))
        code = 1
    code = int(code)
    if code.bit_length() > 31:  # as Python makes a C int of it
        code = code & 0xFF if code.bit_length() < 64 else 255
    return code


# ---- names ----------------------------------------------------------------------------------

# Whose `shape` may be asked: a property of the user's own class could do anything.
ARRAY_MODULES = frozenset(
    "numpy pandas polars scipy torch tensorflow jax jaxlib xarray pyarrow cupy geopandas".split()
)
SIZED = (list, dict, set, tuple, frozenset, str, bytes, bytearray)


def shape_of(value):
    """`150x5` for arrays and tables, the length of plain containers, else an empty string."""
    kind = type(value)
    if kind in SIZED:
        return str(len(value))
    root = root_of(kind)
    try:
        if root in ARRAY_MODULES:
            return "x".join([str(int(side)) for side in value.shape])
        if root == "collections":
            return str(len(value))
        if root == "PIL":
            return "x".join([str(int(side)) for side in value.size])
    except Exception:
        pass
    return ""


def kind_of(value):
    if is_a(value, type):
        return "class"
    return type_name(type(value))


class Names:
    """Tells which global names a cell changed.

    A name is changed when it is bound to another object, when a statement of the cell assigns it,
    an element or an attribute of it, or when a container or table that can grow has another size.
    All of it is a few dict operations in C for cells that change nothing. What methods and
    functions do to an object of the same size is not seen.
    """

    def __init__(self):
        self.ids = {}
        self.sizes = {}  # of what can change in place

    def changed(self, assigned):
        """The names changed, and those that are gone."""
        namespace = NAMESPACE.copy()
        ids = dict(zip(namespace, map(id, namespace.values())))
        changed = []
        gone = []
        if ids != self.ids or assigned:
            before = self.ids
            changed = [n for n, i in ids.items() if before.get(n) != i or n in assigned]
            gone = [n for n in before if n not in ids]
            self.ids = ids
        elif not self.sizes:
            return changed, gone
        for name in gone:
            self.sizes.pop(name, None)
        for name in [n for n, size in self.sizes.items() if self._size(namespace, n) != size]:
            if name not in changed:
                changed.append(name)
        for name in changed:
            self._watch(namespace, name)
        told = [name for name in changed if self._is_worth_telling(name, namespace[name])]
        return told, [name for name in gone if self._is_worth_telling(name, None)]

    def _size(self, namespace, name):
        value = namespace.get(name)
        return len(value) if type(value) in (list, dict, set) else shape_of(value)

    def _watch(self, namespace, name):
        kind = type(namespace[name])
        if kind in (list, dict, set) or root_of(kind) in ("pandas", "collections"):
            self.sizes[name] = self._size(namespace, name)
        else:
            self.sizes.pop(name, None)

    def _is_worth_telling(self, name, value):
        if type(name) is not str or not name.isidentifier():
            return False
        return is_users(name) and not is_a(value, ModuleType)


names = Names()


def is_users(name):
    return not name.startswith("__") and name != "_exit_code"


def changed_names(assigned):
    changed, gone = names.changed(assigned)
    lines = []
    for name in changed[:NAMES_KEPT]:
        value = NAMESPACE.get(name)
        lines.append(" ".join(filter(None, (name, kind_of(value), shape_of(value)))))
    lines += ["-" + name for name in gone]
    return "\n".join(lines_within(lines[:NAMES_KEPT]))


def lines_within(lines):
    """The first of these lines, as many as a frame has room for."""
    room, kept = LIST_MAX, []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept


def live_children():
    """How many child processes run; the helpers of multiprocessing are nobody's work."""
    try:
        posix.waitid(posix.P_ALL, 0, posix.WEXITED | posix.WNOHANG | posix.WNOWAIT)
    except OSError:
        return 0  # none at all, as nearly always: one system call
    helpers = multiprocessing_helpers()
    count = 0
    for task in posix.listdir("/proc/self/task"):
        try:
            with open("/proc/self/task/%s/children" % task) as file:
                pids = file.read().split()
        except OSError:
            continue
        count += sum(1 for pid in pids if int(pid) not in helpers and is_alive(pid))
    return count


def multiprocessing_helpers():
    pids = set()
    for module, holder, attribute in (
        ("multiprocessing.resource_tracker", "_resource_tracker", "_pid"),
        ("multiprocessing.forkserver", "_forkserver", "_forkserver_pid"),
    ):
        pids.add(getattr(getattr(sys.modules.get(module), holder, None), attribute, None))
    return pids


def is_alive(pid):
    try:
        with open("/proc/%s/stat" % pid, "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def handle_vars(turn):
    """One line a variable: name, type, shape, bytes and, of plain values, the repr."""
    told = [
        (name, value)
        for name, value in NAMESPACE.copy().items()
        if type(name) is str and is_users(name) and not is_a(value, ModuleType)
    ]
    lines = []
    for name, value in told[: int(turn.parts["limit"])]:
        fields = (name, kind_of(value), shape_of(value), size_text(value), safe_repr(value))
        lines.append("\t".join(map(escape_field, fields)))
    lines = lines_within(lines)
    answer = [("status", "ok"), ("vars", "\n".join(lines))]
    if len(told) > len(lines):
        answer.append(("total", str(len(told))))
    channel.answer(turn, answer)


def handle_imported(turn):
    lines = "\n".join(older_imports(turn.parts["packages"]))
    channel.answer(turn, [("status", "ok"), ("vars", lines)])


def older_imports(packages):
    """A sentence for each of these (lines NAME, VERSION, MODULE) of which another copy is imported."""
    told = []
    for line in packages.splitlines():
        name, version, module = line.split("\t")
        loaded = sys.modules.get(module)
        path = getattr(loaded, "__file__", None) if is_a(loaded, ModuleType) else None
        have = getattr(loaded, "__version__", None) if is_a(loaded, ModuleType) else None
        if type(path) is not str or (type(have) is str and have == version):
            continue
        if not path.startswith(packages_folder()) or type(have) is str:
            told.append(
                "%s is imported already%s: this interpreter goes on with that copy, and a new one "
                "(interact with action terminate) imports %s."
                % (module, " in version " + have if type(have) is str else "", version)
            )
    return told


def packages_folder():
    import os

    return os.environ.get("PYTHONPATH", "").partition(":")[0] or "\0"


def escape_field(text):
    text = text.replace("\\", "\\\\").replace("\t", "\\t")
    return text.replace("\n", "\\n").replace("\r", "\\r")


def size_text(value):
    kind = type(value)
    try:
        if is_pandas(kind) and hasattr(value, "memory_usage"):
            usage = value.memory_usage(index=True)
            return str(int(usage.sum() if hasattr(usage, "sum") else usage))
        if root_of(kind) in ARRAY_MODULES:
            return str(int(value.nbytes))
        # object's own method: a class of the user's may define __sizeof__.
        own = kind if kind in SIZED or kind in SCALARS else object
        return str(int(own.__sizeof__(value)))
    except Exception:
        return ""


def safe_repr(value):
    """The repr of values that hold nothing of the user's making, at most 200 characters."""
    kind = type(value)
    if kind in SCALARS:
        return plain_text(value[:200] if kind in (str, bytes) else value)[:200]
    if kind not in PLAIN_CONTAINERS or len(value) >= CONTAINER_LIMIT:
        return ""
    items = list(value) + (list(value.values()) if kind is dict else [])
    is_plain = all(type(item) in SCALARS for item in items)
    return repr(value)[:200] if is_plain and within_budget(value, [CONTAINER_LIMIT]) else ""


# ---- magics ---------------------------------------------------------------------------------


class UsageError(Exception):
    """A magic that does not exist, or not so."""


def rewrite_magics(source, name):
    """The cell with notebook syntax turned into calls, or None when there is none.

    Only cells that do not compile come here, so valid Python can never be mistaken for a magic.
    The number of lines stays the same.
    """
    stripped = source.lstrip()
    if not any(mark in source for mark in ("!", "%", "?", "install", "npm")):
        return None
    if stripped.startswith("%%"):
        first, _, body = stripped.partition("\n")
        magic, _, line = first[2:].partition(" ")
        skipped = source[: len(source) - len(stripped)].count("\n")
        call = "__ptycell_cell__(%r, %r, %r, %d)" % (magic, line.strip(), body, skipped + 1)
        return "\n" * skipped + call
    lines, found = rewrite_lines(source.split("\n"))
    return "\n".join(lines) if found else None


def without_magics(source, name):
    """What a magic runs may use others; what is wrong with it otherwise is told when it is compiled."""
    if try_parse(source, name) is not None:
        return source
    return rewrite_magics(source, name) or source


def try_parse_body(source, name):
    return try_parse(without_magics(source, name), name)


def rewrite_lines(lines):
    re = own("re")

    marked = re.compile(r"(\s*)(?:([\w.,:\[\]()*+\-\"' ]+?)\s*=\s*)?(!!|!|%)(?!=)(.*)$", re.S)
    # As typed in a shell: of all commands these two are expected to work anywhere.
    bare = re.compile(r"(\s*)()()((?:(?:python3? -m |uv )?pip3? +install|npm +(?:install|i|add))\b.*)$", re.S)
    asked = r"""((?:"[^"\\\n]*"|'[^'\\\n]*'|[A-Za-z_]\w*)(?:\.\w+)*)"""
    asking = re.compile(r"(\s*)(?:(\?{1,2})\s*%s|%s\s*(\?{1,2}))\s*$" % (asked, asked))
    done, found, at = [], False, 0
    while at < len(lines):
        line, at = lines[at], at + 1
        magic = (marked.match(line) if "!" in line or "%" in line else None) or bare.match(line)
        question = asking.match(line) if "?" in line else None
        if (magic is None and question is None) or is_open("\n".join(done)) or is_open(magic and magic[2] or ""):
            done.append(line)
            continue
        found = True
        if question is not None:
            what = question[3] or question[4], len(question[2] or question[5]) > 1
            done.append("%s__ptycell_help__(%r, %r)" % (question[1], *what))
            continue
        body, merged = magic[4], 0
        while body.endswith("\\") and at < len(lines):
            body, at, merged = body[:-1] + lines[at], at + 1, merged + 1
        done.append(rewrite_line(magic[1], magic[2], magic[3], body))
        done.extend([""] * merged)
    return done, found


def rewrite_line(indent, target, mark, body):
    if not mark and not body.startswith("npm"):
        mark, body = "%", "pip install" + body.partition("install")[2]
    if mark == "%":
        call = "__ptycell_line__(%r)" % body
    else:
        call = "__ptycell_shell__(%r, %r)" % (body, bool(target) or mark == "!!")
    return "%s%s%s" % (indent, target + " = " if target else "", call)


def is_open(text):
    """Does text end inside a string, a bracket or a continued line?"""
    if not text.strip():
        return False
    if text.rstrip("\n").endswith("\\"):
        return True
    tokenize = own("tokenize")

    depth = 0
    try:
        for token in tokenize.generate_tokens(_io.StringIO(text + "\n").readline):
            if token.type == tokenize.OP:
                depth += (token.string in "([{") - (token.string in ")]}")
            elif token.type == tokenize.ERRORTOKEN and token.string[:1] in "\"'":
                return True
    except tokenize.TokenError:
        return True
    except SyntaxError:
        return False
    return depth > 0


def install_magics():
    builtins.__ptycell_line__ = run_line_magic
    builtins.__ptycell_cell__ = run_cell_magic
    builtins.__ptycell_shell__ = run_shell
    builtins.__ptycell_help__ = show_help


def sent_elsewhere(name):
    return ", queries are for exec_sql" if name.lower() == "sql" else ""


def run_line_magic(text, frame=None):
    name, _, line = text.strip().partition(" ")
    line = line.strip()
    magic = LINE_MAGICS.get(name)
    if magic is None:
        raise UsageError("no line magic %%%s%s; there are: %s" % (name, sent_elsewhere(name), listed(LINE_MAGICS, "%")))
    frame = frame or sys._getframe(1)
    if magic in SEE_LOCALS:
        return magic(line, frame)
    return magic(expand_names(line, frame))


def scope_of(frame):
    """What a function's names are; None at the top of a cell."""
    return None if frame.f_locals is frame.f_globals else dict(frame.f_locals)


def names_seen(frame):
    """The names that code in the frame has, and what it does not define itself as the cells define it."""
    if frame.f_locals is NAMESPACE:
        return NAMESPACE
    return {**NAMESPACE, **frame.f_globals, **frame.f_locals}


def run_cell_magic(name, line, body, lineno, frame=None):
    magic = CELL_MAGICS.get(name)
    if magic is None:
        raise UsageError("no cell magic %%%%%s%s; there are: %s" % (name, sent_elsewhere(name), listed(CELL_MAGICS, "%%")))
    if magic not in TAKE_CODE:
        line = expand_names(line, frame or sys._getframe(1))
    return magic(line, body, lineno)


def listed(magics, mark):
    return " ".join(mark + name for name in sorted(magics))


def evaluate_body(body, lineno):
    return evaluate("\n" * lineno + body, State.cell.name)


# Shell commands


CONVERSIONS = {"r": repr, "a": ascii}
READ_S = 1e6


class Lines(list):
    """What `x = !cmd` gives: the lines, and as text `.n` (newlines) and `.s` (spaces)."""

    n = nlstr = property(lambda self: "\n".join(self))
    s = spstr = property(lambda self: " ".join(self))
    l = list = property(list)

    def grep(self, pattern, prune=False, field=None):
        """Those that match, or with `prune` all others; `field` is the number of the word that is looked at."""
        re = own("re")

        matches = pattern if callable(pattern) else lambda text: re.search(pattern, text, re.I)
        asked = lambda line: line if field is None else "".join(self._words(line, [field]))
        return Lines(line for line in self if bool(matches(asked(line))) != bool(prune))

    def fields(self, *numbers):
        """These words of each line that has any; without numbers all, each by itself."""
        if not numbers:
            return [line.split() for line in self]
        return Lines(filter(None, (" ".join(self._words(line, numbers)) for line in self)))

    @staticmethod
    def _words(line, numbers):
        words = line.split()
        return [words[number] for number in numbers if -len(words) <= number < len(words)]


def run_shell(command, capture, frame=None):
    return run_command(expand_names(command, frame or sys._getframe(1)), capture)


def run_command(command, capture):
    command = own_pip(command.strip())
    install, onward = split_output(command)
    wanted = packages_of(install)
    if wanted is not None:
        ok, text = ask_broker(*wanted)
        lines = show_through(onward, text, capture, ok)
        note_exit(0 if ok else 1)
        return lines
    lines = call_shell(with_target(command), capture)
    after_packages(command)
    return lines


def call_shell(command, capture, fed=None):
    """Its lines when they are captured, those of its errors among them. `fed` is what it reads, None: the terminal."""
    subprocess = own("subprocess")

    flush_streams()
    out, err = stays_inside(sys.stdout), stays_inside(sys.stderr)
    pipes = {"stdout": subprocess.PIPE if out else None, "stderr": subprocess.PIPE if err else None}
    if capture:
        pipes["stdout"] = subprocess.PIPE
        if fed is None:  # why an install failed is told where it is seen
            err, pipes["stderr"] = False, subprocess.STDOUT
    code, told, errors = run_program(command, fed, shell=True, executable=shell_path(), **pipes)
    note_exit(code)
    if err:
        sys.stderr.write(errors.decode("utf-8", "replace"))
    if capture:
        return Lines(told.decode("utf-8", "replace").splitlines())
    if out:
        sys.stdout.write(told.decode("utf-8", "replace"))
    return None


def run_program(arguments, fed=None, **options):
    """Its exit code, and what came by its pipes. A program that an interrupt ends has the time for it, as below a shell."""
    subprocess = own("subprocess")

    if fed is not None:
        options["stdin"] = subprocess.PIPE
    State.starting = True
    try:
        process = subprocess.Popen(arguments, **options)
    finally:
        State.starting = False
    with process:
        told = wait_for_program(process, fed)
    return (process.returncode, *told)


def wait_for_program(process, fed):
    """What came by its pipes. An interrupt is raised when the program has ended, a second one ends it."""
    interrupt = None
    while True:
        try:
            check_interrupt()
            told = read_program(process, fed)
            break
        except KeyboardInterrupt as error:
            if interrupt is not None:
                process.kill()
                raise
            fed, interrupt = None, error
        except BaseException:
            process.kill()
            raise
    if interrupt is not None:
        raise interrupt
    return told


def read_program(process, fed):
    if process.stdin is process.stdout is process.stderr is None:
        process.wait()
        return None, None
    while True:
        try:  # with a time it can be called again when an interrupt has ended it
            return process.communicate(fed, timeout=READ_S)
        except own("subprocess").TimeoutExpired:
            fed = None


def note_exit(code):
    """Of a shell command: as in a shell, the last one's is told."""
    NAMESPACE["_exit_code"] = State.cell.shell_code = code


def stays_inside(stream):
    """Whether what is written to it reaches no descriptor, as with %%capture."""
    try:
        stream.fileno()
    except Exception:
        return True
    return False


def split_output(command):
    """(command, where its output goes): `> file`, `2>&1 | tail -1`, or nothing. `>=` is a version's."""
    re = own("re")

    plain = r"""((?:[^'"|<>]|[<>](?=[=\d])|'[^']*'|"[^"]*")*?)"""
    found = re.match(plain + r"\s+((?:\d?>|&>|\|)(?![=|])[^;`$(){}\n]*)$", command)
    if found is None or "&&" in found[2] or "||" in found[2] or re.search(r"(?:^|\s)#", found[1]):
        return command, ""
    return found[1], found[2]


def show_through(onward, text, capture, ok=True):
    """What an installer that is not there would have printed, as the cell wants it: why it failed to stderr."""
    if onward or capture:
        return call_shell(("cat " if ok else "{ cat >&2; } ") + onward, capture, (text + "\n").encode())
    print(text)
    return None


def shell_path():
    return "/bin/bash" if posix.access("/bin/bash", posix.X_OK) else "/bin/sh"


def own_pip(command):
    """`pip` of the PATH may belong to another Python."""
    shlex = own("shlex")

    words = command.split(None, 1)
    if words and words[0] in ("pip", "pip3"):
        rest = words[1] if len(words) > 1 else ""
        return "%s -m pip %s" % (shlex.quote(sys.executable), rest)
    return command


# Packages: a session has no network, and the server brings what it is asked for

PIP_FLAGS = {
    "-q", "-qq", "-qqq", "--quiet", "-v", "--verbose", "-U", "--upgrade", "--user", "--no-input", "--pre",
    "--break-system-packages", "--disable-pip-version-check", "--no-cache-dir", "--no-warn-script-location",
    "--only-binary", ":all:", "--prefer-binary", "--no-color", "--root-user-action=ignore", "-y",
}  # fmt: skip
NPM_FLAGS = {"-g", "--global", "-S", "--save", "-D", "--save-dev", "--silent", "-s", "--no-audit", "--no-fund", "--no-save"}


def packages_of(command):
    """(language, packages) when the command only installs some; None when it is the shell's."""
    words = simple_words(command)
    if words[:1] == ["npm"] and words[1:2] and words[1] in ("install", "i", "add"):
        names = [word for word in words[2:] if word not in NPM_FLAGS]
        return ("javascript", names) if names and not any(map(is_local, names)) else None
    words = pip_words(words)
    return python_packages(words[1:]) if words[:1] == ["install"] else None


def simple_words(command):
    """The words of a command that the shell would change nothing of; else none."""
    shlex = own("shlex")

    if any(mark in command for mark in ";|&$`\n(){}"):
        return []
    try:
        return shlex.split(command, comments=True)
    except ValueError:
        return []


def pip_words(words):
    """What follows pip, however that is called."""
    if words[:1] == ["uv"]:
        words = words[1:]
    if len(words) > 2 and words[0].rsplit("/", 1)[-1].startswith("python") and words[1] == "-m":
        words = words[2:]
    return words[1:] if words[:1] in (["pip"], ["pip3"]) else []


def python_packages(words):
    """What `pip install` of these words asks the server for; None when it stays in the session."""
    names = []
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ("-r", "--requirement") and words:
            names += read_requirements(words.pop(0), 0)
        elif word.startswith(("--progress-bar", "--timeout", "--retries")):
            words = words if "=" in word else words[1:]
        elif is_local(word) or word in ("-e", "--editable", "--no-index", "-t", "--target", "--find-links", "-f"):
            return None
        elif word not in PIP_FLAGS:
            names.append(word)
    return ("python", names) if names else None


def with_target(command):
    """pip puts what lies in the session into the session's own folder: Python's is not writable."""
    import os
    shlex = own("shlex")

    words = pip_words(simple_words(command))
    if words[:1] != ["install"] or not any(map(is_local, words)) or any(w.startswith(("-t", "--target")) for w in words):
        return command
    folder = os.path.expanduser("~/.cache/packages")
    if folder not in sys.path:
        sys.path.append(folder)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), folder]))
    options = ["--target", folder, "--upgrade", "--no-deps", "--no-index", "--no-build-isolation"]
    return shlex.join([sys.executable, "-m", "pip", *words, *options])


def is_local(word):
    import os

    plain = word.partition("[")[0]
    return word.startswith((".", "/", "~", "file:")) or (plain.endswith((".whl", ".tar.gz", ".zip")) and os.path.exists(plain))


def read_requirements(path, depth):
    """The lines of a requirements file of the session's own, and of those that it names."""
    import os

    names = []
    with open(os.path.expanduser(path), encoding="utf-8") as file:
        for line in file.read().replace("\\\n", " ").splitlines():
            line = line.partition(" #")[0].strip()
            first, _, rest = line.partition(" ")
            if not line or line.startswith("#"):
                continue
            if first in ("-r", "--requirement") and depth < 8:
                names += read_requirements(os.path.join(os.path.dirname(path), rest.strip()), depth + 1)
            else:
                names.append(line)
    return names


def ask_broker(language, packages):
    """(worked, what to tell) of packages that the server is asked to bring."""
    importlib = own("importlib")
    own("select")  # the wait's: an interrupt that comes while it is imported would be lost

    if in_child() or not may_send():
        return False, "Packages are installed from the cell's own thread only; or call install_packages."
    names = "\n".join(packages)
    if len(names) > LIST_MAX:
        return False, "The names of all these packages have %d characters: ask for fewer at once." % len(names)
    flush_streams()
    print("Asking ptycell to install %s; the session itself has no network." % " ".join(packages))
    flush_streams()
    cell = State.cell
    if cell.awaits_packages:  # for a question that was interrupted: the server takes one at a time
        channel.await_frame("installed", channel.wait_interruptible)
    cell.awaits_packages = True
    channel.send(b"install", cell.ident, [("language", language), ("packages", names)])
    told = channel.await_frame("installed", channel.wait_interruptible)
    cell.awaits_packages = False
    check_interrupt()
    importlib.invalidate_caches()
    forget_stand_in()
    lines = older_imports(told["packages"]) if language == "python" else []
    return told["ok"] == "1", "\n".join([told["text"], *lines])


def after_packages(command):
    if " pip " in command or " uv " in command:
        importlib = own("importlib")

        importlib.invalidate_caches()


def expand_names(command, frame):
    """`{expression}` and `$name` with the names of the frame; what is none of them is the shell's.

    Where all braces are those of str.format(), `{{` and `}}` are single ones of the shell. Else each
    pair is taken by itself. `$$x` is the shell's `$x`, and so is what looks like `$x` in single quotes.
    """
    if "{" not in command and "$" not in command:
        return command
    expansion = Expansion(command, names_seen(frame))
    text = expansion.result(Expansion.FORMAT)
    return expansion.result(Expansion.EACH) if text is None else text


class Expansion:
    VALUE = r"\{(?P<value>[^{}\n]+?)(?:!(?P<as>[rsa]))?\}"
    NAME = r"(?<!\\)\$(?P<twice>\$?)(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
    FORMAT = r"(?P<kept>\$\{(?!\{)[^{}\n]*\}|\\[{}])|(?P<two>\{\{|\}\})|" + VALUE + "|" + NAME + r"|(?P<single>[{}])"
    EACH = r"(?<![$\\{])(?:(?P<kept>\{\{[^{}\n]*\}\}(?!\}))|" + VALUE + ")|" + NAME

    def __init__(self, command, names):
        strings = own("re").finditer(r"""\\.|"(?:\\.|[^"\\])*"|('[^']*')""", command, own("re").S)
        self.quoted = [found.span(1) for found in strings if found[1]]
        self.command, self.names = command, names
        self.values = {}  # each is computed once: what its text is, None for none, by where it stands

    def result(self, marked):
        """None: a brace is none of FORMAT's."""
        pattern, parts, at = own("re").compile(marked), [], 0
        while True:
            match = pattern.search(self.command, at)
            if match is None:
                return "".join([*parts, self.command[at:]])
            text, end = self.meaning(match), match.end()
            if text is None and marked is self.FORMAT:
                return None
            if text is None:  # what is in these braces may have names
                text, end = "{", match.start() + 1
            parts += [self.command[at : match.start()], text]
            at = end

    def meaning(self, match):
        if match["kept"]:
            return match["kept"]
        if match["name"]:
            return self.named(match)
        if match["value"]:
            return self.value(match)
        return match["two"] and match["two"][0]

    def value(self, match):
        place = match.start("value")
        if place not in self.values:
            try:
                self.values[place] = CONVERSIONS.get(match["as"], str)(eval(match["value"], self.names))
            except Exception:
                self.values[place] = None
        return self.values[place]

    def named(self, match):
        first, *rest = match["name"].split(".")
        if any(start < match.start() < end for start, end in self.quoted):
            return match[0]
        if match["twice"]:
            return "$" + match["name"]
        if first not in self.names:
            return match[0]
        value = self.names[first]
        try:
            while rest and hasattr(value, rest[0]) and not callable(getattr(value, rest[0])):
                value = getattr(value, rest.pop(0))
            return ".".join([str(value), *rest])
        except Exception:
            return match[0]


def magic_shell(name):
    def magic(line):
        return run_command("%s %s" % (name, line), False)

    return magic


def script_magic(program):
    def magic(line, body, lineno):
        subprocess = own("subprocess")

        words, arguments, options = script_options(line)
        kept = {name: options.get(name) or stays_inside(getattr(sys, "std" + name)) for name in ("out", "err")}
        pipes = {"std" + name: subprocess.PIPE for name in kept if kept[name]}
        flush_streams()
        # As an argument and not on stdin: the script may read the terminal.
        code, *told = run_program([own("shutil").which(program) or program, *words, "-c", body, program, *arguments], **pipes)
        note_exit(code)
        for name, data in zip(("out", "err"), told):
            if kept[name]:
                text = data.decode("utf-8", "replace")
                if name in options:
                    NAMESPACE[options[name]] = text
                else:
                    getattr(sys, "std" + name).write(text)
        if code and "no-raise-error" not in options:
            raise subprocess.CalledProcessError(code, program)

    return magic


def script_options(line):
    """`-e -s A B --out NAME` as (["-e"], ["A", "B"], {"out": "NAME"})."""
    given, words, options = own("shlex").split(line), [], {}
    while given:
        word = given.pop(0)
        if word in ("--out", "--err") and given:
            options[word[2:]] = given.pop(0)
        elif word == "--no-raise-error":
            options[word[2:]] = word
        elif word in ("--out", "--err", "--bg", "--proc"):
            raise UsageError("a cell of a shell takes the shell's options, -s ARGUMENTS, --out NAME, --err NAME and "
                             "--no-raise-error; not %s" % word)
        else:
            words.append(word)
    at = words.index("-s") if "-s" in words else len(words)
    arguments = words[at + 1 :]
    return words[:at], arguments[1:] if arguments[:1] == ["--"] else arguments, options


def magic_pip(line):
    shlex = own("shlex")

    command, onward = split_output(line)
    words = shlex.split(command, comments=True)
    wanted = python_packages(words[1:]) if words[:1] == ["install"] else None
    if wanted is None:
        run_command("%s -m pip %s" % (shlex.quote(sys.executable), line), False)
        return
    ok, text = ask_broker(*wanted)
    if not ok:
        raise UsageError(text)
    show_through(onward, text, False)


# Files and environment


def magic_cd(line):
    import os

    words = line.split(None, 1)
    quiet = words[:1] == ["-q"]
    target = unquoted("".join(words[1:]).strip() if quiet else line) or "~"
    if target == "-":
        if State.folder_before is None:
            raise UsageError("%cd - goes back where %cd came from, and there was none before")
        target = State.folder_before
    before = os.getcwd()
    os.chdir(os.path.expanduser(target))
    State.folder_before = before
    if not quiet:
        print(os.getcwd())


def magic_pwd(line):
    return posix.getcwd()


def unquoted(text):
    if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]:
        return text[1:-1]
    return text


def magic_env(line):
    import os

    name, equals, value = line.partition("=")
    if not equals and " " in line:
        name, _, value = line.partition(" ")
        equals = " "
    if equals:
        os.environ[name.strip()] = unquoted(value.strip())
        print("env: %s=%s" % (name.strip(), os.environ[name.strip()]))
        return None
    if line and name.strip() not in os.environ:
        raise UsageError("there is no environment variable %s" % name.strip())
    return os.environ[name.strip()] if line else dict(os.environ)


def magic_set_env(line):
    if not line.partition("=")[1] and " " not in line:
        raise UsageError("%set_env needs a name and a value: %set_env NAME=value")
    return magic_env(line)


def magic_writefile(line, body, lineno):
    words = line.split(None, 1)
    append = bool(words) and words[0] in ("-a", "--append")
    path = unquoted((words[1] if append and len(words) > 1 else line).strip())
    if not path:
        raise UsageError("%%writefile needs a file name")
    import os

    told = "Appending to" if append else "Overwriting" if os.path.exists(path) else "Writing"
    with open(path, "a" if append else "w", encoding="utf-8") as file:
        file.write(body if body.endswith("\n") or not body else body + "\n")
    print(told, path)


def magic_run(line):
    shlex = own("shlex")

    options, words = set(), shlex.split(line)
    while words and words[0].startswith("-") and words[0] != "-":
        options.add(words.pop(0))
    unknown = options - {"-i", "-e", "-n", "-t", "-m", "-G"}
    if unknown or not words:
        raise UsageError("%%run takes a file, or a module behind -m, and the options -i -e -n -t -G%s" % (
            "; not " + " ".join(sorted(unknown)) if unknown else ""))
    if "-G" not in options:
        words[1:] = [name for word in words[1:] for name in files_named(word)]
    work = lambda: run_file(words, options)
    return timed(work) if "-t" in options else work()


def files_named(pattern):
    """In order; the pattern itself where it names none."""
    import os

    pattern = os.path.expanduser(pattern)
    return sorted(own("glob").glob(pattern)) or [pattern]


def run_file(words, options):
    import os

    path = os.path.expanduser(words[0])
    saved, sys.argv = sys.argv, words
    try:
        if path.endswith((".ipynb", ".ipy")):
            run_notebook(path)
        elif "-m" in options:
            keep_names(own("runpy").run_module(words[0], run_name="__main__", alter_sys=False))
        else:
            if not os.path.exists(path) and os.path.isfile(path + ".py"):
                path += ".py"
            sys.argv = [path, *words[1:]]
            name = "__main__" if "-n" not in options else os.path.splitext(os.path.basename(path))[0]
            run_script(path, name, NAMESPACE if "-i" in options else {})
    except SystemExit as error:
        code = exit_code(error)
        if "-e" not in options:
            note_exit(code)
    finally:
        sys.argv = saved
        sys.modules["__main__"] = MAIN


def run_script(path, name, given):
    """As a module of its own. Its names are the cells', too, even those of one that fails or exits."""
    import os

    if path.endswith(".pyc") or own("pkgutil").get_importer(path) is not None:  # a folder or an archive
        keep_names(own("runpy").run_path(path, init_globals=given, run_name=name))
        return
    path = os.path.abspath(path)  # of each of its places, as Python has it: the script may leave the folder
    with _io.open_code(path) as file:
        code = compile(file.read(), path, "exec", 0, True)
    module, folder = ModuleType(name), os.path.dirname(path)
    module.__dict__.update({"__builtins__": builtins, **given, "__name__": name, "__file__": path})
    before = sys.modules.get(name)
    sys.modules[name] = module
    sys.path.insert(0, folder)
    try:
        exec(code, module.__dict__)
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before
        keep_names(module.__dict__)


def keep_names(names):
    NAMESPACE.update((k, v) for k, v in list(names.items()) if not (k.startswith("__") and k.endswith("__")))


def run_notebook(path):
    """Its cells of code, one after the other, as if they stood in this one. A file of IPython is one cell."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".ipy"):
        run_text(text, path)
        return
    for number, cell in enumerate(own("json").loads(text).get("cells", []), 1):
        if cell.get("cell_type") == "code":
            run_text("".join(cell.get("source", "")), "%s, cell %d" % (path, number))


def run_text(source, name):
    sources.remember(name, source)
    evaluate(source, name)


# Names


def user_names():
    return sorted(
        name
        for name, value in NAMESPACE.items()
        if not name.startswith("_") and not is_a(value, ModuleType)
    )


def magic_who(line):
    found = [name for name in user_names() if not line or kind_of(NAMESPACE[name]) in line.split()]
    print("  ".join(found) or "No names are defined.")


def magic_whos(line):
    for name in user_names():
        value = NAMESPACE[name]
        text = safe_repr(value)[:60]
        print("%-20s %-16s %-10s %s" % (name, kind_of(value), shape_of(value), text))


def magic_reset(line):
    for name in [name for name in NAMESPACE if not name.startswith("__")]:
        del NAMESPACE[name]


def magic_debug(line):
    pdb = own("pdb")

    pdb.pm()


# Time


def magic_time(line, frame):
    # On its own line of the cell, so that a traceback shows that.
    source = "\n" * (frame.f_lineno - 1) + line
    return timed(lambda: evaluate(source, State.cell.name, scope_of(frame)))


def magic_time_cell(line, body, lineno):
    return timed(lambda: evaluate_body(body, lineno))


def timed(work):
    import time

    cpu, wall = time.process_time(), time.perf_counter()
    try:
        return work()
    finally:
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print("CPU time %s, wall time %s" % (seconds_text(cpu), seconds_text(wall)))


def seconds_text(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return "%.3g %s" % (seconds * factor, unit)
    return "%.3g ns" % (seconds * 1e9)


def magic_timeit(line, frame):
    options, statement = split_options(line)
    return measure(options, statement, "pass", scope_of(frame))


def magic_timeit_cell(line, body, lineno):
    options, setup = split_options(line)
    return measure(options, body, setup or "pass")


def measure(options, statement, setup, scope=None):
    timeit = own("timeit")

    name = State.cell.name
    names = NAMESPACE if scope is None else {**NAMESPACE, **scope}
    timer = timeit.Timer(without_magics(statement, name), without_magics(setup, name), globals=names)
    number = options.get("n") or timer.autorange()[0]
    measured = Measured(number, timer.repeat(options.get("r") or 5, number))
    if "q" not in options:
        print(measured)
    return measured if "o" in options else None


class Measured:
    """What %timeit prints, and gives with -o."""

    def __init__(self, loops, all_runs):
        self.loops, self.repeat, self.all_runs = loops, len(all_runs), all_runs
        self.timings = runs = [total / loops for total in all_runs]
        self.best, self.worst, self.average = min(runs), max(runs), sum(runs) / len(runs)
        self.stdev = (sum((run - self.average) ** 2 for run in runs) / len(runs)) ** 0.5

    def __repr__(self):
        spread = seconds_text(self.average), seconds_text(self.stdev), self.repeat, self.loops
        return "%s +- %s per loop (mean +- std. dev. of %d runs, %d loops each)" % spread


def split_options(line):
    """`-n 10 -r 3 -q rest` as ({"n": 10, "r": 3, "q": 0}, "rest")."""
    re = own("re")

    options = {}
    while True:
        match = re.match(r"\s*-(?:([nr])\s*(\d+)|([qo]))(?:\s+|$)", line)
        if match is None:
            return options, line
        options[match[1] or match[3]] = int(match[2] or 0)
        line = line[match.end() :]


def magic_prun(line, frame):
    profile = own("cProfile").Profile()
    try:
        profile.runctx(line, NAMESPACE, scope_of(frame) or NAMESPACE)
    except SystemExit:
        pass
    finally:
        among_own(lambda: profile.print_stats("cumulative"))


# Output


class Captured:
    """What %%capture keeps."""

    def __init__(self, stdout, stderr, outputs):
        self.stdout = stdout
        self.stderr = stderr
        self.outputs = outputs

    def __str__(self):
        return self.stdout

    def show(self):
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)
        for output in self.outputs:
            output.display()

    __call__ = show


class Shown:
    """One display that was captured."""

    def __init__(self, parts):
        self.parts = parts
        self.data = {mime: data for mime, data in parts if "/" in mime}

    def display(self):
        publish(self.parts)

    def __repr__(self):
        return str(self.data.get("text/plain", "<%s>" % ", ".join(self.data)))


def magic_capture(line, body, lineno):
    contextlib = own("contextlib")
    io = own("io")

    words = line.split()
    kept = {"stdout": io.StringIO(), "stderr": io.StringIO()}
    outer, shown = State.captured, []
    with contextlib.ExitStack() as stack:
        for name, stream in kept.items():
            if "--no-" + name not in words:
                stack.enter_context(getattr(contextlib, "redirect_" + name)(stream))
        if "--no-display" not in words:
            State.captured = shown
        try:
            value = evaluate_body(body, lineno)
            if value is not None:
                show_value(value)
            show_figures()
        finally:
            State.captured = outer
            target = [word for word in words if not word.startswith("-")]
            if target:
                NAMESPACE[target[0]] = Captured(kept["stdout"].getvalue(), kept["stderr"].getvalue(), shown)


def markup_magic(mime):
    def magic(line, body, lineno):
        publish_display_data({mime: body, "text/plain": body})

    return magic


def magic_matplotlib(line):
    """Figures are shown inline, whatever is asked for."""
    words = line.split()
    if "--list" in words or "-l" in words:
        print("Available matplotlib backends: ['inline']")
    elif words and words[0] not in ("inline", "agg"):
        say("[%%matplotlib %s: figures are shown as pictures in the output, as with inline]" % words[0])


def magic_pylab(line):
    exec("import numpy, matplotlib\nfrom matplotlib import pylab, mlab, pyplot\nnp = numpy\nplt = pyplot\n"
         "from pylab import *\nfrom numpy import *\n", NAMESPACE)
    magic_matplotlib(line)


def magic_load_ext(line):
    importlib = own("importlib")

    if line in ("autoreload", "storemagic"):
        return
    if not line or not module_exists(line):
        raise UsageError("there is no extension %r" % line)
    load = getattr(importlib.import_module(line), "load_ipython_extension", None)
    if load is None:
        raise UsageError("the module %r is no extension: it has no load_ipython_extension" % line)
    load(SHELL)


def without_effect(name, why):
    def magic(line):
        say("[%%%s does nothing here: %s]" % (name, why))

    return magic


def magic_config(line):
    """Of all settings the one that says which values are shown."""
    found = own("re").fullmatch(r"(?:Terminal)?InteractiveShell\.ast_node_interactivity\s*=\s*(['\"])(\w+)\1", line)
    if found is None:
        CONFIGURES_NOTHING(line)
    else:
        SHELL.ast_node_interactivity = found[2]


CONFIGURES_NOTHING = without_effect("config", "libraries are configured by their own calls")


def magic_lsmagic(line):
    print(listed(LINE_MAGICS, "%"))
    print(listed(CELL_MAGICS, "%%"))


def show_help(name, with_source=False):
    inspect = own("inspect")

    try:
        value = eval(name, NAMESPACE)
    except (NameError, AttributeError):
        print("Object `%s` not found." % name)
        return
    try:
        print("%s%s" % (name, inspect.signature(value)))
    except (TypeError, ValueError):
        print("%s: %s %s" % (name, kind_of(value), shape_of(value)))
    print(inspect.getdoc(value) or "")
    if with_source:
        try:
            print(inspect.getsource(value))
        except (TypeError, OSError):
            print("[its source is not there]")


LINE_MAGICS = {
    "cd": magic_cd,
    "pwd": magic_pwd,
    "env": magic_env,
    "set_env": magic_set_env,
    "pip": magic_pip,
    "run": magic_run,
    "who": magic_who,
    "whos": magic_whos,
    "reset": magic_reset,
    "debug": magic_debug,
    "time": magic_time,
    "timeit": magic_timeit,
    "prun": magic_prun,
    "lsmagic": magic_lsmagic,
    "sx": lambda line: run_command(line, True),
    "system": lambda line: run_command(line, True),
}
LINE_MAGICS.update((n, magic_shell(n)) for n in "ls cat cp mv rm mkdir rmdir head tail".split())
LINE_MAGICS.update(
    matplotlib=magic_matplotlib,
    pylab=magic_pylab,
    load_ext=magic_load_ext,
    reload_ext=magic_load_ext,
    autoreload=without_effect("autoreload", "importlib.reload(module) loads a module anew"),
    config=magic_config,
    precision=without_effect("precision", "round() and format() say how many digits are shown"),
)
SEE_LOCALS = {magic_time, magic_timeit, magic_prun}

CELL_MAGICS = {
    "bash": script_magic("bash"),
    "sh": script_magic("sh"),
    "writefile": magic_writefile,
    "file": magic_writefile,
    "time": magic_time_cell,
    "timeit": magic_timeit_cell,
    "capture": magic_capture,
    "html": markup_magic("text/html"),
    "HTML": markup_magic("text/html"),
    "markdown": markup_magic("text/markdown"),
    "svg": markup_magic("image/svg+xml"),
    "latex": markup_magic("text/latex"),
}
TAKE_CODE = {magic_time_cell, magic_timeit_cell}


# ---- IPython's names ------------------------------------------------------------------------


VALUES_SHOWN = ("all", "last", "last_expr", "last_expr_or_assign", "none")


class Shell:
    """What get_ipython() gives to cells: notebooks that were exported call it for each magic."""

    user_ns = user_global_ns = NAMESPACE
    ast_node_interactivity = "last_expr"

    def __setattr__(self, name, value):
        if name == "ast_node_interactivity" and value not in VALUES_SHOWN:
            raise ValueError("%s: %r is none of %s" % (name, value, ", ".join(VALUES_SHOWN)))
        super().__setattr__(name, value)

    def run_line_magic(self, name, line, *_):
        return run_line_magic("%s %s" % (name, line), sys._getframe(1))

    def run_cell_magic(self, name, line, body):
        return run_cell_magic(name, line, body, 1, sys._getframe(1))

    def magic(self, line):
        return run_line_magic(line, sys._getframe(1))

    def system(self, command):
        run_shell(command, False, sys._getframe(1))

    def getoutput(self, command, split=True, *_, **__):
        lines = run_shell(command, True, sys._getframe(1))
        return lines if split else lines.n

    def push(self, names, *_, **__):
        """A dictionary, or names of who calls."""
        if not isinstance(names, dict):
            caller = names_seen(sys._getframe(1))
            names = {name: caller[name] for name in (names.split() if isinstance(names, str) else names)}
        NAMESPACE.update(names)

    def ex(self, source):
        evaluate(source, State.cell.name)

    def ev(self, source):
        return evaluate(source, State.cell.name)

    def run_cell(self, source, *_, **__):
        value = evaluate(source, State.cell.name)
        if value is not None:
            show_value(value)

    def register_magic_function(self, function, magic_kind="line", magic_name=None):
        name = magic_name or function.__name__
        if magic_kind in ("line", "line_cell"):
            LINE_MAGICS[name] = function
        if magic_kind in ("cell", "line_cell"):
            CELL_MAGICS[name] = lambda line, body, lineno: function(line, body)


SHELL = Shell()


def for_cells(others):
    """get_ipython for code of cells, and for IPython's decorators of magics. A library asks what it runs in, and
    this is no kernel."""

    def get_ipython():
        if sys._getframe(1).f_globals.get("__name__") in ("__main__", "IPython.core.magic"):
            return SHELL
        return others()

    return get_ipython


def no_ipython():
    raise NameError("name 'get_ipython' is not defined")


# Where IPython is not installed, its names that notebooks begin with.
STAND_IN = """\
class DisplayObject:
    _mime = "text/plain"
    def __init__(self, data=None, url=None, filename=None, metadata=None, **options):
        if filename is None and url is None and isinstance(data, str) and self._from_file(data):
            data, filename = None, data
        if filename is not None:
            with open(filename, self._mode) as file:
                data = file.read()
        if data is None and url is not None:
            raise ValueError("a session shows data and files, not what lies at an URL")
        self.data, self.filename, self.metadata = data, filename, metadata
    _mode = "r"
    def _from_file(self, data):
        return False
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self._mime: self.data}

def _of(name, mime):
    return type(name, (DisplayObject,), {"_mime": mime, "__module__": "IPython.display"})

HTML = _of("HTML", "text/html")
Markdown = _of("Markdown", "text/markdown")
Latex = _of("Latex", "text/latex")
JSON = _of("JSON", "application/json")
SVG = _of("SVG", "image/svg+xml")
Javascript = _of("Javascript", "application/javascript")
Pretty = TextDisplayObject = _of("Pretty", "text/plain")
SVG._from_file = lambda self, data: not data.lstrip().startswith("<")

class Math(Latex):
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/latex": "$\\\\displaystyle %s$" % self.data.strip("$")}

class Code(DisplayObject):
    def __init__(self, data=None, url=None, filename=None, language=None):
        super().__init__(data, url, filename)
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": self.data}

class Image(DisplayObject):
    _mode = "rb"
    def _from_file(self, data):
        return True
    def _repr_mimebundle_(self, include=None, exclude=None):
        kinds = {b"\\xff\\xd8": "image/jpeg", b"GI": "image/gif", b"RI": "image/webp"}
        return {kinds.get(bytes(self.data[:2]), "image/png"): self.data}

class FileLink:
    def __init__(self, path, *_, **__):
        self.path = path
    def __repr__(self):
        return str(self.path)

def display_html(*objects, raw=False, **options):
    display(*([{"text/html": item} for item in objects] if raw else objects), raw=raw)
def display_markdown(*objects, raw=False, **options):
    display(*([{"text/markdown": item} for item in objects] if raw else objects), raw=raw)
def display_pretty(*objects, raw=False, **options):
    display(*([{"text/plain": item} for item in objects] if raw else objects), raw=raw)
def update_display(item, *, display_id=None, **options):
    display(item, **options)
"""


class StandIn:
    """Finds IPython behind all others: what is installed comes first. And is its loader."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in ("IPython", "IPython.display", "IPython.core", "IPython.core.display",
                        "IPython.core.interactiveshell"):
            return None
        from _frozen_importlib import ModuleSpec

        return ModuleSpec(name, StandIn, is_package=name in ("IPython", "IPython.core"))

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        names = module.__dict__
        names["display"] = display
        if names["__name__"] in ("IPython", "IPython.core"):
            names["get_ipython"] = for_cells(lambda: None)
            return
        if names["__name__"] == "IPython.core.interactiveshell":
            names["InteractiveShell"] = Shell
            return
        names.update(clear_output=clear_output, publish_display_data=publish_display_data, DisplayHandle=DisplayHandle)
        exec(compile(STAND_IN, DRIVER_FILE, "exec", 0, True), names)


def forget_stand_in():
    """The real one may have come."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "IPython"]:
        if getattr(sys.modules[name], "__loader__", None) is StandIn:
            del sys.modules[name]


# ---- cells ----------------------------------------------------------------------------------


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


def log(error):
    """The driver's own trouble goes to the server's log, not into the cell's output."""
    if _thread.get_ident() == State.main_thread:
        channel.send(b"log", 0, [("text", error_line(error))])


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


# ---- ahead of a session ---------------------------------------------------------------------


def handle_preload(turn):
    """Imports a module while nobody waits: whoever gets this process finds no other trace of it."""
    name = turn.parts.get("module")
    before = folder_entries()
    try:
        for module in (name, *ALONG.get(name, ())) if name else OWN_NEEDS:
            __import__(module)
    except ModuleNotFoundError:
        pass
    except BaseException as error:
        log(error)
    flush_streams()
    flush_c_streams()
    remove_entries(folder_entries() - before)
    State.tidy = False
    outcome = [("status", "ok")]
    if not name:
        warm_up()
        outcome.extend(compiled_driver())
    channel.answer(turn, outcome)


WARM_CELLS = 20  # after which Python has specialised what each cell runs through


def warm_up():
    """Answers cells to nobody: what a first one does for the first time, a page of a copy that it
    writes to among that, is done. They leave nothing behind."""
    told, shown = channel.fd, vars(builtins).get("_")
    channel.fd = posix.open("/dev/null", posix.O_WRONLY | posix.O_CLOEXEC)
    try:
        for _ in range(WARM_CELLS):
            handle_exec(Turn(("exec", 0, {"code": "1+1"})))
    finally:
        posix.close(channel.fd)
        channel.fd = told
    State.cell = Cell(0, "<cell 0>", "")
    sources.drop("<cell 0>")
    sources.leaves.clear()
    vars(builtins).pop("_", None)
    if shown is not None:
        builtins._ = shown


def compiled_driver():
    """As the stub wants it: for the next start of this interpreter, when this one had to compile."""
    code = globals().pop("compiled", None)
    if not code:
        return []
    import _imp
    import marshal
    from _frozen_importlib_external import MAGIC_NUMBER

    data = marshal.dumps(code)
    return [("compiled", MAGIC_NUMBER + _imp.source_hash(3, data) + data)]


# What the driver itself loads for first cells, and what a module does for its first use.
OWN_NEEDS = ("ast", "linecache", "traceback", "warnings")
ALONG = {"matplotlib.pyplot": ("matplotlib.backends.backend_agg",)}


def folder_entries():
    """Of the working folder and of caches in it, which a session may have from the start."""
    entries = set(posix.listdir("."))
    try:
        entries.update(".cache/" + name for name in posix.listdir(".cache"))
    except OSError:
        pass
    return entries


def remove_entries(entries):
    if not entries:
        return
    import shutil

    for name in entries:
        shutil.rmtree(name, ignore_errors=True)


# ---- copies for sessions --------------------------------------------------------------------


def handle_serve(turn):
    """Is copied for sessions until the next frame comes (sandbox/supervise/zygote.h). Returns in each copy, too."""
    import ctypes

    library = ctypes.PyDLL(turn.parts["library"])
    library.parent_variable.restype = ctypes.c_char_p
    if not library.parent_may_serve(FORK_FD):
        posix._exit(1)
    blas = find_blas()
    channel.answer(turn, [("status", "ok")])
    gc.collect()
    gc.freeze()  # what is never collected is never written to, and stays shared
    State.serving = True
    outcome = library.parent_serve_python(FORK_FD, channel.fd)
    if outcome == COPIED:
        begin_session(library, blas)
    elif outcome != WANTED:
        posix._exit(1)
    State.serving = False


FORK_FD = 4
COPIED = 1
WANTED = 3


def begin_session(library, blas):
    """What differs between a copy and an interpreter that has just started."""
    channel.forget()
    State.main_thread = _thread.get_ident()
    State.terminal = posix.dup(1)
    take_environment(library)
    if "threading" in sys.modules:
        sys.modules["threading"].main_thread()._set_native_id()
    reseed()
    for path in list(sys.path_importer_cache):
        if not path.startswith("/usr/"):
            del sys.path_importer_cache[path]
    hello = greet()
    _signal.signal(_signal.SIGINT, on_sigint)
    take_hello(hello)
    give_threads(blas)


def take_environment(library):
    import os
    import time

    variables = posix.environ
    variables.clear()
    index = 0
    while True:
        item = library.parent_variable(index)
        if item is None:
            break
        name, _, value = item.partition(b"=")
        variables[name] = value
        index += 1
    if os.environ._data is not variables:
        os.environ._data.clear()
        os.environ._data.update(variables)
    time.tzset()


# Generators that a module keeps for all who use it, and what gives them another beginning.
RESEED = (
    ("random", "seed"),
    ("numpy.random", "seed"),
    ("mkl_random", "seed"),
    ("torch", "seed"),
)
# Those that know a fork by the process's number, which copies have in common: dropped, they are
# made anew.
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
    if process is not None:  # its key is drawn when it is imported
        process.current_process().authkey = posix.urandom(32)
    if "_ssl" in sys.modules:  # OpenSSL goes by that number, too
        sys.modules["_ssl"].RAND_add(posix.urandom(32), 32)


def find_blas():
    """Libraries that a parent keeps to one thread, by OPENBLAS_NUM_THREADS."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(None, 5)[-1].strip() for line in maps if "openblas" in line}
    return sorted(path for path in paths if path.startswith("/"))


def give_threads(blas):
    """As many as an import would have begun, had the parent's environment not said: one."""
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


# ---- start and main loop --------------------------------------------------------------------


def set_up():
    import faulthandler
    import os

    _signal.signal(_signal.SIGINT, on_sigint)
    take_streams()
    State.streams = (sys.stdin, sys.stdout, sys.stderr)
    State.terminal = posix.dup(1)
    os.register_at_fork(before=settle, after_in_child=close_in_child)
    faulthandler.enable(2)
    # The server's last question to code that SIGINT does not stop: where are you?
    faulthandler.register(_signal.SIGUSR2, 2, all_threads=True, chain=False)
    builtins.display = display
    builtins.get_ipython = for_cells(no_ipython)
    sys.displayhook = show_value
    sys.argv = [""]
    if sys.path[:1] != [""]:
        sys.path.insert(0, "")
    install_magics()
    install_hooks()
    take_hello(HELLO)
    gc.enable()  # the stub had it off: collecting while the driver loads finds nothing
    names.ids = {name: id(value) for name, value in NAMESPACE.items()}


def take_hello(hello):
    State.output = hello.get("output", "")
    if "stack" in hello:
        _thread.stack_size(int(hello["stack"]))
    if "rules" in hello:
        load_rules(hello.pop("checker"), hello.pop("rules"))


def close_in_child():
    printing._at_fork_reinit()
    if State.serving:
        return  # a copy for a session, with descriptors of its own
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
    "preload": handle_preload,
    "serve": handle_serve,
}
NO_REQUEST = ("ack", "interrupt", "installed")


def serve():
    """Answers frames until the server says quit."""
    while True:
        try:
            take_turns()
            return
        except BaseException as error:
            # Out of a signal handler or a callback of the user's: in the driver or between cells.
            State.failures += 1
            tell_trouble(error)


def take_turns():
    while True:
        # A loop that fails again and again is left alone until the next frame.
        frame = channel.peek_frame(pump_loop if State.failures < FAILURES_TOLD else None)
        if State.turn is None or State.turn.frame is not frame:
            State.turn = Turn(frame)
            State.failures = 0
        if frame[0] == "quit":
            return
        take_turn(State.turn)
        channel.drop_frame(frame)
        State.turn = None


def take_turn(turn):
    if turn.answer is not None:
        channel.finish_answer(turn)
    elif turn.kind in HANDLERS:
        HANDLERS[turn.kind](turn)
    elif turn.kind not in NO_REQUEST:
        channel.send(b"log", 0, [("text", "unknown frame %s" % clean_word(turn.kind))])


def tell_trouble(error):
    """A cell that has no outcome yet ends with the error; any other is said, of many the first."""
    State.running = False
    turn = State.turn
    if turn is not None and turn.cell is not None and turn.outcome is None:
        turn.trouble = error
    elif State.failures <= FAILURES_TOLD:
        try:
            say_traceback(error)
        except BaseException:
            pass


set_up()
serve()
sys.exit(0)
