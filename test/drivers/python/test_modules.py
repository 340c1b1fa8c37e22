# SPDX-License-Identifier: MIT
"""Single modules of the driver, without a session: what depends on text alone."""
import os
import sys

import pytest

import harness

sys.path.insert(0, os.path.dirname(os.path.dirname(harness.MAIN)))
ours = sys.modules["__main__"]
from driver.channel import encode_frame, parse_frame  # noqa: E402
from driver.cut import bounded, shortened  # noqa: E402
from driver.magics_expand import expand_names  # noqa: E402
from driver.magics_shell import script_options, split_output  # noqa: E402
from driver.magics_syntax import is_open, rewrite_magics  # noqa: E402
from driver.magics_timing import seconds_text, split_options  # noqa: E402
from driver.packages import packages_of  # noqa: E402
from driver.pages import text_of_html  # noqa: E402
from driver.parse import dedent, last_expression, parse_source  # noqa: E402
from driver.text import plain_text  # noqa: E402

sys.modules["__main__"] = ours  # the driver has put its own there


def test_ready_is_sent_before_the_rest_is_defined():
    program = harness.source().decode()
    assert program.index("HELLO = greet()") < program.index("class State")


def test_a_frame_is_read_as_it_was_written():
    data = encode_frame(b"exec", 7, [("code", "1\n2"), ("name", b"")])
    assert parse_frame(data + b"next") == (("exec", 7, {"code": "1\n2", "name": ""}), len(data))
    assert all(parse_frame(data[:end]) == (None, 0) for end in range(len(data)))


def test_a_text_keeps_its_beginning_or_both_ends():
    assert bounded("abcdef", 6) == shortened("abcdef", 6) == "abcdef"
    assert bounded("abcdef", 4) == "abcd\n... [2 characters left out: print shows all]"
    assert shortened("abcdefghi", 6) == "abcd\n... [3 characters left out] ...\nhi"


@pytest.mark.parametrize("source, rewritten", [
    ("x = 1", None),
    ("!ls -l", "__ptycell_shell__('ls -l', False)"),
    ("  !!ls", "  __ptycell_shell__('ls', True)"),
    ("a, b = !ls", "a, b = __ptycell_shell__('ls', True)"),
    ("%cd /tmp", "__ptycell_line__('cd /tmp')"),
    ("x = %env HOME", "x = __ptycell_line__('env HOME')"),
    ("!ls \\\n -l\nx", "__ptycell_shell__('ls  -l', False)\n\nx"),
    ("pip3 install six", "__ptycell_line__('pip install six')"),
    ("npm i left-pad", "__ptycell_shell__('npm i left-pad', False)"),
    ("len?", "__ptycell_help__('len', False)"),
    ("??os.path", "__ptycell_help__('os.path', True)"),
    ("\n%%bash -e\nls\n", "\n__ptycell_cell__('bash', '-e', 'ls\\n', 2)"),
    ("f(a,\n  %b", None),  # within a bracket it is an operator
    ('x = """\n!ls\n', None),  # and within a string it is text
])
def test_a_magic_becomes_a_call_on_its_line(source, rewritten):
    assert rewrite_magics(source, "<cell 1>") == rewritten


@pytest.mark.parametrize("text, is_it", [
    ("", False), ("x = 1", False), ("f(", True), ("x = [1]", False), ("x = '''", True), ("x = 1 + \\", True), ("x = 'a", True),
])
def test_a_text_is_open_within_strings_brackets_and_continued_lines(text, is_it):
    assert is_open(text) is is_it


@pytest.mark.parametrize("source, has_value", [("1", True), ("1;", False), ("1 # ;", True), ("x = 1", False), ("'é' ;", False)])
def test_a_last_expression_is_the_value_unless_a_semicolon_follows(source, has_value):
    assert (last_expression(parse_source(source, "<cell 1>"), source) is not None) == has_value


def test_a_pasted_cell_loses_the_indent_of_its_first_line():
    assert dedent("\n    if x:\n        y\n  z") == "\nif x:\n    y\n  z"


@pytest.mark.parametrize("command, wanted", [
    ("pip install -q six 'attrs>=22'", ("python", ["six", "attrs>=22"])),
    ("uv pip install six", ("python", ["six"])),
    ("/usr/bin/python3.11 -m pip install six # why", ("python", ["six"])),
    ("npm install -g left-pad", ("javascript", ["left-pad"])),
    ("pip list", None),
    ("pip install six && ls", None),
    ("pip install ./here", None),
    ("pip install six -c these.txt", None),
    ("pip install six --constraint=these.txt", None),
    ("npm install", None),
])
def test_a_command_that_only_installs_names_its_packages(command, wanted, monkeypatch):
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    assert packages_of(command) == wanted


def test_a_variable_of_pip_leaves_a_command_to_the_program(monkeypatch):
    monkeypatch.setenv("PIP_NO_DEPS", "1")
    assert packages_of("pip install six") is None


@pytest.mark.parametrize("command, parts", [
    ("pip install six > log", ("pip install six", "> log")),
    ("pip install six 2>&1 | tail -1", ("pip install six", "2>&1 | tail -1")),
    ("pip install six>=1", ("pip install six>=1", "")),
    ("pip install six | tee log && ls", ("pip install six | tee log && ls", "")),
])
def test_where_the_output_of_a_command_goes_is_split_off(command, parts):
    assert split_output(command) == parts


def test_options_of_magics():
    assert split_options("-n 10 -r3 -q f(-1)") == ({"n": 10, "r": 3, "q": 0}, "f(-1)")
    assert script_options("-e -s A -- B --out NAME") == (["-e"], ["A", "--", "B"], {"out": "NAME"})
    assert [seconds_text(s) for s in (2, 0.0123, 4.5e-5, 6e-9)] == ["2 s", "12.3 ms", "45 us", "6 ns"]


@pytest.mark.parametrize("command, expanded", [
    ("echo $name {1 + 1}", "echo N 2"),
    ("echo $other ${name} '$name'", "echo $other ${name} '$name'"),
    ("awk '{{print $1}}' {name!r}", "awk '{print $1}' 'N'"),
    ("echo $$name", "echo $name"),
])
def test_names_of_the_frame_are_put_into_a_command(command, expanded):
    name = "N"
    assert name and expand_names(command, sys._getframe()) == expanded


def test_a_page_becomes_its_words():
    page = "<title>no</title><h1>A &amp; b</h1><p>one\n two<table><tr><td>1<td>2<tr><td>3</table><script>no</script>"
    assert text_of_html(page) == "A & b\none two\n1 | 2\n3"


def test_values_are_shown_within_limits():
    assert plain_text([1, "a"]) == "[1, 'a']"
    assert plain_text(1 << 20000) == "<int with about 6021 digits>"
    assert plain_text(list(range(3000))).endswith("\n... (list, length 3000, not all shown)")
