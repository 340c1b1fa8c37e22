# SPDX-License-Identifier: MIT
"""Finds the objects of a value that other values may share (saving.py)."""

import gc
import sys

from .kinds import FunctionType, ModuleType, is_a, loaded_class, module_of

# Objects of these types are the same wherever they are: sharing one makes no group.
UNCHANGING = (str, bytes, int, float, complex, type, FunctionType, type(len), type(None), bool, slice, range)
# So are those of these classes of modules, and of their subclasses: arrays of floats have one dtype.
UNCHANGING_CLASSES = (
    ("numpy", "dtype"), ("numpy", "generic"), ("datetime", "date"), ("datetime", "time"), ("datetime", "timedelta"),
    ("datetime", "tzinfo"), ("decimal", "Decimal"), ("enum", "Enum"), ("pandas", "Period"), ("pandas", "Interval"),
    ("pandas._libs.tslibs.offsets", "BaseOffset"),
)
WITH_PARTS = (("pandas", "Index"), ("pandas.core.dtypes.base", "ExtensionDtype"))  # with what they have in them
UNCHANGING_IDS = frozenset(map(id, UNCHANGING))  # to compare types could run code of their metaclasses
PLAIN_IDS = UNCHANGING_IDS - set(map(id, (type, FunctionType)))  # not pickled by name
CONTAINERS = tuple(map(id, (list, tuple, set, frozenset, dict)))


def is_flat(value):
    """Returns whether it is a container whose items cannot change, as most large ones are."""
    if id(type(value)) not in CONTAINERS or not value:
        return False
    types = set(map(id, map(type, value)))
    if type(value) is dict:
        types.update(map(id, map(type, value.values())))
    return types <= PLAIN_IDS


def objects_of(pickler):
    """Returns the ids of what a pickle has of the session's objects that can change, and names, and further ids.

    The names are those of `__main__` by which it has functions and classes. The further ids are those of
    parts of what cannot change: another pickle may have such a part alone, as a model the labels of a table.

    Objects that were only made to be pickled are held by the pickler and each other alone. They are left
    out, as they end with it: an object of a later value may then have the id of one. There may be millions
    of objects, so that each costs little.
    """
    items = [item for _, item in pickler.memo.copy().values() if id(type(item)) not in PLAIN_IDS]
    alone = references([[]])[0] + 1
    counts = references(items)
    made = [item for item, count in zip(items, counts) if count == alone]
    ended = set(map(id, made))
    others = dict(zip(map(id, items), counts)) if made else {}
    while made:
        held, made = gc.get_referents(*made), []
        for key, item in zip(map(id, held), held):
            if key in others:
                others[key] -= 1
                if others[key] == alone:
                    made.append(item)
        ended.update(map(id, made))
    kinds = {id(kind): kind for kind in map(type, items)}
    named = ids_of_kinds(kinds, (type, FunctionType))
    needed = names_of([item for item in items if id(type(item)) in named])
    same = named | ids_of_kinds(kinds, (ModuleType, *loaded_classes(UNCHANGING_CLASSES)))
    same.update(map(id, (tuple, frozenset)))  # what can change in them counts by itself
    ended.update(fields_of_dtypes(items, kinds))
    parts = parts_of_unchanging(items, kinds)
    return {id(item) for item in items if id(type(item)) not in same}.difference(ended, parts), needed, parts


def names_of(items):
    """Returns the names of those functions and classes that are of `__main__`."""
    return {item.__qualname__.partition(".")[0] for item in items
            if (module_of(item) if is_a(item, type) else item.__module__) == "__main__"}


def loaded_classes(names):
    kinds = (loaded_class(module, name) for module, name in names)
    return tuple(kind for kind in kinds if is_a(kind, type))


def ids_of_kinds(kinds, classes):
    return {key for key, kind in kinds.items() if issubclass(kind, classes)}


def fields_of_dtypes(items, kinds):
    """Returns the ids of the dicts that dtypes of records have: arrays may share the dtype."""
    dtypes = ids_of_kinds(kinds, loaded_classes([("numpy", "dtype")]))
    fields = [item.fields for item in items if id(type(item)) in dtypes] if dtypes else ()
    return set(map(id, gc.get_referents(*filter(None, fields))))


def parts_of_unchanging(items, kinds):
    """Returns the ids of what cannot change and of what it has in it, as the labels that a DataFrame has from another one."""
    whole = ids_of_kinds(kinds, loaded_classes(WITH_PARTS))
    found, within = set(), set(map(id, items)) if whole else ()
    held = [item for item in items if id(type(item)) in whole] if whole else ()
    while held:
        held = [item for item in held if id(item) in within and id(item) not in found]
        found.update(map(id, held))
        held = gc.get_referents(*held)
    return found


def references(objects):
    return list(map(sys.getrefcount, objects))
