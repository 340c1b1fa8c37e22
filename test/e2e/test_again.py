# SPDX-License-Identifier: MIT
"""The kept notebook is of use elsewhere: it is valid, converts, and runs again. test_slow_again.py runs many."""
import json

import pytest
from client import LASTS, Server
from rerun import assert_same, convert, record, skip_without_jupyter
from sessions_again import ALL


def test_a_recorded_session_runs_again_and_becomes_a_script(home, tmp_path):
    skip_without_jupyter()
    nbformat = pytest.importorskip("nbformat")
    steps, also = ALL["mixed-few"]
    kept = record(home, steps)
    nbformat.validate(nbformat.read(kept / "notebook.ipynb", as_version=4))
    assert_same(kept, tmp_path / "copy", *also)
    convert(kept, "--to", "script")
    script = (kept / "notebook.py").read_text()
    compile(script, "notebook.py", "exec")
    assert "get_ipython().run_cell_magic('ptycell', 'bash 1', 'wc -l" in script


def test_the_first_cells_say_what_the_session_had(home):
    kept = record(home, [("upload_file", {"filename": "a`<b>.csv", "content": "x\n"}), ("python", "1"),
                         ("upload_file", {"filename": "c.csv", "content": "y\n"}), ("bash", "exit 3")])
    cells = {cell["id"]: cell for cell in json.loads((kept / "notebook.ipynb").read_text())["cells"]}
    assert list(cells) == ["session", "replay", "cell-1", "language-2", "before-2", "cell-2"]
    about = cells["session"]["source"]
    assert "# Session `s`\n" in about and "- Version of Python: `3." in about
    assert "- Input: `input/a'<b>.csv`, 2 bytes, SHA-256 `73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac`" in about
    assert cells["before-2"]["source"].startswith('ptycell.input("input/c.csv", 2, "')
    assert cells["cell-2"]["source"] == "%%ptycell bash 3\nexit 3"
    assert (kept / "input" / "c.csv").read_text() == "y\n"


def test_a_resumed_session_runs_again_with_the_state_that_each_life_had(home, tmp_path):
    skip_without_jupyter()
    with Server(home, env=LASTS) as server:
        server.cell("n = 1")
        server.cell("v=3", language="bash")
    with Server(home, env=LASTS) as server:
        assert server.cell("n").state == "raised"
        server.cell("n = globals().get('n', 6) + 1; n")
        assert server.cell("echo v=$v", language="bash").text == "v=\n"
    with Server(home, env=LASTS) as server:
        server.call("interact", session_id="s", action="restore_run")
        assert server.cell("echo v=$v", language="bash").text == "v=3\n"
    (kept,) = (home / "kept").glob("*-s-*")
    cells = {cell["id"]: cell["source"] for cell in json.loads((kept / "notebook.ipynb").read_text())["cells"]}
    assert (cells["before-3"], cells["before-6"]) == ("ptycell.resumed()", "ptycell.resumed()\nptycell.restored()")
    assert_same(kept, tmp_path / "copy")
