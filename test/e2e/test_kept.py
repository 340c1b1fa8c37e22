# SPDX-License-Identifier: MIT
"""What the files of a session are called where they are kept for the user, and which are."""
import json
import os
import re
import shutil

import pytest
from client import BUILD, Server
from patience import until
from steps import kept_files, paths_in, session_folders, the_sessions


def kept_paths(home):
    """Of the only session, relative to its folder; what a notebook of ptycell's has in it is not looked at."""
    (top,) = paths_in(home, "kept/*")
    found = {str(path.relative_to(top)): path.read_text() for path in top.rglob("*") if path.is_file()}
    return {name: "ptycell's" if '"nbformat"' in text else text for name, text in found.items()}


def has_notebook(home):
    return paths_in(home, "kept/*") and "ptycell's" in kept_paths(home).values()


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
        until(lambda: not folder.exists() and paths_in(home, ".remove-*") == [])
    (top,) = paths_in(home, "kept/*-s-*")
    assert sorted(p.name for p in top.iterdir()) == ["notebook.ipynb", "ptycell.ipynb"]
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
    names = sorted(p.name for p in path.parent.iterdir())
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
    kept = {path.name for path in kept_files(home)} - {"notebook.ipynb"}
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
            assert "with its processes, its folder and its record; kept results are in ~/kept/" in told
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


@pytest.mark.parametrize("limit", ["", "1M"])
def test_large_results_are_saved_behind_the_answer_which_says_so(home, tmp_path, limit):
    """The helper that saves them begins when it may: until then every answer says "saving"."""
    programs, go = tmp_path / "programs", tmp_path / "go"
    programs.mkdir()
    for program in BUILD.glob("ptycell*"):
        if program.is_file():
            shutil.copy(program, programs)
    helper = programs / "ptycell-files"
    helper.rename(programs / "held")
    helper.write_text(f'#!/bin/sh\nwhile [ ! -e {go} ]; do /bin/sleep 0.02; done\nexec {programs}/held "$@"\n')
    helper.chmod(0o755)
    with Server(home, command=[str(programs / "ptycell")], env={"PTYCELL_KEEP_MAX": limit} if limit else {}) as server:
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
