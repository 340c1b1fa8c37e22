# SPDX-License-Identifier: MIT
"""Finds definitions whose source would make something else if it ran again (saving.py)."""

import _ast

from .kinds import FunctionType, ModuleType, is_a
from .own import own
from .parse import try_parse
from .spawn import codes_of, comes_from, place_of_definition
from .state import NAMESPACE
from .statements import is_set_after


def why_not_from_source(name, value, place, segments):
    """Returns why the source of a function or class would make another one, or an empty string."""
    anew = replaced_base(value) or replaced_decorator(value, place, segments)
    if anew:
        return "its %s was defined anew" % anew
    return "it was wrapped after its definition" if is_wrapped_later(name, value, place, segments) else ""


def is_wrapped_later(name, value, place, segments):
    """Returns whether a call after the definition of a function has made what its name holds."""
    if is_a(value, type) or type(value) is FunctionType and comes_from(value.__code__, place):
        return False
    tree = try_parse(place[2], "<definition>")
    decorators = getattr(tree.body[0], "decorator_list", ()) if tree is not None else ()
    if not decorators or is_set_after(name, place):
        return codes_of(value) != []
    wrapper = [s[3] for s in segments if type(value) is FunctionType and comes_from(value.__code__, s)]
    texts = [s[2] for name in names_in(decorators) for s in segments if s[3] == name]
    named = names_in(decorators).union(*(names_in(try_parse(text, "<definition>").body) for text in texts))
    # a decorator that no cell defines as such, as a partial, may call what it does not name
    known = all(any(s[3] == name for s in segments) for name in names_in(decorators))
    return known and wrapper != [] and not named.intersection(wrapper)


def names_in(nodes):
    """Returns the names that occur in nodes of a syntax tree."""
    ast = own("ast")

    return {node.id for top in nodes for node in ast.walk(top) if type(node) is ast.Name} | {
        node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def replaced_base(value):
    """Names a base whose name is another class by now: the source would get that one."""
    for base in value.__bases__ if is_a(value, type) else ():
        if base.__module__ == "__main__" and NAMESPACE.get(base.__qualname__, base) is not base:
            return "base " + base.__qualname__
    return ""


def replaced_decorator(value, place, segments):
    """Names the decorator that made a function, if its name is another one by now."""
    if type(value) is not FunctionType or comes_from(value.__code__, place):
        return ""
    for segment in segments:
        if comes_from(value.__code__, segment):
            name = segment[3]
            return "" if place_of_definition(name, NAMESPACE.get(name), segments) is segment else "decorator " + name
    return ""


def values_set_later(name, value, place):
    """Yields (what, why) for each variable that a definition was made with and that was set after it."""
    tree = try_parse(place[2], "<definition>")
    for used in sorted(names_in(made_with(tree.body[0], value, place))) if tree is not None else ():
        held = NAMESPACE.get(used)
        if used in NAMESPACE and used != name and not is_a(held, (ModuleType, FunctionType, type)):
            if is_set_after(used, place):
                yield "the %s that %s was made with" % (used, name), "it was set again later: %s now has the later value" % name


def made_with(node, value, place):
    """Returns what a definition evaluates, except what is saved beside its source."""
    if isinstance(node, _ast.Assign):
        made = node.value if isinstance(node.value, _ast.Call) else _ast.Call(None, [], [])
        return made.args + [item for item in made.keywords if item.arg != "defaults"]
    decorators = list(node.decorator_list)
    if not isinstance(node, _ast.ClassDef):
        return decorators + hidden_defaults(node, value, place)
    parts = decorators + node.bases + node.keywords
    for item in node.body:
        if isinstance(item, (_ast.FunctionDef, _ast.AsyncFunctionDef)):
            parts += item.decorator_list + hidden_defaults(item, getattr(value, "__dict__", {}).get(item.name), place)
        elif not isinstance(item, _ast.ClassDef) and type(value).__setattr__ is not type.__setattr__:
            parts.append(item)  # such a metaclass makes something of it, as members of an Enum
    return parts


def hidden_defaults(node, value, place):
    """Returns the defaults of a function that a decorator hides."""
    function = value.__func__ if type(value) in (classmethod, staticmethod) else value
    if not node.decorator_list or any(comes_from(code, place) for code in codes_of(function)):
        return []
    return node.args.defaults + [item for item in node.args.kw_defaults if item is not None]
