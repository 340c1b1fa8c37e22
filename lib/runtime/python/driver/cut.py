# SPDX-License-Identifier: MIT
"""Cuts texts to a limit and says how much is missing."""

from .limits import TEXT_LIMIT


def bounded(text, limit=TEXT_LIMIT):
    """Returns the beginning of a text and a line with the number of characters left out.

    The server may cut the middle of what it gets, but always shows its end.
    """
    if len(text) <= limit:
        return text
    return "%s\n... [%d characters left out: print shows all]" % (text[:limit], len(text) - limit)


def bounded_word(text, limit):
    """Returns a text, or its beginning and a sign that the rest is missing."""
    return text if len(text) <= limit else text[:limit] + "\u2026"


def shortened(text, limit):
    """Returns the two ends of a text, with a line between them for what is left out."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    left_out = len(text) - head - tail
    return "%s\n... [%d characters left out] ...\n%s" % (text[:head], left_out, text[-tail:])
