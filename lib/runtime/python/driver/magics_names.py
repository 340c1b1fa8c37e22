# SPDX-License-Identifier: MIT
"""Magics about the session's names, and `name?`."""

from .kinds import ModuleType, is_a
from .names import kind_of, shape_of
from .own import own
from .queries import safe_repr
from .state import NAMESPACE


def user_names():
    return sorted(
        name
        for name, value in NAMESPACE.items()
        if not name.startswith("_") and not is_a(value, ModuleType)
    )


def magic_who(line):
    found = [name for name in user_names() if not line or kind_of(NAMESPACE[name]) in line.split()]
    print("  ".join(found) or "No names are defined.")


def magic_whos(line):
    if not user_names():
        print("No names are defined.")
    for name in user_names():
        value = NAMESPACE[name]
        text = safe_repr(value)[:60]
        print("%-20s %-16s %-10s %s" % (name, kind_of(value), shape_of(value), text))


def magic_reset(line):
    for name in [name for name in NAMESPACE if not name.startswith("__")]:
        del NAMESPACE[name]


def magic_debug(line):
    pdb = own("pdb")

    pdb.pm()


def show_help(name, with_source=False):
    inspect = own("inspect")

    try:
        value = eval(name, NAMESPACE)
    except (NameError, AttributeError):
        print("Object `%s` not found." % name)
        return
    try:
        print("%s%s" % (name, inspect.signature(value)))
    except (TypeError, ValueError):
        print("%s: %s %s" % (name, kind_of(value), shape_of(value)))
    print(inspect.getdoc(value) or "")
    if with_source:
        try:
            print(inspect.getsource(value))
        except (TypeError, OSError):
            print("[its source is not there]")
