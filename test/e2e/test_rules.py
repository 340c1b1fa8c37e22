# SPDX-License-Identifier: MIT
"""Code rules of a policy file, end to end; what each rule hits is held by test/drivers/python/test_rules.py."""
import json

import pytest
from test_spares import ENV, spared


@pytest.fixture
def start(servers):
    return lambda rules, language="python", **options: servers(policy={language: {"rules": rules}}, env=ENV, **options)


def test_a_refused_cell_is_an_error_that_leaves_the_session_as_it_was(start):
    server = start({"imports": "enforce", "shell": "enforce"})
    server.cell("x = 1")
    answer = server.cell("x = 2\nimport subprocess\n!touch output/made")
    assert answer.is_error and answer.state == "raised"
    assert "Nothing of this cell was run." in answer.text
    assert "line 2, column 8: the module subprocess, by the code rule 'imports'" in answer.text
    assert "line 3, column 1: the shell command 'touch output/made', by the code rule 'shell'" in answer.text
    assert ('The user can allow it in the file of PTYCELL_POLICY, for new sessions: {"python": {"rules": '
            '{"import:subprocess": "off", "shell:touch": "off"}}}') in answer.text
    assert "Traceback" not in answer.text and answer.cell["error_name"] == "CodeRuleError"
    again = server.cell("x")
    assert again.text == "1\n" and "files" not in again.status and again.status["cell"] == 3
    entry = json.loads(server.request("resources/read", {"uri": "session://s/cells/2"})["contents"][0]["text"])
    assert entry["state"] == "raised" and "import subprocess" in entry["code"]


def test_a_warning_is_part_of_the_output(start):
    answer = start({"imports": "warn"}).cell("import socket\n40 + 2")
    assert not answer.is_error and answer.text.endswith("42\n")
    assert "line 1, column 8: the module socket, by the code rule 'imports'" in answer.text


def test_a_name_can_be_allowed_alone(start):
    server = start({"imports": "enforce", "import:socket": "off"})
    assert not server.cell("import socket").is_error
    assert server.cell("import ctypes").is_error


def test_without_rules_nothing_is_judged(start, home):
    server = start({"imports": "off"})
    assert server.cell("import socket, os; eval('1'); '_ptycell_rules' in str(os.sys.modules)").text == "False\n"


def test_rules_hold_in_an_interpreter_that_was_started_anew(start):
    server = start({"builtins": "enforce"})
    assert server.cell("eval('1')").is_error
    server.cell("import os; os._exit(1)")
    assert "the builtin eval" in server.cell("eval('1')").text


def test_rules_hold_in_an_interpreter_that_waited_for_its_session(start):
    server = start({"imports": "enforce"})
    assert "the module socket" in server.cell("import socket", session=spared(server)).text


def test_other_languages_of_the_session_are_not_judged(start):
    """A known way past the rules: they are about Python's cells, and no wall."""
    server = start({"shell": "enforce"})
    assert server.cell("echo hi", language="bash").text == "hi\n"


@pytest.mark.parametrize("language, rules, says", [
    ("python", {"import": "enforce"}, "python.rules.import is none of imports, builtins,"),
    ("python", {"import:": "enforce"}, "is none of imports"),
    ("python", {"import:a b": "warn"}, "is none of imports"),
    ("python", {"imports": "on"}, "must be off, warn or enforce"),
    ("javascript", {"imports": "warn"}, "only python has rules"),
])
def test_a_rule_that_is_none_is_said_by_every_tool(start, language, rules, says):
    server = start(rules, language)
    answer = server.cell("1")
    assert answer.is_error and says in answer.texts[0] and "policy.json" in answer.texts[0]
    assert "Correct it and start ptycell again." in answer.texts[0]
