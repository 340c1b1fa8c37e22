# SPDX-License-Identifier: MIT
"""Applies the user's code rules to a cell before anything of it runs.

The checker (rules.py) comes with the server's hello. A cell that it cannot judge is refused.
"""

from .errors import error_line
from .kinds import DRIVER_FILE
from .magics_syntax import try_parse_body
from .state import NAMESPACE, State
from .streams import print_note


class Refused(Exception):
    """The user's rules refuse the cell."""


def load_rules(source, rules):
    names = {"__name__": "_ptycell_rules", "__builtins__": __builtins__}
    exec(compile(source, DRIVER_FILE, "exec", 0, True), names)
    State.check = names["make_check"](rules)


def check_rules(tree, source):
    """Raises Refused if the rules refuse the cell or cannot judge it. Prints their warning."""
    try:
        refusal, warning = State.check(tree, NAMESPACE, try_parse_body, source)
    except Exception as error:
        refusal, warning = "The code rules cannot judge this cell: " + error_line(error), None
    if refusal is not None:
        raise Refused(refusal)
    if warning is not None:
        print_note(warning)
