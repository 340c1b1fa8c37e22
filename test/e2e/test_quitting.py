# SPDX-License-Identifier: MIT
"""Interpreters that run no cell end by themselves when their session ends, and what they write then is kept."""
import gzip
import io
import signal
import zipfile

import pytest
from client import ALONE, BUILD, LASTS, Server
from patience import until
from steps import kept_folders, paths_in

ENDS = ["end of file", "SIGTERM", "destroy_session", "idle_timeout", "session_ttl"]
AT_EXIT = {
    "python": "import atexit; _ = atexit.register(lambda: open('output/end', 'w').write('bye'))",
    "javascript": "process.on('exit', () => require('fs').writeFileSync('output/end', 'bye'))",
    "bash": "trap 'printf bye >output/end' EXIT",
    "r": ".Last <- function() cat('bye', file = 'output/end')",
}
OFF = {"PTYCELL_NOTEBOOK": "off"}


def kept(home):
    """Bytes of the kept files by their paths."""
    return {str(path.relative_to(top)): path.read_bytes()
            for top in kept_folders(home) for path in top.rglob("*") if path.is_file() and path.name != ".ptycell"}


def end(server, how):
    if how == "SIGTERM":
        server.process.send_signal(signal.SIGTERM)
    elif how == "destroy_session":
        server.call("destroy_session", session_id="s")
    elif how != "end of file":
        until(lambda: server.call("list_sessions").object["sessions"] == [])


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("language", AT_EXIT)
def test_what_code_wants_at_the_end_is_done_and_kept(home, language, how):
    limits = {name.upper(): "1" for name in (how, "cleanup_interval")} if "_t" in how else {}
    with Server(home, env={**OFF, **limits}) as server:
        server.cell(AT_EXIT[language], language=language)
        end(server, how)
        if how == "SIGTERM":
            server.process.wait()
    assert kept(home) == {"end": b"bye"}
    assert "at the session's end" not in server.stderr.decode()


OPEN = {
    "gzip": "import gzip; f = gzip.open('output/x.gz', 'wt'); _ = f.write('line\\n' * 9)",
    "zip": "import zipfile; f = zipfile.ZipFile('output/x.zip', 'w'); f.writestr('a', 'line\\n' * 9)",
    "gzip that was shown": "import gzip; f = gzip.open('output/x.gz', 'wt'); _ = f.write('line\\n' * 9); f",
    "zip that was shown": "import zipfile; f = zipfile.ZipFile('output/x.zip', 'w'); f.writestr('a', 'line\\n' * 9)\nf",
    "r": "f <- gzfile('output/x.gz', 'w'); writeLines(rep('line', 9), f)",
}


@pytest.mark.parametrize("kind", OPEN)
def test_an_archive_that_code_has_not_closed_is_kept_whole(home, kind):
    with Server(home, env=OFF) as server:
        server.cell(OPEN[kind], language="r" if kind == "r" else "python")
    (data,) = kept(home).values()
    text = zipfile.ZipFile(io.BytesIO(data)).read("a") if kind.startswith("zip") else gzip.decompress(data)
    assert text == b"line\n" * 9


def test_variables_that_take_long_to_save_leave_time_for_what_code_wants_at_the_end(home):
    with Server(home, env={**LASTS, "PTYCELL_RESUME_VARIABLES": "200M", "PTYCELL_NOTEBOOK": "off"}) as server:
        server.cell("d, e = [{n: str(n) for n in range(200_000)} for _ in 'de']\n" + AT_EXIT["python"])
    assert kept(home) == {"end": b"bye"}


BY_THEMSELVES = {
    "an object's end": ("python", "class A:\n    def __del__(self): open('output/end', 'w').write('bye')\na = A()"),
    "a thread that never ends": (
        "python", "import threading, time; threading.Thread(target=lambda: [time.sleep(1) for _ in range(9999)]).start()\n" + AT_EXIT["python"]),
    "a finalizer": ("r", "invisible(reg.finalizer(globalenv(), function(e) cat('bye', file = 'output/end'), onexit = TRUE))"),
    ".Last that fails, behind another": ("r", ".Last <- function() { cat('bye', file = 'output/end'); stop('no') }"),
    "a trap that another cell set": ("bash", AT_EXIT["bash"] + "\ntrap -p EXIT >/dev/null\nf() { false; }"),
    "a trap by eval": ("bash", f'eval "{AT_EXIT["bash"]}"'),
    "a trap with a stopped job": ("bash", "set -m; sleep 999 & kill -STOP $!; " + AT_EXIT["bash"]),
}


@pytest.mark.parametrize("name", BY_THEMSELVES)
def test_it_ends_as_at_a_terminal(home, name):
    language, code = BY_THEMSELVES[name]
    with Server(home, env=OFF) as server:
        server.cell(code, language=language)
        server.cell("1" if language != "bash" else ":", language=language)
    assert kept(home) == {"end": b"bye"}


HANGS = {
    "python": "import atexit, time, signal\ndef f():\n    signal.signal(signal.SIGINT, signal.SIG_IGN)\n    time.sleep(9999)\n_ = atexit.register(f)",
    "javascript": "process.on('exit', () => { for (;;); })",
    "bash": "trap 'trap \"\" INT; sleep 9999' EXIT",
    "r": ".Last <- function() repeat try(Sys.sleep(9999))",
}


@pytest.mark.parametrize("language", HANGS)
def test_code_that_hangs_at_its_end_costs_nothing_else(home, language):
    with Server(home, env=OFF) as server:
        server.cell("_ = open('output/early', 'w').write('first')")
        server.cell(AT_EXIT["python"])
        server.cell(HANGS[language], session="t", language=language)
        server.cell("_ = open('output/other', 'w').write('second')", session="t")
    assert kept(home) == {"early": b"first", "end": b"bye", "other": b"second"}


LATE = "interpreter did not end in time: a file that code was writing at the end may be cut off"
CUT_OFF = "may be cut off"  # in the first answer of a later life


@pytest.mark.parametrize("language", HANGS)
def test_what_was_stopped_at_its_end_is_told(home, language):
    with Server(home, env=LASTS) as server:
        server.cell(HANGS[language], language=language)
    (notebook,) = paths_in(home, "kept/*/notebook.ipynb")
    assert f"[the {language} {LATE}]" in notebook.read_text()
    for told in (True, False):
        with Server(home, env=LASTS) as server:
            assert (CUT_OFF in "".join(server.cell(":", language="bash").texts)) == told
        assert notebook.read_text().count(LATE) == 1


@pytest.mark.parametrize("code, told", [
    ("import atexit, time; _ = atexit.register(time.sleep, 9999)", LATE),
    ("import atexit, os; _ = atexit.register(os.kill, os.getpid(), 9)", "the interpreter was killed by signal 9")],
    ids=["interrupted", "killed"])
def test_what_else_ends_its_end_is_told(home, code, told):
    with Server(home, env=LASTS) as server:
        server.cell(code)
    (notebook,) = paths_in(home, "kept/*/notebook.ipynb")
    assert told in notebook.read_text()
    with Server(home, env=LASTS) as server:
        assert CUT_OFF in "".join(server.cell("1").texts)


def test_an_id_is_free_while_its_last_session_ends(home):
    with Server(home, env=OFF) as server:
        server.cell(HANGS["python"])
        server.call("destroy_session", session_id="s")
        assert server.cell("2 + 3").text == "5\n"


def test_a_session_that_still_ends_can_be_resumed(home):
    with Server(home, env={**LASTS, "IDLE_TIMEOUT": "1", "CLEANUP_INTERVAL": "1"}) as server:
        server.cell("_ = open('mine', 'w').write('a file')\n" + HANGS["python"])
        until(lambda: server.call("list_sessions").object["sessions"] == [])
        answer = server.cell("open('mine').read()")
        assert "'a file'" in answer.text and CUT_OFF in "".join(answer.texts)


def test_a_server_that_is_killed_meanwhile_has_kept_what_was_there(home):
    with Server(home, env=OFF) as server:
        server.cell("import subprocess; _ = subprocess.Popen('echo late >output/late; touch there', shell=True).wait()\n" + HANGS["python"])
        server.process.stdin.close()
        server.process.kill()
    with Server(home, env=OFF) as server:
        server.cell("1", session="t")
        until(lambda: kept(home).get("late") == b"late\n")


def test_sessions_that_end_give_way_to_new_ones(home):
    """Where the server may open files for few, and each is recorded."""
    start = ["bash", "-c", 'ulimit -n 160 && exec "$@"', "sh", str(BUILD / "ptycell")]
    with Server(home, command=start, env=ALONE) as server:
        for number in range(16):
            server.cell("import atexit, time; open('output/x', 'w').write('x'); _ = atexit.register(time.sleep, 60)", session=f"x{number}")
            assert not server.call("destroy_session", session_id=f"x{number}").is_error
    assert len(paths_in(home, "kept/*/x")) == len(paths_in(home, "kept/*/notebook.ipynb")) == 16
    assert b"Too many open files" not in server.stderr
