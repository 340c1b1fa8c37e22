# SPDX-License-Identifier: MIT
"""pip, uv and conda of a session: what brings packages is asked for from the server, because a session has no network.

The build makes one program of the modules here (scripts/pack-driver). It runs as `python -m pip`, and by a script that puts the
program's name before its words. What only looks at packages is the program's own, and so is what installs from the session's files.
"""
import os
import re
import signal
import sys

from .bring import bring_all
from .common import PACKAGES, Refusal, files_folder, say
from .files import uninstall_ours
from .machine import own_pip, own_program
from .projects import drop_needs, install_files, of_session
from .server import ask
from .words import TARGETS, VALUED, read_words, words_of_variables

ASKING = {"-o", "--outdated", "-u", "--uptodate"}  # options of `pip list`


def install(words):
    wanted = read_words([*words_of_variables(), *words])
    if wanted.own:
        refuse_targets(wanted, [*words_of_variables(), *words])
        return own_pip(["install", *words, *of_session(words)])
    if wanted.files:
        return install_files(wanted)
    if not wanted.names:
        raise Refusal("You must give at least one requirement to install.")
    return bring_all(wanted)


def refuse_targets(wanted, words):
    """Packages of the indexes have one place. Those of a folder of the session go where the words say."""
    options = {word.partition("=")[0] for word in words}
    target = next(iter(TARGETS & options), None)
    if wanted.names and target and not options & {"-f", "--find-links", "--no-index"}:
        raise Refusal("%s is here for files of the session and folders of --find-links. pip install NAME without it asks the server, "
                      "which brings packages to %s, where Python finds them." % (target, PACKAGES))


def uninstall(words):
    names = list(dict.fromkeys(re.match(r"[\w.-]*", text)[0] for text in read_words(words).names))
    if not names:
        raise Refusal("You must give at least one requirement to uninstall.")
    gone, names = uninstall_ours(names)
    drop_needs(gone)
    if not names:
        return 0
    answer = ask("uninstall", names)
    if answer.get("code") == "not_found":
        say("WARNING: Skipping %s as it is not installed. Only what was asked for in this session can be uninstalled." % ", ".join(names), sys.stderr)
        return 0
    say(answer["text"], sys.stdout if answer["ok"] else sys.stderr)
    return 0 if answer["ok"] else 1


def pip(words):
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in VALUED else 1
    command, before = "".join(words[at:at + 1]), words[:at]
    if command == "install":
        return install([*before, *words[at + 1:]])
    if command == "uninstall":
        return uninstall(words[at + 1:])
    if command in ("download", "wheel"):
        raise Refusal("pip %s is not here: only ptycell asks the indexes. pip install NAME asks the server, which brings what the "
                      "user's indexes have; the files are then in %s." % (command, PACKAGES))
    if command in ("index", "search") or (command == "list" and ASKING & {*words}):
        raise Refusal("pip %s asks no index here: only ptycell asks them. pip install --dry-run -U NAME says which version would "
                      "come." % command)
    if command == "freeze":
        words = [*words, "--path", PACKAGES, "--path", files_folder()]  # Debian's packages are none of the session's
    return own_pip(words)


def uv(words):
    if words[:2] == ["pip", "sync"] or words[:1] == ["sync"]:
        raise Refusal("uv sync is not here: pip install NAME... asks the server for what is missing.")
    if words[:1] == ["pip"]:
        return pip(words[1:])
    if words[:1] == ["add"]:
        return install(words[1:])
    if words[:1] == ["remove"]:
        return uninstall(words[1:])
    if words[:1] == ["run"] and "--with" not in words:
        os.execvp(words[1] if len(words) > 1 else "", words[1:])
    return own_program("uv", words, "uv is not installed here; uv pip install and uv add ask the server.")


def conda(words, name):
    if words[:1] in (["install"], ["create"], ["update"], ["env"]):
        raise Refusal("There are no packages and environments of %s here. pip install NAME asks the server for a package of the "
                      "user's Python index; what else conda has is the user's to install." % name)
    return own_program(name, words, "%s is not installed here; pip install NAME asks the server for Python's packages." % name)


def run(name, words):
    if name == "uv":
        return uv(words)
    if name == "uvx":
        raise Refusal("uvx is not here: pip install TOOL, then run TOOL.")
    if name in ("conda", "mamba", "micromamba"):
        return conda(words, name)
    return pip(words)


def main():
    named = __package__ == "pip"
    try:
        return run("pip" if named else sys.argv[1], sys.argv[1 if named else 2:])
    except Refusal as refusal:
        say("ERROR: %s" % refusal, sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("ERROR: Operation cancelled by user", sys.stderr)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell ends its commands only for a program that dies of it
        os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    sys.exit(main())
