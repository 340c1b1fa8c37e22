# SPDX-License-Identifier: MIT
"""The topics for people who come from elsewhere: snippets of help/frameworks.md, and a test for each row of help/migration.md."""
import ast
import base64
import contextlib
import json
import os
import pathlib
import re

import pytest

from client import CALL_S, Server
from outside import PROC
from steps import descriptors

TOPICS = pathlib.Path(__file__).resolve().parents[2] / "cmd/server/help"
tested = []


def row(there):
    """Marks the test of the row whose first cell begins so."""
    tested.append(there)
    return lambda test: test


def rows():
    text = (TOPICS / "migration.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (.*?) \| .* \|$", text, re.MULTILINE)
    return [cell for cell in cells if cell != "there"]


def test_every_row_has_its_test():
    assert len(rows()) == len(tested)
    for there in tested:
        assert sum(cell.startswith(there) for cell in rows()) == 1, there


def test_the_snippets_are_python_and_start_ptycell():
    text = (TOPICS / "frameworks.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(snippets) == 4
    for snippet in snippets:
        compile(snippet, "frameworks.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        assert re.search(r"""command(=|": )"ptycell", "?args"?(=|: )\[\]""", snippet)


@pytest.fixture
def json_server(tmp_path):
    with Server(tmp_path, env={"PTYCELL_RESULTS": "json"}) as server:
        yield server


def object_of(answer):
    return json.loads(answer.texts[0])


def call_raw(server, tool, **arguments):
    return server.start("tools/call", {"name": tool, "arguments": arguments}).get()


# ---- CodeBoxMCP ----

@row("one HTTP server")
@pytest.mark.parametrize("name, replacement", [
    ("MCP_TRANSPORT", "stdin and stdout"), ("MCP_HOST", "ssh"), ("PORT", "the host starts it"),
    ("MCP_PORT", "the host starts it"), ("BASE_WORKDIR", "PTYCELL_HOME")])
def test_names_of_an_http_server_tell_what_replaces_them(tmp_path, name, replacement):
    with Server(tmp_path, env={name: "x"}) as server:
        assert server.cell("1").text.endswith("1\n")
        server.close()
    line, = server.stderr.decode().splitlines()
    assert line.startswith(f"{name} has no effect: ") and replacement in line


@row("`.env` is read by itself")
def test_an_env_file_may_have_comments_behind_its_values(tmp_path):
    env_file = tmp_path / "settings.env"
    env_file.write_text("# Session Lifecycle\nSESSION_TTL=3600   # one hour\nexport IDLE_TIMEOUT='1800'\n\n"
                        "AZURE_BLOB_CONNECTION_STRING=<your-connection-string>\n")
    with Server(tmp_path, "--env-file", str(env_file)) as server:
        config = server.call("session_info", session_id="s").object["effective_config"]
    assert (config["session_ttl"], config["idle_timeout"]) == (3600, 1800)


@row("a value that is no number")
def test_a_wrong_value_is_what_every_tool_answers(tmp_path):
    with Server(tmp_path, env={"SESSION_TTL": "an hour"}) as server:
        for tool in server.request("tools/list")["tools"]:
            answer = server.call(tool["name"], session_id="s", language="python", code="1")
            assert answer.is_error
            assert answer.texts[0].startswith("The setting SESSION_TTL has the value 'an hour'")


@row("`SESSION_TTL` 3600")
def test_sessions_last_longer_and_never_expire_while_they_run(tmp_path):
    with Server(tmp_path) as server:
        config = server.call("session_info", session_id="s").object["effective_config"]
    assert (config["session_ttl"], config["idle_timeout"]) == (86400, 14400)
    limits = {"SESSION_TTL": "1", "IDLE_TIMEOUT": "1", "CLEANUP_INTERVAL": "1"}
    with Server(tmp_path, env=limits) as server:
        assert server.cell("import time; time.sleep(3.2); 'ran'").text.endswith("'ran'\n")


@row("`EXEC_TIMEOUT` is reported")
def test_a_timeout_interrupts_the_cell(tmp_path):
    with Server(tmp_path, env={"EXEC_TIMEOUT": "1"}) as server:
        server.cell("x = 1", timeout=CALL_S)
        assert server.cell("while True: pass").cell["state"] == "timed_out"
        assert server.cell("x", timeout=CALL_S).text == "1\n"
        assert server.cell("import time; time.sleep(1.2)", timeout=CALL_S).cell["state"] == "done"


@row("headers `X-Session-Ttl`")
def test_a_session_has_limits_of_its_own(tmp_path):
    wanted = {"session_ttl": 600, "idle_timeout": 60, "exec_timeout": 30}
    with Server(tmp_path) as server:
        config = server.call("session_info", session_id="s", config=wanted).object["effective_config"]
        other = server.call("session_info", session_id="t").object["effective_config"]
    assert {key: config[key] for key in wanted} == wanted
    assert other["exec_timeout"] == 300


@row("0 and negative limits")
def test_limits_are_clamped_on_both_sides(tmp_path):
    with Server(tmp_path) as server:
        low = server.call("session_info", session_id="s", config={"session_ttl": -1, "exec_timeout": 0})
        high = server.call("session_info", session_id="t", config={"exec_timeout": 301, "idle_timeout": 1e12})
    assert (low.object["effective_config"]["session_ttl"], low.object["effective_config"]["exec_timeout"]) == (1, 1)
    assert high.object["effective_config"]["exec_timeout"] == 300
    assert high.object["effective_config"]["idle_timeout"] == 14400
    assert "arguments.config: exec_timeout is 300, not 301; idle_timeout is 14400, not 1000000000000. A session's limit is at most the server's" in high.texts[0]
    assert "session_ttl is 1, not -1; exec_timeout is 1, not 0. " in low.object["notice"]


@row("`exec_code` answers JSON")
def test_json_results_have_the_keys_that_people_know(json_server, tmp_path):
    answer = object_of(json_server.cell("open('output/a.csv', 'w').write('1')\nprint('hello')"))
    assert answer["session_id"] == "s" and answer["status"] == "success" and answer["output"] == "hello\n"
    assert [a["path"] for a in answer["new_artifacts"]] == ["output/a.csv"]
    assert {"filename", "path", "extension", "size_bytes"} <= answer["new_artifacts"][0].keys()
    again = object_of(json_server.cell("print('again')"))
    assert again["new_artifacts"] == []
    assert [a["path"] for a in again["all_artifacts"]] == ["output/a.csv"]
    with Server(tmp_path) as server:
        assert server.cell("1").texts[-1].startswith("[s#1 done ")


@row('`status: "success"` for code that still runs')
def test_code_that_waits_or_runs_is_told_apart(json_server):
    assert object_of(json_server.cell("input()"))["status"] == "waiting_for_input"
    assert object_of(json_server.cell("sleep 600", language="bash", budget=0))["status"] == "running"


@row('`status: "success"` for code that raised')
def test_raised_code_is_an_error(json_server, tmp_path):
    answer = json_server.cell("1/0")
    assert not answer.is_error
    assert object_of(answer)["status"] == "error"
    assert object_of(answer)["error"] == "ZeroDivisionError: division by zero"
    assert "Traceback" in object_of(answer)["output"]
    with Server(tmp_path) as server:
        assert server.cell("1/0").is_error


@row('errors are results with `status: "error"`')
def test_errors_have_a_form_of_their_own(json_server, tmp_path):
    assert object_of(json_server.call("list_artifacts", session_id="nope")) == {
        "status": "error", "error": "there is no session 'nope'; none is live; exec_code or upload_file begins one"}
    with Server(tmp_path) as server:
        answer = server.call("list_artifacts", session_id="nope")
    assert answer.is_error and answer.texts == ["there is no session 'nope'; none is live; exec_code or upload_file begins one"]


@row("`Python`, `py` and `python`")
def test_a_language_is_one_under_all_its_names(tmp_path):
    with Server(tmp_path) as server:
        server.cell("x = 41")
        for language in ("Python", "py", "PYTHON3"):
            answer = server.call("exec_code", session_id="s", language=language, code="x + 1")
            assert answer.text == "42\n"


@row("Shell, R, JavaScript")
def test_other_languages_keep_their_state_and_answer_prompts(tmp_path):
    with Server(tmp_path) as server:
        for language, define, use in (("Shell", "x=41", "echo $((x + 1))"),
                                      ("JavaScript", "let x = 41", "x + 1")):
            answer = server.call("exec_code", session_id="s", language=language, code=define)
            assert answer.state == "done"
            answer = server.call("exec_code", session_id="s", language=language, code=use)
            assert answer.text == "42\n"
        answer = server.call("exec_code", session_id="s", language="sh", code="read -p 'name? ' n; echo $n")
        assert answer.state == "waiting_for_input"
        assert server.interact(language="bash", input="Ann").text.endswith("Ann\n")
        assert server.cell("!echo from a shell").text.endswith("from a shell\n")


@row("plots are lost")
def test_plots_are_shown_and_lie_in_output(tmp_path):
    with Server(tmp_path, env={"PTYCELL_PYTHON": "/usr/bin/python3"}) as server:
        answer = server.cell("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    assert len(answer.images) == 1
    assert [file["path"] for file in answer.status["files"]] == ["output/cell-1-figure-1.png"]


@row("new files of some kinds")
def test_files_are_named_and_not_moved(tmp_path):
    code = "for name in ('a.csv', 'b.parquet', 'c.txt', 'output/d.csv'): open(name, 'w').write(name)"
    with Server(tmp_path) as server:
        files = server.cell(code).cell["files"]
        assert [(f["change"], f["path"]) for f in files] == [
            ("new", "a.csv"), ("new", "b.parquet"), ("new", "c.txt"), ("new", "output/d.csv")]
        later = server.cell("open('a.csv', 'a').write(open('a.csv').read())\nimport os; os.remove('c.txt')")
    assert [(f["change"], f["path"]) for f in later.cell["files"]] == [("changed", "a.csv"), ("deleted", "c.txt")]
    kept = [path.name for path in (tmp_path / "kept").rglob("[!.]*") if path.is_file()]
    assert sorted(kept) == ["a.csv", "b.parquet", "c.txt", "d.csv", "index.html", "notebook.ipynb", "report.html"]


@row("`list_artifacts` lists")
def test_artifacts_are_those_of_the_whole_folder(tmp_path):
    with Server(tmp_path) as server:
        server.cell("open('a.csv', 'w').close()")
        answer = server.call("list_artifacts", session_id="s").object
    assert answer["artifacts"] == [{"path": "a.csv", "filename": "a.csv", "extension": ".csv", "size_bytes": 0,
                                    "mime_type": "text/csv", "uri": "session://s/files/a.csv"}]


@row("`upload_file` with `blob_url`")
def test_uploads_bring_their_content_or_a_link(tmp_path):
    binary = bytes(range(256))
    with Server(tmp_path) as server:
        text = server.call("upload_file", session_id="s", filename="a.csv", content="ä\n").object
        server.call("upload_file", session_id="s", filename="b.bin", encoding="base64",
                    content=base64.b64encode(binary).decode())
        assert server.cell(f"open('input/a.csv').read(), open('{text['saved_path']}').read()").text.endswith(
            "('ä\\n', 'ä\\n')\n")
        assert server.cell("open('input/b.bin', 'rb').read() == bytes(range(256))").text == "True\n"
        refused = server.call("upload_file", session_id="s", filename="c", blob_url="http://127.0.0.1/c")
    assert refused.is_error and "PTYCELL_ALLOW_PRIVATE_HOSTS" in refused.texts[0]


@row("`filename` may lead anywhere")
def test_uploads_stay_in_input(tmp_path):
    with Server(tmp_path) as server:
        for name in ("../up", "/tmp/up", "a/../../up"):
            assert server.call("upload_file", session_id="s", filename=name, content="1").is_error
        assert server.call("upload_file", session_id="s", filename="sub/a", content="1").object[
            "saved_path"].endswith("/input/sub/a")
        assert server.call("upload_file", session_id="s", filename="sub/a", content="2").is_error
        assert not server.call("upload_file", session_id="s", filename="sub/a", content="2", overwrite=True).is_error
        assert server.cell("open('input/sub/a').read()").text == "'2'\n"


@row("any string is a `session_id`")
@pytest.mark.parametrize("session_id", ["", "a/../b", "a" * 65, ".a", "ä", "a\0b"])
def test_a_session_id_follows_a_rule(tmp_path, session_id):
    with Server(tmp_path) as server:
        answer = server.cell("1", session=session_id)
        assert answer.is_error
        assert not server.cell("1", session="a" * 64).is_error


@row("a session that expired")
def test_the_answer_after_an_end_says_so(tmp_path):
    with Server(tmp_path, env={"IDLE_TIMEOUT": "1", "CLEANUP_INTERVAL": "1"}) as server:
        server.cell("x = 1")
        while server.call("list_sessions").object["count"]:
            pass
        answer = server.cell("x")
    assert answer.texts[0].startswith("Session 's' is a new one of that name (generation 2): the earlier one ended "
                                      "because it was not used for 1 s (idle_timeout).")


@row("`destroy_session` of an unknown id")
def test_destroying_what_is_not_there_is_an_error(tmp_path):
    with Server(tmp_path) as server:
        server.call("session_info", session_id="real", config={})
        answer = server.call("destroy_session", session_id="reel")
    assert answer.is_error and answer.texts == ["there is no session 'reel'; live: 'real'; exec_code or upload_file begins one"]


@row("resource `code-interpreter://usage-guide`")
def test_the_guide_has_an_address_of_its_own(tmp_path):
    with Server(tmp_path) as server:
        guide = server.request("resources/read", {"uri": "ptycell://guide"})["contents"][0]
        gone = server.start("resources/read", {"uri": "code-interpreter://usage-guide"}).get()
    assert guide["mimeType"] == "text/markdown" and guide["text"].startswith("# Working with ptycell")
    assert gone["error"]["code"] == -32002


@row("`exec_sql`")
def test_a_query_answers_rows_as_arrays_without_configuration(tmp_path):
    with Server(tmp_path) as server:
        server.cell("1")
        answer = server.call("exec_sql", session_id="s", query="SELECT 1 AS a, 2 AS a").object
    assert answer["rows"] == [[1, 2]] and [c["name"] for c in answer["columns"]] == ["a", "a"]


@row("blob storage")
def test_a_storage_is_set_by_the_same_names(tmp_path):
    """What it does with files is test_uploads.py's."""
    string = "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=a2V5;EndpointSuffix=core.windows.net"
    with Server(tmp_path, env={"AZURE_BLOB_CONNECTION_STRING": string, "AZURE_BLOB_CONTAINER_NAME": "mine",
                               "BLOB_SAS_EXPIRY_HOURS": "3"}) as server:
        storage = server.call("session_info", session_id="s", config={}).object["storage"]
    assert (storage["kind"], storage["container"], storage["link_hours"]) == ("azure", "mine", 3)
    assert storage["endpoint"].startswith("https://shop.blob.core.windows.net")
    assert re.fullmatch(r"s-[0-9a-f]{8}/", storage["prefix"])


@row("a client's `X-Blob-...`")
def test_no_call_names_a_storage(server):
    for tool in server.request("tools/list")["tools"]:
        names = " ".join(tool["inputSchema"].get("properties", ())).lower()
        assert not any(word in names for word in ("blob_connection", "container", "bucket", "account", "header")), tool["name"]


# ---- CodeBox-AI ----

@row("`execute_code` in a new container")
def test_exec_code_keeps_its_state(tmp_path):
    with Server(tmp_path) as server:
        server.cell("import math; x = math.pi")
        assert server.cell("round(x)").text == "3\n"
        assert call_raw(server, "execute_code", code="1")["error"]["code"] == -32602


@row("`dependencies` of a call")
def test_packages_come_from_the_index_that_the_person_allows(tmp_path):
    with Server(tmp_path, env={"PTYCELL_PYTHON": "/usr/bin/python3", "PTYCELL_PIP_INDEX": "off"}) as server:
        refused = server.call("exec_code", session_id="s", language="python", code="1", dependencies=["x"])
        assert refused.is_error and "PTYCELL_PIP_INDEX=off" in refused.texts[0]
        packages = server.call("session_info", session_id="s", include=["packages"]).object["packages"]
        assert any(package.startswith("pandas ") for package in packages)
        assert "PTYCELL_PIP_INDEX=off" in server.cell("!pip install x").text


@row("`No output.`")
def test_a_silent_cell_answers_with_its_status_alone(tmp_path):
    with Server(tmp_path) as server:
        server.cell("1")
        assert len(server.cell("None").content) == 1


@row("`sessions://` and `session://{id}`")
def test_session_resources_hold_the_live_sessions(tmp_path):
    with Server(tmp_path) as server:
        server.cell("open('output/a b.txt', 'w').write('text')")

        def read(uri):
            return server.request("resources/read", {"uri": uri})["contents"][0]["text"]

        assert [session["session_id"] for session in json.loads(read("sessions://"))] == ["s"]
        assert json.loads(read("session://s"))["session_id"] == "s"
        assert read("session://s/files/output/a%20b.txt") == "text"


@row("`execution_options` `timeout`")
def test_a_call_may_ask_for_more_time_than_ten_minutes(tmp_path):
    with Server(tmp_path) as server:
        assert server.cell("1", timeout=86400).cell["state"] == "done"
        assert "PTYCELL_EXEC_TIMEOUT_MAX" in server.cell("1", timeout=86401).texts[0]


@row("`memory_limit` 2G")
def test_memory_is_limited_by_process(tmp_path):
    code = "import resource; resource.getrlimit(resource.RLIMIT_DATA)[0]"
    with Server(tmp_path, env={"PTYCELL_MEMORY_MAX": "3G"}) as server:
        assert server.cell(code).text.endswith(f"{3 << 30}\n")
        config = {"memory_max": 2147483648}
        server.call("session_info", session_id="t", config=config)
        assert server.cell(code, session="t").text == f"{2 << 30}\n"
        late = server.call("session_info", session_id="s", config=config)
    assert late.is_error
    assert late.texts == [f"arguments.config: memory_max holds for a session from its first cell on; this one "
                          f"has {3 << 30}"]


@row("at most 100,000 characters")
def test_code_may_be_as_long_as_a_request(tmp_path):
    with Server(tmp_path) as server:
        assert server.cell("x = '" + "a" * 900000 + "'\nlen(x)").text.endswith("900000\n")


@row("PNG only")
def test_text_says_where_each_figure_came(tmp_path):
    code = ("import matplotlib.pyplot as plt\nprint('one')\nplt.plot([1]); plt.show()\nprint('two')\n"
            "plt.plot([2]); plt.show()")
    with Server(tmp_path, env={"PTYCELL_PYTHON": "/usr/bin/python3"}) as server:
        answer = server.cell(code)
    assert answer.text.endswith("one\n[figure 1]\ntwo\n"
                                "[figure 2]\n")
    assert len(answer.images) == 2


@row("REST:")
def test_nothing_listens(tmp_path):
    with Server(tmp_path) as server:
        server.cell("1")
        inodes = {line.split()[9] for name in ("tcp", "tcp6", "udp", "udp6")
                  for line in open(f"/proc/net/{name}").readlines()[1:]}
        held = set()
        for fd in descriptors(server):
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                held.update(re.findall(r"socket:\[(\d+)\]", os.readlink(f"{PROC}/{server.process.pid}/fd/{fd}")))
    assert not inodes & held


@row("`--mount DIR`")
def test_a_mount_is_a_share(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o755)
    with Server(tmp_path, "--mount", str(folder)) as server:
        answer = server.cell("1")
        assert answer.is_error and "--mount" in answer.texts[0]
    with Server(tmp_path, "--share", str(folder)) as server:
        assert server.cell(f"import os; os.listdir({str(folder)!r})").text == "[]\n"
        assert server.cell(f"open({str(folder / 'x')!r}, 'w')").state == "raised"


@row("code rules; any client")
def test_code_is_not_judged_but_confined(server):
    assert server.cell("eval('1 + 1'), __import__('os').system('true')").text == "(2, 0)\n"
    assert server.cell("open('/etc/shadow')").state == "raised"
