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
    out, as they end with it: an object of a later value may then have the id of one.
    """
    items = {key: item for key, (_, item) in pickler.memo.copy().items()}
    alone = references({0: []})[0] + 1
    others = {key: count - alone for key, count in references(items).items()}
    made = [key for key, count in others.items() if count == 0]
    while made:
        for item in gc.get_referents(items[made.pop()]):
            key = id(item)
            if key in others:
                others[key] -= 1
                if others[key] == 0:
                    made.append(key)
    known = by_name_or_value()
    return {key for key, item in items.items() if others[key] and id(type(item)) not in UNCHANGING_IDS and not is_a(item, known)}


def references(objects):
    return {key: sys.getrefcount(item) for key, item in objects.items()}


def by_name_or_value():
    """Returns further types whose objects are the same wherever they are: arrays of floats have one dtype."""
    kinds = (type, ModuleType, loaded_class("numpy", "dtype"), loaded_class("datetime", "tzinfo"))
    return tuple(kind for kind in kinds if is_a(kind, type))
