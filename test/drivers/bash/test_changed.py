# SPDX-License-Identifier: MIT
"""Whatever a cell does to what bash works with, the next one runs, or the shell says why it ends. What is tried is
made from bash's own lists."""
import subprocess

import pytest

DEAD = "bash: this shell ends: "


def listed(kind):
    return subprocess.run(["bash", "-c", f"compgen {kind}"], capture_output=True, check=True, text=True).stdout.split()


def goes_on(bash, code):
    """What the cell, the next one, an exit and the next one said that they did not write; a text, where the shell ended."""
    bash.run("keep=1")
    said = []
    for cell, shown in ((code, None), ('echo "fine $keep"', "fine 1\n"), ("exit 3", ""), ('echo "fine $keep"', "fine 1\n")):
        bash.start(cell)
        if bash.message() is None:
            bash.drain()
            return bash.output.decode()
        if shown is not None and bash.output.decode() != shown:
            said.append((cell, bash.output.decode()))
    return said


# `echo` and `exit` are the test's own words; and see the driver for what an alias of a brace costs.
RESERVED = [word for word in listed("-k") if word != "{"]
BUILTINS = [word for word in listed("-b") if word not in ("echo", "exit")]
SOME = [[word for word in BUILTINS[i::6] if word != "enable"] for i in range(6)]


@pytest.mark.parametrize("words", [*RESERVED, " ".join(BUILTINS)])
def test_an_alias_reaches_nothing_of_the_drivers(bash, words):
    assert goes_on(bash, "".join(f"\\alias '{word}'=nosuch\n" for word in words.split())) == []
    assert bash.run('echo "${#BASH_ALIASES[@]}"') == ("over", 0, f"{len(words.split())}\n")


@pytest.mark.parametrize("word", ["case", "{", "!", "[[", "trap", "builtin"])
def test_an_alias_reaches_no_error_of_a_cell(bash, word):
    bash.run("keep=1; trap 'echo usr' USR1")
    for code in ("${nothing?}", "if", "return 3"):
        assert bash.run(f"alias '{word}'=nosuch\n{code}")[0] == "over"
        assert bash.run('echo "fine $keep"') == ("over", 0, "fine 1\n")
    assert bash.run("shopt -u expand_aliases")[0] == "over"
    assert bash.run("shopt -q expand_aliases") == ("over", 1, "")
    if word != "{":
        assert bash.run("exit 4") == ("over", 4, "")
        assert bash.run("shopt -q expand_aliases; echo $?; keep=2") == ("over", 0, "1\n")


@pytest.mark.parametrize("words", SOME)
def test_a_builtin_that_is_off_is_on_for_the_driver(bash, words):
    assert goes_on(bash, f"enable -n {' '.join(words)}") == []


def test_a_shell_ends_and_says_so_when_what_gives_builtins_back_is_off(bash):
    assert goes_on(bash, "enable -n enable read") == (
        "bash: this shell ends: the builtin named enable is off, and others can be had back only by it.\n")


@pytest.mark.parametrize("words", SOME)
def test_a_function_of_a_builtins_name_is_not_the_drivers(bash, words):
    words = [word for word in words if word not in ("builtin", "exec")]
    assert goes_on(bash, "".join(f"function {word} {{ false; }}\n" for word in words)) == []


@pytest.mark.parametrize("word", ["builtin", "exec"])
@pytest.mark.parametrize("body", ["true", "false"])
def test_a_function_that_the_driver_cannot_go_on_with_is_removed_with_a_word(bash, word, body):
    assert bash.run(f"keep=1; {word}() {{ {body}; }}")[2] == (
        f"bash: the function named {word} was removed: this shell could not go on with it.\n")
    assert goes_on(bash, ":") == []


CHANGES = ["declare -A {}", "declare -i {}", "declare -n {}=keep", "readonly {}", "readonly -a {}", "unset {}; declare -A {}",
           "unset {}; readonly -a {}", "unset {}; declare -u {}"]
# What is tried with all of CHANGES, the driver works with.
WHOLE = ["BASHOPTS", "BASHPID", "EPOCHREALTIME", "FUNCNEST", "HISTFILE", "IFS", "LC_ALL", "PATH", "PROMPT_COMMAND", "PS1", "PS2",
         "SHELLOPTS", "TMOUT"]
NAMES = sorted({*listed("-v"), "BASH_COMPAT", "BASH_REMATCH", "GLOBIGNORE", "POSIXLY_CORRECT", "REPLY"}
               - {"_", "COLUMNS", "LINES", "BASH_EXECUTION_STRING", *WHOLE})


@pytest.mark.parametrize("change", [*(change.replace("{}", name) for name in WHOLE for change in CHANGES),
                                    *("; ".join(CHANGES[i % len(CHANGES)].replace("{}", NAMES[i]) for i in range(first, len(NAMES), 12))
                                      for first in range(12))])
def test_no_attribute_of_a_variable_stops_the_driver(bash, change):
    said = goes_on(bash, change)
    assert not said or isinstance(said, str) and said.endswith(".\n") and DEAD in said


@pytest.mark.parametrize("change", ["declare -i _", "unset _; declare -i _", "declare -rn BASHPID=keep", "unset BASHPID; declare -rn BASHPID=keep",
                                    "declare -i SHELLOPTS; ${nothing?}", "declare -i _; ${nothing?}", "declare -rn BASHPID=keep; ${nothing?}"])
def test_what_bash_itself_can_hardly_go_on_with_does_not_stop_the_driver(bash, change):
    """Its own errors are shown: each command sets `_`."""
    bash.run(f"keep=1; {change}")
    assert bash.run("echo fine $keep") == ("over", 0, "fine 1\n")
    assert bash.run("exit 3") == ("over", 3, "")
    assert bash.run("echo fine $keep") == ("over", 0, "fine 1\n")
