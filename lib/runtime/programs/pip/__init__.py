# SPDX-License-Identifier: MIT
"""Stands before pip for `python -m pip`, whose `__main__` asks the server. All else of this package is pip's own."""
import importlib.machinery
import os
import sys

_here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_own = importlib.machinery.PathFinder.find_spec("pip", [path for path in sys.path if os.path.abspath(path) != _here])
if _own is not None and _own.origin is not None:
    __path__.extend(_own.submodule_search_locations)
    with open(_own.origin, encoding="utf-8") as _source:
        exec(compile(_source.read(), _own.origin, "exec"))
