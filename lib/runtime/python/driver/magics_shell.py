# SPDX-License-Identifier: MIT
"""`!command`, `%%bash`, `%pip` and the magics that are named as a command is."""

import sys

from .magics_expand import expand_names
from .magics_syntax import UsageError
from .own import own
from .packages import after_packages, ask_broker, own_pip, packages_of, python_packages
from .programs import call_shell, note_exit, run_program, stays_inside
from .state import NAMESPACE
from .streams import flush_streams


def run_shell(command, capture, frame=None):
    return run_command(expand_names(command, frame or sys._getframe(1)), capture)


def run_command(command, capture):
    command = own_pip(command.strip())
    install, onward = split_output(command)
    wanted = packages_of(install)
    if wanted is not None:
        ok, text = ask_broker(*wanted)
        lines = show_through(onward, text, capture, ok)
        note_exit(0 if ok else 1)
        return lines
    lines = call_shell(command, capture)
    after_packages(command)
    return lines


def split_output(command):
    """Returns (command, where its output goes): `> file`, `2>&1 | tail -1`, or an empty string.

    `>=` belongs to a version.
    """
    re = own("re")

    plain = r"""((?:[^'"|<>]|[<>](?=[=\d])|'[^']*'|"[^"]*")*?)"""
    found = re.match(plain + r"\s+((?:\d?>|&>|\|)(?![=|])[^;`$(){}\n]*)$", command)
    if found is None or "&&" in found[2] or "||" in found[2] or re.search(r"(?:^|\s)#", found[1]):
        return command, ""
    return found[1], found[2]


def show_through(onward, text, capture, ok=True):
    """Shows a text as the output of the command that was not run; to stderr if it is an error."""
    if onward or capture:
        return call_shell(("cat " if ok else "{ cat >&2; } ") + onward, capture, (text + "\n").encode())
    print(text)
    return None


def magic_shell(name):
    def magic(line):
        return run_command("%s %s" % (name, line), False)

    return magic


def script_magic(program):
    def magic(line, body, lineno):
        subprocess = own("subprocess")

        words, arguments, options = script_options(line)
        kept = {name: options.get(name) or stays_inside(getattr(sys, "std" + name)) for name in ("out", "err")}
        pipes = {"std" + name: subprocess.PIPE for name in kept if kept[name]}
        flush_streams()
        # The script is an argument, because it may read the terminal on stdin.
        code, *outputs = run_program([own("shutil").which(program) or program, *words, "-c", body, program, *arguments], **pipes)
        note_exit(code)
        for name, data in zip(("out", "err"), outputs):
            if kept[name]:
                text = data.decode("utf-8", "replace")
                if name in options:
                    NAMESPACE[options[name]] = text
                else:
                    getattr(sys, "std" + name).write(text)
        if code and "no-raise-error" not in options:
            raise subprocess.CalledProcessError(code, program)

    return magic


def magic_script(line, body, lineno):
    """Runs the body as the file that a program is given: `%%script perl -w`."""
    words = own("shlex").split(line)
    if not words:
        raise UsageError("%%script needs a program: %%script perl")
    tempfile = own("tempfile")
    flush_streams()
    with tempfile.NamedTemporaryFile("w", prefix="script-") as file:
        file.write(body)
        file.flush()
        code, *_ = run_program([own("shutil").which(words[0]) or words[0], *words[1:], file.name])
    note_exit(code)
    if code:
        raise own("subprocess").CalledProcessError(code, words[0])


def script_options(line):
    """Returns `-e -s A B --out NAME` as (["-e"], ["A", "B"], {"out": "NAME"})."""
    given, words, options = own("shlex").split(line), [], {}
    while given:
        word = given.pop(0)
        if word in ("--out", "--err") and given:
            options[word[2:]] = given.pop(0)
        elif word == "--no-raise-error":
            options[word[2:]] = word
        elif word in ("--out", "--err", "--bg", "--proc"):
            raise UsageError("a cell of a shell takes the shell's options, -s ARGUMENTS, --out NAME, --err NAME and "
                             "--no-raise-error; not %s" % word)
        else:
            words.append(word)
    at = words.index("-s") if "-s" in words else len(words)
    arguments = words[at + 1 :]
    return words[:at], arguments[1:] if arguments[:1] == ["--"] else arguments, options


def magic_pip(line):
    shlex = own("shlex")

    command, onward = split_output(line)
    words = shlex.split(command, comments=True)
    wanted = python_packages(words[1:]) if words[:1] == ["install"] else None
    if wanted is None:
        run_command("%s -m pip %s" % (shlex.quote(sys.executable), line), False)
        return
    ok, text = ask_broker(*wanted)
    if not ok:
        raise UsageError(text)
    show_through(onward, text, False)
