# SPDX-License-Identifier: MIT
"""Decides what SIGINT interrupts.

An interrupt is raised in session code only. One that arrives while a frame of the driver is
innermost is noted, and check_interrupt() raises it at the next safe place.
"""

import posix

from .channel import channel
from .kinds import DRIVER_FILE
from .own import own
from .state import State


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


def wait_interruptible():
    """For what may take minutes: an interrupt ends the wait, never the reading behind it."""
    select = own("select")

    poll = select.poll()
    poll.register(channel.fd, select.POLLIN)
    State.waiting = True
    try:
        check_interrupt()
        poll.poll()
    finally:
        State.waiting = False


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
