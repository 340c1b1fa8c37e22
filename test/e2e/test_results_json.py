# SPDX-License-Identifier: MIT
"""PTYCELL_RESULTS=json: one object a result, with the keys that users of CodeBoxMCP know and ours."""
import json

import pytest
from client import Server
from patience import until
from steps import BEGUN, HOLD, NEVER_S, go

ARTIFACT = {"path", "filename", "extension", "size_bytes", "mime_type", "uri"}


@pytest.fixture
def agent(home):
    with Server(home, env={"PTYCELL_RESULTS": "json"}) as server:
        yield server


def answer(result):
    """The object that the first text block is; agents never look at isError or further."""
    assert not result.is_error and result.content[0]["type"] == "text"
    return json.loads(result.texts[0])


def test_a_cell_answers_with_output_and_artifacts(agent):
    got = answer(agent.cell("open('output/a.csv', 'w').write('1'); open('b.txt', 'w').close()\nprint('hello')\n6 * 7"))
    assert (got["session_id"], got["status"], got["output"]) == ("s", "success", "hello\n42\n")
    assert {a["path"] for a in got["new_artifacts"]} == {"output/a.csv", "b.txt"}
    assert {a["path"] for a in got["all_artifacts"]} == {"output/a.csv", "b.txt"}
    assert all(set(a) == ARTIFACT for a in got["all_artifacts"])
    assert "error" not in got and "is new and empty" in got["notice"]
    assert (got["cell"], got["generation"], got["state"]) == (1, 1, "done")
    assert got["status_line"].startswith("[s#1 done ") and got["saved"].startswith("~/kept/")


def test_old_files_are_only_among_all(agent):
    agent.cell("open('output/a.csv', 'w').write('1')")
    got = answer(agent.cell("1"))
    assert got["new_artifacts"] == [] and [a["path"] for a in got["all_artifacts"]] == ["output/a.csv"]
    assert "notice" not in got


@pytest.mark.parametrize("code, error, state", [
    ("print('before')\n1/0", "ZeroDivisionError", "raised"), ("x = = 1", "SyntaxError", "raised"),
    ("import os; os._exit(2)", "", "died"), ("while True: pass", "", "timed_out")])
def test_code_that_fails_is_status_error_without_is_error(agent, code, error, state):
    got = answer(agent.cell(code, **({"timeout": 1} if state == "timed_out" else {})))
    assert (got["status"], got["state"]) == ("error", state)
    assert got["error"] and error in got["error"] and got["output"]


def test_images_follow_the_object(agent):
    result = agent.cell("import matplotlib.pyplot as plt\n_ = plt.plot([1])")
    got = answer(result)
    assert [b["type"] for b in result.content] == ["text", "image"]
    assert [a["path"] for a in got["new_artifacts"]] == ["output/cell-1-figure-1.png"]


def test_uploading_tells_the_saved_path(agent):
    got = answer(agent.call("upload_file", session_id="s", filename="a.csv", content="1"))
    assert {"session_id", "status", "saved_path", "size_bytes", "message"} <= set(got)
    assert got["status"] == "success" and got["size_bytes"] == 1 and got["saved_path"].endswith("/input/a.csv")


def test_listing_tells_artifacts_and_their_count(agent):
    agent.cell("open('output/a.csv', 'w').write('1')")
    got = answer(agent.call("list_artifacts", session_id="s"))
    assert (got["status"], got["session_id"], got["count"]) == ("success", "s", 1)
    assert set(got["artifacts"][0]) == ARTIFACT


def test_session_info_has_folders_and_limits(agent):
    got = answer(agent.call("session_info", session_id="s", config={}))
    assert got["status"] == "success"
    assert {"session_id", "workdir", "input_dir", "output_dir", "effective_config", "generation", "state", "keep_dir",
            "languages", "databases", "confinement"} <= set(got)
    assert {"session_ttl", "idle_timeout", "exec_timeout"} <= set(got["effective_config"])


def test_sessions_are_listed_and_destroyed_by_known_keys(agent):
    agent.cell("1")
    got = answer(agent.call("list_sessions"))
    assert (got["status"], got["count"]) == ("success", 1)
    assert {"session_id", "age_seconds", "idle_seconds", "workdir", "generation", "state"} <= set(got["sessions"][0])
    got = answer(agent.call("destroy_session", session_id="s"))
    assert (got["session_id"], got["status"]) == ("s", "success") and got["message"]


@pytest.mark.parametrize("tool, arguments, said", [
    ("exec_code", {"session_id": "s", "language": "cobol", "code": "1"}, "cobol"),
    ("exec_code", {"session_id": "s", "language": "python"}, "code"),
    ("upload_file", {"session_id": "s", "filename": "../x", "content": "1"}, "filename"),
    ("list_artifacts", {"session_id": "nobody"}, "nobody"), ("session_info", {"session_id": "a b"}, "session_id"),
    ("list_sessions", {"all": True}, "all"), ("destroy_session", {"session_id": "nobody"}, "nobody")])
def test_a_refusal_is_an_object_too(agent, tool, arguments, said):
    got = answer(agent.call(tool, **arguments))
    assert got["status"] == "error" and said in got["error"]


def test_a_long_output_is_cut_the_same(agent):
    got = answer(agent.cell("for i in range(9000): print('line', i)"))
    assert len(got["output"]) < 9000 and "left out" in got["output"]
    assert got["output_chars"] > 80_000 and got["output_path"]


def test_a_destroyed_sessions_running_cell_is_answered(agent):
    pending = agent.start_cell(f"import time\ntime.sleep({NEVER_S})")
    agent.call("session_info", session_id="s", config={})
    agent.call("destroy_session", session_id="s")
    message = pending.get()
    assert json.loads(message["result"]["content"][0]["text"])["status"] == "error"


def test_a_folder_full_of_files_costs_no_output(agent):
    got = answer(agent.cell("for i in range(9000): open(f'f{i}', 'w').close()\nprint('hello')"))
    assert got["output"] == ("hello\nNot saved for the user: 'f0' (too many new files in one cell) and 8999 more. "
                             "Write to output/ what they should have.\n")
    assert len(got["new_artifacts"]) > 100
    assert len(got["new_artifacts"]) + got["new_artifacts_left_out"] == 9000
    got = answer(agent.cell("1"))
    assert got["new_artifacts"] == [] and len(got["all_artifacts"]) + got["all_artifacts_left_out"] == 9000


def test_a_cell_that_runs_on_or_waits_is_no_failure(tmp_path):
    with Server(tmp_path, env={"PTYCELL_RESULTS": "json"}) as server:
        answers = [json.loads(server.cell(f"{BEGUN}{HOLD}42", budget=1).texts[0])]
        until(lambda: "begun" in answers[-1]["output"] or answers.append(json.loads(server.interact(budget=1).texts[0])))
        go(server)
        ended = json.loads(server.interact().texts[0])
        waiting = json.loads(server.cell("input('well? ')").texts[0])
        refused = json.loads(server.interact(session="nobody").texts[0])
    assert {(running["status"], running["state"]) for running in answers} == {("running", "running")}
    assert (ended["status"], ended["state"]) == ("success", "done") and ended["output"] == "42\n"
    assert (waiting["status"], waiting["state"], waiting["prompt"]) == ("waiting_for_input",) * 2 + ("well?",)
    assert refused["status"] == "error" and "there is no session" in refused["error"]
