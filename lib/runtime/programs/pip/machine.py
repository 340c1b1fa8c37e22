# SPDX-License-Identifier: MIT
"""The machine's own programs of the same names."""
import os
import sys

from .common import MODULES, PROGRAMS, Refusal


def without_us():
    """The environment in which `python -m pip` and the names of these programs lead to those of the machine."""
    environment = dict(os.environ)
    for name, ours in (("PYTHONPATH", MODULES), ("PATH", PROGRAMS)):
        kept = [path for path in environment.get(name, "").split(os.pathsep) if path and os.path.abspath(path) != ours]
        environment[name] = os.pathsep.join(kept)
    return environment


def own_pip(words):
    os.execve(sys.executable, [sys.executable, "-m", "pip", *words], without_us())


def call_pip(*words):
    import subprocess

    return subprocess.run([sys.executable, "-m", "pip", *words], env=without_us()).returncode


def own_program(name, words, instead):
    import shutil

    environment = without_us()
    path = shutil.which(name, path=environment["PATH"])
    if path is None:
        raise Refusal(instead)
    os.execve(path, [name, *words], environment)
