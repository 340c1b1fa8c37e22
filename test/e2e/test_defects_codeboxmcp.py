# SPDX-License-Identifier: MIT
"""Defects of CodeBoxMCP, by their ids in prior-art.md, with our behaviour."""
import os

import pytest
from client import Result, Server
from fetching import Site
from patience import until
from steps import HOLD, NEVER_S, all_folders, assert_honest, go, listed


def info(server, session="s"):
    return server.call("session_info", session_id=session, config={}).object


def sessions(server):
    return [row["session_id"] for row in server.call("list_sessions").object["sessions"]]


@pytest.mark.parametrize("session", ["a/../../victim", "../victim", "..", ".hidden", "a/b"])
def test_an_id_is_never_part_of_a_path(server, home, session):
    victim = home / "cache" / "victim"
    victim.mkdir(parents=True)
    (victim / "precious").write_text("mine", encoding="ascii")
    for tool in ("session_info", "destroy_session", "list_artifacts"):
        refused = server.call(tool, session_id=session)
        assert refused.is_error and "session_id must be 1 to 64 characters" in refused.texts[0]
    assert os.listdir(victim) == ["precious"]
    assert sessions(server) == []


def test_no_two_ids_share_a_folder(server, home):
    for session in ("b", "B", "session_b", "b.", "b-", "b_"):
        info(server, session)
    folders = all_folders(home)
    assert len(folders) == 6
    server.call("destroy_session", session_id="b")
    until(lambda: len(all_folders(home)) == 5)
    assert not any(session in folder.parts for folder in folders for session in ("b", "session_b"))


@pytest.mark.parametrize("session", ["", "x" * 300, "a\0b", "/abs", "a b", "\u00e9", "-a"])
def test_a_bad_id_is_refused_with_the_rule(server, session):
    for tool, more in (("exec_code", {"language": "python", "code": "1"}), ("session_info", {})):
        message = server.start("tools/call", {"name": tool, "arguments": {"session_id": session, **more}})
        refused = Result(message.get()["result"])
        assert refused.is_error and "session_id" in refused.texts[0]
        assert "/" not in refused.texts[0]
    assert sessions(server) == []


def test_an_endless_loop_ends_at_its_deadline(home):
    with Server(home, env={"EXEC_TIMEOUT": "1"}) as server:
        assert server.cell("while True: pass").state == "timed_out"
        assert server.cell("1").text == "1\n"


def test_a_long_cell_holds_nobody_else_up(server):
    pending = server.start_cell(f"import time\ntime.sleep({NEVER_S})")
    server.request("ping")
    assert server.cell("1", session="other").text == "1\n"
    assert server.call("list_sessions").object["count"] == 2
    server.cancel(pending)


def test_the_start_of_one_session_holds_no_other_up(home):
    slow = home / "slow/bin/python3"
    slow.parent.mkdir(parents=True)
    slow.write_text("#!/bin/sh\nwhile [ ! -e input/go ]; do sleep 0.05; done\nexec /usr/bin/python3 \"$@\"\n", encoding="ascii")
    slow.chmod(0o755)
    with Server(home, env={"PTYCELL_PYTHON": str(slow)}) as server:
        first = server.start_cell("1")
        server.request("ping")
        assert server.call("list_sessions").object["sessions"][0]["state"] == "starting"
        assert info(server, "other")["state"] == "idle"
        go(server)
        assert first.get()["result"]


def test_a_session_is_never_ended_in_the_middle_of_a_cell(home):
    limits = {"SESSION_TTL": "1", "IDLE_TIMEOUT": "1", "CLEANUP_INTERVAL": "1"}
    with Server(home, env=limits) as server:
        whole = server.start_cell(HOLD + "'whole'")
        until(lambda: any(row["age_seconds"] >= 3 for row in server.call("list_sessions").object["sessions"]))
        go(server)
        assert Result(whole.get()["result"]).text == "'whole'\n"


def test_an_exception_is_an_error_apart_from_the_output(server):
    result = server.cell("print('before')\n1/0")
    assert result.is_error and result.state == "raised"
    assert result.text.startswith("before\nTraceback")
    assert (result.cell["error_name"], result.cell["error_text"]) == ("ZeroDivisionError", "division by zero")


def test_plots_and_displayed_values_are_shown(server):
    result = server.cell("import matplotlib.pyplot as plt, pandas as pd\nplt.plot([1, 2]); plt.show()\n"
                         "display(pd.DataFrame({'a': [1]}))\nprint('end')")
    assert len(result.images) == 1 and "output/cell-1-figure-1.png" in listed(server)
    assert result.text.index("[figure 1]") < result.text.index("   a\n0  1") < result.text.index("end")


def test_output_is_as_it_was_written(server):
    result = server.cell("import sys\nprint('a'); print('  '); print(); sys.stderr.write('e\\n'); print(' b')")
    assert result.text == "a\n\n\ne\n b\n"


def test_a_file_in_a_subfolder_is_new_once(server):
    first = server.cell("import os\nos.mkdir('output/sub'); _ = open('output/sub/f.txt', 'w').write('x')")
    assert [c["path"] for c in first.status["files"]] == ["output/sub/f.txt"]
    assert "files" not in server.cell("1").status


def test_an_overwritten_file_is_changed_and_kept_anew(server, home):
    server.cell("_ = open('output/top.csv', 'w').write('old')")
    again = server.cell("_ = open('output/top.csv', 'w').write('new')")
    assert again.status["files"] == [{"kind": "~", "path": "output/top.csv", "size": None}]
    copy, = (home / "kept").rglob("top.csv")
    assert copy.read_text(encoding="ascii") == "new"


def test_files_stay_where_the_code_put_them(server):
    server.call("upload_file", session_id="s", filename="in.csv", content="a\n1\n")
    server.cell("import pandas as pd\npd.read_csv('input/in.csv').to_csv('out.csv')")
    assert server.cell("open('out.csv').read()").text == "',a\\n0,1\\n'\n"
    assert sorted(listed(server)) == ["input/in.csv", "out.csv"]


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.gif", "a.webp", "a.parquet", "a.zip", "a.ipynb",
                                  "deep/er/a.txt", "noextension"])
def test_every_kind_of_file_anywhere_is_seen(server, name):
    result = server.cell(f"import os\nos.makedirs(os.path.dirname('./{name}'), exist_ok=True)\n"
                         f"_ = open('{name}', 'w').write('x')")
    assert [c["path"] for c in result.status["files"]] == [name]
    assert listed(server) == [name]


def test_a_dangling_link_costs_no_output(server):
    result = server.cell("import os\nos.symlink('nowhere', 'output/dangling')\nprint('shown')")
    assert_honest(result)
    assert result.state == "done" and "shown\n" in result.text and not result.links
    assert server.cell("1").text == "1\n"


CONNECTIONS = ("DefaultEndpointsProtocol=http;AccountName=a;AccountKey=a2V5;BlobEndpoint={url}", "{url}",
               "Driver={{PostgreSQL Unicode}};Server=127.0.0.1;Port={port};Uid=a;Pwd=b",
               "Driver=FreeTDS;Server=127.0.0.1;Port={port};Uid=a;Pwd=b", "postgresql://a:b@127.0.0.1:{port}/db")


def test_no_call_takes_the_server_to_a_place_that_it_names(server):
    """Storages and databases are the operator's: no argument, no config and no metadata names one."""
    with Site({}) as site:
        server.call("session_info", session_id="s", config={})
        for connection in (c.format(url=site.url(), port=site.port) for c in CONNECTIONS):
            for name in ("X-Blob-Connection-String", "blob_connection_string", "X-Db-Connection-String"):
                arguments = {"session_id": "s", name: connection}
                assert server.call("session_info", **arguments).is_error
                assert server.call("session_info", session_id="s", config={name: connection}).is_error
                meta = {"name": "session_info", "arguments": {"session_id": "s"}, "_meta": {name: connection}}
                info_ = Result(server.request("tools/call", meta)).object
                assert info_["storage"] is None and info_["databases"] == info(server)["databases"]
            refused = server.call("exec_sql", session_id="s", query="SELECT 1", database=connection)
            assert refused.is_error, refused.texts
            server.cell("open('output/a.txt', 'w').write('x')")
        assert not site.said


def test_limits_have_a_floor(server):
    before = info(server)["effective_config"]
    low = {key: -5 for key in before}
    after = server.call("session_info", session_id="s", config=low).object["effective_config"]
    assert set(after) == set(before) and all(value > 0 for value in after.values())
    assert server.cell("6 * 7").text == "42\n"


@pytest.mark.parametrize("value", ["-1", "0", "6_0", "+5", "\u0665", "1e3", "x", " "])
def test_a_setting_that_is_none_is_told_by_every_tool(home, value):
    with Server(home, env={"SESSION_TTL": value}) as server:
        for tool, more in (("list_sessions", {}), ("session_info", {"session_id": "s"})):
            answer = server.call(tool, **more)
            assert answer.is_error and "SESSION_TTL" in answer.texts[0]
    assert server.stderr.count(b"\n") == 1 and b"SESSION_TTL" in server.stderr


def test_destroying_what_is_not_there_is_an_error(server):
    refused = server.call("destroy_session", session_id="never-was")
    assert refused.is_error and "there is no session 'never-was'" in refused.texts[0]
    server.cell("1")
    assert not server.call("destroy_session", session_id="s").is_error
    assert server.call("destroy_session", session_id="s").is_error


def test_a_session_that_expired_says_so_when_it_is_used_again(home):
    with Server(home, env={"IDLE_TIMEOUT": "1", "CLEANUP_INTERVAL": "1"}) as server:
        server.cell("x = 1; open('f', 'w').close()")
        until(lambda: not sessions(server))
        again = server.cell("import os; 'x' in globals(), os.listdir('.')")
        assert again.content[0]["text"] == again.notice
        assert "generation 2" in again.notice and "was not used for 1 s" in again.notice
        assert "variables and files are gone" in again.notice
        assert again.text.startswith("(False, [") and "'f'" not in again.text
