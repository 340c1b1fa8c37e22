# SPDX-License-Identifier: MIT
"""What the files of a session are called where they are kept for the user, and which are."""
import itertools
import json
import os
import re
import shutil
import sqlite3

import pytest
from client import BUILD, LASTS, Server
from patience import until
from steps import kept_files, kept_folders, paths_in, session_folders, the_sessions


def kept_paths(home):
    """Of the only session, relative to its folder; notebooks of ptycell's are not looked into, and its reports left out."""
    (top,) = kept_folders(home)
    found = {str(path.relative_to(top)): path.read_text() for path in top.rglob("*") if path.is_file()}
    return {name: "ptycell's" if '"nbformat"' in text else text for name, text in found.items() if "<!-- ptycell " not in text and name != ".ptycell"}


def has_notebook(home):
    return kept_folders(home) and "ptycell's" in kept_paths(home).values()


@pytest.mark.parametrize("first", [True, False], ids=["ours came first", "theirs came first"])
def test_our_notebook_steps_aside_for_one_of_the_users(home, first):
    with Server(home) as server:
        if first:
            server.cell("1")
            until(lambda: has_notebook(home))
        server.cell("open('output/notebook.ipynb', 'w').write('mine')")
        assert kept_paths(home)["notebook.ipynb"] == "mine"
        server.cell("open('output/notebook.ipynb', 'w').write('mine again')")
    assert kept_paths(home) == {"notebook.ipynb": "mine again", "ptycell.ipynb": "ptycell's"}


def test_our_folder_steps_aside_for_one_of_the_users(home):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell("import os; open('a', 'w').write('beside')")
        assert kept_paths(home) == {"files/a": "beside"}
        server.cell("os.mkdir('output/files'); open('output/files/a', 'w').write('result')")
        server.cell("open('a', 'w').write('beside again'); open('b', 'w').write('b')")
        assert kept_paths(home) == {"files/a": "result", "files-2/a": "beside again", "files-2/b": "b"}


@pytest.mark.parametrize("code, text", [
    ("f = open('output/r.csv', 'w'); print(*range(3000), sep='\\n', file=f)", lines := "".join(f"{i}\n" for i in range(3000))),
    ("import csv; w = csv.writer(open('output/r.csv', 'w'), lineterminator='\\n'); w.writerows([i] for i in range(3000))", lines),
    ("b = open('output/r.csv', 'wb'); _ = b.write(b'abc')", "abc"),
    ("with open('seen', 'w') as seen: f = open('output/r.csv', 'w'); _ = f.write('abc')", "abc"),
    ("def g():\n    f = open('output/r.csv', 'w')\n    f.write('abc')\n    1 / 0\ng()", "abc")],
    ids=["a name", "a csv.writer", "bytes", "another one closed", "an error's traceback"])
def test_a_file_that_was_not_closed_is_kept_whole(home, code, text):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell("1")
        server.cell(code)
        assert kept_paths(home)["r.csv"] == text


def test_a_file_that_r_has_not_closed_is_kept_whole_after_each_cell(home):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell("f <- file('output/r.csv', 'w'); g <- file('output/r.csv'); writeLines('a', f)", language="r")
        assert kept_paths(home)["r.csv"] == "a\n"
        answer = server.cell("writeLines('b', f); close(g); invisible(parallel::mclapply(1:2, function(i) writeLines('c', f)))", language="r")
        assert kept_paths(home)["r.csv"] == "a\nb\n" and "Something" not in answer.text


def test_a_file_that_stays_open_is_kept_whole_after_each_cell(home):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        for number in range(3):
            server.cell("f = open('output/r.csv', 'w'); _ = f.write('a')")
            server.cell("_ = f.write('b')")
            assert kept_paths(home)["r.csv"] == "ab"
            server.cell("f.close(); f = open('output/r.csv', 'w'); _ = f.write('%d')" % number)
            assert kept_paths(home)["r.csv"] == str(number)


@pytest.mark.parametrize("before, code", [
    ("import socket; s = socket.socket()", "s.close(); f = open('output/r.csv', 'w'); _ = f.write('abc')"),
    ("open('seen', 'w').close()", "a, b = open('seen'), open('seen'); f = open('output/r.csv', 'w'); _ = f.write('abc'); a.close(); b.close()"),
    ("n = [open('/dev/null') for _ in range(40)]", "f = open('output/r.csv', 'w'); _ = f.write('abc'); [n.pop().close() for _ in range(40)]"),
    ("n = open('/dev/null', 'w')", "n.close(); f = open('output/r.csv', 'w'); _ = f.write('abc')"),
    ("import socket; s, t = socket.socketpair(); _ = t.send(b'x')", "s.close(); f = open('output/r.csv', 'w'); _ = f.write('abc')"),
    ("import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))", "f = open('output/r.csv', 'w'); _ = f.write('abc')")],
    ids=["a socket closed", "two others closed", "40 others closed", "what looks like a file closed", "a socket with data closed", "few allowed"])
def test_a_file_on_the_descriptor_of_another_is_kept_whole(home, before, code):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell(before)
        server.cell(code)
        assert kept_paths(home)["r.csv"] == "abc"


def test_a_file_that_was_detached_is_kept_whole_and_its_cell_ends_as_any(home):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell("f = open('output/r.csv', 'w'); _ = f.write('a')")
        answer = server.cell("b = f.detach(); b.write(b'bc'); print('no end of line', end='')")
        assert "no end of line" in answer.text and [n["name"] for n in answer.status["names"]] == ["b"]
        assert kept_paths(home)["r.csv"] == "abc"


@pytest.mark.parametrize("error", ["SystemExit", "KeyboardInterrupt", "RuntimeError"])
def test_code_behind_an_open_file_that_raises_ends_no_cell(home, error):
    code = f"import io\nclass Raw(io.FileIO):\n    def write(self, data):\n        raise {error}\nf = io.BufferedWriter(Raw('output/r', 'w'))\n_ = f.write(b'abc')"
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        answer = server.cell(code)
        assert f"[what was written to 'output/r' is not all in the file: {error}]" in answer.text and "names" in answer.status
        assert server.cell("1 + 1").text.endswith("2\n")


def test_output_that_always_raises_as_it_is_flushed_ends_with_its_cell(home):
    with Server(home) as server:
        server.cell("import io, sys\nclass Out(io.StringIO):\n    def flush(self):\n        raise SystemExit\nsys.stdout = Out()")
        assert server.cell("1 + 1").text.endswith("2\n")


@pytest.mark.parametrize("mode", ["w+", "a+", "x+"])
def test_a_text_file_that_could_be_read_as_well_is_kept_whole(home, mode):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell(f"f = open('output/r.csv', '{mode}'); _ = f.write('a')")
        assert kept_paths(home)["r.csv"] == "a"
        server.cell("_ = f.write('b')")
        assert kept_paths(home)["r.csv"] == "ab"
        assert server.cell("_ = f.seek(0); f.read()").text.splitlines()[0] == "'ab'"


@pytest.mark.parametrize("mode", ["w+", "a+", "x+"])
def test_bytes_that_wait_below_such_a_file_are_kept_as_well(home, mode):
    """A text file hands 8 KB on at once; buffers below it can be larger."""
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell(f"f = open('output/r.csv', '{mode}', buffering=1 << 17); _ = f.write('a' * 9000); _ = f.write('b' * 9000)")
        assert kept_paths(home)["r.csv"] == "a" * 9000 + "b" * 9000


def test_a_text_file_that_is_read_and_written_goes_on_as_at_a_terminal(home):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell("_ = open('t', 'w').writelines('%d line\\n' % n for n in range(5000)); f = open('t', 'r+'); _ = f.readline()")
        server.cell("_ = f.write('Z')")
        assert server.cell("f.readline()").text.splitlines()[0] == repr(read_and_written(home))


def read_and_written(home):
    """What a plain Python reads."""
    path = home / "lines"
    path.write_text("".join(f"{n} line\n" for n in range(5000)))
    with open(path, "r+") as file:
        file.readline()
        file.write("Z")
        return file.readline()


def test_what_an_open_file_could_not_take_is_told_once_and_comes_later(home):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell("import resource; full = resource.getrlimit(resource.RLIMIT_FSIZE)")
        code = "resource.setrlimit(resource.RLIMIT_FSIZE, (1, full[1])); f = open('output/r.csv', 'w'); _ = f.write('abc')"
        note = "[what was written to 'output/r.csv' is not all in the file: [Errno 27] File too large]"
        assert [server.cell(code).text.count(note), server.cell("1").text.count(note)] == [1, 1]
        assert note not in server.cell("resource.setrlimit(resource.RLIMIT_FSIZE, full)").text
        assert kept_paths(home)["r.csv"] == "abc"


def outputs(home):
    return {path.relative_to(path.parents[1]).as_posix() for path in (home / "kept").glob("*/outputs*/*")}


@pytest.mark.parametrize("language, code, size", [
    ("python", "for n in range(200_000): print(n)", 1_288_890), ("bash", "seq 0 199999", 1_288_890),
    ("python", "'x' * 30_000", 30_002)])
def test_the_whole_of_a_long_output_is_saved_beside_the_notebook(home, language, code, size):
    with Server(home) as server:
        server.cell("1")
        server.cell(code, language=language)
        until(lambda: outputs(home) == {"outputs/cell-2.txt"} and has_notebook(home))
        server.cell("print('short')")
    whole, = (home / "kept").glob("*/outputs/cell-2.txt")
    assert whole.stat().st_size == size and whole.stat().st_mode & 0o777 == 0o600
    book, = (home / "kept").glob("*/notebook.ipynb")
    assert book.read_text().count("is in outputs/cell-2.txt beside this notebook") == 1
    assert outputs(home) == {"outputs/cell-2.txt"}


def test_a_whole_output_that_was_not_saved_is_told(home):
    with Server(home, "--keep-max=2M") as server:
        said = server.cell("for n in range(200_000): print(n)").notice
    assert "The whole output of cell 1 is not saved for the user" in said and "PTYCELL_KEEP_MAX" in said
    book, = (home / "kept").glob("*/notebook.ipynb")
    assert outputs(home) == set() and "is in outputs" not in book.read_text()


def test_a_notebook_that_was_not_saved_is_told_once(home):
    with Server(home, "--keep-max=1M") as server:
        server.cell("for n in range(200_000): print(n)")
        until(lambda: "The notebook is not saved for the user: " in server.cell("1").texts[0])
        assert not any("not saved" in text for text in server.cell("2").texts)


def test_the_next_server_saves_a_notebook_that_was_not_saved(home):
    with Server(home, "--keep-max=1M", env=LASTS) as server:
        server.cell("for n in range(200_000): print(n)")
        until(lambda: "The notebook is not saved for the user: " in server.cell("1").texts[0])
        server.cell("'last'")
    with Server(home, env=LASTS) as server:
        server.cell("1", session="next")
        until(lambda: ["'last'" in path.read_text() for path in (home / "kept").glob("*-s-*/notebook.ipynb")] == [True])


def test_the_next_server_saves_a_notebook_whose_last_copy_failed(home):
    kept, away = home / "kept", home / "away"
    with Server(home, env=LASTS) as server:
        server.cell("1")
        until(lambda: list(kept.glob("*-s-*/notebook.ipynb")))
        kept.rename(away)
        kept.touch()
        server.cell("'last'")
    kept.unlink()
    away.rename(kept)
    with Server(home, env=LASTS) as server:
        server.cell("1", session="next")
        until(lambda: [name for name in ("notebook.ipynb", "report.html") for path in kept.glob("*-s-*/" + name)
                       if "last" in path.read_text()] == ["notebook.ipynb", "report.html"])


def test_the_next_server_replaces_a_copy_whose_last_state_could_not_be_copied(home):
    kept, away = home / "kept", home / "away"
    with Server(home, env=LASTS) as server:
        server.cell("open('output/a', 'w').write('earlier')")
        kept.rename(away)
        kept.touch()
        assert "copying failed: " in server.cell("open('output/a', 'w').write('last')").text
    kept.unlink()
    away.rename(kept)
    with Server(home, env=LASTS) as server:
        server.cell("1", session="next")
        until(lambda: [(path.name, path.read_text()) for path in kept.glob("*-s-*/a*")] == [("a", "last")])


def test_a_file_goes_on_under_its_name_after_a_rescue_beside_its_copy(home):
    with Server(home, env=LASTS) as server:
        server.cell("open('output/a', 'w').write('whole')")
        server.start_cell("open('output/a', 'w').write('part'); open('output/b', 'w').write(''); import time; time.sleep(60)")
        until(lambda: list(home.glob("cache/*/sessions/*/data/output/b")))
        server.process.kill()
    with Server(home, env=LASTS) as server:
        server.cell("1", session="next")
        until(lambda: sorted((path.name, path.read_text()) for path in (home / "kept").glob("*-s-*/a*")) == [("a", "whole"), ("a-2", "part")])
        until(lambda: list(home.glob("cache/resume/*/journal/rescued")))
        server.cell("open('output/a', 'w').write('next')")
        assert [path.read_text() for path in (home / "kept").glob("*-s-*/a")] == ["next"]


@pytest.mark.parametrize("setting", ["PTYCELL_NOTEBOOK", "PTYCELL_RECORD", "PTYCELL_KEEP"])
def test_no_whole_output_is_saved_without_a_notebook(home, setting):
    with Server(home, env={setting: "off"}) as server:
        server.cell("for n in range(200_000): print(n)\nopen('output/r', 'w').write('r')")
    assert outputs(home) == set()


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_whole_outputs_step_aside_for_a_folder_of_the_users(home, first):
    with Server(home) as server:
        steps = [lambda: server.cell("for n in range(200_000): print(n)"),
                 lambda: server.cell("import os; os.makedirs('output/outputs'); open('output/outputs/mine', 'w').write('m')")]
        for step in steps if first == "ours" else steps[::-1]:
            step()
            server.cell("2")
        until(lambda: len(outputs(home)) == 2 and "outputs/mine" in outputs(home))
    assert outputs(home) == {"outputs/mine", f"outputs-2/cell-{1 if first == 'ours' else 3}.txt"}


OURS = {"notebook.ipynb": "x", "report.html": "x", "files": "beside.txt", "input": "t.csv", "outputs": "cell-%d.txt"}
TAKE = """import os, pathlib
for name, inner in {names!r}.items():
    path = pathlib.Path('output', name)
    if {kind!r} == 'file':
        path.write_text('mine ' + name)
    elif {kind!r} == 'folder':
        path.mkdir()
        path.joinpath(inner).write_text('mine ' + name)
    else:
        pathlib.Path('.mine ' + name).write_text('mine ' + name)
        path.symlink_to('../.mine ' + name)
"""


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_every_name_of_ours_steps_aside_for_the_users(home, first, kind):
    """Nothing of either is lost, merged or there twice."""
    long = 1 if first == "ours" else 2
    names = {name: inner % long if "%" in inner else inner for name, inner in OURS.items()}
    code = TAKE.format(names=names, kind=kind)

    def theirs(server):
        server.cell(code)

    def ours(server):
        server.call("upload_file", session_id="s", filename="t.csv", content="uploaded")
        server.cell("open('beside.txt', 'w').write('beside')\nfor n in range(200_000): print(n)")
        until(lambda: has_notebook(home) and any(path.read_bytes().startswith(b"0\n1\n") for path in (home / "kept").rglob("cell-*.txt")))

    with Server(home) as server:
        for step in [ours, theirs] if first == "ours" else [theirs, ours]:
            step(server)
        server.cell("'last'")
    top, = kept_folders(home)
    for name, inner in names.items():
        path = top / name / inner if kind == "folder" else top / name
        assert path.is_file() and path.read_text() == "mine " + name
    rest = [path for path in top.rglob("*") if path.is_file() and not path.read_text().startswith("mine ")]
    assert sorted(path.relative_to(top).as_posix() for path in rest) == [
        ".ptycell", "files-2/beside.txt", "input-2/t.csv", f"outputs-2/cell-{long}.txt", "ptycell.html", "ptycell.ipynb"]
    assert json.loads((top / "ptycell.ipynb").read_text())["cells"][-1]["source"] == "'last'"


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_the_user_puts_into_the_kept_folder_stays(home, kind):
    """Under a name of ours, before we use it: nothing is followed, and nothing of the user's changes."""
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    with Server(home) as server:
        server.cell("open('output/first', 'w').write('f')")
        top, = kept_folders(home)
        for name in ("files", "input", "outputs"):
            if kind == "file":
                (top / name).write_text("by hand")
            elif kind == "folder":
                (top / name).mkdir()
                for inner in ("beside.txt", "t.csv", "cell-2.txt"):
                    (top / name / inner).write_text("by hand")
            else:
                (top / name).symlink_to(elsewhere)
        server.call("upload_file", session_id="s", filename="t.csv", content="uploaded")
        server.cell("open('beside.txt', 'w').write('beside')\nfor n in range(200_000): print(n)")
        until(lambda: any(path.read_bytes().startswith(b"0\n1\n") for path in top.rglob("cell-2*.txt")))
        server.cell("2")
    ours = {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file() and path.read_text() != "by hand"}
    number = ("", "-2") if kind == "folder" else ("-2", "")
    assert ours == {"first", ".ptycell", "notebook.ipynb", "report.html", "files{}/beside{}.txt".format(*number), "input{}/t{}.csv".format(*number),
                    "outputs{}/cell-2{}.txt".format(*number)}
    assert not any(elsewhere.iterdir())
    assert len([path for path in top.rglob("*") if path.is_file() and path.read_text() == "by hand"]) == {"file": 3, "folder": 9, "link": 0}[kind]


def test_no_secret_is_in_a_whole_output(home):
    with Server(home, env={"PTYCELL_SECRET_TOKEN": "hunter2-hunter2"}) as server:
        server.cell("import os\nfor n in range(100_000): print(n, os.environ['TOKEN'])")
        until(lambda: outputs(home) == {"outputs/cell-1.txt"})
    text = next((home / "kept").glob("*/outputs/cell-1.txt")).read_text()
    assert "hunter2" not in text and "[secret TOKEN]" in text


def test_an_altered_name_takes_no_ones_true_name(home):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell("import os; os.mkdir('output/.vscode'); open('output/.vscode/x', 'w').write('altered')\n"
                    "open('output/HEAD', 'w').write('altered')")
        assert kept_paths(home) == {"_HEAD": "altered", "_.vscode/x": "altered"}
        server.cell("os.mkdir('output/_.vscode'); open('output/_.vscode/x', 'w').write('true')\n"
                    "open('output/_HEAD', 'w').write('true'); open('output/HEAD', 'w').write('altered again')")
        assert kept_paths(home) == {"_HEAD": "true", "_HEAD-2": "altered again", "_.vscode/x": "true", "_-2.vscode/x": "altered"}


def test_folders_whose_names_are_altered_alike_are_not_merged(home):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell(r"import os; [(os.mkdir(f'output/{d}'), open(f'output/{d}/x', 'w').write(repr(d))) for d in ('a\1b', 'a\2b', 'a_b')]")
        kept = kept_paths(home)
        assert kept["a_b/x"] == "'a_b'" and sorted(kept) == ["a_b-2/x", "a_b-3/x", "a_b/x"]
        assert set(kept.values()) == {"'a_b'", r"'a\x01b'", r"'a\x02b'"}


def test_a_copy_of_ours_that_the_user_changed_is_theirs_and_stays(home):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell("open('output/HEAD', 'w').write('altered')")
        (path,) = kept_files(home)
        path.write_text("changed by the user")
        server.cell("open('output/_HEAD', 'w').write('true'); open('output/HEAD', 'w').write('altered again')")
        kept = kept_paths(home)
        assert kept.pop("_HEAD") == "changed by the user" and sorted(kept.values()) == ["altered again", "true"]


def test_the_next_server_finishes_the_notebook_that_stepped_aside(home):
    with Server(home) as server:
        server.cell("print('one')")
        until(lambda: has_notebook(home))
        server.cell("open('output/notebook.ipynb', 'w').write('mine')")
        folder, = session_folders(home)
        server.process.kill()
    with Server(home) as server:
        server.cell("1", session="next")
        until(lambda: not folder.exists() and paths_in(home, "cache/.remove-*") == [])
    (top,) = paths_in(home, "kept/*-s-*")
    assert sorted(p.name for p in top.iterdir()) == [".ptycell", "notebook.ipynb", "ptycell.ipynb", "report.html"]
    assert (top / "notebook.ipynb").read_text() == "mine" and "print('one')" in (top / "ptycell.ipynb").read_text()


def test_a_link_to_a_file_of_the_session_is_kept_as_the_file(home):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        text = server.cell("import os; os.mkdir('output/d'); open('output/d/a', 'w').write('a'); open('input/i', 'w').write('i')\n"
                           "os.symlink('d/a', 'output/relative'); os.symlink(os.path.abspath('output/d/a'), 'output/absolute')\n"
                           "os.symlink('../../input/./i', 'output/d/up'); os.symlink('relative', 'output/chain')").text
        assert "ot saved" not in text
        assert kept_paths(home) == {"d/a": "a", "relative": "a", "absolute": "a", "d/up": "i", "chain": "a"}
        server.cell("open('output/d/a', 'w').write('changed')")
        assert kept_paths(home) == {"d/a": "changed", "relative": "changed", "absolute": "changed", "d/up": "i", "chain": "changed"}
        assert "saved" not in server.cell("1").status


@pytest.mark.parametrize("to", ["/etc/passwd", "../../..", "/", "../input", "none", "self", "../output/../../x", "/proc/self/environ", "up/passwd"])
def test_a_link_that_leads_elsewhere_is_told_as_not_kept(home, to):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        text = server.cell(f"import os; os.symlink({to!r}, 'output/self'); os.symlink('/etc', '.up'); open('output/x', 'w').write('x')").text
        assert "'self' was not saved" in text
        assert kept_paths(home) == {"x": "x"}


def test_a_link_in_place_of_the_folder_of_results_is_told(home):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        text = server.cell("import os; os.makedirs('/tmp/r'); os.rmdir('output'); os.symlink('/tmp/r', 'output'); _ = open('output/x', 'w').write('x')").text
        assert "Not saved for the user: what is written to output/, which is a symbolic link now" in text
        assert "Not saved" not in server.cell("_ = open('output/y', 'w').write('y')").text


LOGGED = ("import sqlite3\nc = sqlite3.connect('output/a.db'); _ = c.executescript('pragma journal_mode={}; pragma cache_size=1; create table t(a, b)')\n"
          "_ = c.executemany('insert into t values (?, ?)', [(i, 'x' * 99) for i in range(2000)])")


@pytest.mark.parametrize("mode, log", [("wal", "a.db-wal"), ("delete", "a.db-journal")])
def test_the_copy_of_a_database_is_not_set_back_by_its_former_log(home, mode, log):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        for times in (1, 2):
            server.cell(LOGGED.format(mode) if times == 1 else "_ = c.execute('insert into t select * from t')")
            (top,) = kept_folders(home)
            assert (top / log).stat().st_size > 0
            server.cell("c.commit(); _ = c.close()")
            assert not (top / log).exists()
            copy = shutil.copytree(top, home / f"copy{times}")
            rows = sqlite3.connect(copy / "a.db").execute("select count(*) from t").fetchall()
            assert rows == [(2000 * times,)]
            server.cell("c = sqlite3.connect('output/a.db'); _ = c.execute('pragma cache_size=1')")


def test_a_log_goes_with_its_database_when_the_user_opened_the_copy(home):
    """Which SQLite then writes the log into: the copy is the user's from there on, and a log beside it would spoil it."""
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell("import sqlite3\nc = sqlite3.connect('output/a.db'); _ = c.executescript('pragma journal_mode=wal; create table t(a)')\n"
                    "def add(n): _ = c.executemany('insert into t values (?)', [('x' * 500,)] * n); c.commit()\nadd(500)")
        (top,) = kept_folders(home)
        user = sqlite3.connect(top / "a.db")
        user.execute("insert into t values ('mine')")
        user.commit()
        user.close()
        for times in range(1, 5):
            server.cell("add(3000)")
            copy = shutil.copytree(top, home / f"copy{times}")
            counts = {name: sqlite3.connect(copy / name).execute("select count(*) from t").fetchone()[0] for name in ("a.db", "a-2.db")}
            assert counts == {"a.db": 501, "a-2.db": 500 + 3000 * times}


def test_a_log_that_comes_later_goes_with_its_database_too(home):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell("import sqlite3\nc = sqlite3.connect('output/a.db'); _ = c.execute('create table t(a)')")
        (top,) = kept_folders(home)
        (top / "a.db").write_text("mine")
        server.cell("_ = c.execute('insert into t values (1)'); c.commit()")
        server.cell("_ = c.execute('pragma journal_mode=wal'); _ = c.execute('insert into t values (2)'); c.commit()")
        assert not (top / "a.db-wal").exists()
        copy = shutil.copytree(top, home / "copy")
        assert sqlite3.connect(copy / "a-2.db").execute("select * from t").fetchall() == [(1,), (2,)]


def test_a_log_of_duckdb_is_set_aside_and_other_files_that_were_deleted_stay(home):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell("import os\nfor name in ('a.duckdb.wal', 'b', 'b.wal', 'b-wal'): _ = open('output/' + name, 'w').write(name)\n"
                    "_ = open('output/a.duckdb', 'w').write('checksumDUCK' + '.' * 99)")
        server.cell("for name in ('a.duckdb.wal', 'b.wal', 'b-wal'): os.remove('output/' + name)\nfor name in ('a.duckdb', 'b'): _ = open('output/' + name, 'a').write('more')")
        assert set(kept_paths(home)) == {"a.duckdb", "a.duckdb.wal.old", "b", "b.wal", "b-wal"}


def test_a_file_that_is_only_touched_is_not_copied_again(home):
    with Server(home, env={"PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell("import os; open('output/a', 'wb').write(b'x' * 5_000_000)")
        (copy,) = kept_files(home)
        before = copy.stat()
        server.cell("os.utime('output/a', (1000, 1000))")
        after = copy.stat()
        assert (after.st_ino, after.st_mtime) == (before.st_ino, 1000)
        server.cell("f = open('output/a', 'r+b'); _ = f.seek(4_000_000); _ = f.write(b'y'); f.close()")
        assert copy.read_bytes() == b'x' * 4_000_000 + b'y' + b'x' * 999_999
        assert kept_files(home) == [copy]


def kept_book(home, cells):
    """The path of the kept notebook, once it has so many cells."""
    def find():
        for path in (home / "kept").glob("*/notebook.ipynb"):
            try:
                if len(the_sessions(json.loads(path.read_text()))["cells"]) == cells:
                    return path
            except ValueError:  # it was written just now
                pass
        return None
    return until(find)


def test_the_kept_notebook_grows_at_its_end(home):
    with Server(home) as server:
        server.cell("print('one')")
        path = kept_book(home, 1)
        first, head = path.stat().st_ino, path.read_bytes()[:-4]
        server.cell("print('two')")
        kept_book(home, 2)
        server.cell("1/0")
        kept_book(home, 3)
        assert path.stat().st_ino == first and path.read_bytes().startswith(head)


def test_a_kept_notebook_that_has_a_second_name_is_written_anew(home):
    with Server(home) as server:
        server.cell("print('one')")
        path = kept_book(home, 1)
        other = home / "other.ipynb"
        os.link(path, other)
        server.cell("print('two')")
        kept_book(home, 2)
        assert len(the_sessions(json.loads(other.read_text()))["cells"]) == 1 and path.stat().st_ino != other.stat().st_ino


@pytest.mark.parametrize("torn", ["by us", "by the user"])
def test_the_next_server_mends_a_notebook_whose_end_is_torn(home, torn):
    with Server(home) as server:
        server.cell("print('one')")
        kept_book(home, 1)
        server.cell("print('two')")
        path = kept_book(home, 2)
        folder, = session_folders(server.home)
        server.process.kill()
        server.process.wait()
    text = path.read_text()
    path.write_text(text[:-20] if torn == "by us" else text[:20] + "the user's" + text[20:-20])
    with Server(home) as server:
        server.cell("1", session="next")
        until(lambda: not folder.exists())
    names = sorted(p.name for p in path.parent.glob("*.ipynb"))
    assert names == (["notebook.ipynb"] if torn == "by us" else ["notebook-2.ipynb", "notebook.ipynb"])
    assert len(the_sessions(json.loads((path.parent / names[0]).read_text()))["cells"]) == 2


def test_a_name_of_any_language_is_kept_and_one_that_hides_something_is_told(home):
    """What a script or an emoji needs stays, also beside what is altered (W5)."""
    ordinary = ["\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.txt",  # Persian, a non-joiner
                "\u0915\u094d\u200d\u0937 \u0930\u093f\u092a\u094b\u0930\u094d\u091f.csv",  # Hindi, a joiner
                "\U0001f469\u200d\U0001f4bb \u2764\ufe0f.png",  # emoji, a joiner and a selector
                "\u05d3\u05d5\u05d7\u200f (1).txt",  # Hebrew, a right-to-left mark
                "\u845b\U000e0100.txt"]  # an ideograph of a certain form
    hiding = {"report\u202efdp.exe": "report_fdp.exe", "a\u200cb": "a_b", "\u0645\u06cc\u200c\u062e\u200b.txt": "\u0645\u06cc\u200c\u062e_.txt",
              "c\x1b[2J\n": "c_[2J_"}
    with Server(home) as server:
        plain = server.cell(f"for name in {ordinary}: open('output/' + name, 'w').close()")
        assert "another name" not in plain.text
        told = server.cell(f"for name in {list(hiding)}:\n    open('output/' + name, 'w').close()\nopen('output/.envrc', 'w').close()").text
        assert told.count("Saved under another name: ") == 1 and "'.envrc' as '_.envrc', because other programs run" in told
        assert any(f"{json.dumps(name)} as '{kept}', because the name has characters that cannot be shown." in told
                   for name, kept in hiding.items()), told
    kept = {path.name for path in kept_files(home)}
    assert kept == {*ordinary, *hiding.values(), "_.envrc"}


def test_what_was_typed_is_in_notebook_and_journal(home):
    with Server(home) as server:
        result = server.cell("import getpass\na = input('a? ')\nb = getpass.getpass('b? ')")
        for answer in ("one", "very hidden"):
            assert result.state == "waiting_for_input"
            result = server.interact(input=answer)
        assert result.state == "done"
        told = server.request("resources/read", {"uri": "session://s/cells/1"})["contents"][0]["text"]
        path = kept_book(home, 1)
    for text in (told, path.read_text()):
        assert '["one\\n","[hidden input]\\n"]' in text and "very hidden" not in text


@pytest.mark.parametrize("end", ["destroy", "end", "terminate", "kill", "wait"])
def test_output_after_the_last_cell_is_in_the_notebook(home, end):
    with Server(home) as server:
        server.cell("import threading, time\ngate = threading.Event()\n"
                    "def late(): gate.wait(); print('came late\\n```', flush=True); open('done', 'w').close()\n"
                    "thread = threading.Thread(target=late); thread.start()")
        server.cell("threading.Timer(0.05, gate.set).start()")
        folder, = session_folders(server.home)
        until(lambda: (folder / "done").exists())
        if end == "destroy":
            server.call("destroy_session", session_id="s")
        elif end != "end":  # the answer shows it, and no later cell has it
            assert "came late" in server.interact(action=end).text
            server.cell("1")
    path, = (home / "kept").glob("*/notebook.ipynb")
    note = json.loads(path.read_text())["cells"][-1]
    assert note["cell_type"] == "markdown"
    assert note["source"].startswith("Output of background processes that no cell has (python):\n\n")
    assert "    came late\n    ```" in note["source"]


def traces(home, word):
    """The files below the home that have the word in them or in their names."""
    return [str(path) for path in home.rglob("*") if word in path.name or (
        path.is_file() and not path.is_symlink() and word.encode() in path.read_bytes())]


@pytest.mark.parametrize("end", ["destroyed", "killed"])
def test_nothing_is_recorded_where_no_record_is_wanted(home, end):
    with Server(home, env={"PTYCELL_RECORD": "off"}) as server:
        server.cell("word = 'spo' + 'or'; open('output/r.txt', 'w').write('result')  # spoor")
        server.cell("input('> ')")
        server.interact(input="spoor")
        died = server.cell("import os; os._exit(1)  # spoor")
        assert died.state == "died" and "/script" not in died.text
        for part in ("script", "notebook"):
            refused = server.start("resources/read", {"uri": f"session://s/{part}"}).get()["error"]
            assert refused["message"] == "Resource not found"
        assert server.call("session_info", session_id="s").object["journal"]["record"] == "off"
        folder, = session_folders(server.home)
        assert sorted(path.name for path in (folder.parent / "journal").iterdir()) == ["copies", "kept"]  # where results went
        assert [path for path in traces(home, "spoor") if "/spool/" not in path] == []  # of a session that lives
        if end == "destroyed":
            told = server.call("destroy_session", session_id="s").object["message"]
            assert "with its processes, its folder and its record; saved results are in ~/kept/" in told
            until(lambda: not folder.exists())
        else:
            server.process.kill()
            server.process.wait()
            with Server(home, env={"PTYCELL_RECORD": "off"}) as server:
                server.cell("1", session="next")
                until(lambda: not folder.exists())
    assert kept_paths(home) == {"r.txt": "result"} and traces(home, "spoor") == []


def test_who_destroys_a_session_is_told_what_stays(home):
    with Server(home, env={"PTYCELL_AUDIT": str(home / "audit.jsonl")}) as server:
        server.cell("1")
        told = server.call("destroy_session", session_id="s").object["message"]
        assert "its record; its notebook is in ~/kept/" in told and "the user's audit keeps its lines" in told
        kept_book(home, 1)


def held_helper(tmp_path):
    """Returns a server whose ptycell-files begins when the second path is there, and that path."""
    programs, go = tmp_path / "programs", tmp_path / "go"
    programs.mkdir()
    for program in BUILD.glob("ptycell*"):
        if program.is_file():
            shutil.copy(program, programs)
    helper = programs / "ptycell-files"
    helper.rename(programs / "held")
    helper.write_text(f'#!/bin/sh\nwhile [ ! -e {go} ]; do /bin/sleep 0.02; done\nexec {programs}/held "$@"\n')
    helper.chmod(0o755)
    return str(programs / "ptycell"), go


def test_no_notebook_is_promised_where_nothing_can_be_saved(home):
    with Server(home, env={"PTYCELL_KEEP": "/proc/none"}) as server:
        assert "copying failed: " in server.cell("_ = open('output/a', 'w').write('a')").text
        message = server.call("destroy_session", session_id="s").object["message"]
        assert "not saved so far, and tried once more: 'output/a'" in message and "notebook" not in message


def test_who_destroys_a_session_is_told_what_is_still_being_saved(home, tmp_path):
    program, go = held_helper(tmp_path)
    with Server(home, command=[program]) as server:
        folder = server.cell("open('output/large', 'w').truncate(65 << 20)").status["saving"]
        told = server.call("destroy_session", session_id="s").object["message"]
        assert f"its record; results are still being saved in {folder}." in told and not kept_files(home)
        go.touch()
        until(lambda: {path.name for path in kept_files(home)} == {"large"})


@pytest.mark.parametrize("limit", ["", "1M"])
def test_large_results_are_saved_behind_the_answer_which_says_so(home, tmp_path, limit):
    """The helper that saves them begins when it may: until then every answer says "saving"."""
    program, go = held_helper(tmp_path)
    with Server(home, command=[program], env={"PTYCELL_KEEP_MAX": limit} if limit else {}) as server:
        large = server.cell("open('output/large', 'w').truncate(65 << 20)")
        assert large.status["saving"].startswith("~/kept/") and "saved" not in large.status and not kept_files(home)
        assert "saving" in server.cell("open('output/small', 'w').write('x')").status
        assert not {"saved", "saving"} & set(server.cell("1").status)
        go.touch()
        said = until(lambda: re.search("(The results that were still being saved are saved in .* now|"
                                       "Results were not saved for the user: .*)", "\n".join(server.cell("1").texts)))[0]
        if limit:
            assert "PTYCELL_KEEP_MAX" in said and {path.name for path in kept_files(home)} == {"small"}
        else:
            assert said.endswith(f"'{large.status['saving']}' now")
            assert {path.name for path in kept_files(home)} == {"large", "small"}
        assert "saved" in server.cell("open('output/later', 'w').write('x')").status


MIB = 1 << 20


def fill_kept(home, size):
    """Puts results of an earlier day into the folder, and a file of the user's that does not count."""
    folder = home / "kept" / "2026-01-02-old-abcd"
    folder.mkdir(parents=True)
    (folder / "a").write_bytes(b"x" * size)
    (home / "kept" / "mine").write_bytes(b"x" * 3 * MIB)
    return folder


def test_at_the_limit_of_all_results_new_ones_are_not_saved_and_nothing_is_deleted(home):
    folder = fill_kept(home, MIB)
    with Server(home, env={"PTYCELL_KEEP_TOTAL": "1M", "PTYCELL_NOTEBOOK": "off"}) as server:
        numbers = itertools.count()
        said = until(lambda: re.search("Not everything was saved for the user: .*", server.cell(
            f"open('output/r{next(numbers)}', 'w').write('r')").text))[0]
        assert "more than 1 MB in '~/kept/' (PTYCELL_KEEP_TOTAL). Nothing there was deleted." in said
        assert (folder / "a").stat().st_size == MIB and (home / "kept" / "mine").exists()
        shutil.rmtree(folder)
        assert "saved" in server.cell("1").status
        assert {f"r{n}" for n in range(next(numbers))} <= {path.name for path in kept_files(home)}


def test_the_limit_of_all_results_is_told_before_it_is_met(home):
    fill_kept(home, MIB - 60_000)
    with Server(home, env={"PTYCELL_KEEP_TOTAL": "1M", "PTYCELL_NOTEBOOK": "off"}) as server:
        said = until(lambda: re.search("Saved results .*", "\n".join(server.cell("open('output/r', 'w').write('r')").texts)))[0]
        assert "in '~/kept/' take 94 % of 1 MB (PTYCELL_KEEP_TOTAL)" in said and "nothing there is deleted" in said
        assert "PTYCELL_KEEP_TOTAL" not in "".join(server.cell("open('output/r', 'w').write('other')").texts)
