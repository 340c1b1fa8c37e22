# SPDX-License-Identifier: MIT
"""What a server inherits or finds around it that other machines do not have."""
import json
import os
import re
import shutil
import subprocess

import machines
import pytest
from client import BUILD, REVISION, Server, environment
from outside import HIDDEN_BY, PROC
from patience import until
from steps import kept_files, nothing_left, paths_in

# Takes itself for a Python that others had before.
OLD_PYTHON = """#!/bin/sh
exec /usr/bin/python3 -c 'import sys; sys.version_info = (3, 6, 8, "final", 0); exec(sys.argv[1])' "$2"
"""
FIGURE = "open('output/a.txt', 'w').write('x')"


@pytest.fixture(name="place")
def fixture_place():
    """The home folder of an ordinary user."""
    with machines.user_home() as home:
        yield home


def doctor(place, **env):
    """Its lines joined, as the ordinary user is told them."""
    done = subprocess.run([machines.programs() / "ptycell", "doctor"], stdout=subprocess.PIPE, text=True, check=False,
                          env={"PATH": os.environ["PATH"], "HOME": str(place), **env}, **machines.as_user())
    return " ".join(done.stdout.split())


def test_who_ignores_the_ends_of_children_starts_a_server_that_does_not(servers, home):
    server = servers(command=["env", "--ignore-signal=CHLD", str(BUILD / "ptycell")])
    assert server.cell(FIGURE).state == "done"
    assert [path.name for path in kept_files(home)] == ["a.txt"]


@pytest.mark.parametrize("hidepid", machines.PROCS if machines.IS_ROOT else [HIDDEN_BY])
def test_code_that_sees_the_machines_processes_is_told_of(servers, home, hidepid):
    """A container masks parts of /proc: the kernel then gives no session a /proc of its own."""
    masked = [*machines.with_proc(hidepid), "unshare", "-m" if machines.IS_ROOT else "-rm", "sh", "-c",
              'mount -t tmpfs -o ro none /proc/irq && exec "$@"', "sh"]
    told = "code can see names and command lines of all processes"
    server = servers(command=[*masked, str(BUILD / "ptycell")])
    result = server.cell("import os; print(os.path.exists('/proc/%d/cmdline'))" % server.process.pid)
    shows = hidepid == "off"
    assert result.text == f"{shows}\n" and (told in (result.notice or "")) == shows
    assert (told in server.call("session_info", session_id="s").object["confinement"]["explanation"]) == shows
    done = subprocess.run([*masked, BUILD / "ptycell", "doctor"], stdout=subprocess.PIPE, text=True, check=True,
                          env=environment(home))
    assert (told in " ".join(done.stdout.split())) == shows


def test_a_mask_that_closes_our_own_files_to_us_is_put_off(servers, home):
    server = servers(umask=0o777)
    assert server.cell(FIGURE).state == "done"
    assert [path.name for path in kept_files(home)] == ["a.txt"]
    assert server.close() == 0
    assert paths_in(home, "cache/**/*") == []


def test_a_python_that_is_too_old_says_so_and_which_one_is_not(servers, home):
    folder = home / "old/bin"
    folder.mkdir(parents=True)
    for name, text in (("python3", OLD_PYTHON), ("python3.30", "")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    server = servers(env={"PATH": f"{folder}:{os.environ['PATH']}", "PTYCELL_PYTHON": ""})
    result = server.cell("1")
    assert result.state == "not_started"
    assert f"this is Python 3.6; ptycell needs 3.9 or later, such as {folder}/python3.30" in result.text
    assert "Set PTYCELL_PYTHON to one that works" in result.text


def test_a_home_that_cannot_be_written_has_a_substitute_that_is_told(place):
    env = {"HOME": "/none", "TMPDIR": str(place), "PTYCELL_HOME": ""}
    mine = f"{place}/ptycell-{os.geteuid() or machines.NOBODY}"
    told = (f"The folder for sessions '/none/.local/state/ptycell' cannot be used (Permission denied): '{mine}' takes its place. "
            "Set PTYCELL_HOME to a folder of yours.")
    with machines.on(place, env=env) as server:
        assert server.cell("6 * 7").text == "42\n"
        assert os.listdir(mine) != []
    assert told in server.stderr.decode()
    assert told in doctor(place, **env)


def test_a_named_folder_that_cannot_be_made_is_refused_with_the_true_cause(place):
    with machines.on(place, env={"PTYCELL_HOME": "/none/sessions"}) as server:
        result = server.cell("1")
    assert result.is_error
    assert "'/none' cannot be made (Permission denied); set PTYCELL_HOME" in "".join(result.texts)


def test_what_another_has_taken_has_a_substitute(place):
    """Everything of the machine's own root is another's to an ordinary user, and to the root of a user namespace."""
    (place / "ptycell").symlink_to("/")
    if machines.IS_ROOT:
        os.chown(place / "ptycell", 1, 1, follow_symlinks=False)
    env = {"XDG_STATE_HOME": str(place), "TMPDIR": str(place), "PTYCELL_HOME": ""}
    why = "it belongs to user 1" if machines.IS_ROOT else "Permission denied"
    with machines.on(place, env=env) as server:
        assert server.cell("6 * 7").text == "42\n"
    assert f"'{place}/ptycell' cannot be used ({why})" in server.stderr.decode()


def test_a_folder_for_results_in_anothers_home_is_that_persons(servers, home):
    if not machines.IS_ROOT:
        pytest.skip("only root can write in another's home")
    (home / "person").mkdir()
    os.chown(home / "person", 1234, 1234)
    server = servers(env={"PTYCELL_KEEP": str(home / "person/all/kept")})
    server.cell("open('output/a.csv', 'w').write('x')")
    server.close()
    assert {(home / "person/all" / below).stat().st_uid for below in ("", "kept")} == {1234}
    assert [path.read_text() for path in home.glob("person/all/kept/*/a.csv")] == ["x"]


def test_who_cannot_keep_results_hears_whose_the_folder_is(place):
    with machines.on(place, env={"PTYCELL_KEEP": "/usr"}) as server:
        said = server.cell("open('output/a.csv', 'w').write('x')").text
    assert "making a folder in '/usr': it belongs to user 0; set PTYCELL_KEEP to a folder of yours." in said


def test_why_the_folder_for_results_cannot_be_made_is_told(place):
    """The folder above it may not be made, so it does not exist: that is not why."""
    folder = "/none/" + "long" * 40
    with machines.on(place, env={"PTYCELL_KEEP": folder}) as server:
        said = server.cell("open('output/a.csv', 'w').write('x')").text
    assert f"making '{folder}': Permission denied; set PTYCELL_KEEP to a folder of yours." in said


def test_a_folder_for_results_that_is_anothers_now_has_a_substitute(place):
    """Where everybody may write and nothing is sticky, anybody may put a folder of theirs in the place of another's."""
    if not machines.IS_ROOT:
        pytest.skip("only root can give a folder away")
    with machines.on(place) as server:
        server.cell("open('output/a.csv', 'w').write('a')")
        (first,) = place.glob("kept/*/")
        first.rename(first.with_name("moved"))
        first.mkdir()
        os.chown(first, 1, 1)
        result = server.cell("open('output/b.csv', 'w').write('b')")
        assert "Not everything was saved" not in result.text and not result.status["saved"].endswith(first.name), result.texts
        said = server.call("destroy_session", session_id="s").texts[0]
    assert first.name not in said and list(first.iterdir()) == []
    (other,) = [folder for folder in place.glob("kept/*/") if folder.name not in (first.name, "moved")]
    assert other.name in said
    assert {"a.csv", "b.csv", "notebook.ipynb"} <= {path.name for path in other.iterdir()}
    assert (other / "a.csv").read_text() == "a"


REWRITES = r"""
import subprocess, sys
open('output/f', 'wb').write(b'a' * 40_000_000)
code = "f = open('output/f', 'r+b', 0)\nwhile True:\n    for letter in b'ab':\n        f.seek(0); [f.write(bytes([letter]) * 100_000) for _ in range(400)]; print(flush=True)"
child = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE)
_ = child.stdout.readline()
"""


def test_a_file_that_is_written_to_while_it_is_saved_is_told_and_saved_again(servers, home):
    server = servers()
    told = "'f' was written to while it was saved, so what is saved may be of two moments; it is saved again after the next cell."
    assert told in server.cell(REWRITES).text
    assert told not in server.cell("child.kill(); child.wait(); open('output/f', 'wb').write(b'c' * 40_000_000)").text
    (kept,) = kept_files(home)
    assert set(kept.read_bytes()) == {ord("c")}


@pytest.mark.parametrize("closing, said", [("<&-", "stdin is closed, and requests come from there"),
                                           (">&-", "stdout is closed, and answers go there")])
def test_a_closed_end_is_named(home, closing, said):
    done = subprocess.run(["bash", "-c", f'exec "$0" {closing}', BUILD / "ptycell"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, env={**os.environ, "PTYCELL_HOME": str(home)}, check=False)
    assert done.returncode == 1 and f"ptycell: {said}\n" in done.stderr


def test_what_a_long_request_took_is_given_back(server):
    def memory():
        status = (PROC / f"{server.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    before = memory()
    assert server.request("ping", {"x": "x" * 20_000_000}) == {}
    print(f"{before} KB before, {memory()} KB after")
    if BUILD.name == "release":  # sanitizers keep what was freed
        until(lambda: memory() < before + 10_000)  # behind the answer


def problem_of(server):
    """What every tool answers with."""
    result = server.call("list_sessions")
    assert result.is_error
    return "".join(result.texts)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_an_env_file_in_utf16_is_refused_not_passed_over(servers, home, encoding):
    (home / "env").write_bytes("PTYCELL_FLOOR=namespaces\r\n".encode(encoding))
    problem = problem_of(servers("--env-file", str(home / "env")))
    assert "of --env-file cannot be read: it holds NUL bytes" in problem and "save it as UTF-8 (iconv -f UTF-16" in problem


def test_a_line_without_a_value_is_told(servers, home):
    (home / "env").write_text("A=1\nPTYCELL_UNCONFINED\n")
    server = servers("--env-file", str(home / "env"))
    assert server.close() == 0
    told = server.stderr.decode()
    assert told.startswith("Line 2 of '/") and "' is not NAME=value; it has no effect." in told


@pytest.mark.parametrize("flag", ["--env-file", "--policy"])
def test_a_pipe_that_nobody_writes_to_is_refused_not_waited_for(servers, home, flag):
    os.mkfifo(home / "pipe")
    problem = problem_of(servers(flag, str(home / "pipe")))
    assert f"nobody writes to the pipe '{home}/pipe'" in problem


def test_no_room_for_a_hosts_file_leaves_all_as_it_was(home):
    (home / "mcp.json").write_text('{"mcpServers": {}}')
    done = subprocess.run(["bash", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"", BUILD / "ptycell", "config",
                           "cursor", "--write", "--file", home / "mcp.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "was not changed" in done.stderr and '"command"' in done.stdout
    assert os.listdir(home) == ["mcp.json"] and (home / "mcp.json").read_text() == '{"mcpServers": {}}'


@pytest.mark.parametrize("encoding, said", [("utf-8-sig", "serverInfo"), ("utf-16", "UTF-16, where UTF-8 is needed")])
def test_a_byte_order_mark_before_the_first_request_is_skipped_and_utf16_named(home, encoding, said):
    initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "e2e", "version": "1"}}}
    done = subprocess.run([BUILD / "ptycell"], input=(json.dumps(initialize) + "\n").encode(encoding), check=True,
                          env=environment(home), stdout=subprocess.PIPE)
    assert said in done.stdout.splitlines()[0].decode()


def test_a_path_that_json_cannot_hold_is_not_written_as_another(home):
    folder = os.fsencode(home) + b"/caf\xe9"
    os.mkdir(folder)
    done = subprocess.run([BUILD / "ptycell", "config", "cursor", "--share", folder], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert "is not UTF-8, so no host's file can hold it" in done.stderr


@pytest.mark.parametrize("env, hours", [({}, 5), ({"PTYCELL_ENV_TZ": "Asia/Tokyo"}, 9)])
def test_code_has_the_persons_time_unless_told_otherwise(servers, env, hours):
    server = servers(env={"TZ": "Asia/Karachi", **env})
    for language, code, said in (("python", "import time; time.localtime(0).tm_hour", f"{hours}\n"),
                                 ("javascript", "new Date(0).getHours()", f"{hours}\n"),
                                 ("bash", "date -d @0 +%-H", f"{hours}\n"),
                                 ("r", "Sys.timezone() == Sys.getenv('TZ')", "[1] TRUE\n")):
        assert server.cell(code, language=language).text == said


def test_programs_that_are_removed_while_a_server_runs_are_held(home, tmp_path):
    folder = tmp_path / "programs"
    folder.mkdir()
    for program in BUILD.glob("ptycell*"):
        if program.is_file():
            shutil.copy(program, folder)
    with Server(home, command=[str(folder / "ptycell")]) as server:
        server.cell("1")
        shutil.rmtree(folder)
        assert server.cell(FIGURE).state == "done"
        assert [path.name for path in kept_files(home)] == ["a.txt"]
    assert paths_in(home, "kept/*/notebook.ipynb") != []
    nothing_left(home)


def test_without_a_path_programs_are_found_where_a_shell_looks(servers):
    server = servers(command=["/usr/bin/env", "-u", "PATH", str(BUILD / "ptycell")])
    assert server.cell("echo $((6 * 7))", language="bash").text == "42\n"


def test_who_may_open_too_few_files_is_not_told_to_take_another_program(servers, home):
    (home / "r/bin").mkdir(parents=True)
    (home / "r/bin/R").write_text("#!/bin/sh\necho 'Fatal error: the limit on the number of open files is too low'; exit 2\n")
    (home / "r/bin/R").chmod(0o755)
    result = servers(env={"PTYCELL_R": str(home / "r/bin/R")}).cell("1", language="r")
    assert result.state == "not_started" and "Raise the limit with which ptycell is started (ulimit -n)" in result.text
    assert "Set PTYCELL_R" not in result.text


def changes(result):
    return [(change["kind"], change["path"]) for change in result.status.get("files", [])]


@pytest.mark.parametrize("mode", ["0", "0o600"])
def test_files_of_a_folder_that_is_closed_are_not_told_as_deleted(place, mode):
    with machines.on(place) as server:
        server.cell("import os; os.mkdir('output/u'); open('output/u/a', 'w').write('a'); open('output/u-b', 'w').write('b')")
        assert changes(server.cell(f"os.chmod('output/u', {mode})")) == []
        assert changes(server.cell("open('output/new', 'w').write('n')")) == [("+", "output/new")]
        assert changes(server.cell("os.chmod('output/u', 0o700)")) == []
        assert changes(server.cell("os.remove('output/u/a')")) == [("-", "output/u/a")]


@pytest.mark.parametrize("mode", ["0", "0o600"])
def test_files_are_not_told_as_deleted_where_the_working_folder_is_closed(place, mode):
    with machines.on(place) as server:
        server.cell("import os; open('output/a', 'w').write('a'); open('b', 'w').write('b'); top = os.open('.', os.O_RDONLY)")
        assert changes(server.cell(f"os.chmod('.', {mode})")) == []
        assert [artifact["path"] for artifact in server.call("list_artifacts", session_id="s").object["artifacts"]] == ["b", "output/a"]
        assert changes(server.cell("os.fchmod(top, 0o700); open('output/c', 'w').write('c')")) == [("+", "output/c")]


@pytest.mark.parametrize("mode", ["0", "0o300", "0o600"])
def test_a_folder_of_results_that_cannot_be_read_is_told_once(place, mode):
    with machines.on(place) as server:
        result = server.cell(f"import os; os.mkdir('output/u'); open('output/u/a', 'w').write('a'); os.chmod('output/u', {mode})")
        assert "Not saved for the user: what is new in 'output/u', as its permissions forbid reading that folder." in result.text
        assert "output/u" not in server.cell("open('output/b', 'w').write('b')").text
        assert changes(server.cell("os.chmod('output/u', 0o700)")) == [("+", "output/u/a")]
        assert [path.read_text() for path in place.glob("kept/*/u/a")] == ["a"]
