# SPDX-License-Identifier: MIT
"""`In`, `Out`, `_`, `__`, `___` and `_4`: the cells so far, and the last of their values.

They are builtins, so that a name of the session hides them and they are none of its variables.
"""

import builtins

from .kinds import raw_name
from .magics_syntax import UsageError
from .state import NAMESPACE

NAMES = vars(builtins)
OUT_KEPT = 20  # values, because each keeps its memory
HISTORY_TAKES = "%history takes numbers of cells, such as 3 or 4-6, and the options -l and -n"
IN_CHARS_MAX = 100_000  # of a cell; of a longer one `In` has the beginning


class History:
    sources = [""]
    values = {}


def is_coroutine(value):
    """Returns whether Python warns when the value goes away unused; it must not be held then."""
    return raw_name(type(value)) == "coroutine"


def begin_history():
    builtins.In, builtins.Out = History.sources, History.values


def remember_source(cell):
    """Makes the cell's code the next item of `In`."""
    number = cell.ident
    if not number:
        return  # the driver warms up
    sources = History.sources
    # Cells of other languages have numbers, too.
    sources.extend([""] * (number + 1 - len(sources)))
    sources[number] = cell.source[:IN_CHARS_MAX]


def remember_value(cell, value):
    number = cell.ident
    if number:
        last = NAMES.get("_", "")
        NAMES["___"], NAMES["__"] = NAMES.get("__", ""), "" if is_coroutine(last) else last
    NAMES["_"] = value
    if not number or is_coroutine(value):
        return
    values = History.values
    values[number] = NAMES["_%d" % number] = value
    while len(values) > OUT_KEPT:
        oldest = next(iter(values))
        del values[oldest]
        NAMES.pop("_%d" % oldest, None)


def forget_values():
    """Drops the values, which may be all that keeps objects from their end."""
    for number in History.values:
        NAMES.pop("_%d" % number, None)
    History.values.clear()
    for name in ("_", "__", "___"):
        NAMES.pop(name, None)


def magic_history(line):
    """Prints cells: `%history` all, `%history 2 4-6` these, `%history -l 3` the last three; `-n` adds numbers."""
    words = line.split()
    cells = [(number, text) for number, text in enumerate(NAMESPACE.get("In", History.sources)) if text]
    ranges = [part.partition("-") for part in words if part[0].isdecimal()]
    if len(ranges) + words.count("-l") + words.count("-n") != len(words):
        raise UsageError(HISTORY_TAKES)
    if ranges and "-l" not in words:
        cells = [(n, text) for n, text in cells if any(is_within(n, first, last) for first, _, last in ranges)]
    if "-l" in words:
        count = words[words.index("-l") + 1 :][:1]
        cells = cells[:-1][-int(count[0]) if count and count[0].isdecimal() else -10 :]
    for number, text in cells:
        print("%d: %s" % (number, text) if "-n" in words else text)


def is_within(number, first, last):
    """Returns whether a cell is in the range `4-6`, whose last part may be missing."""
    try:
        return int(first) <= number <= int(last or first)
    except ValueError:
        raise UsageError(HISTORY_TAKES) from None
