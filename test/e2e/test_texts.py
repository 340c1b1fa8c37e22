# SPDX-License-Identifier: MIT
"""The sentences that models and people read: true, in place, and within their budgets."""
import json

import pytest

from client import WAIT_S, Result, Server


def test_lists_and_instructions_keep_their_budgets(tmp_path):
    with Server(tmp_path, initialize=False) as server:
        hello = server.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                              "clientInfo": {"name": "e2e", "version": "1"}})
        tools = server.request("tools/list")
    assert len(hello["instructions"].encode()) < 1024
    assert len(json.dumps(tools, separators=(",", ":")).encode()) <= 4096
    assert all(len(tool["description"]) < 400 for tool in tools["tools"])


@pytest.mark.parametrize("seconds, text", [(1, "1 s"), (0.25, "0.25 s")])
def test_a_deadline_is_told_in_seconds(tmp_path, seconds, text):
    with Server(tmp_path) as server:
        answer = server.cell("while True: pass", timeout=seconds)
    assert f"ran into its deadline of {text} and was interrupted" in answer.text


def test_a_running_cell_whose_session_is_destroyed_died(tmp_path):
    with Server(tmp_path) as server:
        running = server.start_cell("print('begun')\nopen('started', 'w').close()\nwhile True: pass")
        while not server.call("list_artifacts", session_id="s", pattern="started").object["count"]:
            pass
        waiting = server.start_cell("1")
        server.call("destroy_session", session_id="s")
        ran, queued = (Result(a.get(timeout=WAIT_S)["result"]) for a in (running, waiting))
    assert ran.cell["state"] == "died" and ran.is_error and ran.cell["cell"] == 1
    assert "begun\nThe cell died: the session ended because it was destroyed on request." in ran.text
    assert not ran.links
    assert queued.cell["state"] == "not_started"
    assert "The cell was not run: the session ended because it was destroyed on request." in queued.text


def test_json_says_why_a_cell_could_not_run(tmp_path):
    with Server(tmp_path, env={"PTYCELL_RESULTS": "json", "PTYCELL_PYTHON": "/nowhere"}) as server:
        answer = json.loads(server.cell("1").texts[0])
    assert answer["status"] == "error" and answer["state"] == "not_started"
    assert answer["error"] == ("PTYCELL_PYTHON is '/nowhere', which is neither the absolute path of a program nor "
                               "a command on PATH")


def test_an_interpreter_that_does_not_start_is_named_with_its_end(tmp_path):
    with Server(tmp_path, env={"PTYCELL_PYTHON": "/bin/false"}) as server:
        answer = server.cell("1")
    assert answer.cell["state"] == "not_started"
    assert ("The cell was not run: python (/bin/false) exited with code 1. "
            "Set PTYCELL_PYTHON to one that works.") in answer.text


def test_a_long_output_names_its_file_once_in_the_text_and_once_in_the_status(tmp_path):
    with Server(tmp_path) as server:
        answer = server.cell("for i in range(3000): print('line', i)")
    path = answer.cell["output_path"]
    assert answer.text.count(path) == 1 and answer.texts[-1].count(path) == 1
    assert f"[l for l in open('{path}') if 'word' in l][:20]" in answer.text


def test_an_output_larger_than_its_file_may_be_is_not_said_to_be_all_there(tmp_path):
    with Server(tmp_path, env={"PTYCELL_SPOOL_MAX": "64K"}) as server:
        answer = server.cell("for i in range(20000): print('line', i)")
    path = answer.cell["output_path"]
    assert answer.cell["output_cut"] is True
    assert f"Only the start of the output is stored; search it with code: [l for l in open('{path}')" in answer.text
    assert f" chars, start in {path}]" in answer.texts[-1]


@pytest.mark.parametrize("tool, arguments, text", [
    ("exec_code", {"session_id": "s", "language": "perl", "code": "1"},
     "arguments.language 'perl' does not run here; what does: python"),
    ("upload_file", {"session_id": "s", "filename": "a", "content": "###", "encoding": "base64"},
     "arguments.content: not base64 at byte 0"),
    ("session_info", {"session_id": "s", "config": {"exec_timeout": "5"}},
     "arguments.config: 'exec_timeout' must be a number"),
    ("session_info", {"session_id": "s", "config": {"colour": 5}}, "arguments.config: no key 'colour'; there are"),
    ("exec_code", {"session_id": "a b", "language": "python", "code": "1"}, "session_id must be 1 to 64 characters"),
])
def test_a_wrong_argument_is_named(tmp_path, tool, arguments, text):
    with Server(tmp_path) as server:
        answer = server.call(tool, **arguments)
    assert answer.is_error and len(answer.texts) == 1 and answer.texts[0].startswith(text)


def test_the_most_sessions_are_told_with_the_way_out(tmp_path):
    with Server(tmp_path, env={"PTYCELL_MAX_SESSIONS": "1"}) as server:
        server.call("session_info", session_id="a")
        answer = server.call("session_info", session_id="b")
    assert answer.texts == ["no more than 1 sessions may be open (PTYCELL_MAX_SESSIONS): destroy one of "
                            "those that list_sessions names"]
