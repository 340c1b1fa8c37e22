# SPDX-License-Identifier: MIT
"""Runs a hook right after the module it is for was imported."""

from _frozen_importlib_external import PathFinder
import _thread
import sys

from .errors import log
from .figures import hook_figure, hook_matplotlib, hook_pyplot
from .introspection import hook_inspect, hook_linecache, hook_pdb, hook_traceback, hook_warnings
from .libraries import (
    hook_getipython, hook_ipython, hook_linalg, hook_multiprocessing, hook_pil, hook_plotly, hook_subprocess,
    hook_sympy, hook_threading,
)
from .own import Own
from .spawn import hook_spawn
from .stand_in import StandIn

HOOKS = {
    "traceback": hook_traceback,
    "warnings": hook_warnings,
    "linecache": hook_linecache,
    "inspect": hook_inspect,
    "pdb": hook_pdb,
    "matplotlib": hook_matplotlib,
    "matplotlib.pyplot": hook_pyplot,
    "matplotlib.figure": hook_figure,
    "numpy.linalg._umath_linalg": hook_linalg,
    "PIL.Image": hook_pil,
    "IPython.core.display_functions": hook_ipython,
    "IPython.core.getipython": hook_getipython,
    "plotly.basedatatypes": hook_plotly,
    "sympy.interactive.printing": hook_sympy,
    "multiprocessing.spawn": hook_spawn,
    "multiprocessing.util": hook_multiprocessing,
    "subprocess": hook_subprocess,
    "threading": hook_threading,
}


class HookFinder:
    """A finder that lets the other finders find a module and gives it a HookLoader.

    It also finds Python's own modules for with_own_modules().
    """

    @staticmethod
    def find_spec(name, path=None, target=None):
        hook = HOOKS.get(name)
        is_ours = path is None and Own.thread == _thread.get_ident()
        if hook is None and not is_ours:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is HookFinder or find is None:
                continue
            spec = find(name, Own.path, target) if is_ours and finder is PathFinder else None
            spec = spec or find(name, path, target)
            if spec is not None:
                if hook is not None and spec.loader is not None:
                    spec.loader = HookLoader(spec.loader, hook)
                return spec
        return None


class HookLoader:
    """Loads a module with its own loader, then runs the hook."""

    def __init__(self, loader, hook):
        self._loader = loader
        self._hook = hook

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        run_hook(self._hook, module)


def run_hook(hook, module):
    try:
        hook(module)
    except Exception as error:
        log(error)


def install_hooks():
    Own.find_places()
    sys.meta_path.insert(0, HookFinder)
    sys.meta_path.append(StandIn)
    for name, hook in HOOKS.items():
        if name in sys.modules:  # imported by site or by a newer Python
            run_hook(hook, sys.modules[name])
