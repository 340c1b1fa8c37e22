# SPDX-License-Identifier: MIT
"""Finds which modules an import makes again as they were, and which are files of the session (saving.py)."""

import gc
import sys

from .beside import is_value
from .kinds import BuiltinType, FunctionType, ModuleType, is_a, module_of
from .limits import SAVE_SUBMODULES
from .own import own
from .sharing import UNCHANGING
from .state import NAMESPACE


def modules_with(names):
    """Returns {name: installed module} for names of what can change and is that module's, as rcParams."""
    libraries = library_folders()
    found, wanted = {}, {name for name in names if not is_a(NAMESPACE.get(name), UNCHANGING + (ModuleType,))}
    for module_name, module in list(sys.modules.items()):
        if type(module) is not ModuleType or module_name in ("__main__", "builtins") or not is_installed(module, libraries):
            continue
        for name in wanted & module.__dict__.keys():
            if module.__dict__[name] is NAMESPACE[name]:
                found.setdefault(name, module_name)
    return found


def objects_of_modules(within):
    """Returns those of these ids that are of objects of installed modules.

    Such are what these modules, their classes and the containers in both hold, and what those objects
    have in them. A pickle may have them in it, as the list that is an attribute of all DataFrames.
    """
    libraries = library_folders()
    modules = [module for name, module in list(sys.modules.items()) if type(module) is ModuleType
               and name not in ("__main__", "builtins") and is_installed(module, libraries)]
    held = gc.get_referents(*map(vars, modules))
    classes = {id(item): item for item in held if is_a(item, type) and module_of(item) != "__main__"}.values()
    held += gc.get_referents(*[item for item in gc.get_referents(*classes) if type(item) is dict])
    held += gc.get_referents(*[item for item in held if is_a(item, (dict, list, tuple))])
    found = set()
    while held:
        held = [item for item in held if (id(item) in within or type(item) is tuple) and id(item) not in found]
        found.update(map(id, held))
        held = gc.get_referents(*held)
    return found


def modules_of_session():
    """Returns the names and modules that are files of the session."""
    found, libraries = [], library_folders()
    for name, module in list(sys.modules.items()):
        if type(module) is ModuleType and type(module.__dict__.get("__file__")) is str and not is_installed(module, libraries):
            if type(name) is str and name != "__main__" and module.__dict__.get("__spec__") is not None:
                found.append((name, module))
    return found


def is_edited(module):
    """Returns whether the module's file has another time or size than its compiled file has noted at the import."""
    compiled = module.__dict__.get("__cached__")
    if type(compiled) is not str:
        return False
    try:
        now = own("os").stat(module.__file__)
        with own("io").open(compiled, "rb") as file:
            head = file.read(16)
    except OSError:
        return False
    then = [int.from_bytes(head[at:at + 4], "little") for at in (4, 8, 12)]  # flags, time, size
    return then[0] == 0 and then[1:] != [int(now.st_mtime) & 0xFFFFFFFF, now.st_size & 0xFFFFFFFF]


def has_values(module):
    """Returns whether cells, or the module's own functions, may have changed values in it."""
    for key, value in list(module.__dict__.items()):
        if type(key) is not str or key.startswith("__") or is_a(value, (FunctionType, BuiltinType, ModuleType)):
            continue
        if not is_a(value, type):
            return True
        if module_of(value) == module.__name__ and any(is_value(key, item) for key, item in list(vars(value).items())):
            return True
    return False


def submodules_of(packages):
    """Returns the loaded modules that code reaches by the names of their packages, as urllib.request."""
    found = []
    for module in list(sys.modules) if packages else ():
        package, *rest = module.split(".")
        if rest and package in packages and not any(part.startswith("_") for part in rest):
            found.append(module)
    return found[:SAVE_SUBMODULES]


def library_folders():
    """Returns how the paths of modules begin that come with Python, or that the server has installed."""
    installed = [path for path in own("os").environ.get("PYTHONPATH", "").split(":") if "packages" in path.split("/")]
    return tuple(sys.base_prefix + lib for lib in ("/lib/python", "/lib64/python")) + tuple(path + "/" for path in installed)


def is_installed(module, libraries):
    """Returns whether an import finds the module as it was made: not one of the session's own files."""
    file = module.__dict__.get("__file__")
    if module.__dict__.get("__spec__") is None:
        return False
    return file is None or type(file) is str and ("-packages/" in file or file.startswith(libraries))
