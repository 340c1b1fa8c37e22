# SPDX-License-Identifier: MIT
"""Runs compiled code in `__main__`.

Tracers and profilers of session code (sys.settrace) see cells only: they are taken off while the
driver is at work.
"""

import _ast
import sys

from .channel import channel
from .compile import compile_cell
from .display import show_value
from .interrupt import check_interrupt
from .loop import run_in_loop, wants_loop
from .magics_syntax import without_magics
from .parse import COROUTINE, compile_tree, last_expression, parse_source
from .sources import sources
from .state import NAMESPACE, State

gettrace, settrace, getprofile, setprofile = sys.gettrace, sys.settrace, sys.getprofile, sys.setprofile


def run_codes(codes, source, scope=None):
    """Runs compiled parts in `__main__`, with `scope` as locals if given.

    Returns the value of the last part, or None.
    """
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
        except MemoryError:  # CPython since 3.11 tries without end to enter a finally for which it has no memory
            channel.spares.give_up()
            raise
        finally:  # a function of the driver called here would be traced
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
    # All parts run in one task: the second part may await what the first one started.
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
    sources.stopped[cell.name] = 0
    codes = compile_cell(cell)
    del sources.stopped[cell.name]
    value = run_codes(codes, cell.source)
    if value is not None:
        getattr(sys, "displayhook", show_value)(value)


def evaluate(source, name, scope=None):
    """Runs source for a magic, as a cell within the cell. Returns its value."""
    source = without_magics(source, name)
    tree = parse_source(source, name)
    last = last_expression(tree, source)
    codes = [(compile_tree(tree, name, "exec"), False)] if tree.body else []
    if last is not None:
        codes.append((compile_tree(_ast.Expression(last), name, "eval"), True))
    return run_codes(codes, source, scope)


def evaluate_body(body, lineno):
    return evaluate("\n" * lineno + body, State.cell.name)
