# SPDX-License-Identifier: MIT
"""Imports Python's own modules, even where the session's folder has a file of the same name.

A module that the driver imported this way is hidden from session code while a file hides it, so
`import random` in a cell still finds the user's random.py.
"""

import _thread
import posix
import sys

from .kinds import ModuleType


class Own:
    modules = {}
    kept = {}  # of sys.modules, where code gets others of these names
    thread = None  # that imports one of them
    folder = "/"
    path = ()

    @classmethod
    def find_places(cls):
        file = getattr(sys.modules["os"], "__file__", None) or "/"
        cls.folder = file.rpartition("/")[0] + "/"
        cls.path = [path for path in sys.path if (path + "/").startswith(cls.folder) and "-packages" not in path]


def own(name):
    """A module of Python itself, even where a file of the session has its name. What code gets when
    it imports that name stays what it would be without us."""
    module = Own.modules.get(name)
    if module is None:
        module = sys.modules.get(name)
        if module is None or not is_own(module):
            module = import_own(name)
        Own.modules[name] = module
    return module


def is_own(module):
    file = getattr(module, "__file__", "")
    return type(module) is ModuleType and (type(file) is not str or file.startswith(Own.folder) or not file)


def import_own(name):
    def work():
        __import__(name)
        return sys.modules[name]

    return among_own(work, name)


def among_own(work, name=""):
    """What `work` gives, which finds Python's own modules where it imports any."""
    modules, hidden = sys.modules, set(names_in_folder())
    if name in modules:  # another's, wherever it is from
        hidden.add(name.partition(".")[0])
    among = lambda key: type(key) is str and key.partition(".")[0] in hidden
    aside = {key: modules[key] for key in list(modules) if among(key) and not is_own(modules[key])}
    for key in aside:
        del modules[key]
    before = set(modules)
    modules.update(Own.kept)
    Own.thread = _thread.get_ident()
    try:
        return work()
    finally:
        Own.thread = None
        for key in [key for key in modules if among(key) and key not in before]:
            Own.kept[key] = modules.pop(key)
        modules.update(aside)


def names_in_folder():
    """What code could import from the working folder."""
    try:
        entries = posix.listdir(".")
    except OSError:
        return []
    return [entry.partition(".")[0] for entry in entries if "." not in entry or entry.endswith((".py", ".pyc", ".so"))]
