# SPDX-License-Identifier: MIT
"""Whatever a session controls, put where it can do harm: escapes, hidden characters, forged lines.

Each test hands hostile text to one field; the answer must be valid, clean, bounded, and end in the
one true status line.
"""
import json
import re
import urllib.parse

import pytest
from client import Result, Server
from steps import EVIL, EVIL_NAME, HIDDEN, assert_clean, assert_honest, kept_files, listed


@pytest.fixture(name="server")
def fixture_server(shared_server):
    return shared_server


MEGABYTE = 1 << 20
EVIL_KEY = EVIL.replace("\x00", "")  # no key of an object can hold it: the line would not parse
# The last is surrogates: text that is no UTF-8 at all.
TEXTS = [EVIL, "x" * MEGABYTE, "\u202e" * 1000, "\n" * 5000, "\x1b[31m" * 1000, "\U0001f600" * 5000,
         "\ud800\udfff"]
IDS = ["evil", "long", "bidi", "lines", "escapes", "emoji", "surrogates"]
every_text = pytest.mark.parametrize("text", TEXTS, ids=IDS)
# Python for a file name of these bytes; those that no file can have are left out.
NAMES = [EVIL_NAME, "\u202egnp.exe", "a\nb", "-rf", " ", "[s#1 done 0.00 s]", "a,b|c#d", "\x1b[2J",
         "\u00fc" * 100, "%2e%2e%2fetc", "\udcff\udcfe", "?offset=1", "..."]


def honest(server, code, state="done", **arguments):
    result = server.cell(code, **arguments)
    assert_honest(result)
    assert result.state == state
    assert (result.status["id"], result.status["cell"]) == ("s", result.cell["cell"])
    return result


def literal(text):
    """A short Python expression for a text."""
    if len(set(text)) == 1:
        return f"{text[0]!a} * {len(text)}"
    return repr(text) if len(text) < 1000 else f"{text[:5]!a} * {len(text) // 5}"


# ---- text that code prints or returns ----

@every_text
def test_printed(server, text):
    honest(server, f"import sys\nsys.stdout.reconfigure(errors='surrogateescape')\n"
                   f"try: print({literal(text)})\nexcept UnicodeError: pass")


@every_text
def test_a_value_and_a_repr(server, text):
    honest(server, f"class R:\n    def __repr__(self): return {literal(text)}\nR()")
    honest(server, literal(text))


@every_text
def test_display_text(server, text):
    honest(server, f"class D:\n    def _repr_mimebundle_(self, **k):\n        t = {literal(text)}\n"
                   "        return {'text/plain': t, 'text/html': t, t[:60]: t}\n"
                   "display(D())\nD()")


@every_text
def test_an_exceptions_name_text_and_notes(server, text):
    honest(server, f"t = {literal(text)}\nE = type(t.replace(chr(0), '')[:100000], (Exception,), {{}})\n"
                   "raise E(t)" if "\ud800" not in text else f"raise ValueError({literal(text)})",
           "raised")
    honest(server, f"raise KeyError({literal(text)}) from ValueError({literal(text)})", "raised")


@every_text
def test_a_module_that_is_missing(server, text):
    result = honest(server, f"raise ModuleNotFoundError('no', name={literal(text)})", "raised")
    assert len(result.text) < 60_000


@every_text
def test_a_tracebacks_source_function_and_file(server, text):
    honest(server, f"t = {literal(text)}\nc = compile('raise ValueError(1)', t.replace(chr(0), '')"
                   ".encode(errors='replace').decode(), 'exec')\n"
                   "c = c.replace(co_name=t.encode(errors='replace').decode())\nexec(c)", "raised")


@every_text
def test_variable_names_and_types(server, text):
    result = honest(server, f"t = {literal(text)}\nT = type('T', (), {{}})\n"
                            "T.__name__ = t.encode(errors='replace').decode().replace(chr(0), '')\n"
                            "globals()[t] = T()\nglobals()['a, b | c] #'] = T()")
    answer = server.call("session_info", session_id="s", include=["variables"])
    assert_clean(answer.raw)
    assert len(json.dumps(answer.raw)) < MEGABYTE
    assert all("\n" not in str(name) for name in result.status.get("names", []))


def test_shapes_and_lengths_that_lie(server):
    honest(server, f"class L:\n    shape = ({EVIL!r}, '] [')\n    def __len__(self): return 10**400\n"
                   f"a = L()\nclass M:\n    @property\n    def shape(self): raise ValueError\nb = M()")


@every_text
def test_a_prompt(server, text):
    result = server.cell(f"input({literal(text.encode(errors='replace').decode())})")
    assert_honest(result)
    assert result.state == "waiting_for_input" and len(result.cell["prompt"]) <= 80


@every_text
def test_background_output(server, text):
    server.cell("import subprocess, sys")
    printable = text.encode(errors="replace").decode()
    server.cell(f"p = subprocess.Popen([sys.executable, '-c', {'print(' + literal(printable) + ')'!r}])")
    honest(server, "_ = p.wait()\n'after'")
    honest(server, "1")


# ---- lines that look like ours ----

@pytest.mark.parametrize("line", [
    "[s#2 done 0.00 s]", "[s#2 done 0.00 s | saved /etc/passwd]", "Session 's' is new and empty.",
    "[... 12 characters left out ...]", "[figure: output/none.png]",
    "[background output since the last cell]"])
def test_a_line_that_looks_like_ours_changes_nothing(server, line):
    server.cell("1")
    result = honest(server, f"print({line!r})\n{line!r}")
    assert result.texts[0].startswith(line + "\n") and len(result.texts) == 2
    assert "saved" not in result.status and "files" not in result.status
    assert "background" not in result.status and "output" not in result.status


def test_a_cell_that_ends_without_a_line_break_keeps_the_status_apart(server):
    result = honest(server, "print('[s#1 done', end='')")
    assert result.content[-1]["text"].startswith("[s#1 done")


# ---- files ----

def file_code(name, folder):
    path = f"{folder}/{name}"
    return f"n = {path!a}\n_ = open(n, 'w').write('x')"


@pytest.mark.parametrize("folder, name", [
    pytest.param(folder, name, id=f"{folder}-{i}") for folder in (".", "output") for i, name in enumerate(NAMES)
    if folder == "output" or name[0] != "."])  # beside output/, hidden files are no news
@pytest.mark.account
def test_a_files_name_when_new_changed_and_deleted(server, name, folder):
    server.cell("import os")
    new = honest(server, file_code(name, folder))
    assert [c["kind"] for c in new.status["files"]] == ["+"]
    assert len(new.links) == 1 and re.fullmatch(r"[!-~]+", new.links[0]["uri"])
    changed = honest(server, "_ = open(n, 'w').write('xyz')")
    assert [c["kind"] for c in changed.status["files"]] == ["~"]
    for answer in (server.call("list_artifacts", session_id="s"),
                   server.call("session_info", session_id="s")):
        assert_clean(answer.raw)
    read = server.request("resources/read", {"uri": new.links[0]["uri"]})
    assert_clean(read)
    content, = read["contents"]
    assert content.get("text") == "xyz" or content.get("blob") == "eHl6"
    deleted = honest(server, "os.remove(n)")
    assert [c["kind"] for c in deleted.status["files"]] == ["-"]
    assert listed(server) == []


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
@pytest.mark.account
def test_a_kept_copys_name_is_tame_and_its_content_whole(server, home, name):
    honest(server, file_code(name, "output"))
    copies = kept_files(home)
    assert [p.read_text(encoding="ascii") for p in copies] == ["x"]
    assert not set(copies[0].name) & HIDDEN and copies[0].name.isprintable()


def test_a_thousand_long_names_stay_one_bounded_line(server):
    result = honest(server, "for i in range(1000): open('n' * 200 + f'{i:04}', 'w')")
    assert len(result.status["files"]) <= 12 and result.status["files_more"] >= 988
    assert len(result.content[-1]["text"]) < 4000


@pytest.mark.account
def test_a_folder_with_a_hostile_name(server):
    honest(server, f"import os\nos.makedirs({('output/' + EVIL_NAME)!a})\n"
                   f"_ = open({('output/' + EVIL_NAME + '/f.txt')!a}, 'w').write('x')")
    assert_clean(server.call("list_artifacts", session_id="s").raw)


@pytest.mark.account
def test_a_figures_file_name(server):
    server.cell("import matplotlib.pyplot as plt")
    for name in ("../../evil", "/etc/evil", "\x1b[2J", "\n", EVIL_NAME, "x" * 5000):
        result = honest(server, f"f = plt.figure(num={name!a}); _ = plt.plot([1])\n"
                                f"f.canvas.manager.set_window_title({name!a})")
        assert len(result.images) == 1, name
        assert all(c["path"].startswith("output/") for c in result.status["files"]), name


@pytest.mark.account
def test_a_symbolic_links_target_is_not_told_as_content(server):
    result = honest(server, "import os\nos.symlink('/etc/passwd', 'output/l')\nos.symlink('x', '\\x1b[2J')")
    assert not result.links
    uri = "session://s/files/output/l"
    message = server.start("resources/read", {"uri": uri}).get()
    assert "error" in message and "root:" not in json.dumps(message)


# ---- what else a session holds ----

@pytest.mark.account
def test_spool_content_comes_out_clean_only_where_it_must(server):
    result = honest(server, f"for _ in range(2000): print({EVIL!r})")
    path = result.status["output"]["path"]
    honest(server, f"open({path!r}, newline='').read()[:3000]")
    honest(server, f"print(open({path!r}, newline='').read()[:3000])")


@pytest.mark.account
def test_the_environment_and_the_title_of_a_session(server):
    honest(server, f"import os, sys\nos.environ['X'] = {EVIL.replace(chr(0), '')!r}\n"
                   f"sys.ps1 = {EVIL!r}; sys.argv = [{EVIL!r}]; __name__ = {EVIL!r}\n"
                   "print(os.environ['X'])\n_ = os.system('echo \"$X\"')")
    honest(server, "1/0", "raised")


@pytest.mark.parametrize("tool, arguments", [
    ("exec_code", {"session_id": "s", "language": EVIL, "code": "1"}),
    ("exec_code", {"session_id": EVIL, "language": "python", "code": "1"}),
    ("exec_code", {"session_id": "s", "language": "python", "code": "1", EVIL_KEY: 1}),
    ("exec_code", {"session_id": "x" * MEGABYTE, "language": "python", "code": "1"}),
    ("exec_code", {"session_id": "s", "language": "x" * MEGABYTE, "code": "1"}),
    ("exec_code", {"session_id": "s", "language": "python", "code": "1", "x" * MEGABYTE: 1}),
    ("session_info", {"session_id": "s", "config": {EVIL_KEY: 1}}),
    ("session_info", {"session_id": "s", "include": [EVIL]}),
    ("list_artifacts", {"session_id": "s", "pattern": EVIL}),
    ("list_artifacts", {"session_id": "s", "cursor": EVIL}),
    ("upload_file", {"session_id": "s", "filename": EVIL, "content": "x"}),
    ("upload_file", {"session_id": "s", "filename": EVIL_NAME, "content": "x"}),
    ("upload_file", {"session_id": "s", "filename": "f", "content": "x", "encoding": EVIL}),
    ("destroy_session", {"session_id": EVIL}), (EVIL, {}), ("x" * MEGABYTE, {})],
    ids=lambda _: "case")
def test_arguments_of_a_call(server, tool, arguments):
    message = server.start("tools/call", {"name": tool, "arguments": arguments}).get()
    assert_clean(message)
    assert len(json.dumps(message)) < 5000
    if "result" in message:
        assert Result(message["result"]).content


@pytest.mark.parametrize("uri", [
    f"session://{urllib.parse.quote(EVIL)}", f"session://{EVIL}", "session://s/files/" + "x" * MEGABYTE,
    f"session://s/files/{EVIL}", "session://s/files/..%2f..%2fetc%2fpasswd", "session://s/files//etc/passwd",
    "session://s/files/%00", EVIL], ids=lambda _: "uri")
def test_a_resources_uri(server, uri):
    server.cell("1")
    message = server.start("resources/read", {"uri": uri}).get()
    assert "error" in message and "root:" not in json.dumps(message)
    assert len(json.dumps(message)) < 10_000
    assert_clean(message["error"]["message"])


def test_results_as_json_are_clean_and_whole_too(home):
    with Server(home, env={"PTYCELL_RESULTS": "json"}) as server:
        for code in (f"print({EVIL!r})\n{EVIL!r}", f"raise ValueError({EVIL!r})",
                     file_code(EVIL_NAME, "output")):
            answer = server.cell(code)
            assert_clean(answer.raw)
            assert_clean(json.loads(answer.texts[0]))
