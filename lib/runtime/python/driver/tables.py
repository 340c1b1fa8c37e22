# SPDX-License-Identifier: MIT
"""Draws a pandas Styler as a table of plain text.

Its repr says nothing, and its page is mostly CSS.
"""

import sys

from .errors import error_line
from .kinds import is_pandas
from .own import own


def is_styler(kind):
    return is_pandas(kind) and kind.__name__ == "Styler"


def styled_text(styler):
    """Returns the table as it is shown, without colours."""
    if not hasattr(styler, "to_string"):
        return repr(styler.data)  # pandas before 1.5 draws no such table
    try:
        rows = styled_rows(styler)
    except Exception as error:
        return "%r\n(shown without its style: %s)" % (styler.data, error_line(error))
    lines = aligned(rows)
    if not lines:
        return repr(styler.data)
    if rows[-1][-1] == rows[0][-1] == "..." or set(rows[-1]) == {"..."}:
        lines.append("\n[%d rows x %d columns]" % styler.data.shape)
    caption = styler.caption if type(styler.caption) is str else ""
    return "\n".join([caption, *lines] if caption else lines)


def styled_rows(styler):
    """Returns the rows of formatted cells, none of them merged."""
    option = sys.modules["pandas"].get_option
    table = own("copy").deepcopy(styler)._render(
        False, False, option("display.max_rows"), option("display.max_columns"))
    rows = [[one_line(cell["display_value"]) for cell in row if cell["is_visible"]]
            for row in [*table["head"], *table["body"]]]
    # pandas fills the row for omitted rows up to the limit of rows; it should be that of columns.
    return [["..."] * len(rows[0]) if set(row) == {"..."} else row for row in rows]


def one_line(value):
    """Returns a formatted value as one line, without the `<span>` that pandas adds for tooltips."""
    value = own("re").sub(r'<span class="[^"<>]*"></span>$', "", str(value))
    return value.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


PADDED = 100  # characters: no cell is padded further


def aligned(rows):
    """Returns the lines of a table, or none if its rows have different numbers of cells."""
    if not all(row and len(row) == len(rows[0]) for row in rows):
        return []
    widths = [min(max(map(len, column)), PADDED) for column in zip(*rows)]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows]
