# SPDX-License-Identifier: MIT
"""The event loop that all cells with `await` share.

Background tasks run on between cells, until the server sends the next frame.
"""

import _ast

from .channel import channel
from .own import own, with_own_modules
from .parse import try_parse
from .state import State

LOOP_CALLS = ("create_task", "ensure_future", "get_running_loop")


def wants_loop(source):
    """Returns whether a cell without await still expects a running loop, as in a notebook."""
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
        loop = State.loop = with_own_modules(asyncio.new_event_loop)
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
    except BaseException:  # also if the loop was stopped: the next cell must not continue this
        abandon_task(asyncio, loop, task)
        raise
    finally:
        State.task = None


def spend_stop(loop, coroutine):
    """Runs the loop once, so that a stop left by an earlier cell does not end this cell."""
    try:
        loop.call_soon(loop.stop)
        loop.run_forever()
    except BaseException:
        coroutine.close()
        raise


def abandon_task(asyncio, loop, task):
    """Cancels a task that its loop has left, and gives it 0.2 s for its finally blocks."""
    if task.done():
        return
    task.cancel()
    try:
        loop.run_until_complete(asyncio.wait([task], timeout=0.2))
    except BaseException:
        pass


def loop_has_work():
    """Returns whether tasks, timers or connections go on. A timer that is cancelled may stay listed."""
    loop = State.loop
    if loop is None or loop.is_closed():
        return False
    try:
        # One registered file is the loop's own wake-up pipe.
        return len(loop._selector.get_map()) > 1 or not all(call.cancelled() for calls in (loop._ready, loop._scheduled) for call in calls)
    except AttributeError:
        return True


def pump_loop():
    """Lets background tasks run until the server sends a frame. Called between cells."""
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
