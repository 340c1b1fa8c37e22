# SPDX-License-Identifier: MIT
"""Magics that configure a notebook: most have nothing to set here and say so."""

from .libraries import module_exists
from .magics_syntax import UsageError
from .own import own
from .state import NAMESPACE, State
from .streams import print_note


def magic_matplotlib(line):
    """Does nothing: figures are always shown inline."""
    words = line.split()
    if "--list" in words or "-l" in words:
        print("Available matplotlib backends: ['inline']")
    elif words and words[0] not in ("inline", "agg"):
        print_note("[%%matplotlib %s: figures are shown as pictures in the output, as with inline]" % words[0])


def magic_pylab(line):
    exec("import numpy, matplotlib\nfrom matplotlib import pylab, mlab, pyplot\nnp = numpy\nplt = pyplot\n"
         "from pylab import *\nfrom numpy import *\n", NAMESPACE)
    magic_matplotlib(line)


def magic_load_ext(line):
    importlib = own("importlib")

    if line in ("autoreload", "storemagic"):
        return
    if not line or not module_exists(line):
        raise UsageError("there is no extension %r" % line)
    load = getattr(importlib.import_module(line), "load_ipython_extension", None)
    if load is None:
        raise UsageError("the module %r is no extension: it has no load_ipython_extension" % line)
    load(State.shell)


def without_effect(name, why):
    def magic(line):
        print_note("[%%%s does nothing here: %s]" % (name, why))

    return magic


def magic_config(line):
    """Sets `ast_node_interactivity`; every other setting does nothing here."""
    found = own("re").fullmatch(r"(?:Terminal)?InteractiveShell\.ast_node_interactivity\s*=\s*(['\"])(\w+)\1", line)
    if found is None:
        CONFIGURES_NOTHING(line)
    else:
        State.shell.ast_node_interactivity = found[2]


CONFIGURES_NOTHING = without_effect("config", "libraries are configured by their own calls")
