# SPDX-License-Identifier: MIT
"""Finds the global names that a cell changed."""

from .kinds import BuiltinType, FunctionType, ModuleType, is_a, module_of, root_of, type_name
from .limits import LIST_MAX, NAMES_KEPT
from .state import NAMESPACE

# Modules whose classes may be asked for `shape`: a property of a user's class could do anything.
ARRAY_MODULES = frozenset(
    "numpy pandas polars scipy torch tensorflow jax jaxlib xarray pyarrow cupy geopandas".split()
)
SIZED = (list, dict, set, tuple, frozenset, str, bytes, bytearray)


def shape_of(value):
    """Returns `150x5` for arrays and tables, the length of a container, else an empty string."""
    kind = type(value)
    if kind in SIZED:
        return str(len(value))
    root = root_of(kind)
    try:
        if root in ARRAY_MODULES:
            return "x".join([str(int(side)) for side in value.shape])
        if root == "collections":
            return str(len(value))
        if root == "PIL":
            return "x".join([str(int(side)) for side in value.size])
    except Exception:
        pass
    return ""


def kind_of(value):
    if is_a(value, type):
        return "class"
    return type_name(type(value))


def is_imported(name, value):
    """Returns whether the value is a class or function of a module, under its own name."""
    if is_a(value, FunctionType):
        return value.__globals__ is not NAMESPACE and value.__name__ == name
    if is_a(value, type):
        return module_of(value) != "__main__" and type.__dict__["__name__"].__get__(value) == name
    return is_a(value, BuiltinType)


class Names:
    """Finds the global names that a cell changed.

    A name is changed when it is bound to another object, when a statement of the cell assigns it,
    an element or an attribute of it, or when its container or table has another size. For a cell
    that changes nothing this takes a few dict operations in C. A method that changes an object
    without changing its size is not noticed.
    """

    def __init__(self):
        self.ids = {}
        self.sizes = {}  # of objects that can change in place, by name

    def changed(self, assigned):
        """Returns the names that changed and the names that no longer exist."""
        namespace = NAMESPACE.copy()
        ids = dict(zip(namespace, map(id, namespace.values())))
        changed = []
        gone = []
        if ids != self.ids or assigned:
            before = self.ids
            changed = [n for n, i in ids.items() if before.get(n) != i or n in assigned]
            gone = [n for n in before if n not in ids]
            self.ids = ids
        elif not self.sizes:
            return changed, gone
        for name in gone:
            self.sizes.pop(name, None)
        for name in [n for n, size in self.sizes.items() if self._size(namespace, n) != size]:
            if name not in changed:
                changed.append(name)
        for name in changed:
            self._watch(namespace, name)
        reported = [name for name in changed if self._is_reported(name, namespace[name])]
        return reported, [name for name in gone if self._is_reported(name, None)]

    def _size(self, namespace, name):
        value = namespace.get(name)
        return len(value) if type(value) in (list, dict, set) else shape_of(value)

    def _watch(self, namespace, name):
        kind = type(namespace[name])
        if kind in (list, dict, set) or root_of(kind) in ("pandas", "collections"):
            self.sizes[name] = self._size(namespace, name)
        else:
            self.sizes.pop(name, None)

    def _is_reported(self, name, value):
        if type(name) is not str or not name.isidentifier():
            return False
        return is_users(name) and not is_a(value, ModuleType) and not is_imported(name, value)


names = Names()


def is_users(name):
    return not (name.startswith("__") and name.endswith("__")) and name != "_exit_code"


def changed_names(assigned):
    changed, gone = names.changed(assigned)
    if not changed and not gone:
        return ""
    lines = []
    for name in changed[:NAMES_KEPT]:
        value = NAMESPACE.get(name)
        lines.append(" ".join(filter(None, (name, kind_of(value), shape_of(value)))))
    lines += ["-" + name for name in gone]
    return "\n".join(lines_within(lines[:NAMES_KEPT]))


def lines_within(lines):
    """Returns the first of these lines, as many as fit into a frame."""
    room, kept = LIST_MAX, []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept
