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
        report_interrupted()
        raise KeyboardInterrupt


def report_interrupted():
    """Reports the interrupt to the server, which would otherwise send a second one.

    The second one would end what session code does because of the first.
    """
    if State.running and not channel.sending:
        channel.send(b"interrupted", State.cell.ident, ())


def on_sigint(signum, frame):
    """Interrupts session code, never the driver's own work: a frame must not be torn.

    An interrupt between cells is for the cell that has just ended, or for one whose frame is still
    unread. meant_for() decides.
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
        report_interrupted()
        return
    report_interrupted()
    raise KeyboardInterrupt


def meant_for(cell):
    """Returns whether an interrupt that came before this cell began is for it.

    The server sends a frame that names the cell before the signal.
    """
    State.signalled = False
    return any(kind == "interrupt" and ident == cell.ident for kind, ident, _ in channel.look_ahead())


def wait_interruptible():
    """Waits for data from the server; an interrupt ends the wait, never the reading after it."""
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
    """Cancels the task of a cell that waits in `await`, so that its finally blocks run.

    Returns False if an interrupt has to be raised instead.
    """
    task = State.task
    if task is None or task.done() or State.task_cancelled:
        return False
    asyncio = own("asyncio")
    if asyncio.current_task(State.loop) is not None:
        return False  # the task computes: cancelling would not reach it
    State.task_cancelled = True
    task.cancel()
    State.loop.call_soon_threadsafe(lambda: None)
    return True
