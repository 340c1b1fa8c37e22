# SPDX-License-Identifier: MIT
"""The object that get_ipython() returns to cells.

A notebook that was exported as a script calls it for each of its magics.
"""

import sys

from .display import show_value
from .magics_expand import names_seen
from .magics_shell import run_shell
from .magics_table import CELL_MAGICS, LINE_MAGICS, run_cell_magic, run_line_magic
from .run import evaluate
from .state import NAMESPACE, State

VALUES_SHOWN = ("all", "last", "last_expr", "last_expr_or_assign", "none")


class Shell:
    """The part of IPython's InteractiveShell that exported notebooks use."""

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
        """Adds names: a dictionary, or names of variables of the caller."""
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

    def register_magics(self, *magics):
        """Adds the magics of IPython's Magics objects, or of classes of them."""
        for item in magics:
            made = item(self) if isinstance(item, type) else item
            for kind, functions in made.magics.items():
                for name, function in functions.items():
                    self.register_magic_function(function, kind, name)
