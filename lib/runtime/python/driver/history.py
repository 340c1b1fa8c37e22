# SPDX-License-Identifier: MIT
"""`In`, `Out`, `_`, `__`, `___` and `_4`: the cells so far, and the last of their values.

They are builtins, so that a name of the session hides them and they are none of its variables.
"""

import builtins

from .kinds import type_name
from .state import NAMESPACE

OUT_KEPT = 20  # values, because each keeps its memory
IN_CHARS_MAX = 100_000  # of a cell; of a longer one `In` has the beginning


class History:
    sources = [""]
    values = {}


def number_of(cell):
    """Returns the number in the cell's name, `<cell 4>`, or 0 for code that is none of the session's."""
    digits = cell.name[len("<cell ") : -1]
    return int(digits) if digits.isdecimal() else 0


def is_coroutine(value):
    """Returns whether Python warns when the value goes away unused; it must not be held then."""
    return type_name(type(value)) == "coroutine"


def begin_history():
    builtins.In, builtins.Out = History.sources, History.values


def remember_source(cell):
    number = number_of(cell)
    if not number:
        return
    # Cells of other languages have numbers, too.
    History.sources.extend([""] * (number + 1 - len(History.sources)))
    History.sources[number] = cell.source[:IN_CHARS_MAX]


def remember_value(cell, value):
    names = vars(builtins)
    number = number_of(cell)
    last = names.get("_", "")
    if number:
        names["___"], names["__"] = names.get("__", ""), "" if is_coroutine(last) else last
    builtins._ = value
    if not number or is_coroutine(value):
        return
    History.values[number] = value
    setattr(builtins, "_%d" % number, value)
    while len(History.values) > OUT_KEPT:
        oldest = next(iter(History.values))
        del History.values[oldest]
        names.pop("_%d" % oldest, None)


def magic_history(line):
    """Prints the cells so far: `%history`, with `-n` their numbers; `%history -l 3` the last three."""
    words = line.split()
    cells = [(number, text) for number, text in enumerate(NAMESPACE.get("In", History.sources)) if text]
    if "-l" in words:
        count = words[words.index("-l") + 1 :][:1]
        cells = cells[:-1][-int(count[0]) if count and count[0].isdecimal() else -10 :]
    for number, text in cells:
        print("%d: %s" % (number, text) if "-n" in words else text)
