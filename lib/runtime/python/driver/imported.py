# SPDX-License-Identifier: MIT
"""Names the packages that were installed anew but are imported in an older copy."""

import sys

from .channel import channel
from .kinds import ModuleType, is_a


def handle_imported(request):
    lines = "\n".join(older_imports(request.parts["packages"]))
    channel.answer(request, [("status", "ok"), ("vars", lines)])


def older_imports(packages):
    """Returns a sentence for each package of which another copy is imported.

    `packages` has lines of NAME, VERSION and MODULE.
    """
    sentences = []
    for line in packages.splitlines():
        name, version, module = line.split("\t")
        loaded = sys.modules.get(module)
        path = getattr(loaded, "__file__", None) if is_a(loaded, ModuleType) else None
        have = getattr(loaded, "__version__", None) if is_a(loaded, ModuleType) else None
        if type(path) is not str or (type(have) is str and have == version):
            continue
        if not path.startswith(packages_folder()) or type(have) is str:
            sentences.append(
                "%s is imported already%s: this interpreter goes on with that copy, and a new one "
                "(interact with action terminate) imports %s."
                % (module, " in version " + have if type(have) is str else "", version)
            )
    return sentences


def packages_folder():
    import os

    return os.environ.get("PYTHONPATH", "").partition(":")[0] or "\0"
