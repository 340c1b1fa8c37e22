# SPDX-License-Identifier: MIT
"""What was done in a session: cells, notebook, script, audit file, and what of it is kept."""
import base64
import json
import os
import re
import resource
import stat
import subprocess

import pytest

from client import LASTS, Result, Server, WAIT_S, command
from patience import until
from steps import assert_clean, kept_folders, listed, nothing_left, paths_in, skip_without, the_sessions

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2]);\n"
MEGABYTE = 1_000_000


def contents(server, uri):
    return server.request("resources/read", {"uri": uri})["contents"][0]


def read(server, path, session="s"):
    """The text of session://SESSION/PATH."""
    return contents(server, f"session://{session}/{path}")["text"]


def refusal(server, uri):
    answer = server.start("resources/read", {"uri": uri}).get()
    return answer["error"]


def notebook(server, session="s"):
    return the_sessions(json.loads(read(server, "notebook", session)))


def kept(home, name="notebook.ipynb"):
    """The kept notebooks, parsed."""
    return [the_sessions(json.loads(path.read_text())) for path in (home / "kept").glob(f"*/{name}")]


def look(server):
    """What the running cell has to show now."""
    return Result(server.request("tools/call", {"name": "interact", "arguments": {
        "session_id": "s", "action": "wait", "wait": 0}}))


def outputs(cell):
    return [output["output_type"] for output in cell["outputs"]]


def test_a_cell_is_read_with_code_output_and_how_it_ended(server):
    server.cell("x = 1\nprint('hello')\nx + 41")
    server.cell("print('before'); 1/0")
    cell = json.loads(read(server, "cells/1"))
    assert cell["code"] == "x = 1\nprint('hello')\nx + 41"
    assert (cell["text"], cell["value"], cell["state"]) == ("hello\n", "42", "done")
    assert cell["language"] == "python" and cell["names"] == [{"name": "x", "type": "int"}]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", cell["ended"])
    failed = json.loads(read(server, "cells/2"))
    assert failed["state"] == "raised" and failed["error_name"] == "ZeroDivisionError"
    assert "1/0" in failed["traceback"] and failed["text"] == "before\n"
    index = json.loads(read(server, "cells"))
    assert [(c["cell"], c["state"]) for c in index] == [(1, "done"), (2, "raised")]


def test_what_is_not_in_the_journal_is_an_unknown_resource(server):
    server.call("session_info", session_id="empty", config={})
    server.cell("1")
    for path in ("s/cells/2", "s/cells/0", "s/cells/01", "s/cells/x", "s/cells/1/1", "s/cells/1/x",
                 "s/cells/99999999999999999999", "s/notebooks", "s/notebook/1", "s/cells/1/1/1",
                 "empty/notebook", "empty/script", "other/notebook", "s/script/"):
        assert refusal(server, f"session://{path}")["code"] == -32002, path
    for path in ("s/notebook?x=1", "s/notebook?offset=", "s/script?language=cobol", "s/notebook?offset=1?length=2",
                 "s/cells?length=-1", "s/script?language=../x"):
        assert refusal(server, f"session://{path}")["code"] == -32602, path


@pytest.mark.account
def test_figures_are_resources_of_their_cell(server):
    result = server.cell(PLOT)
    cell = json.loads(read(server, "cells/1"))
    figure = contents(server, cell["figures"][0]["uri"])
    assert figure["mimeType"] == "image/png" and figure["blob"] == result.images[0]["data"]
    assert cell["figures"][0]["size_bytes"] == len(base64.b64decode(figure["blob"]))
    assert cell["figures"][0]["path"] == "output/cell-1-figure-1.png"


def test_the_notebook_is_valid_and_has_text_figures_values_and_errors(server):
    nbformat = pytest.importorskip("nbformat")
    server.cell(PLOT + "print('plotted')\nplt.gcf()")
    server.cell("from PIL import Image\ndisplay(Image.new('RGB', (4, 4)))\n'value'")
    server.cell("def f(): 1/0\nf()")
    server.cell("import time; time.sleep(10**6)", timeout=0.2)
    server.cell("import os; os._exit(3)")
    server.cell("%%bash\necho hi")
    server.cell("")
    book = nbformat.reads(read(server, "notebook"), as_version=4)
    nbformat.validate(book)
    the_sessions(book)
    assert (book.nbformat, book.nbformat_minor) == (4, 5)
    assert book.metadata.kernelspec.name == "python3"
    first, second, raised, late, died, magic, empty = book.cells
    assert "stream" in outputs(first) and "display_data" in outputs(first)
    assert base64.b64decode(first.outputs[1].data["image/png"])[:4] == b"\x89PNG"
    assert second.outputs[-1].output_type == "execute_result"
    assert second.outputs[-1].data == {"text/plain": "'value'"}
    assert raised.outputs[-1].ename == "ZeroDivisionError" and len(raised.outputs[-1].traceback) > 3
    assert late.outputs[-1].text == "[stopped at its deadline of 0.2 s]\n"
    assert "died: " in died.outputs[-1].text and "3" in died.outputs[-1].text
    assert magic.source == "%%bash\necho hi" and empty.outputs == []
    assert [c.execution_count for c in book.cells] == [1, 2, 3, 4, 5, 6, 7]
    assert raised.metadata.ptycell.state == "raised"
    assert [c.metadata.get("tags", []) for c in book.cells] == [
        [], [], ["raises-exception"], ["skip-execution"], ["skip-execution"], [], []]
    assert book.metadata.language_info.file_extension == ".py"  # R15: nbconvert --to script


def stream(cell):
    return "".join(output["text"] for output in cell["outputs"] if output["output_type"] == "stream")


def test_a_long_output_is_whole_in_the_notebook(home):
    """R3: what the model is shown is clipped, what is recorded is not."""
    lines = "".join(f"line {n}\n" for n in range(50_000))
    with Server(home, "--record-output=1M") as server:
        short = server.cell("for n in range(50_000): print('line', n)\n'value'")
        server.cell("import threading, time\ngo = threading.Event()\n"
                    "threading.Thread(target=lambda: (go.wait(), print('late'))).start()\n'begun'")
        server.cell("go.set(); time.sleep(0.5)\nfor n in range(50_000): print('line', n)")
        server.cell("print('\\u00e9' * (1 << 20))")
        assert json.loads(read(server, "cells/1"))["text"] == lines
    whole, _, last, cut = kept(home)[0]["cells"]
    assert len(short.text) < 20_000
    assert stream(whole) == lines and whole["outputs"][-1]["data"]["text/plain"] == "'value'"
    assert stream(last).endswith(lines[-1000:]) and "late\n" in stream(last)[:1000]
    assert stream(cut) == "\u00e9" * (1 << 19) + (
        "\n[2097153 bytes of output; the first 1048576 are shown (PTYCELL_RECORD_OUTPUT)]\n"
        "[all of this output, up to its limit, is in outputs/cell-4.txt beside this notebook, or in a numbered folder where a "
        "result has that name]\n")


def test_every_figure_of_a_cell_is_in_the_notebook(server):
    """R4: a cell holds 20; a driver saves the others, and the journal reads them from there."""
    pytest.importorskip("PIL")
    server.cell("from PIL import Image\nfor n in range(102): display(Image.new('RGB', (4, 4), (n, 0, 0)))\n"
                "open('output/cell-1-figure-101.png', 'w').write('no picture')")
    shown = [output["data"]["image/png"] for output in notebook(server)["cells"][0]["outputs"]
             if output["output_type"] == "display_data"]
    assert len(set(shown)) == 101  # each once
    assert "figures too large or too many for the notebook: 1;" in str(notebook(server)["cells"][0]["outputs"])
    assert len(json.loads(read(server, "cells/1"))["figures"]) == 101


def test_the_notebook_runs_again_in_jupyter(server, tmp_path):
    manager = pytest.importorskip("jupyter_client.manager")
    pytest.importorskip("ipykernel")
    server.cell("import math\nxs = [n * n for n in range(5)]")
    server.cell("print(sum(xs))")
    server.cell("%%bash\necho from $((40 + 2))")
    server.cell("print(6 * 7)\nmath.floor(2.5)")
    book = notebook(server)
    kernel, client = manager.start_new_kernel(kernel_name="python3", cwd=str(tmp_path))
    try:
        for cell in book["cells"]:
            said = []
            reply = client.execute_interactive(
                cell["source"], timeout=60,
                output_hook=lambda m: said.append(m["content"].get("text", "")))
            assert reply["content"]["status"] == "ok"
            streams = "".join(o["text"] for o in cell["outputs"] if o["output_type"] == "stream")
            assert "".join(said) == streams
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)


def test_rich_outputs_stand_in_the_notebook_as_text_alone(server):
    """HTML, SVG and JavaScript would run or load things when the notebook is opened."""
    server.cell("class Rich:\n"
                "  def _repr_mimebundle_(self, include=None, exclude=None):\n"
                "    return {'text/html': '<script>1</script>', 'image/svg+xml': '<svg onload=1/>',"
                " 'application/javascript': 'alert(1)', 'text/plain': 'plain words'}\n"
                "display(Rich()); Rich()")
    server.cell("class Html:\n  def _repr_html_(self): return '<b>bold</b>'\nHtml()")
    book = notebook(server)
    kinds = {kind for cell in book["cells"] for o in cell["outputs"] for kind in o.get("data", {})}
    assert kinds == {"text/plain"}
    told = json.dumps([cell["outputs"] for cell in book["cells"]])
    assert "plain words" in told and "<svg" not in told and "alert" not in told
    assert "without its form as HTML, SVG, JavaScript]" in json.dumps(book["cells"][0]["outputs"])
    assert book["cells"][1]["outputs"][-1]["text"] == "[shown as text, without its form as HTML]\n"
    assert json.loads(read(server, "cells/2"))["left_out"] == "HTML"


def test_a_cell_that_was_looked_at_while_it_ran_is_whole_in_the_journal(server):
    server.cell("import os, time")
    server.cell("for n in range(3):\n  print('line', n, flush=True)\n"
                "  while not os.path.exists(f'input/go{n}'): time.sleep(0.01)", budget=0)
    for n in range(3):
        until(lambda: f"line {n}" in look(server).text)
        server.call("upload_file", session_id="s", filename=f"go{n}", content="")
    until(lambda: look(server).state == "done")
    assert json.loads(read(server, "cells/2"))["text"] == "line 0\nline 1\nline 2\n"
    assert notebook(server)["cells"][1]["outputs"][0]["text"] == "line 0\nline 1\nline 2\n"


def test_code_that_was_withdrawn_is_in_the_journal_and_not_in_the_notebook(server):
    server.cell("1")
    server.cell("while True: pass", budget=0)
    assert server.cell("x = 'withdrawn'", budget=0).state == "not_started"
    assert server.interact(action="interrupt").state == "interrupted"
    cell = json.loads(read(server, "cells/3"))
    assert (cell["code"], cell["state"]) == ("x = 'withdrawn'", "not_started")
    assert [c["source"] for c in notebook(server)["cells"]] == ["1", "while True: pass"]
    assert "withdrawn" not in read(server, "script")


def test_a_cell_that_runs_is_read_as_running_and_stands_where_it_was_asked_for(server):
    server.cell("print('begun', flush=True)\nwhile True: pass", budget=0)
    until(lambda: "begun" in look(server).text)
    server.cell("echo meanwhile", language="bash")
    cell = json.loads(read(server, "cells/1"))
    assert (cell["state"], cell["language"]) == ("running", "python") and "while True" in cell["code"]
    assert cell["text"] == "begun\n"
    assert [(c["cell"], c["state"]) for c in json.loads(read(server, "cells"))] == [(1, "running"), (2, "done")]
    running, done = notebook(server)["cells"]
    assert "while True" in running["source"] and [o["text"] for o in running["outputs"]] == ["begun\n", "[running]\n"]
    assert done["outputs"][0]["text"] == "meanwhile\n"
    assert read(server, "script").startswith("# %% cell 1, running\n")
    assert server.interact(action="interrupt", language="python").state == "interrupted"
    ended, done = notebook(server)["cells"]
    assert ended["metadata"]["ptycell"]["state"] == "interrupted" and "begun" in ended["outputs"][0]["text"]
    assert [c["cell"] for c in json.loads(read(server, "cells"))] == [1, 2]


def test_a_query_stands_where_it_was_asked_for(server):
    server.cell("1")
    server.call("exec_sql", session_id="s", query="SELECT 42 AS answer")
    server.cell("2")
    assert [(c["language"], c["state"]) for c in json.loads(read(server, "cells"))] == [
        ("python", "done"), ("sql", "done"), ("python", "done")]
    assert "42" in json.loads(read(server, "cells/2"))["text"]


def test_the_script_is_the_code_alone_and_runs(server, tmp_path):
    server.cell("x = 20\nprint('out')")
    server.cell("raise ValueError")
    server.cell("print(x + 22)")
    script = read(server, "script")
    assert contents(server, "session://s/script")["mimeType"] == "text/x-python"
    assert script == ("# %% cell 1\nx = 20\nprint('out')\n\n# %% cell 2, raised\nraise ValueError\n\n"
                      "# %% cell 3\nprint(x + 22)\n\n")
    assert read(server, "script?language=python") == script
    assert read(server, "script?offset=5&length=6") == script[5:11]


def test_code_with_a_nul_is_a_comment_of_the_script(server):
    server.cell("x = '\0'")
    server.cell("x = 1")
    assert "# %% cell 1, raised, left out: it does not run\n# x = '\0'\n\n# %% cell 2\n" in read(server, "script")


def test_what_bash_cannot_parse_is_a_comment_of_the_script(server, tmp_path):
    for code in ("x=1", "if then", "echo 'open", "while true; do", "ls nowhere; (exit 2)", "echo $((x + 1))"):
        server.cell(code, language="bash")
    script = read(server, "script?language=bash")
    assert re.findall(r"left out.*\n(.*)", script) == ["# if then", "# echo 'open", "# while true; do"]
    (tmp_path / "script").write_text(script)
    assert subprocess.run(["bash", tmp_path / "script"], capture_output=True, text=True).stdout == "2\n"


def test_a_cell_of_a_javascript_script_is_no_part_of_the_statement_before_it(server, tmp_path):
    skip_without("javascript")
    for code in ("const f = (x) => x", "(async () => console.log('ran'))()", "let n = 1", "// the list\n\n[n, 2].map((m) => console.log(m))",
                 "console.log(f(5))"):
        server.cell(code, language="javascript")
    script = read(server, "script?language=javascript")
    assert "\nconst f =" in script and "\nconsole.log(f" in script
    (tmp_path / "script.js").write_text(script)
    assert subprocess.run(["node", tmp_path / "script.js"], capture_output=True, text=True).stdout == "ran\n1\n2\n5\n"


def test_cells_of_several_languages_stand_in_one_notebook_and_script(server):
    server.cell("x = 1")
    server.cell("y=2; echo $y", language="bash")
    server.cell("print(x)")
    assert [c["source"] for c in notebook(server)["cells"]] == ["x = 1", "%%ptycell bash\ny=2; echo $y", "print(x)"]
    assert read(server, "script") == ("# %% cell 1\nx = 1\n\n# %% cell 2, bash\n# y=2; echo $y\n\n"
                                      "# %% cell 3\nprint(x)\n\n")
    assert "# x = 1" in read(server, "script?language=bash")
    told = server.call("session_info", session_id="s", include=["variables"]).object["variables"]
    assert {("python", "x", "1"), ("bash", "y", "2")} <= {(v["language"], v["name"], v.get("value")) for v in told}


def test_a_cancelled_cell_is_in_the_journal(server):
    server.cell("1")
    cell = server.start_cell("open('runs', 'w').close()\nwhile True: pass")
    until(lambda: "runs" in listed(server))
    server.cancel(cell)
    assert server.cell("2").status["cell"] == 3
    assert json.loads(read(server, "cells/2"))["state"] == "interrupted"
    assert notebook(server)["cells"][1]["outputs"][-1]["text"] == "[interrupted]\n"


def test_a_large_notebook_is_read_in_ranges_and_holds_nobody_up(server):
    """1,000 cells with figures; another session answers meanwhile as ever."""
    server.cell("import base64, os\nfrom PIL import Image\n"
                "images = [Image.frombytes('RGB', (60, 60), os.urandom(10800)) for _ in range(10)]")
    for n in range(1000):
        assert server.cell(f"display(images[{n % 10}])").images
    error = refusal(server, "session://s/notebook")
    assert error["code"] == -32602 and "?offset=0&length=700000" in error["message"]
    parts, offset = [], 0
    while True:
        asked = server.start("resources/read",
                             {"uri": f"session://s/notebook?offset={offset}&length=700000"})
        other = server.cell("1", session="other")
        assert other.text == "1\n"
        part = asked.get()["result"]["contents"][0]
        assert len(json.dumps(part)) < MEGABYTE
        data = part["text"].encode() if "text" in part else base64.b64decode(part["blob"])
        parts.append(data)
        offset += len(data)
        if not data:
            break
    book = the_sessions(json.loads(b"".join(parts)))
    assert len(book["cells"]) == 1001 and offset > 10_000_000
    assert len(read(server, "cells")) < 100_000


def test_a_full_journal_keeps_code_longer_than_outputs(home):
    with Server(home, "--journal-max=64K", "--output-chars=8000") as server:
        said = [server.cell("print('o' * 4000)").text for _ in range(40)]
        info = server.call("session_info", session_id="s").object
        book = notebook(server)
        script = read(server, "script")
    journal = info["journal"]
    assert info["effective_config"]["journal_max"] == 65536 and journal["bytes"] <= 65536
    assert journal["cells_without_outputs"] > 3 and journal["cells"] > 10
    assert journal["cells"] + journal.get("cells_left_out", 0) == 40
    assert script.count("print(") == journal["cells"]
    assert len([c for c in book["cells"] if c["cell_type"] == "code"]) == journal["cells"]
    first_bare = journal["cells"] - journal["cells_without_outputs"] + 1
    assert [number for number, text in enumerate(said, 1) if "outputs may be missing in it" in text] == [first_bare]


def test_cells_that_a_full_journal_has_no_room_for_are_told(home):
    """R7: once in an answer, and in each reader."""
    with Server(home, "--journal-max=64K") as server:
        server.cell("1")
        said = [server.cell("#" * 70_000).text, server.cell("#" * 70_000).text]
        script, book = read(server, "script"), notebook(server)
    assert "from cell 2 on cells may be missing in it" in said[0] and "missing" not in said[1]
    assert script.endswith("# %% The journal is full: 2 cells after this point are not in it (PTYCELL_JOURNAL_MAX).\n")
    assert "The journal is full: 2 cells" in book["cells"][-1]["source"]


@pytest.mark.parametrize("notebook_kept", ["on", "off"])
def test_cells_without_room_in_the_journal_are_told_after_the_end(home, notebook_kept):
    """Also those of a later life."""
    env = {**LASTS, "PTYCELL_JOURNAL_MAX": "64K", "PTYCELL_NOTEBOOK": notebook_kept}
    told = "The journal is full: %d cells after this point are not in it"
    for life, cells in ((1, 80), (2, 20)):
        with Server(home, env=env) as server:
            for number in range(cells):
                server.cell(f"print({number}, 'z' * 1500)" + "#" * 1000)
            left_out = server.call("session_info", session_id="s").object["journal"]["cells_left_out"]
        assert left_out > 20 * (life - 1) and told % left_out in command(home, "export", "s", "--script")
        for form in ("--html", "--ipynb"):
            assert f"The journal is full: {left_out} cells" in command(home, "export", "s", form)
        for path in paths_in(home, "kept/*/notebook.ipynb") if notebook_kept == "on" else ():
            assert told % left_out in path.read_text()


# ---- what is kept ----

@pytest.mark.account
def test_the_notebook_is_kept_for_the_person(home):
    with Server(home) as server:
        server.cell("print('one')")
        until(lambda: kept(home))
        server.cell("print('two')")
        until(lambda: len(kept(home)[0]["cells"]) == 2)
        folder, = kept_folders(home)
        assert stat.S_IMODE((folder / "notebook.ipynb").stat().st_mode) == 0o600
        assert server.call("session_info", session_id="s").object["keep_dir"] == f"~/kept/{folder.name}"
        server.cell("print('three')")
    assert [c["source"] for c in kept(home)[0]["cells"]] == ["print('one')", "print('two')", "print('three')"]
    assert sorted(os.listdir(folder)) == [".ptycell", "notebook.ipynb", "report.html"]


@pytest.mark.account
def test_the_last_cell_is_in_the_kept_notebook_however_a_session_ends(home):
    with Server(home) as server:
        server.cell("1", session="destroyed")
        server.call("destroy_session", session_id="destroyed")
        until(lambda: len(kept(home)) == 1)
        running = server.start_cell("import time; print('begun', flush=True); time.sleep(10**6)")
        until(lambda: server.call("session_info", session_id="s").object["state"] == "running")
        server.call("destroy_session", session_id="s")
        assert running.get()
        until(lambda: len(kept(home)) == 2)
    assert any("destroyed on request" in json.dumps(book) for book in kept(home))


@pytest.mark.account
def test_results_and_notebook_lie_in_one_folder(home):
    with Server(home) as server:
        for n in range(10):
            server.cell(f"open('output/f{n}.txt', 'w').write('x')", session=f"s{n % 3}")
        server.cell("open('output/notebook.ipynb', 'w').write('theirs')", session="s0")
    folders = kept_folders(home)
    assert len(folders) == 3
    assert (folders[0] / "notebook.ipynb").read_text() == "theirs"
    assert len(kept(home, "ptycell.ipynb")[0]["cells"]) == 5


@pytest.mark.account
def test_a_notebook_that_the_person_changed_is_not_overwritten(home):
    with Server(home) as server:
        server.cell("1")
        until(lambda: kept(home))
        path, = (home / "kept").glob("*/notebook.ipynb")
        path.write_text("mine now")
        server.cell("2")
    assert path.read_text() == "mine now"
    assert len(kept(home, "notebook-2.ipynb")[0]["cells"]) == 2


@pytest.mark.parametrize("setting", ["--notebook=off", "--keep=off"])
@pytest.mark.account
def test_no_notebook_is_kept_where_none_is_wanted(home, setting):
    with Server(home, setting) as server:
        server.cell("1")
        assert len(notebook(server)["cells"]) == 1
    assert not (home / "kept").exists()


@pytest.mark.account
def test_sessions_that_ran_nothing_leave_nothing(home):
    with Server(home) as server:
        server.call("session_info", session_id="s", config={})
        server.call("exec_code", session_id="s", language="cobol", code="1")
    assert not (home / "kept").exists()


@pytest.mark.account
def test_the_journal_goes_with_the_session(home):
    with Server(home) as server:
        server.cell("1")
        until(lambda: paths_in(home, "cache/*/sessions/*/journal/notebook.ipynb"))
        server.call("destroy_session", session_id="s")
        until(lambda: not paths_in(home, "cache/*/sessions/*/journal/notebook.ipynb"))
        server.cell("2")
        assert len(notebook(server)["cells"]) == 1
    nothing_left(home)


def test_what_code_says_about_itself_is_clean_in_the_journal(server):
    server.cell("class E(Exception): pass\nE.__name__ = 'a\\x1b[31m\\n'\n"
                "print('\\x1b[31mred\\u202e'); raise E('\\x07\\u200b')")
    assert_clean(json.loads(read(server, "cells/1")))
    assert_clean(notebook(server))


@pytest.mark.account
def test_no_code_sees_or_changes_the_journal(server):
    server.cell("1")
    told = server.cell("import os\nfound = []\nfor top in ('.', '..', '/mnt', os.path.expanduser('~')):\n"
                       "  for where, folders, files in os.walk(top):\n"
                       "    found += [f for f in folders + files if f in ('journal', 'notebook.ipynb', 'records')]\n"
                       "found")
    if "none" in server.call("session_info", session_id="s").object["confinement"]["tier"]:
        pytest.skip("nothing confines here")
    assert told.text == "[]\n"


# ---- the audit file ----

def cells_of(path):
    """The lines of an audit file about cells."""
    lines = map(json.loads, path.read_text().splitlines())
    return [line for line in lines if line["event"] in ("began", "ended")]


@pytest.mark.account
def test_each_cell_adds_a_line_to_the_audit_file(home):
    path = home / "audit.jsonl"
    with Server(home, env={"PTYCELL_AUDIT": str(path)}) as server:
        server.cell("secret = 1\nprint('spoken')", session="a")
        server.cell("1/0", session="b")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lines = cells_of(path)
    assert [(line["event"], line["session_id"], line["cell"]) for line in lines] == [
        ("began", "a", 1), ("ended", "a", 1), ("began", "b", 1), ("ended", "b", 1)]
    began, ended, _, raised = lines
    assert began["code"] == "secret = 1\nprint('spoken')" and began["language"] == "python"
    assert (ended["state"], raised["state"], ended["language"]) == ("done", "raised", "python")
    for line in lines:
        assert line["v"] == 1 and line["client"] == {"name": "e2e", "version": "1"} and line["generation"] == 1
        assert re.fullmatch(r"[0-9a-f]{8}", line["instance"]) and line["instance"] == began["instance"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
        assert "spoken" not in json.dumps({**line, "code": ""})


@pytest.mark.account
def test_the_lines_of_a_cell_that_died_have_the_generation_it_ran_in(home):
    path = home / "audit.jsonl"
    with Server(home, env={"PTYCELL_AUDIT": str(path)}) as server:
        server.cell("import os; os._exit(3)")
        server.cell("1")
    assert [(line["event"], line["cell"], line["generation"]) for line in cells_of(path)] == [
        ("began", 1, 1), ("ended", 1, 1), ("began", 2, 2), ("ended", 2, 2)]


@pytest.mark.account
def test_code_that_runs_is_in_the_audit_file_before_it_ends(home):
    path = home / "audit.jsonl"
    with Server(home, env={"PTYCELL_AUDIT": str(path)}) as server:
        server.cell("while True: pass", budget=0)
        until(lambda: cells_of(path))
        assert server.cell("x = 'withdrawn'", budget=0).state == "not_started"
        until(lambda: len(cells_of(path)) == 2)
        began, withdrawn = cells_of(path)
        assert (began["event"], began["cell"], began["code"]) == ("began", 1, "while True: pass")
        assert (withdrawn["event"], withdrawn["state"], withdrawn["code"]) == ("ended", "not_started", "x = 'withdrawn'")
        server.process.kill()
        server.process.wait()
    assert len(cells_of(path)) == 2


@pytest.mark.parametrize("name, why", [
    ("link", "Too many levels of symbolic links"), ("folder", "Is a directory"), ("missing/audit", "No such file or directory"),
    ("fifo", "")])
@pytest.mark.account
def test_nothing_runs_without_the_audit_file_that_is_wanted(home, name, why):
    """N6: who sets it wants to know all that ran."""
    (home / "link").symlink_to(home / "elsewhere")
    (home / "folder").mkdir()
    os.mkfifo(home / "fifo")
    with Server(home, f"--audit={home / name}") as server:
        result = server.cell("print('ran')")
    told, = result.texts
    assert result.is_error and f"'{home / name}'" in told and why in told
    assert told.startswith("What runs cannot be recorded in the file of PTYCELL_AUDIT, so nothing runs: ")
    assert not (home / "elsewhere").exists()


def test_an_audit_file_that_is_mended_needs_no_restart(home):
    path = home / "audit.jsonl"
    path.mkdir()
    with Server(home, f"--audit={path}") as server:
        assert "so nothing runs" in server.cell("1").texts[0]
        assert "so nothing runs" in server.call("upload_file", session_id="s", filename="x", content="").texts[0]
        path.rmdir()
        assert server.cell("1").text == "1\n"
        assert "cannot be recorded" in server.said()
    assert [(line["event"], line["cell"]) for line in cells_of(path)] == [("began", 1), ("ended", 1)]


@pytest.mark.account
def test_the_answers_tell_of_an_audit_file_that_fails_later(home):
    path = home / "audit.jsonl"
    with Server(home, f"--audit={path}") as server:
        server.cell("1")
        until(lambda: path.exists() and path.read_text().endswith("\n"))
        server.cell("while True: pass", budget=0)
        until(lambda: path.read_text().count("began") == 2)
        path.unlink()
        path.mkdir()
        ended = server.call("interact", session_id="s", action="interrupt")
        until(lambda: server.stderr.decode().count("PTYCELL_AUDIT") == 1)
        refused = server.cell("print('ran')")
        assert refused.is_error and "ran" not in refused.texts[-1].replace("what ran", "").replace("What ran", "")
        assert f"so nothing runs: opening '{path}': Is a directory. Correct the file and send it again" in refused.texts[-1]
        assert server.call("exec_sql", session_id="s", query="SELECT 1").is_error
        assert server.call("interact", session_id="s", input="x").is_error
        assert server.call("upload_file", session_id="s", filename="x", content="").is_error
        assert server.call("install_packages", session_id="s", packages=["six"]).is_error
        assert server.call("destroy_session", session_id="s").is_error
        path.rmdir()
        told = [*ended.texts, *server.cell("3").texts]
        assert told.count("What was done could not be recorded in the user's audit file: "
                          f"opening '{path}': Is a directory. Nothing more is done until it is recorded there. "
                          "Tell the user.") == 1
    assert [(line["event"], line["cell"]) for line in cells_of(path)] == [
        ("ended", 2), ("began", 3), ("ended", 3)]  # the file with the others is gone


def test_a_cell_that_waits_does_not_run_once_the_audit_cannot_be_written(home):
    path, gate = home / "audit.jsonl", home / "gate"
    with Server(home, f"--audit={path}") as server:
        server.cell("1")
        server.start_cell("while True: pass")
        until(lambda: path.read_text().count("began") == 2)
        second = server.start_cell("open('ran', 'w').close()")
        server.call("list_sessions")  # requests are read in their order
        path.unlink()
        path.mkdir()
        server.call("interact", session_id="s", action="interrupt")
        text = str(second.get(timeout=WAIT_S)["result"]["content"])
        assert "The cell was not run: it cannot be recorded in the user's audit (PTYCELL_AUDIT); the next call of exec_code says why." in text
        path.rmdir()
        assert "False" in server.cell("import os; os.path.exists('ran')").text
    assert [(line["event"], line["cell"], line.get("state")) for line in cells_of(path)][:2] == [("ended", 2, "interrupted"), ("ended", 3, "not_started")]


def test_a_line_that_finds_no_room_is_added_before_anything_else_is_done(home):
    path = home / "audit.jsonl"
    with Server(home, f"--audit={path}") as server:
        server.cell("1")
        until(lambda: path.exists() and path.read_text().count('"event":"ended"') == 1)
        size = path.stat().st_size
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
        refused = server.cell("2")
        assert server.cell("3").is_error
        assert path.stat().st_size == size
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        server.cell("4")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert "File too large" in refused.texts[0] or "File too large" in server.stderr.decode()


@pytest.mark.account
def test_an_audit_file_that_code_could_change_is_refused(home):
    folder = home / "shared"
    folder.mkdir()
    with Server(home, f"--audit={folder / 'audit.jsonl'}", "--share", f"{folder}:rw") as server:
        told = server.cell("print('ran')").texts[0]
    assert f"the audit file '{folder / 'audit.jsonl'}' lies in a folder that is shared with :rw" in told
