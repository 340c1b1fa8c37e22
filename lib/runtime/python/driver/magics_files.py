# SPDX-License-Identifier: MIT
"""Magics for files, the working folder and the environment."""

import posix

from .magics_syntax import UsageError
from .state import State


def magic_cd(line):
    import os

    words = line.split(None, 1)
    quiet = words[:1] == ["-q"]
    target = unquoted("".join(words[1:]).strip() if quiet else line) or "~"
    if target == "-":
        if State.folder_before is None:
            raise UsageError("%cd - goes back where %cd came from, and there was none before")
        target = State.folder_before
    before = os.getcwd()
    os.chdir(os.path.expanduser(target))
    State.folder_before = before
    if not quiet:
        print(os.getcwd())


def magic_pwd(line):
    return posix.getcwd()


def unquoted(text):
    if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]:
        return text[1:-1]
    return text


def magic_env(line):
    import os

    name, equals, value = line.partition("=")
    if not equals and " " in line:
        name, _, value = line.partition(" ")
        equals = " "
    if equals:
        os.environ[name.strip()] = unquoted(value.strip())
        print("env: %s=%s" % (name.strip(), os.environ[name.strip()]))
        return None
    if line and name.strip() not in os.environ:
        raise UsageError("there is no environment variable %s" % name.strip())
    return os.environ[name.strip()] if line else dict(os.environ)


def magic_set_env(line):
    if not line.partition("=")[1] and " " not in line:
        raise UsageError("%set_env needs a name and a value: %set_env NAME=value")
    return magic_env(line)


def magic_writefile(line, body, lineno):
    words = line.split(None, 1)
    append = bool(words) and words[0] in ("-a", "--append")
    path = unquoted((words[1] if append and len(words) > 1 else line).strip())
    if not path:
        raise UsageError("%%writefile needs a file name")
    import os

    action = "Appending to" if append else "Overwriting" if os.path.exists(path) else "Writing"
    with open(path, "a" if append else "w", encoding="utf-8") as file:
        file.write(body if body.endswith("\n") or not body else body + "\n")
    print(action, path)
