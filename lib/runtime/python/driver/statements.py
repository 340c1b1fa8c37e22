# SPDX-License-Identifier: MIT
"""Finds which names the statements of cells set, and where."""

import _ast

from .magics_syntax import rewrite_magics
from .own import own
from .parse import try_parse
from .sources import sources

SCOPES = (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef, _ast.Lambda,
          _ast.ListComp, _ast.SetComp, _ast.DictComp, _ast.GeneratorExp)
DEFINING = (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)
LINES = {}  # what each cell has set; whoever asks empties it first


def parsed_cell(name):
    """Returns the tree of a cell, or None, and the lines from which it was parsed."""
    text = sources.text[name]
    tree = try_parse(text, name)
    if tree is None:  # with magics it runs as other text
        text = rewrite_magics(text, name) or ""
        tree = try_parse(text, name)
    return tree, [line + "\n" for line in text.split("\n")]


def is_set_after(name, place):
    """Returns whether a statement of a cell has set a name after the definition at this place."""
    cells = list(sources.text)
    for cell in cells[cells.index(place[0]) :] if place[0] in cells else ():
        first = place[1] + place[2].count("\n") + 1 if cell == place[0] else 1
        if lines_set(cell).get(name, 0) >= first:
            return True
    return False


def lines_set(cell):
    """Returns the line of the last statement of a cell that has set a name, by name. What was found is for one save alone."""
    if cell not in LINES:
        tree, _ = parsed_cell(cell)
        LINES[cell] = {name: node.lineno for node in (tree.body if tree is not None else ())
                       if sources.has_begun(cell, node.lineno) for name in names_set(node)}
    return LINES[cell]


def names_set(node):
    """Returns the names of the session that a statement sets, by itself or by a function in it."""
    ast = own("ast")

    found = {name for item in ast.walk(node) if isinstance(item, _ast.Global) for name in item.names}
    nodes = [node]
    while nodes:
        node = nodes.pop()
        if isinstance(node, _ast.Name) and not isinstance(node.ctx, _ast.Load):
            found.add(node.id)
        elif isinstance(node, _ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, DEFINING):
            found.add(node.name)
        if not isinstance(node, SCOPES):
            nodes.extend(ast.iter_child_nodes(node))
    return found
