# SPDX-License-Identifier: MIT
"""Turns notebook syntax (`%magic`, `!command`, `name?`) into calls.

Only source that is no valid Python comes here, so an expression such as `a %b` is never taken for
a magic. The number of lines does not change, so line numbers of errors stay right.
"""

import _io

from .own import own
from .parse import try_parse


class UsageError(Exception):
    """A magic that does not exist, or that takes other arguments."""


def rewrite_magics(source, name):
    """Returns the cell with notebook syntax turned into calls, or None if it has no such syntax."""
    stripped = source.lstrip()
    if not any(mark in source for mark in ("!", "%", "?", "install", "npm")):
        return None
    if stripped.startswith("%%"):
        first, _, body = stripped.partition("\n")
        magic, _, line = first[2:].partition(" ")
        skipped = source[: len(source) - len(stripped)].count("\n")
        call = "__ptycell_cell__(%r, %r, %r, %d)" % (magic, line.strip(), body, skipped + 1)
        return "\n" * skipped + call
    lines, found = rewrite_lines(source.split("\n"))
    return "\n".join(lines) if found else None


def without_magics(source, name):
    """Returns source for a magic to run; that source may use magics, too.

    Other errors in it are reported when it is compiled.
    """
    if try_parse(source, name) is not None:
        return source
    return rewrite_magics(source, name) or source


def try_parse_body(source, name):
    return try_parse(without_magics(source, name), name)


def rewrite_lines(lines):
    re = own("re")

    marked = re.compile(r"(\s*)(?:([\w.,:\[\]()*+\-\"' ]+?)\s*=\s*)?(!!|!|%)(?!=)(.*)$", re.S)
    # Users and models type these two commands without a mark, as in a shell.
    bare = re.compile(r"(\s*)()()((?:(?:python3? -m |uv )?pip3? +install|npm +(?:install|i|add))\b.*)$", re.S)
    asked = r"""((?:"[^"\\\n]*"|'[^'\\\n]*'|[A-Za-z_]\w*)(?:\.\w+)*)"""
    asking = re.compile(r"(\s*)(?:(\?{1,2})\s*%s|%s\s*(\?{1,2}))\s*$" % (asked, asked))
    done, found, at = [], False, 0
    while at < len(lines):
        line, at = lines[at], at + 1
        magic = (marked.match(line) if "!" in line or "%" in line else None) or bare.match(line)
        question = asking.match(line) if "?" in line else None
        if (magic is None and question is None) or is_open("\n".join(done)) or is_open(magic and magic[2] or ""):
            done.append(line)
            continue
        found = True
        if question is not None:
            what = question[3] or question[4], len(question[2] or question[5]) > 1
            done.append("%s__ptycell_help__(%r, %r)" % (question[1], *what))
            continue
        body, merged = magic[4], 0
        while body.endswith("\\") and at < len(lines):
            body, at, merged = body[:-1] + lines[at], at + 1, merged + 1
        done.append(rewrite_line(magic[1], magic[2], magic[3], body))
        done.extend([""] * merged)
    return done, found


def rewrite_line(indent, target, mark, body):
    if not mark and not body.startswith("npm"):
        mark, body = "%", "pip install" + body.partition("install")[2]
    if mark == "%":
        call = "__ptycell_line__(%r)" % body
    else:
        call = "__ptycell_shell__(%r, %r)" % (body, bool(target) or mark == "!!")
    return "%s%s%s" % (indent, target + " = " if target else "", call)


def is_open(text):
    """Returns whether text ends inside a string, a bracket or a continued line."""
    if not text.strip():
        return False
    if text.rstrip("\n").endswith("\\"):
        return True
    tokenize = own("tokenize")

    depth = 0
    try:
        for token in tokenize.generate_tokens(_io.StringIO(text + "\n").readline):
            if token.type == tokenize.OP:
                depth += (token.string in "([{") - (token.string in ")]}")
            elif token.type == tokenize.ERRORTOKEN and token.string[:1] in "\"'":
                return True
    except tokenize.TokenError:
        return True
    except SyntaxError:
        return False
    return depth > 0
