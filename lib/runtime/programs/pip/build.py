# SPDX-License-Identifier: MIT
"""What the projects of the session need to be built."""
import os
import tarfile
import zipfile

from .common import ARCHIVES, Refusal, project_of

BUILD_FILE = "pyproject.toml"
BUILD_FILE_MAX = 1 << 20
DEFAULT_BUILD = ["setuptools>=40.8.0", "wheel"]  # pip's, for a project that names nothing


def build_requires(path):
    """What a project, a folder or an archive, names for its build. What pip will refuse names nothing: pip says why."""
    from pip._vendor.packaging.requirements import Requirement

    path = project_of(path)
    if not os.path.isdir(path) and not (os.path.isfile(path) and path.lower().endswith(ARCHIVES)):
        return []
    try:
        requires = build_system(path)["requires"]
        return [text for text in requires if Requirement(text)] if isinstance(requires, list) else []
    except (KeyError, TypeError, ValueError):
        return []


def build_system(path):
    try:
        import tomllib
    except ImportError:  # before Python 3.11
        from pip._vendor import tomli as tomllib
    name = os.path.basename(path)
    try:
        text = read_build_file(path) or b""
    except Exception as error:  # each kind of compression has its own
        raise Refusal("%s cannot be read: %s." % (name, str(error).partition("\n")[0])) from None
    try:
        return tomllib.loads(text.decode()).get("build-system", {"requires": DEFAULT_BUILD})
    except ValueError as error:
        raise Refusal("%s of %s is no TOML: %s." % (BUILD_FILE, name, error)) from None


def read_build_file(path):
    """Returns the start of pyproject.toml, or None if the project has none."""
    if os.path.isdir(path):
        path = os.path.join(path, BUILD_FILE)
        return read_start(open(path, "rb")) if os.path.isfile(path) else None
    if path.lower().endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            name = build_file_in(archive.namelist())
            return read_start(archive.open(name)) if name else None
    with tarfile.open(path) as archive:
        name = build_file_in(archive.getnames())
        return read_start(archive.extractfile(name)) if name else None


def read_start(file):
    with file:
        return file.read(BUILD_FILE_MAX)


def build_file_in(names):
    """Returns the name of pyproject.toml in an archive, or None. As with pip, all files may lie in one folder."""
    tops = {name.partition("/")[0] for name in names}
    name = "/".join([*tops, BUILD_FILE]) if len(tops) == 1 else BUILD_FILE
    return name if name in names else None
