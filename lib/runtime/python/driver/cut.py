# SPDX-License-Identifier: MIT
"""Cuts texts to a limit and says how much is missing."""

from .limits import TEXT_LIMIT


def bounded(text, limit=TEXT_LIMIT):
    """Its beginning, and how much is not there: of what is sent the end is always shown."""
    if len(text) <= limit:
        return text
    return "%s\n... [%d characters left out: print shows all]" % (text[:limit], len(text) - limit)


def shortened(text, limit):
    """Its two ends."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    left_out = len(text) - head - tail
    return "%s\n... [%d characters left out] ...\n%s" % (text[:head], left_out, text[-tail:])
