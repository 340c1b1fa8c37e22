# SPDX-License-Identifier: MIT
"""Types without a builtin name, and questions about a value's type.

The questions never ask the value or its metaclass: `__class__` may be a property and `__module__`
may be anything, and both would run session code.
"""

import sys

ModuleType = type(sys)
FunctionType = type(lambda: None)
CodeType = type((lambda: 0).__code__)
BuiltinType = type(len)
MISSING = object()
DRIVER_FILE = (lambda: 0).__code__.co_filename


def is_pandas(kind):
    return module_of(kind).startswith("pandas.")


def module_of(kind):
    """Returns the name of a class's module, without asking its metaclass; it may be empty."""
    try:
        name = type.__dict__["__module__"].__get__(kind)
    except AttributeError:
        return ""
    return name if type(name) is str else ""


def root_of(kind):
    return module_of(kind).partition(".")[0]


def is_a(value, kind):
    """Returns isinstance(value, kind), without asking the value for its `__class__`."""
    return issubclass(type(value), kind)


def loaded_class(module, name):
    return getattr(sys.modules.get(module), name, None)


# Returns a class's name, without asking its metaclass.
raw_name = type.__dict__["__name__"].__get__


def type_name(kind):
    """Returns a class's name for a text."""
    return clean_word(raw_name(kind))


def clean_word(text):
    return "".join(c if c.isprintable() and not c.isspace() else "?" for c in text[:80])
