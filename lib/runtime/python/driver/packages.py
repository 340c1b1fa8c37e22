# SPDX-License-Identifier: MIT
"""Asks the server for packages instead of running pip or npm.

A session has no network. A command that only installs is understood here; one that does anything
else, or installs from the session's own files, runs in the shell.
"""

import sys

from .channel import channel
from .imported import older_imports
from .interrupt import check_interrupt, in_child, wait_interruptible
from .limits import LIST_MAX
from .own import own
from .stand_in import forget_stand_in
from .state import State
from .streams import flush_streams, may_send


def own_pip(command):
    """Makes `pip` that of this Python: the one in PATH may belong to another."""
    shlex = own("shlex")

    words = command.split(None, 1)
    if words and words[0] in ("pip", "pip3"):
        rest = words[1] if len(words) > 1 else ""
        return "%s -m pip %s" % (shlex.quote(sys.executable), rest)
    return command


PIP_FLAGS = {
    "-q", "-qq", "-qqq", "--quiet", "-v", "--verbose", "--user", "--no-input",
    "--break-system-packages", "--disable-pip-version-check", "--no-cache-dir", "--no-warn-script-location",
    "--only-binary", ":all:", "--prefer-binary", "--no-color", "--root-user-action=ignore", "-y",
}  # fmt: skip
PIP_WISHES = {"-U": "--upgrade", "--upgrade": "--upgrade", "--force-reinstall": "--upgrade", "--pre": "--pre"}  # the server's, too
OUR_VARIABLES = {"PIP_DISABLE_PIP_VERSION_CHECK", "PIP_RETRIES"}  # of every session
NPM_FLAGS = {"-g", "--global", "-S", "--save", "-D", "--save-dev", "--silent", "-s", "--no-audit", "--no-fund", "--no-save"}


def packages_of(command):
    """Returns (language, packages) if the command only installs some, else None."""
    words = simple_words(command)
    if words[:1] == ["npm"] and words[1:2] and words[1] in ("install", "i", "add"):
        names = [word for word in words[2:] if word not in NPM_FLAGS]
        return ("javascript", names) if names and not any(map(is_local, names)) else None
    words = pip_words(words)
    return python_packages(words[1:]) if words[:1] == ["install"] else None


def simple_words(command):
    """Returns the words of a command in which the shell would change nothing, else none."""
    shlex = own("shlex")

    if any(mark in command for mark in ";|&$`\n(){}"):
        return []
    try:
        return shlex.split(command, comments=True)
    except ValueError:
        return []


def pip_words(words):
    """Returns the words behind pip, whichever way it is called."""
    if words[:1] == ["uv"]:
        words = words[1:]
    if len(words) > 2 and words[0].rsplit("/", 1)[-1].startswith("python") and words[1] == "-m":
        words = words[2:]
    if words[:1] not in (["pip"], ["pip3"]):
        return []
    words = words[1:]
    while words and words[0] in PIP_FLAGS:  # before the command as well as after it
        words = words[1:]
    return words


def python_packages(words):
    """Returns the packages that `pip install` asks the server for; None if the session has them, or its pip reads more."""
    import os

    if any(name.startswith("PIP_") and name not in OUR_VARIABLES for name in os.environ):
        return None  # runtime/programs/pip reads these, too
    names = []
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ("-r", "--requirement") and words:
            names += read_requirements(words.pop(0), 0)
        elif word.startswith(("--progress-bar", "--timeout", "--retries")):
            words = words if "=" in word else words[1:]
        elif word.partition("=")[0] in ("-c", "--constraint", "--no-deps", "-i", "--index-url", "--extra-index-url", "--trusted-host"):
            return None  # runtime/programs/pip reads these
        elif is_local(word) or word in ("-e", "--editable", "--no-index", "-t", "--target", "--find-links", "-f"):
            return None
        elif word not in PIP_FLAGS:
            names.append(PIP_WISHES.get(word, word))
    return ("python", names) if names else None


def is_local(word):
    import os

    plain = word.partition("[")[0]
    return word.startswith((".", "/", "~", "file:")) or (plain.endswith((".whl", ".tar.gz", ".zip")) and os.path.exists(plain)) or (
        os.sep in plain and os.path.isdir(plain))


def read_requirements(path, depth):
    """Returns the packages in a requirements file of the session and in the files that it names."""
    import os

    names = []
    with open(os.path.expanduser(path), encoding="utf-8") as file:
        for line in file.read().replace("\\\n", " ").splitlines():
            line = line.partition(" #")[0].strip()
            first, _, rest = line.partition(" ")
            if not line or line.startswith("#"):
                continue
            if first in ("-r", "--requirement") and depth < 8:
                names += read_requirements(os.path.join(os.path.dirname(path), rest.strip()), depth + 1)
            else:
                names.append(line)
    return names


def ask_broker(language, packages):
    """Asks the server to install packages. Returns whether that worked, and a text for the user."""
    importlib = own("importlib")
    own("select")  # wait_interruptible() needs it; an interrupt during its import would be lost

    if in_child() or not may_send():
        return False, "Packages are installed from the cell's own thread only; or call install_packages."
    names = "\n".join(packages)
    if len(names) > LIST_MAX:
        return False, "The names of all these packages have %d characters: ask for fewer at once." % len(names)
    flush_streams()
    print("Asking ptycell to install %s." % " ".join(packages))
    flush_streams()
    cell = State.cell
    if cell.awaits_packages:  # of a request that was interrupted; the server takes one at a time
        channel.await_frame("installed", wait_interruptible)
    cell.awaits_packages = True
    channel.send(b"install", cell.ident, [("language", language), ("packages", names)])
    reply = channel.await_frame("installed", wait_interruptible)
    cell.awaits_packages = False
    check_interrupt()
    importlib.invalidate_caches()
    forget_stand_in()
    lines = older_imports(reply["packages"]) if language == "python" else []
    return reply["ok"] == "1", "\n".join([reply["text"], *lines])


def after_packages(command):
    if " pip " in command or " uv " in command:
        importlib = own("importlib")

        importlib.invalidate_caches()
