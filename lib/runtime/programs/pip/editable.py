# SPDX-License-Identifier: MIT
"""Links in the place of editable projects: Python reads `.pth` files only in its own folders."""
import os
import re

from .common import files_folder, project_of


def unlink_editables(paths):
    """pip does not replace links."""
    folders = [project_of(path) + os.sep for path in paths]
    for name in os.listdir(files_folder()) if os.path.isdir(files_folder()) else []:
        path = os.path.join(files_folder(), name)
        if os.path.islink(path) and os.path.realpath(path).startswith(tuple(folders)):
            os.unlink(path)


def link_editables(folder):
    """Links the modules to which an editable package leads: Python reads `.pth` files only in its own folders."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name.startswith("__editable__") and name.endswith("_finder.py"):
            link_modules(folder, mapping_of(path))
            os.unlink(path)
        elif name.endswith(".pth"):
            with open(path, encoding="utf-8") as file:
                for line in filter(os.path.isdir, file.read().splitlines()):
                    link_modules(folder, modules_in(line))
            os.unlink(path)


def mapping_of(path):
    """The modules of setuptools' finder, by name."""
    import ast

    with open(path, encoding="utf-8") as file:
        found = re.search(r"^MAPPING[^=\n]*= (\{.*\})$", file.read(), re.M)
    return ast.literal_eval(found[1]) if found else {}


def modules_in(folder):
    found = {}
    for name in os.listdir(folder):
        stem, extension = os.path.splitext(name)
        if stem.isidentifier() and stem not in ("setup", "conftest", "build", "tests") and (extension == ".py" or (not extension and os.path.isdir(os.path.join(folder, name)))):
            found[stem] = os.path.join(folder, name)
    return found


def link_modules(folder, modules):
    for name, path in modules.items():
        path = path if os.path.isdir(path) or path.endswith(".py") else path + ".py"
        link = os.path.join(folder, *name.split(".")) + (".py" if path.endswith(".py") else "")
        if os.path.exists(path) and os.path.isdir(os.path.dirname(link)):
            remove(link)
            os.symlink(path, link)


def remove(path):
    """What an earlier installation of the same project left."""
    import shutil

    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)
