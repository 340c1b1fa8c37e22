# SPDX-License-Identifier: MIT
"""Replaces `{expression}` and `$name` in commands and in lines of magics.

Other `$name`s are left to the shell, as are those in single quotes.
"""

from .own import own
from .state import NAMESPACE


def scope_of(frame):
    """Returns the local names of a function; None at the top level of a cell."""
    return None if frame.f_locals is frame.f_globals else dict(frame.f_locals)


def names_seen(frame):
    """Returns the names that code in the frame sees, and those of the cells."""
    if frame.f_locals is NAMESPACE:
        return NAMESPACE
    return {**NAMESPACE, **frame.f_globals, **frame.f_locals}


CONVERSIONS = {"r": repr, "a": ascii}


def expand_names(command, frame):
    """Replaces `{expression}` and `$name` by values of the frame's names.

    If all braces are those of str.format(), `{{` and `}}` become single ones for the shell. Else each
    pair is taken by itself. `$$x` becomes the shell's `$x`; `$x` in single quotes stays.
    """
    if "{" not in command and "$" not in command:
        return command
    expansion = Expansion(command, names_seen(frame))
    text = expansion.result(Expansion.FORMAT)
    return expansion.result(Expansion.EACH) if text is None else text


class Expansion:
    """One command whose names are replaced, with the values that were computed so far."""

    VALUE = r"\{(?P<value>[^{}\n]+?)(?:!(?P<as>[rsa]))?\}"
    NAME = r"(?<!\\)\$(?P<twice>\$?)(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
    FORMAT = r"(?P<kept>\$\{(?!\{)[^{}\n]*\}|\\[{}])|(?P<two>\{\{|\}\})|" + VALUE + "|" + NAME + r"|(?P<single>[{}])"
    EACH = r"(?<![$\\{])(?:(?P<kept>\{\{[^{}\n]*\}\}(?!\}))|" + VALUE + ")|" + NAME

    def __init__(self, command, names):
        strings = own("re").finditer(r"""\\.|"(?:\\.|[^"\\])*"|('[^']*')""", command, own("re").S)
        self.quoted = [found.span(1) for found in strings if found[1]]
        self.command, self.names = command, names
        self.values = {}  # text by its place, None if it has no value: each is computed once

    def result(self, marked):
        """Returns the command with its names replaced; None if a brace is not one of FORMAT's."""
        pattern, parts, at = own("re").compile(marked), [], 0
        while True:
            match = pattern.search(self.command, at)
            if match is None:
                return "".join([*parts, self.command[at:]])
            text, end = self.meaning(match), match.end()
            if text is None and marked is self.FORMAT:
                return None
            if text is None:  # the text in these braces may have names
                text, end = "{", match.start() + 1
            parts += [self.command[at : match.start()], text]
            at = end

    def meaning(self, match):
        if match["kept"]:
            return match["kept"]
        if match["name"]:
            return self.named(match)
        if match["value"]:
            return self.value(match)
        return match["two"] and match["two"][0]

    def value(self, match):
        place = match.start("value")
        if place not in self.values:
            try:
                self.values[place] = CONVERSIONS.get(match["as"], str)(eval(match["value"], self.names))
            except Exception:
                self.values[place] = None
        return self.values[place]

    def named(self, match):
        first, *rest = match["name"].split(".")
        if any(start < match.start() < end for start, end in self.quoted):
            return match[0]
        if match["twice"]:
            return "$" + match["name"]
        if first not in self.names:
            return match[0]
        value = self.names[first]
        try:
            while rest and hasattr(value, rest[0]) and not callable(getattr(value, rest[0])):
                value = getattr(value, rest.pop(0))
            return ".".join([str(value), *rest])
        except Exception:
            return match[0]
