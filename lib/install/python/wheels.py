# SPDX-License-Identifier: MIT
"""Files of packages: what they say of themselves, and their unpacking."""
import compileall
import contextlib
import glob
import hashlib
import os
import re
import shutil
import sys
import warnings
import zipfile

from .common import Refusal, naming, quote, write_lines
from .pip import pip
from .policy import judge

COMPILERS_MAX = 8  # processes: a step may have few, and more gain little


def wheels():
    """The files that are there, in the order of their names."""
    rows = []
    for name in sorted(os.listdir("wheels")) if os.path.isdir("wheels") else []:
        with open(os.path.join("wheels", name), "rb") as f:
            digest = hashlib.sha256(f.read()).hexdigest()
        rows.append({"file": name, "sha256": digest})
    return rows


# ---- unpacking ----


def look_into(row):
    """Name, version and requirements of a wheel as its own metadata has them; none of its code runs."""
    from email.parser import BytesHeaderParser

    utils, version = naming()
    path = os.path.join("wheels", row["file"])
    try:
        name, told, _, _ = utils.parse_wheel_filename(row["file"])
        with zipfile.ZipFile(path) as wheel:
            check_names(row["file"], wheel.namelist())
            inside = [n for n in wheel.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", n)]
            metadata = BytesHeaderParser().parsebytes(wheel.read(inside[0])) if len(inside) == 1 else {}
        if utils.canonicalize_name(metadata["Name"]) != name or version.Version(metadata["Version"]) != told:
            raise ValueError("it calls itself otherwise inside")
    except Refusal:
        raise
    except Exception as error:
        raise Refusal("%s is no wheel that can be used: %s." % (quote(row["file"]), error)) from None
    return {"name": metadata["Name"], "version": metadata["Version"], "requires": metadata.get_all("Requires-Dist", []),
            "file": row["file"], "sha256": row["sha256"]}


def check_names(file, names):
    for name in names:
        if name.startswith("/") or "\\" in name or "\0" in name or ".." in name.split("/"):
            raise Refusal("%s was not installed: its file %s would lie outside of the packages folder."
                          % (quote(file), quote(name)))


def unpack(request):
    rows = [look_into(row) for row in wheels()]
    judge(rows, request)
    write_lines("locked.txt", ["%s @ file://%s --hash=sha256:%s"
                               % (row["name"], os.path.abspath(os.path.join("wheels", row["file"])), row["sha256"])
                               for row in rows])
    shutil.rmtree("site", ignore_errors=True)  # a build's, which came before
    os.makedirs("site")
    dropped = []
    if rows:
        pip("install", "--quiet", "--no-deps", "--no-index", "--require-hashes", "--no-warn-script-location", "--no-compile",
            "--target", "site", "-r", "locked.txt")
        dropped = drop_python_s_own()
        compile_modules("site")
        for told in glob.glob("site/*.dist-info/direct_url.json"):
            os.remove(told)  # `pip freeze` would name this folder instead of the version
    return {"files": [{"file": row["file"], "sha256": row["sha256"]} for row in rows], "left_out": dropped,
            "bytes": sum(os.path.getsize(os.path.join("wheels", row["file"])) for row in rows),
            "packages": [{"name": row["name"], "version": row["version"], "file": row["file"],
                          "modules": [name for name in modules(row) if name not in dropped]} for row in rows]}


def drop_python_s_own():
    """Removes modules that Python has itself, and returns their names.

    The folder comes before Python's own on the path.
    """
    dropped = []
    for entry in sorted(os.listdir("site")):
        path, name = os.path.join("site", entry), entry.partition(".")[0]
        if name not in getattr(sys, "stdlib_module_names", ()):
            continue
        if os.path.isdir(path) and entry == name:
            shutil.rmtree(path)
        elif os.path.isfile(path) and entry.endswith((".py", ".pyc", ".so")):
            os.remove(path)
        else:
            continue
        dropped.append(name)
    return sorted(set(dropped))


def compile_modules(folder):
    """Compiles modules as pip does, but on several processors: that takes longest of all."""
    files = [os.path.join(path, name) for path, _, names in os.walk(folder) for name in names if name.endswith(".py")]
    files.sort(key=os.path.getsize, reverse=True)  # so that the parts take about as long
    count = min(len(os.sched_getaffinity(0)), COMPILERS_MAX, len(files))
    parts = [files[n::count] for n in range(count)]
    children = []
    while parts:
        try:
            child = os.fork()
        except OSError:  # the limit of processes is reached
            compile_files(parts.pop())
            continue
        if child == 0:
            try:
                compile_files(parts[-1])
            finally:
                os._exit(0)
        parts.pop()
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def compile_files(files):
    """A file that is no Python of this version stays as it is, as with pip."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file in files:
            with contextlib.suppress(Exception):  # such as RecursionError
                compileall.compile_file(file, quiet=2, force=True)


def modules(row):
    """The top-level names that it brings."""
    tops = set()
    with zipfile.ZipFile(os.path.join("wheels", row["file"])) as wheel:
        for name in wheel.namelist():
            top = name.split("/")[0].split(".")[0]
            if top.isidentifier() and (name.endswith((".py", ".so")) or name.count("/") == 0):
                tops.add(top)
    return sorted(tops)[:20]
