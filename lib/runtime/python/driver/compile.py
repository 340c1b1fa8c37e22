# SPDX-License-Identifier: MIT
"""Compiles a cell: its statements, and its last expression by itself.

Also notes the names that the cell assigns or may change in place, and where it defines classes and
functions.
"""

import _ast
import sys

from .kinds import CodeType, loaded_class
from .magics_syntax import rewrite_magics
from .parse import compile_expression, compile_tree, dedent, ends_in_semicolon, last_expression, parse_source
from .rules import check_rules
from .sources import sources
from .state import State

DEFINITIONS = (
    _ast.FunctionDef,
    _ast.AsyncFunctionDef,
    _ast.ClassDef,
    _ast.Import,
    _ast.ImportFrom,
)


def compile_cell(cell):
    """Returns the cell as a list of (code, is_value): its statements, then its last expression."""
    normalize_source(cell)
    shown = values_shown()
    if State.check is None and shown == "last_expr":
        code = compile_expression(cell.source, cell.name)
        if code is not None:
            codes = [(code, True)]
            if not defines_code(codes):
                sources.note_leaf(cell.name)
            return codes
    tree = parse_cell(cell)
    if State.check is not None:
        check_rules(tree, cell.source)
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
    """Divides the statements of a cell whose values are shown one by one.

    Returns those before, those that show their values, and a last one with a `;` behind it.
    """
    end = len(body) - (last is None and type(body[-1]) is _ast.Expr)
    start = 0 if shown == "all" else end if last is not None or end < len(body) else end - 1
    return body[:start], body[start:end], body[end:]


def values_shown():
    """Returns which values a cell shows: IPython's setting `ast_node_interactivity`."""
    if "IPython.core.interactiveshell" in sys.modules:
        shell = loaded_class("IPython.core.interactiveshell", "InteractiveShell")
        asked = getattr(shell, "ast_node_interactivity", None)
        if type(asked) is str:
            return asked
    return State.shell.ast_node_interactivity


def append_target(tree, source):
    """Makes the name that the last statement assigns the value of the cell."""
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


def normalize_source(cell):
    source = cell.source
    if "\r" in source:
        source = source.replace("\r\n", "\n").replace("\r", "\n")
    if source.startswith("\ufeff"):
        source = source[1:]
    cell.source = source
    sources.remember(cell.name, source)


def parse_cell(cell):
    try:
        return parse_source(cell.source, cell.name)
    except SyntaxError as error:
        if isinstance(error, IndentationError) and "unexpected indent" in str(error):
            return parse_dedented(cell)
        return parse_magics(cell, error)


def parse_dedented(cell):
    """Parses a cell that is indented as a whole, as pasted code may be."""
    cell.source = dedent(cell.source)
    sources.remember(cell.name, cell.source)
    try:
        return parse_source(cell.source, cell.name)
    except SyntaxError as error:
        return parse_magics(cell, error)


def parse_magics(cell, error):
    """Parses a cell with magics. Raises the given error if it has none."""
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
    """Gives an error in a rewritten line the text of the cell; it points at the magic at most."""
    at = (error.lineno or 0) - 1
    if not 0 <= at < len(lines) or lines[at] == rewritten[at]:
        return
    same = 0
    while lines[at][same : same + 1] == rewritten[at][same : same + 1] != "":
        same += 1
    error.text = lines[at] + "\n"
    error.offset = min(error.offset or 1, same + 1)
    error.end_lineno, error.end_offset = error.lineno, error.offset


def note_definitions(cell, tree):
    """Notes what the cell's own statements bind. Returns False if the cell defines something."""
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
            if kind is _ast.AnnAssign:
                refuse_prompt(cell, node)
            note_targets(cell, node.target)
        elif kind is _ast.Delete:
            for target in node.targets:
                note_targets(cell, target)
        elif kind in DEFINITIONS:
            is_leaf = False
            if kind is not _ast.Import and kind is not _ast.ImportFrom:
                sources.owner[node.name] = cell.name
    return is_leaf and not cell.assigned


def refuse_prompt(cell, node):
    """Raises an error for a pasted `In [1]: x = 2`, which would annotate an element of `In`."""
    if type(node.target) is _ast.Subscript and getattr(node.target.value, "id", None) in ("In", "Out"):
        line = cell.source.split("\n")[node.lineno - 1]
        told = "%r is a prompt of IPython, not code: send the cell without prompts and outputs"
        raise SyntaxError(told % line[: line.find(":") + 1].strip(), (cell.name, node.lineno, node.col_offset + 1, line))


def note_targets(cell, target):
    """Notes the names that a target binds or changes in place."""
    for part in getattr(target, "elts", (target,)):
        while type(part) in (_ast.Subscript, _ast.Attribute, _ast.Starred):
            part = part.value
        if type(part) is _ast.Name:
            cell.touched.add(part.id)
        elif part is not target:
            note_targets(cell, part)
