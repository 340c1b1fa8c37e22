# SPDX-License-Identifier: MIT
"""Names the packages that were installed anew but are imported in an older copy."""

import sys

from .channel import channel
from .kinds import ModuleType, is_a


def handle_imported(turn):
    lines = "\n".join(older_imports(turn.parts["packages"]))
    channel.answer(turn, [("status", "ok"), ("vars", lines)])


def older_imports(packages):
    """A sentence for each of these (lines NAME, VERSION, MODULE) of which another copy is imported."""
    told = []
    for line in packages.splitlines():
        name, version, module = line.split("\t")
        loaded = sys.modules.get(module)
        path = getattr(loaded, "__file__", None) if is_a(loaded, ModuleType) else None
        have = getattr(loaded, "__version__", None) if is_a(loaded, ModuleType) else None
        if type(path) is not str or (type(have) is str and have == version):
            continue
        if not path.startswith(packages_folder()) or type(have) is str:
            told.append(
                "%s is imported already%s: this interpreter goes on with that copy, and a new one "
                "(interact with action terminate) imports %s."
                % (module, " in version " + have if type(have) is str else "", version)
            )
    return told


def packages_folder():
    import os

    return os.environ.get("PYTHONPATH", "").partition(":")[0] or "\0"
