# SPDX-License-Identifier: MIT
"""Finds the objects of a value that other values may share (saving.py)."""

import gc
import sys

from .kinds import FunctionType, ModuleType, is_a, loaded_class

# Objects of these types are the same wherever they are: sharing one makes no group.
UNCHANGING = (str, bytes, int, float, complex, type, FunctionType, type(len), type(None), bool)
UNCHANGING_IDS = frozenset(map(id, UNCHANGING))  # to compare types could run code of their metaclasses
CONTAINERS = tuple(map(id, (list, tuple, set, frozenset, dict)))


def is_flat(value):
    """Returns whether it is a container whose items cannot change, as most large ones are."""
    if id(type(value)) not in CONTAINERS or not value:
        return False
    types = set(map(id, map(type, value)))
    if type(value) is dict:
        types.update(map(id, map(type, value.values())))
    return types <= UNCHANGING_IDS


def objects_of(pickler):
    """Returns the ids of what a pickle has of the session's objects that can change.

    Objects that were only made to be pickled are held by the pickler and each other alone. They are left
    out, as they end with it: an object of a later value may then have the id of one. There may be millions
    of objects, so that each costs little.
    """
    items = [item for _, item in pickler.memo.copy().values() if id(type(item)) not in UNCHANGING_IDS]
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
    known = by_name_or_value()
    same = {key for key, kind in kinds.items() if issubclass(kind, known)}
    return {id(item) for item in items if id(type(item)) not in same}.difference(ended)


def references(objects):
    return list(map(sys.getrefcount, objects))


def by_name_or_value():
    """Returns further types whose objects are the same wherever they are: arrays of floats have one dtype."""
    kinds = (type, ModuleType, loaded_class("numpy", "dtype"), loaded_class("datetime", "tzinfo"))
    return tuple(kind for kind in kinds if is_a(kind, type))
