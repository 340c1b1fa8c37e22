# SPDX-License-Identifier: MIT
"""Finds values of functions and classes that the source in their cells does not make (saving.py)."""

from .kinds import FunctionType, is_a, module_of
from .limits import WRAPPERS
from .parse import try_parse
from .sources import sources
from .spawn import codes_of, comes_from

DEFAULTS = "defaults of "  # begins the name under which a function's defaults are saved
ATTRIBUTE = "attribute "  # begins the name for an attribute of a function or class, as "attribute f.calls"
PARTS = (DEFAULTS, ATTRIBUTE)
Registry = type(type.__dict__)  # of a generic function (functools.singledispatch)


def beside_source(name, value, place):
    """Yields names and values of what a function or class has and its source does not make."""
    if is_a(value, type):
        for key, item in list(vars(value).items()):
            if has_own_defaults(key, item, value):
                yield from defaults_of("%s.%s" % (name, key), item)
    else:
        yield from defaults_of(name, value)
        if type(value) is not FunctionType:
            yield from state_of_decorated(name, value, place)
            return
    if is_a(value, type) and type(value).__setattr__ is not type.__setattr__:
        return  # such a metaclass may make more of an attribute than a value, as a member of an Enum
    for key, item in list(vars(value).items()):
        if type(key) is str and is_descriptor_of_cell(item):
            yield from state_of_decorated("%s.%s" % (name, key), item, place)
        if type(key) is not str or not is_beside_source(key, item, place):
            continue
        if is_a(item, type) and is_inner_class(key, item, value):
            yield from beside_source("%s.%s" % (name, key), item, place)
        else:
            yield "%s%s.%s" % (ATTRIBUTE, name, key), item


def defaults_of(name, function):
    """Yields the defaults of a function and of those that it wraps."""
    for _ in range(WRAPPERS):
        function = function.__func__ if type(function) in (classmethod, staticmethod) else function
        if type(function) is FunctionType and (function.__defaults__ or function.__kwdefaults__):
            yield DEFAULTS + name, (function.__defaults__, function.__kwdefaults__)
        try:
            function = vars(function)["__wrapped__"]
        except (TypeError, KeyError):
            return
        name += ".__wrapped__"


def has_own_defaults(key, item, owner):
    """Returns whether a class's function comes from a cell, or has defaults from the class's body, as of a dataclass."""
    marks = {"__init__": ("__dataclass_fields__", "__attrs_attrs__"), "__new__": ("_fields",)}
    made = any(mark in vars(owner) for mark in marks.get(key, ()))
    function = item.__func__ if type(item) in (classmethod, staticmethod) else item
    return made or not is_a(item, type) and any(code.co_filename in sources.text for code in codes_of(function))


def is_descriptor_of_cell(item):
    return module_of(type(item)) == "__main__" and hasattr(type(item), "__get__")


def state_of_decorated(name, value, place):
    """Yields the attributes of an object that wraps a function and whose class is a cell's, as one that counts calls."""
    attributes = getattr(value, "__dict__", {}) if module_of(type(value)) == "__main__" else {}
    if type(attributes) is not dict:
        return
    for key, item in list(attributes.items()):
        if type(key) is str and type(item) is not FunctionType and is_beside_source(key, item, place):
            yield "%s%s.%s" % (ATTRIBUTE, name, key), item


def is_inner_class(key, item, outer):
    """Returns whether a class was defined in the body of another one."""
    return (item.__module__, item.__qualname__) == ("__main__", "%s.%s" % (outer.__qualname__, key))


def is_beside_source(key, item, place):
    """Returns whether an attribute is a value, or a function from elsewhere than the source."""
    function = item.fget if type(item) is property else item.__func__ if type(item) in (classmethod, staticmethod) else item
    if key in ("__wrapped__", "_clear_cache") or type(item) is Registry:
        return False
    if type(function) is not FunctionType:
        return is_value(key, item)
    names, decorated = made_methods(place[2]), place[2].startswith("@")
    code = (codes_of(function) if decorated or key in names else [])[:1] or [function.__code__]
    own_name = code[0].co_name
    private = own_name.startswith("__") and key.endswith(own_name)  # Python has put the class's name before it
    is_alias = own_name != key and not private and key not in names and not decorated
    elsewhere = code[0].co_filename in sources.text and (is_alias or not comes_from(code[0], place))
    return elsewhere and ("<locals>" not in function.__qualname__ or key not in names)


def made_methods(text):
    """Returns the names that a class's source binds to what a call may have made, as a decorator."""
    body = body_of(text)
    decorated = [node.name for node in body if getattr(node, "decorator_list", ())]
    return decorated + assigned_in(body)


def body_of(text):
    """Returns the statements of a definition."""
    tree = try_parse(text, "<definition>")
    body = getattr(tree.body[0], "body", ()) if tree is not None and tree.body else ()
    return body if type(body) is list else ()  # that of a lambda is an expression


def assigned_in(body):
    targets = [target for node in body for target in getattr(node, "targets", [getattr(node, "target", None)])]
    return [getattr(target, "id", "") for target in targets]


def deleted_attributes(name, value, place):
    """Yields as "C.x" each name that a class's source binds and that was deleted: its source would make it again."""
    body = body_of(place[2]) if is_a(value, type) else ()
    for key in [getattr(node, "name", "") for node in body] + assigned_in(body):
        if key.startswith("__") and not key.endswith("__"):
            key = "_%s%s" % (name.lstrip("_"), key)
        if key and key not in vars(value):
            yield "%s.%s" % (name, key)


def registered_functions(name, value, segments):
    """Yields for each function registered with this one (functools.singledispatch) its definition's index, or None."""
    registry = vars(value).get("registry") if type(value) is FunctionType else None
    for function in list(registry.values()) if type(registry) is Registry else ():
        codes = codes_of(function)
        if function is vars(value).get("__wrapped__"):
            continue
        yield next((index for index, segment in enumerate(segments) if any(comes_from(code, segment) for code in codes)
                    and "@%s.register" % name in segment[2]), None)


def is_value(key, item):
    """Returns whether an attribute of a class holds a value, and no method."""
    return type(key) is str and not key.startswith("__") and key != "_abc_impl" and not hasattr(type(item), "__get__")
