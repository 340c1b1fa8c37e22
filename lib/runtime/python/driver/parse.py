# SPDX-License-Identifier: MIT
"""Parses and compiles source text with the flags that all cells share, and finds a cell's value.

`from __future__ import` of one cell holds for the later ones, as at Python's prompt. Await at the
top level is allowed.
"""

import _ast

from .state import State

ONLY_AST = 0x400
TOP_LEVEL_AWAIT = 0x2000
FUTURE_FLAGS = 0x1FE0000  # every CO_FUTURE_* bit
COROUTINE = 0x80

# What statements of one line begin with, and magics.
NO_EXPRESSION = tuple(
    word + end
    for word in ("assert", "async", "class", "def", "del", "for", "from", "if", "import", "raise", "while", "with")
    for end in " ("
) + ("%", "!")


def parse_source(source, name):
    return compile(source, name, "exec", ONLY_AST | TOP_LEVEL_AWAIT | State.future_flags, True)


def compile_expression(source, name):
    """Returns the code of source that is one expression in one line, else None.

    This takes half the time of making a tree and compiling that. Source that is hardly an
    expression is not tried, nor is one with a backslash: Python warns of `1or 2` and of an unknown
    escape as it reads them, so source that is none would bring the warning twice.
    """
    if "\n" in source or "=" in source or ";" in source or "\\" in source or source.startswith(NO_EXPRESSION):
        return None
    try:
        return compile(source, name, "eval", TOP_LEVEL_AWAIT | State.future_flags, True)
    except (SyntaxError, ValueError):
        return None


def compile_tree(tree, name, mode):
    code = compile(tree, name, mode, TOP_LEVEL_AWAIT | State.future_flags, True)
    State.future_flags |= code.co_flags & FUTURE_FLAGS
    return code


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
