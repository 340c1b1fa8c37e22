# SPDX-License-Identifier: MIT
"""The sentences that models and people read: true, in place, and within their budgets."""
import base64
import json
import re

import pytest

from client import Result, Server


def test_lists_and_instructions_keep_their_budgets(tmp_path):
    with Server(tmp_path, initialize=False) as server:
        hello = server.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                              "clientInfo": {"name": "e2e", "version": "1"}})
        tools = server.request("tools/list")
    assert len(hello["instructions"].encode()) < 1024
    assert len(json.dumps(tools, separators=(",", ":")).encode()) <= 8192
    assert all(len(tool["description"]) < 400 for tool in tools["tools"])


@pytest.mark.parametrize("env, told", [({}, False), ({"PTYCELL_KEEP": "off"}, True)])
def test_the_guide_tells_where_results_are_not_kept(tmp_path, env, told):
    with Server(tmp_path, env=env) as server:
        guide = server.request("resources/read", {"uri": "ptycell://guide"})["contents"][0]["text"]
    assert ("Results are not kept here (PTYCELL_KEEP)" in guide) == told


@pytest.mark.parametrize("tool, arguments", [("session_info", {}), ("exec_sql", {"query": "select 1"})])
def test_who_only_asks_about_an_unknown_session_makes_none(tmp_path, tool, arguments):
    with Server(tmp_path) as server:
        answer = server.call(tool, session_id="ghost", **arguments)
        assert "here is no session 'ghost'" in answer.texts[0]
        assert server.call("list_sessions").object["count"] == 0
        assert server.call("session_info", session_id="made", config={"exec_timeout": 9}).object["state"] == "idle"
        assert server.call("exec_code", session_id="set", code="1", config={"exec_timeout": 8}).state == "done"
        assert server.call("session_info", session_id="set").object["effective_config"]["exec_timeout"] == 8


@pytest.mark.parametrize(("tool", "arguments", "words"), [
    ("session_info", {"config": {"nope": 1}}, "arguments.config"),
    ("session_info", {"config": {"exec_timeout": "nine"}}, "'exec_timeout' must be a number"),
    ("exec_code", {"code": "1", "config": {"nope": 1}}, "arguments.config"),
    ("exec_code", {"code": "1", "config": {"nope": 1}, "dependencies": []}, "arguments.config"),
    ("upload_file", {"filename": "../x", "content": "a"}, "arguments.filename"),
    ("upload_file", {"filename": "a/../../x", "url": "http://localhost/x"}, "arguments.filename"),
    ("upload_file", {"filename": "x", "content": "?", "encoding": "base64"}, "arguments.content"),
    ("install_packages", {"packages": []}, "no package is named")])
def test_a_call_that_is_refused_makes_no_session(tmp_path, tool, arguments, words):
    with Server(tmp_path) as server:
        answer = server.call(tool, session_id="ghost", **arguments)
        assert answer.is_error and words in answer.texts[0]
        assert server.call("list_sessions").object["count"] == 0


def test_hints_are_true(tmp_path):
    with Server(tmp_path) as server:
        hints = {tool["name"]: tool["annotations"] for tool in server.request("tools/list")["tools"]}
    assert {name for name, hint in hints.items() if hint.get("readOnlyHint")} == {"list_artifacts", "list_sessions"}
    assert hints["upload_file"].get("destructiveHint", True) and hints["destroy_session"].get("destructiveHint", True)


def test_a_budget_that_was_set_holds_and_is_told(tmp_path):
    with Server(tmp_path, env={"PTYCELL_CALL_BUDGET": "1"}, initialize=False) as server:
        hello = server.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                              "clientInfo": {"name": "e2e", "version": "1"}})
        assert "answers within 1 s;" in hello["instructions"]
        assert "(default 1;" in server.request("resources/read", {"uri": "ptycell://guide"})["contents"][0]["text"]
        told = "The cell goes on: calls are answered within PTYCELL_CALL_BUDGET here, which is shorter than the wait asked for.\n"
        cut = server.call("exec_code", session_id="s", code="import time; time.sleep(600)", budget=500)
        assert cut.state == "running" and told in cut.text
        assert told in server.interact(budget=2).text and "PTYCELL_CALL_BUDGET" not in server.interact(budget=1).text
        server.interact(action="kill")
        waiting = server.call("exec_code", session_id="s", code="input('name? ')", budget=500)
        assert waiting.state == "waiting_for_input" and "PTYCELL_CALL_BUDGET" not in waiting.text


def test_without_a_language_it_is_the_sessions_last_else_python(tmp_path):
    with Server(tmp_path) as server:
        assert server.call("exec_code", session_id="s", code="6 * 7").text == "42\n"
        server.cell("true", language="bash")
        assert server.call("exec_code", session_id="s", code="echo $((6*7))").text == "42\n"


def test_half_a_pair_in_code_is_replaced(tmp_path):
    with Server(tmp_path) as server:
        assert server.cell("len('a\ud800b')").text == "3\n"


def test_what_nobody_sees_is_shown_or_stays(tmp_path):
    with Server(tmp_path) as server:
        assert server.cell("print('\u0645\u06cc\u200c\u062e pass\u200bword')").text == "\u0645\u06cc\u200c\u062e pass<U+200B>word\n"
        assert "ls<U+200B>: command not found" in server.cell("ls\u200b", language="bash").text


@pytest.mark.parametrize("secret", [{}, {"PTYCELL_SECRET_KEY": "\u65e5\u672c\u8a9e\u306e\u79d8\u5bc6\u306e\u9375"}])
def test_each_part_of_a_text_is_text_and_together_they_are_the_whole(tmp_path, secret):
    text = "a\u00e9\u65e5\u672c\U0001f600\u200d\U0001f469 \u200b" * 5
    with Server(tmp_path, env=secret) as server:
        assert server.cell(f"print({text!r}); _ = open('a.txt', 'w').write({text!r})  # {text}").state == "done"
        for uri in ("session://s/files/a.txt", "session://s/notebook", "session://s/script", "session://s/cells/1"):
            whole = server.request("resources/read", {"uri": uri})["contents"][0]["text"]
            for step in (1, 2, 5, 64):
                parts = [server.request("resources/read", {"uri": f"{uri}?offset={at}&length={step}"})["contents"][0]
                         for at in range(0, len(whole.encode()), step)]
                assert "".join(part["text"] for part in parts) == whole


def test_what_is_no_text_comes_whole_in_parts_too(tmp_path):
    data = b"\xe6\x97\xa5\xff\x97\xe6\x9c\xac\x80\x80a"
    with Server(tmp_path) as server:
        server.cell(f"_ = open('a.txt', 'wb').write({data!r})")
        for step in range(1, len(data)):
            parts = [server.request("resources/read", {"uri": f"session://s/files/a.txt?offset={at}&length={step}"})
                     ["contents"][0] for at in range(0, len(data), step)]
            assert b"".join(base64.b64decode(p["blob"]) if "blob" in p else p["text"].encode() for p in parts) == data


def test_a_text_that_escapes_make_larger_than_a_line_is_base64(tmp_path):
    with Server(tmp_path) as server:
        server.cell("_ = open('a.txt', 'w').write('\u200b' * 233_000)")
        content = server.request("resources/read", {"uri": "session://s/files/a.txt"})["contents"][0]
    assert base64.b64decode(content["blob"]).decode() == "\u200b" * 233_000


def test_a_name_with_blanks_is_the_same_everywhere(tmp_path):
    with Server(tmp_path) as server:
        answer = server.cell("_ = open('output/my report, (final).csv', 'w').write('x')")
        path = "output/my report, (final).csv"
        assert f'+"{path}" 1 B' in answer.texts[-1] and answer.links[0]["name"] == path
        assert answer.status["files"][0]["path"] == path and answer.cell["files"][0]["path"] == path
        assert server.call("list_artifacts", session_id="s").object["artifacts"][0]["path"] == path


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
        ran, queued = (Result(a.get()["result"]) for a in (running, waiting))
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
    with Server(tmp_path) as server:
        server.call("session_info", session_id="s", config={"spool_max": 65536})
        answer = server.cell("for i in range(20000): print('line', i)")
    path = answer.cell["output_path"]
    assert answer.cell["output_cut"] is True
    assert f"Only the start of the output is stored; search it with code: [l for l in open('{path}')" in answer.text
    assert f" chars, start in {path}]" in answer.texts[-1]


@pytest.mark.parametrize("tool, arguments, text", [
    ("exec_code", {"session_id": "s", "language": "perl", "code": "1"},
     "arguments.language must be one of python, "),
    ("exec_code", {"session_id": "s", "language": "SQL", "code": "select 'a'"},
     """SQL is run by another tool; call exec_sql {"session_id":"s","query":"select 'a'"}"""),
    ("exec_code", {"session_id": "s", "code": "```sql\nselect 1\n```"},
     'SQL is run by another tool; call exec_sql {"session_id":"s","query":"select 1\\n"}'),
    ("exec_code", {"session_id": "s", "language": "bash", "code": "```python\n1\n```"},
     "arguments.code is in a fence of python, but arguments.language is bash; send the code without the fence"),
    ("exec_code", {"session_id": "s", "code": "1", "timeout": "soon"},
     "arguments.timeout must be a number, not a string"),
    ("exec_code", {"session_id": "s", "code": "1", "script": "2"}, "arguments.script is not known; there are: "),
    ("install_packages", {"session_id": "s", "packages": ["jq"], "language": "sh"},
     "arguments.language must be one of python, javascript, r, not 'bash'"),
    ("list_sessions", {"script": "2"}, "arguments.script is not known; arguments must be empty"),
    ("exec_code", {}, "arguments.session_id is missing: this tool needs session_id and code"),
    ("exec_code", {"session_id": "s"}, "arguments.code is missing: this tool needs session_id and code"),
    ("exec_sql", {"query": "select 1"}, "arguments.session_id is missing: this tool needs session_id and query"),
    ("install_packages", {"session_id": "s"}, "arguments.packages is missing: this tool needs session_id and packages"),
    ("upload_file", {"session_id": "s", "path": "/etc/passwd"},
     "arguments.path: that file's folder cannot be shared (the share '/etc' is a system folder, "),
    ("upload_file", {"session_id": "s", "filename": "a", "content": "###", "encoding": "base64"},
     "arguments.content: not base64 at byte 0"),
    ("session_info", {"session_id": "s", "config": {"exec_timeout": "five"}},
     "arguments.config: 'exec_timeout' must be a number, without a unit"),
    ("session_info", {"session_id": "s", "config": {"colour": 5}}, "arguments.config: no key 'colour'; there are"),
    ("exec_code", {"session_id": "a b", "language": "python", "code": "1"}, "session_id must be 1 to 64 characters"),
])
def test_a_wrong_argument_is_named(tmp_path, tool, arguments, text):
    with Server(tmp_path) as server:
        answer = server.call(tool, **arguments)
    assert answer.is_error and len(answer.texts) == 1 and answer.texts[0].startswith(text)


@pytest.mark.parametrize("language, code", [
    ("python", "open('/home/somebody/a.csv')"), ("python", "open('/mnt/data/a.csv')"),
    ("python", "import os; open(os.path.expanduser('~/work/a.csv'))"),
    ("javascript", "require('fs').readFileSync('/mnt/user-data/uploads/a.csv')")])
def test_where_files_of_the_user_are_is_told(tmp_path, language, code):
    with Server(tmp_path) as server:
        answer = server.cell(code, language=language)
        info = server.call("session_info", session_id="s", include="confinement").object
    told = "Uploads are in input/, shared folders at their whole paths, not below ~." in answer.text
    assert told == (info["confinement"]["tier"] != "landlock")  # where code sees the paths of this machine


@pytest.mark.parametrize("first, language", [("1", "javascript"), ("true", "bash"), ("1", "r")])
def test_code_of_another_language_is_told_which_one_ran_it(tmp_path, first, language):
    with Server(tmp_path) as server:
        assert server.cell(first, language=language).state == "done"
        answer = server.call("exec_code", session_id="s", code="import time\ntime.sleep(1)\nraise SystemExit(0)")
    assert f"It ran as {language}. A cell that names no language runs in the session's last one" in answer.text


def test_so_it_is_where_bash_names_another_token(tmp_path):
    with Server(tmp_path) as server:
        server.cell("true", language="bash")
        assert "It ran as bash." in server.call("exec_code", session_id="s", code="print(1)").text


@pytest.mark.parametrize("language, code", [
    ("javascript", "JSON.parse('{')"), ("javascript", "new RegExp('[')"), ("r", "parse(text='a b')")])
def test_text_that_code_cannot_read_is_not_laid_to_its_language(tmp_path, language, code):
    with Server(tmp_path) as server:
        server.cell("1", language=language)
        assert "It ran as" not in server.call("exec_code", session_id="s", code=code).text


def test_a_language_that_is_null_is_none(tmp_path):
    with Server(tmp_path) as server:
        server.cell("1", language="javascript")
        assert "It ran as javascript." in server.call("exec_code", session_id="s", code="import time as", language=None).text


@pytest.mark.parametrize("arguments", [{"language": "javascript", "code": "import time as"}, {"code": "```js\nimport time as\n```"}])
def test_a_language_that_is_named_is_not_explained(tmp_path, arguments):
    with Server(tmp_path) as server:
        server.cell("1", language="javascript")
        answer = server.call("exec_code", session_id="s", **arguments)
        assert "SyntaxError" in answer.text and "It ran as" not in answer.text


def test_the_most_sessions_are_told_with_the_way_out(tmp_path):
    with Server(tmp_path, env={"PTYCELL_MAX_SESSIONS": "1"}) as server:
        server.cell("1", session="a")
        answer = server.cell("1", session="b")
    assert answer.texts == ["no more than 1 sessions may be open (PTYCELL_MAX_SESSIONS): destroy one of "
                            "those that list_sessions names"]


@pytest.mark.parametrize("arguments, text", [
    ({"code": "```python\n6 * 7\n```"}, "42\n"),
    ({"code": "\n```bash\necho $((6 * 7))\n```\n"}, "42\n"),
    ({"code": "```sh\necho $((6 * 7))\n```", "language": "bash"}, "42\n"),
    ({"code": "```\n6 * 7\n```", "language": "Python3", "timeout": "60", "budget": "50 s"}, "42\n"),
    ({"script": "6 * 7", "lang": "py", "dependencies": "", "timeout": None}, "42\n"),
    ({"code": 42, "language": ""}, "42\n"),
    ({"code": "print('```')", "config": {"exec_timeout": "60"}}, "```\n")])
def test_a_cell_is_taken_as_it_was_meant(tmp_path, arguments, text):
    with Server(tmp_path) as server:
        answer = server.call("exec_code", session_id="s", **arguments)
        assert answer.state == "done" and answer.text == text
        script = server.request("resources/read", {"uri": "session://s/script"})["contents"][0]["text"]
    assert script.count("```") == text.count("```")


def test_arguments_are_taken_as_they_were_meant(tmp_path):
    with Server(tmp_path) as server:
        server.cell("a = input('name? '); b = input('again? ')")
        assert server.call("interact", sessionId="s", text="5", action="input").state == "waiting_for_input"
        assert server.interact(input=6, action="wait", budget="50").state == "done"
        assert server.cell("a, b").text == "('5', '6')\n"
        server.cell("try:\n    input()\nexcept EOFError:\n    print('end')")
        assert "end" in server.interact(key="Ctrl+D", input="").text
        info = server.call("session_info", session_id="s", config='{"exec_timeout": "60"}', include="variables").object
        assert info["effective_config"]["exec_timeout"] == 60 and {v["name"] for v in info["variables"]} >= {"a", "b"}
        server.call("upload_file", session_id="s", name="a.csv", content="x\n1\n", url="", path="", encoding="UTF-8",
                    overwrite="false")
        answer = server.call("exec_sql", session_id="s", sql="```sql\nselect x + ? as y from a\n```", params="[41]")
        assert answer.object["rows"] == [[42]]
        assert server.call("exec_sql", session_id="s", query="select ? as y", params=7).object["rows"] == [[7]]
        assert server.call("list_artifacts", session="s", glob="*.csv").object["count"] == 1


def test_a_long_value_shows_its_ends_and_lies_whole_in_a_file(tmp_path):
    with Server(tmp_path) as server:
        answer = server.cell("list(range(900))")
        assert len(answer.text) < 2000 and answer.text.startswith("[0, 1,") and "898, 899]\n" in answer.text
        assert server.cell(f"eval(open('{answer.cell['output_path']}').read()) == list(range(900))").text == "True\n"
        assert server.cell("print('x' * 5000)").text == "x" * 5000 + "\n"
        assert server.cell("'y' * 1000").text == f"'{'y' * 1000}'\n"


def test_a_long_value_in_a_small_answer_counts_all_that_is_left_out(tmp_path):
    """A text that was cut twice told how much the second cut took."""
    with Server(tmp_path, env={"PTYCELL_OUTPUT_CHARS": "500"}) as server:
        for before in ("", "print('x' * 300); "):
            answer = server.cell(f"{before}'v' * 3000")
            own = answer.text.split("Search the whole")[0]
            left = map(int, re.findall(r"\[\.\.\. (\d+) characters left out", answer.text))
            assert sum(left) == answer.cell["output_chars"] - answer.cell["output_shown"]
            assert 490 <= answer.cell["output_shown"] <= 500
            assert sum(map(own.count, "vx'")) <= answer.cell["output_shown"]


def test_frames_of_libraries_are_folded_and_lie_whole_in_a_file(tmp_path):
    with Server(tmp_path) as server:
        answer = server.cell("import json\ndef read(text):\n    return json.loads(text)\nread('{')")
        assert answer.text == """Traceback (most recent call last):
  File "<cell 1>", line 4, in <module>
    read('{')
  File "<cell 1>", line 3, in read
    return json.loads(text)
           ^^^^^^^^^^^^^^^^
  [3 frames of libraries, the last json/decoder.py:353 in raw_decode]
json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)
"""
        whole = server.cell(f"print(open('{answer.cell['output_path']}').read())").text
        assert whole.count("json/decoder.py") == 2 and "json/__init__.py" in whole
        assert "Search the whole" not in answer.text and answer.cell["output_path"] in answer.texts[-1]


def test_figures_are_named_once_and_their_limit_is_told(tmp_path):
    with Server(tmp_path, env={"PTYCELL_PRELOAD": "matplotlib.pyplot"}) as server:
        answer = server.cell("import matplotlib.pyplot as plt\nfor i in range(12):\n    plt.figure()\n    plt.plot([i])")
    names = [f"output/cell-1-figure-{i}.png" for i in range(1, 13)]
    assert answer.text.startswith("".join(f"[figure {i}]\n" for i in range(1, 13)))
    assert [file["path"] for file in answer.cell["files"]] == names
    assert [link["name"] for link in answer.links] == names[4:] and len(answer.images) == 4
    assert all(link["annotations"] == {"audience": ["user"]} for link in answer.links)
    assert "4 of 12 figures are shown; all are saved in output/." in answer.texts


def test_figures_that_are_not_named_are_counted(tmp_path):
    with Server(tmp_path, env={"PTYCELL_PYTHON": "/usr/bin/python3"}) as server:
        answer = server.cell("import matplotlib.pyplot as plt\nfor i in range(25):\n    plt.figure()\n    plt.plot([i])")
    assert "4 of 25 figures are shown; all are saved in output/." in answer.texts


def test_session_info_and_list_artifacts_tell_little_and_hold_all(tmp_path):
    with Server(tmp_path) as server:
        server.cell("x = 5\nopen('output/a b.csv', 'w').write('x' * 2048)\nopen('t.txt', 'w').write('y')")
        info = server.call("session_info", session_id="s")
        assert info.texts[0].startswith("session: s, idle\nfolder: /mnt/data, ") and len(info.texts[0]) < 600
        assert info.object["effective_config"]["net_max"] and "net_max" not in info.texts[0]
        more = server.call("session_info", session_id="s", include=["variables", "limits"]).texts[0]
        assert '"net_max":' in more and '"name":"x"' in more
        refused = server.call("session_info", session_id="s", include=["everything"])
        assert refused.is_error and refused.texts[0].startswith("arguments.include takes variables, ")
        files = server.call("list_artifacts", session_id="s")
        assert files.texts == ['output/a b.csv 2.0 KB\nt.txt 1 B\n']
        assert files.object["artifacts"][1] == {
            "path": "t.txt", "filename": "t.txt", "extension": ".txt", "size_bytes": 1, "mime_type": "text/plain",
            "uri": "session://s/files/t.txt"}
        assert server.call("list_artifacts", session_id="s", pattern="none").texts == ["no files match 'none'; without pattern all files are listed\n"]


def test_hidden_files_are_no_news(tmp_path):
    with Server(tmp_path) as server:
        answer = server.cell("import os; os.makedirs('.conf')\nfor name in ('.viminfo', '.conf/a', 'b'): open(name, 'w').close()")
        assert [file["path"] for file in answer.status["files"]] == ["b"] and [link["name"] for link in answer.links] == ["b"]
        assert {file["path"] for file in answer.cell["files"]} == {".viminfo", ".conf/a", "b"}


@pytest.mark.parametrize("text, package", [
    ("Missing optional dependency 'tabulate'.  Use pip or conda to install tabulate.", "tabulate"),
    ("Unable to find a usable engine; tried using: 'pyarrow', 'fastparquet'.", "pyarrow")])
def test_a_missing_optional_dependency_gets_the_hint_to_install(tmp_path, text, package):
    with Server(tmp_path) as server:
        assert f'install_packages with packages: ["{package}"]' in server.cell(f"raise ImportError({text!r})").text


def test_a_module_whose_package_has_another_name_is_told_by_it(tmp_path):
    with Server(tmp_path) as server:
        other = server.cell("raise ModuleNotFoundError(\"No module named 'cv2'\", name='cv2')").text
        assert 'Its package has another name: install_packages with packages: ["opencv-python-headless"].' in other
        same = server.cell("import nosuchmodule").text
        assert 'If its package has that name: install_packages with packages: ["nosuchmodule"].' in same
