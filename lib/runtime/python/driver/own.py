# SPDX-License-Identifier: MIT
"""Imports Python's own modules, even where the session's folder has a file of the same name.

Such a module does not stay in sys.modules, so `import random` in a cell still finds the user's
random.py.
"""

import _thread
import posix
import sys

from .kinds import ModuleType


class Own:
    modules = {}
    kept = {}  # entries of sys.modules that session code does not see, by name
    thread = None  # the thread that imports one of them
    folder = "/"  # Python's standard library
    path = ()

    @classmethod
    def find_places(cls):
        file = getattr(sys.modules["os"], "__file__", None) or "/"
        cls.folder = file.rpartition("/")[0] + "/"
        cls.path = [path for path in sys.path if (path + "/").startswith(cls.folder) and "-packages" not in path]


def own(name):
    """Returns a module of Python itself, even where a file of the session has its name.

    Session code that imports that name still gets what it would get without the driver.
    """
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

    return with_own_modules(work, name)


def with_own_modules(work, name=""):
    """Returns what `work` returns; any import in it finds Python's own modules.

    Modules of the session with such names leave sys.modules meanwhile.
    """
    modules, hidden = sys.modules, set(names_in_folder())
    if name in modules:  # not Python's own
        hidden.add(name.partition(".")[0])
    is_hidden = lambda key: type(key) is str and key.partition(".")[0] in hidden
    # Written out: each error comes here twice, and a call for each of some hundred modules takes long.
    found = [key for key in list(modules) if type(key) is str and key.partition(".")[0] in hidden]
    set_aside = {key: modules[key] for key in found if not is_own(modules[key])}
    for key in set_aside:
        del modules[key]
    before = set(modules)
    modules.update(Own.kept)
    Own.thread = _thread.get_ident()
    try:
        return work()
    finally:
        Own.thread = None
        for key in filter(is_hidden, set(modules) - before):
            Own.kept[key] = modules.pop(key)
        modules.update(set_aside)


def names_in_folder():
    """Returns the names of modules that code could import from the working folder."""
    try:
        entries = posix.listdir(".")
    except OSError:
        return []
    return [entry.partition(".")[0] for entry in entries if "." not in entry or entry.endswith((".py", ".pyc", ".so"))]
