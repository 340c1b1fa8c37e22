# SPDX-License-Identifier: MIT
"""What is kept of an upload has the bytes that were uploaded, whatever the next cell does to its file."""
import hashlib
import json

import pytest
from patience import until
from rerun import assert_same, skip_without_jupyter
from steps import session_folders

CELL = """import hashlib, mmap, os
name = 'input/in.bin'
with open(name, 'rb') as file: seen = hashlib.sha256(file.read()).hexdigest()
"""
CHANGES = {
    "overwrites": "with open(name, 'r+b') as file: file.write(b'over')",
    "truncates": "open(name, 'w').close()",
    "appends": "with open(name, 'ab') as file: file.write(b'more')",
    "deletes": "os.remove(name)",
    "renames": "os.rename(name, 'input/other.bin')\nwith open(name, 'wb') as file: file.write(b'new')",
    "maps": "with open(name, 'r+b') as file, mmap.mmap(file.fileno(), 4) as memory: memory[:4] = b'over'",
}
SMALL = b"0123456789\n"


def digest(data):
    return hashlib.sha256(data).hexdigest()


def kept_inputs(home):
    """What the kept folder has of inputs, by name."""
    return {path.name: digest(path.read_bytes()) for path in (home / "kept").glob("*/input/*")}


def check_restored(start, expected):
    """The next server runs the cells again; they find what was uploaded."""
    server = start()
    result = server.interact(action="restore_run")
    assert not result.is_error and "as they were then" not in result.texts[0], result.texts
    assert server.cell("seen").text == f"'{expected}'\n"


@pytest.mark.parametrize("change", CHANGES)
def test_the_copy_of_an_input_is_what_was_uploaded(start, home, change):
    server = start()
    assert not server.call("upload_file", session_id="s", filename="in.bin", content=SMALL.decode()).is_error
    assert server.cell(CELL + CHANGES[change]).state == "done"
    server.close()
    assert kept_inputs(home) == {"in.bin": digest(SMALL)}
    check_restored(start, digest(SMALL))


@pytest.mark.parametrize("change", ["overwrites", "truncates"])
def test_so_is_the_copy_of_a_large_input_from_a_share(start, home, tmp_path, change):
    data = bytes(range(256)) * (70 << 12)
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / "in.bin").write_bytes(data)
    server = start(PTYCELL_SHARE=str(tmp_path / "share"))
    result = server.call("upload_file", session_id="s", path=str(tmp_path / "share" / "in.bin"))
    assert not result.is_error, result.texts
    assert server.cell(CELL + CHANGES[change]).state == "done"
    server.close()
    assert kept_inputs(home) == {"in.bin": digest(data)}
    check_restored(start, digest(data))


def test_an_input_that_replaces_another_is_kept_beside_it(start, home):
    server = start()
    for number in (1, 2):
        server.call("upload_file", session_id="s", filename="in.bin", content=f"data {number}", overwrite=True)
        assert server.cell(f"s{number} = open('input/in.bin').read()\nopen('input/in.bin', 'w').write('over')").state == "done"
    server.close()
    assert kept_inputs(home) == {"in.bin": digest(b"data 1"), "in-2.bin": digest(b"data 2")}
    server = start()
    result = server.interact(action="restore_run")
    assert not result.is_error and "as they were then" not in result.texts[0], result.texts
    assert server.cell("print(s1, s2, open('input/in.bin').read())").text == "data 1 data 2 over\n"


def test_an_input_is_kept_for_another_run_without_a_kept_folder(start):
    server = start(PTYCELL_KEEP="off")
    server.call("upload_file", session_id="s", filename="in.bin", content=SMALL.decode())
    assert server.cell(CELL + CHANGES["deletes"]).state == "done"
    server.close()
    server = start(PTYCELL_KEEP="off")
    result = server.interact(action="restore_run")
    assert not result.is_error and "as they were then" not in result.texts[0], result.texts
    assert server.cell("seen").text == f"'{digest(SMALL)}'\n"


def test_an_input_that_a_killed_server_had_not_kept_is_kept_by_the_next(start, home):
    server = start()
    server.call("upload_file", session_id="s", filename="in.bin", content=SMALL.decode())
    server.cell(CELL + CHANGES["deletes"] + "\nopen('output/r', 'w').write('r')")
    until(lambda: kept_inputs(home))
    server.process.kill()
    server.process.wait()
    for path in (home / "kept").glob("*/input/*"):
        path.unlink()
    start().cell("1", session="next")
    until(lambda: kept_inputs(home) == {"in.bin": digest(SMALL)})


@pytest.mark.parametrize("end", ["destroyed", "closed"])
def test_an_input_that_only_a_query_reads_is_kept(start, home, end):
    server = start()
    server.call("upload_file", session_id="s", filename="n.csv", content="a\n1\n")
    assert not server.call("exec_sql", session_id="s", query="SELECT a FROM n").is_error
    if end == "destroyed":
        assert not server.call("destroy_session", session_id="s").is_error
    server.close()
    assert kept_inputs(home) == {"n.csv": digest(b"a\n1\n")}


def test_an_upload_of_which_no_copy_can_be_made_is_told_and_not_kept(start, home):
    server = start()
    server.cell("1")
    folder, = session_folders(home)
    (folder.parent / "journal" / "inputs").write_text("in the way")
    result = server.call("upload_file", session_id="s", filename="in.bin", content=SMALL.decode())
    assert "'input/in.bin' is here, but its second copy could not be made" in result.object["notice"]
    assert server.cell("open('input/in.bin').read()").text == repr(SMALL.decode()) + "\n"
    server.close()
    assert kept_inputs(home) == {}


def test_a_notebook_that_runs_elsewhere_begins_with_what_was_uploaded(start, home, tmp_path):
    skip_without_jupyter()
    server = start()
    server.call("upload_file", session_id="s", filename="in.bin", content=SMALL.decode())
    assert server.cell(CELL + CHANGES["overwrites"] + "\nseen").state == "done"
    server.close()
    kept, = (home / "kept").glob("*/")
    assert_same(kept, tmp_path / "copy")
    assert digest(SMALL) in json.dumps(json.loads((kept / "notebook.ipynb").read_text()))
