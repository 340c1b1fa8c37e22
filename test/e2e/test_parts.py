# SPDX-License-Identifier: MIT
"""T11: a server and programs of another version, as half an installation leaves them, and an upgrade while it runs."""
import errno
import os
import re
import shutil
import signal
import subprocess

import pytest
from client import BUILD, Server, environment
from patience import until
from steps import family, name_of

VERSION = re.compile(rb"\0\d+\.\d+\.\d+\+[0-9a-f]{12}\0")
AGAIN = "is of another version: install ptycell again, whole"
RESTART = "is of another version: ptycell was upgraded; restart it"


def of_another_version(program):
    """What the program would be, had it been made of other sources."""
    data = program.read_bytes()
    version = VERSION.search(data)
    assert version, f"{program} does not know its version"
    return data.replace(version[0], version[0].replace(b"+", b"-"))


def upgrade(folder):
    """Puts others in the place of all programs, as installers do."""
    for program in folder.iterdir():
        other = folder / "new"
        other.write_bytes(of_another_version(program))
        other.chmod(0o755)
        other.replace(program)


def overwrite(program):
    """As cp does with a program that does not run any more: whoever holds it open holds the new one."""
    data = of_another_version(program)

    def written():
        try:
            program.write_bytes(data)
        except OSError as error:
            assert error.errno == errno.ETXTBSY
            return False
        return True
    until(written)


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    folder = tmp_path / "programs"
    folder.mkdir()
    for program in BUILD.glob("ptycell*"):
        if program.is_file():
            shutil.copy(program, folder)
    return folder


def serve(home, folder, **env):
    return Server(home, command=[str(folder / "ptycell")], env=env)


def launcher_of(server):
    return [pid for pid, _ in family(server.process.pid) if name_of(pid).strip() == "ptycell-launch"][0]


def test_a_launcher_of_another_version_is_told(home, folder):
    overwrite(folder / "ptycell-launcher")
    with serve(home, folder) as server:
        assert f"'ptycell-launcher' {AGAIN}" in "\n".join(server.cell("1").texts)
    done = subprocess.run([folder / "ptycell", "doctor"], stdout=subprocess.PIPE, text=True, check=False,
                          env=environment(home), stdin=subprocess.DEVNULL)
    assert done.returncode == 1 and f"'ptycell-launcher' {AGAIN}" in " ".join(done.stdout.split())


def test_files_and_sql_of_another_version_are_told(home, folder):
    for program in ("ptycell-files", "ptycell-sql"):
        overwrite(folder / program)
    with serve(home, folder) as server:
        said = "\n".join(server.cell("open('output/a', 'w').write('a')").texts)
        assert f"Not everything was saved for the user: copying failed: 'ptycell-files' {AGAIN}" in said
        assert f"'ptycell-sql' {AGAIN}" in server.call("exec_sql", session_id="s", query="SELECT 1").texts[0]


def test_fetch_of_another_version_is_told(home, folder):
    overwrite(folder / "ptycell-fetch")
    with serve(home, folder, PTYCELL_ALLOW_HOSTS="example.org") as server:
        server.cell("1")
        result = server.call("upload_file", session_id="s", filename="a", url="https://example.org/a")
        assert f"'ptycell-fetch' {AGAIN}" in result.texts[0]


def test_without_what_makes_copies_sessions_start_by_themselves(home, folder):
    overwrite(folder / "ptycell-parent.so")
    with serve(home, folder) as server:
        for session in "abc":
            assert server.cell("6 * 7", session=session).text == "42\n"


def test_a_server_goes_on_with_its_own_programs_after_an_upgrade(home, folder):
    with serve(home, folder) as server:
        assert server.cell("6 * 7").text == "42\n"
        upgrade(folder)
        assert server.cell("open('output/a.txt', 'w').write('a')").state == "done"
        assert "1\n" in server.call("exec_sql", session_id="s", query="SELECT 1").texts[0]
        os.kill(launcher_of(server), signal.SIGKILL)
        until(lambda: b"launcher: ended" in server.stderr)  # a cell that comes before that ends with it, and tells so
        assert "was lost after cell" in "\n".join(server.cell("1").texts)
        assert server.cell("6 * 7", session="other").text == "42\n"
    assert [path.name for path in home.glob("kept/*/a.txt")] == ["a.txt"]


def test_what_was_overwritten_below_a_server_is_told_as_an_upgrade(home, folder):
    with serve(home, folder, PTYCELL_SPARES="0") as server:
        assert server.cell("6 * 7").text == "42\n"
        launcher = launcher_of(server)
        os.kill(launcher, signal.SIGKILL)
        until(lambda: (launcher, name_of(launcher)) == (launcher, ""))
        for name in ("ptycell-launcher", "ptycell-sql"):
            overwrite(folder / name)
        upgraded = folder / "new"
        shutil.copy(folder / "ptycell", upgraded)
        upgraded.replace(folder / "ptycell")
        assert f"'ptycell-launcher' {RESTART}" in "\n".join(server.cell("1").texts)
        assert f"'ptycell-sql' {RESTART}" in server.call("exec_sql", session_id="s", query="SELECT 1").texts[0]
