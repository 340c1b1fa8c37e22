# SPDX-License-Identifier: MIT
"""What the projects of the session need to be built."""
import contextlib
import os
import tarfile
import tempfile
import zipfile

from .common import ARCHIVES, Refusal, project_of

BUILD_FILE = "pyproject.toml"
BUILD_FILE_MAX = 1 << 20
DEFAULT_BUILD = ["setuptools>=40.8.0", "wheel"]  # pip's, for a project that names nothing
LEGACY_BACKEND = "setuptools.build_meta:__legacy__"  # the backend of a project that names none


def is_project(path):
    return os.path.isdir(path) or (os.path.isfile(path) and path.lower().endswith(ARCHIVES))


def build_requires(path):
    """What a project, a folder or an archive, names for its build. What pip will refuse names nothing: pip says why."""
    from pip._vendor.packaging.requirements import Requirement

    path = project_of(path)
    if not is_project(path):
        return []
    try:
        requires = build_system(path)["requires"]
        return [text for text in requires if Requirement(text)] if isinstance(requires, list) else []
    except (KeyError, TypeError, ValueError):
        return []


def asked_by_backends(files):
    """What the backends of the projects ask for beside what the projects name, as setuptools does for setup_requires."""
    editable = [before == "-e" for before in ["", *files]]
    return [text for path, wants_editable in zip(files, editable) if path != "-e" for text in asked_by_backend(project_of(path), wants_editable)]


def asked_by_backend(path, editable):
    """Returns [] if the backend fails, too: the build fails next, and pip says why."""
    from pip._vendor.packaging.requirements import Requirement

    if not is_project(path):
        return []
    try:
        with source_of(path) as folder:
            hooks = hooks_of(folder)
            asked = hooks.get_requires_for_build_editable() if editable else hooks.get_requires_for_build_wheel()
        return [text for text in asked if Requirement(text)]
    except Exception:  # of the backend, which runs in a process of its own
        return []


def hooks_of(folder):
    try:
        from pip._vendor.pyproject_hooks import BuildBackendHookCaller as Hooks, quiet_subprocess_runner as quiet
    except ImportError:  # before pip 23
        from pip._vendor.pep517.wrappers import Pep517HookCaller as Hooks, quiet_subprocess_runner as quiet
    system = build_system(folder)
    return Hooks(folder, system.get("build-backend", LEGACY_BACKEND), system.get("backend-path"), quiet)


@contextlib.contextmanager
def source_of(path):
    """The folder of a project; for an archive it is there for a while."""
    from pip._internal.utils.unpacking import unpack_file

    if os.path.isdir(path):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        unpack_file(path, folder)
        yield folder


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
