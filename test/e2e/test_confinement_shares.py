# SPDX-License-Identifier: MIT
"""Folders that a person shares (issue 3, sandbox.md 13 and 47, prior-art.md CA-30)."""
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

import machines
import pytest
from client import BUILD, Server
from patience import until


IS_ROOT = os.geteuid() == 0


@pytest.fixture(name="data")
def fixture_data(home):
    folder = home / "my data"
    folder.mkdir()
    # A session of root is a user of its own.
    folder.chmod(0o755)
    home.chmod(0o755)
    (folder / "a.csv").write_text("x,y\n1,2\n", encoding="ascii")
    (folder / "a.csv").chmod(0o644)
    return folder


def confinement(server, session="s"):
    return server.call("session_info", session_id=session).object["confinement"]


def refusal(home, *args, **env):
    """What a cell is answered with when nothing may run."""
    with Server(home, *args, env=env) as server:
        result = server.cell("print('ran')")
        assert result.is_error and "ran" not in "".join(result.texts)
        assert confinement(server)["tier"] == "refused"
        return result.texts[0]


def test_a_share_is_read_at_its_own_path_and_not_written(home, data):
    with Server(home, "--share", str(data)) as server:
        assert server.cell(f"open({str(data / 'a.csv')!r}).read()").text == "'x,y\\n1,2\\n'\n"
        for code in (f"open({str(data / 'new')!r}, 'w')", f"open({str(data / 'a.csv')!r}, 'a')",
                     f"import os; os.remove({str(data / 'a.csv')!r})"):
            result = server.cell(code)
            assert result.state == "raised", code
            assert "Blocked by the sandbox" in result.text or "in a shared folder" in result.text
        assert confinement(server)["shares"] == [{"path": str(data), "writable": False}]
    assert os.listdir(data) == ["a.csv"]


def test_nothing_else_of_the_home_folder_is_seen(home, data):
    (home / "secret.txt").write_text("secret", encoding="ascii")
    with Server(home, "--share", str(data)) as server:
        assert server.cell(f"import os; os.listdir({str(home)!r})").text == f"{[data.name]}\n"
        assert server.cell(f"open({str(home / 'secret.txt')!r})").cell["error_name"] == "FileNotFoundError"


def test_code_cannot_hold_up_who_opens_a_shared_file(home, data):
    """A lease makes the user's own programs wait, for 45 s as a rule."""
    (data / "held.txt").write_text("x")
    with Server(home, "--share", str(data)) as server:
        result = server.cell(f"import fcntl\nfcntl.fcntl(open({str(data / 'held.txt')!r}), fcntl.F_SETLEASE, fcntl.F_RDLCK)")
        assert result.state == "raised" and "PermissionError" in result.text


def test_a_share_for_writing_is_written_by_the_person_s_own_user(home, data):
    with Server(home, "--share", f"{data}:rw") as server:
        server.cell(f"open({str(data / 'new.txt')!r}, 'w').write('hi')")
        assert (data / "new.txt").read_text(encoding="ascii") == "hi"
        assert (data / "new.txt").stat().st_uid == os.geteuid()
        tools = {tool["name"]: tool["annotations"] for tool in server.request("tools/list")["tools"]}
        assert tools["exec_code"]["destructiveHint"] and not tools["exec_code"]["openWorldHint"]


ARMED = [".git/hooks/pre-commit", ".git/config", ".mcp.json", ".claude/settings.json", ".vscode/tasks.json", ".envrc"]


def test_names_that_make_other_programs_run_something_are_never_written():
    """At the share's top whether they are there or not, below it where they are; and what a session needed to hold them is gone after it."""
    with machines.user_home() as place:
        folder = place / "project"
        (folder / "old/.git/hooks").mkdir(parents=True)
        (folder / "old/.git/config").write_text("[core]\n", encoding="ascii")
        if IS_ROOT:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, machines.NOBODY, machines.NOBODY)
        with machines.on(place, env={"PTYCELL_SHARE": f"{folder}:rw"}) as server:
            if confinement(server)["tier"] != "namespaces":
                pytest.skip("only tier namespaces holds these names")
            result = server.cell(f"""import os, pathlib
root = pathlib.Path({str(folder)!r})
(root / 'free.txt').write_text('x')
for name in {ARMED + ["old/.git/config", "old/.git/hooks/post-merge"]!r}:
    try:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text('x')
        print('written', name)
    except OSError as error:
        print(type(error).__name__)
""")
            assert result.state == "done" and "written" not in result.text and result.text.count("Error") == 8
        until(lambda: sorted(os.listdir(folder)) == ["free.txt", "old"])
        assert (folder / "old/.git/config").read_text(encoding="ascii") == "[core]\n"


@pytest.mark.skipif(not IS_ROOT, reason="only root gives sessions users of their own")
def test_what_sessions_of_root_write_belongs_to_the_folder_s_owner(home, data):
    for path in (data, data / "a.csv"):
        os.chown(path, machines.NOBODY, machines.NOBODY)
        path.chmod(0o700)
    (data / "roots").write_text("secret", encoding="ascii")
    (data / "roots").chmod(0o600)
    with Server(home, "--share", f"{data}:rw") as server:
        result = server.cell(f"import os; os.chdir({str(data)!r}); open('a.csv', 'a').write('3,4\\n')\n"
                             "os.mkdir('made'); open('made/new.txt', 'w').write('hi')\nopen('roots').read()")
        assert result.state == "raised" and result.cell["error_name"] == "PermissionError", result.text
    assert (data / "a.csv").read_text(encoding="ascii").endswith("3,4\n")
    assert {path.stat().st_uid for path in data.rglob("*") if path.name != "roots"} == {machines.NOBODY}


@pytest.mark.skipif(not IS_ROOT, reason="only root gives sessions users of their own")
def test_what_sessions_of_root_could_not_use_is_refused(home, data):
    data.chmod(0o770)
    assert "can be written by others" in refusal(home, "--share", f"{data}:rw")
    data.chmod(0o700)
    assert "chmod -R o+rX" in refusal(home, "--share", str(data))


def test_shares_hold_for_every_session_and_from_its_start(home, data):
    with Server(home, env={"PTYCELL_SHARE": f"{data}\n"}) as server:
        for session in "ab":
            assert "x,y" in server.cell(f"open({str(data / 'a.csv')!r}).read()", session=session).text
        data.rename(home / "moved")
        (home / "my data").mkdir()
        assert "x,y" in server.cell(f"open({str(data / 'a.csv')!r}).read()", session="a").text


def test_a_folder_that_was_swapped_meanwhile_is_not_shared(home, data):
    """sandbox.md 9: what was looked at is compared with what is mounted."""
    with Server(home, "--share", str(data)) as server:
        server.cell("1", session="first")
        data.rename(home / "moved")
        data.symlink_to("/etc")
        result = server.cell(f"open({str(data / 'passwd')!r}).read()", session="second")
        assert result.is_error and "root" not in result.text.replace(str(home), "")


def test_unix_sockets_are_off_where_shares_could_hold_one(home, data):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(home / "s"))
    os.rename(home / "s", data / "agent.sock")
    listener.listen()
    code = f"import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect({str(data / 'agent.sock')!r})"
    with Server(home, "--share", str(data)) as server:
        result = server.cell(code)
        assert result.state == "raised" and "denied" in result.cell["error_text"]
        told = confinement(server)
        assert told["unix_sockets"] == (told["landlock_abi"] >= 9)
        if not told["unix_sockets"]:
            assert "Unix socket" in result.text
    with Server(home) as server:
        assert confinement(server)["unix_sockets"]
        assert server.cell("import multiprocessing\nwith multiprocessing.Manager() as m: print(list(m.list([1])))").text == "[1]\n"


@pytest.mark.parametrize("share, words", [
    ("/", "holds home folders"), ("/root", "share '/root'"), ("/home", "share '/home'"), ("/run", "is a system folder"),
    ("/lib", "is a system folder"), ("//etc", "is a system folder"), ("/a/../etc", "must have no . or .."),
    ("/proc/self", "is a system folder"), ("/mnt/data", "folders of its own"), ("/tmp", "share '/tmp'"),
])
def test_ca_30_what_is_too_much_is_refused(home, share, words):
    text = refusal(home, "--share", share)
    assert words in text and "Correct --share or PTYCELL_SHARE" in text


def test_the_home_folder_is_shared_only_when_that_is_said(home, data):
    live, kept = home.parent / "live", home.parent / "kept"
    env = {"PTYCELL_HOME": str(live), "PTYCELL_KEEP": str(kept)}
    assert "write :home behind it if you mean it" in refusal(home, "--share", "~", **env)
    with Server(home, "--share", "~:home", env=env) as server:
        assert "x,y" in server.cell(f"open({str(data / 'a.csv')!r}).read()").text


def test_a_whole_home_folder_is_not_written(home):
    """What the shell, ssh and the desktop run lies there."""
    env = {"PTYCELL_HOME": str(home.parent / "live"), "PTYCELL_KEEP": str(home.parent / "kept")}
    for share in ("~:home:rw", "~:rw:home"):
        assert "is a whole home folder: code could write what your shell" in refusal(home, "--share", share, **env)


def test_a_file_of_settings_that_code_could_change_is_refused(home, data):
    """With the next start code would give itself what it likes."""
    file = data / "ptycell.env"
    file.write_text("PTYCELL_FETCH_HOSTS=off\n", encoding="ascii")
    (home / "link.env").symlink_to(file)
    for path in (file, home / "link.env"):
        text = refusal(home, "--env-file", str(path), "--share", f"{data}:rw")
        assert f"the --env-file '{path}' lies in a folder that is shared with :rw" in text
    with Server(home, "--env-file", str(file), "--share", str(data)) as server:
        assert server.cell("1").text == "1\n"


def test_programs_of_ours_that_code_could_change_are_refused(home, data):
    """The server starts its helpers outside of the sandbox; its host would start what a link leads to."""
    (data / "link").symlink_to((BUILD / "ptycell").resolve())
    with Server(home, command=[str(data / "link")], env={"PTYCELL_SHARE": f"{data}:rw"}) as server:
        assert f"the program '{data / 'link'}' lies in a folder" in " ".join(server.cell("print('ran')").texts)
    for program in BUILD.iterdir():
        if program.name.startswith("ptycell") and program.is_file():
            shutil.copy(program, data)
    with Server(home, command=[str(data / "ptycell")], env={"PTYCELL_SHARE": f"{data}:rw"}) as server:
        text = " ".join(server.cell("print('ran')").texts)
        assert f"the program '{data / 'ptycell'}' lies in a folder that is shared with :rw" in text


def test_the_folders_of_other_sessions_are_never_shared(home):
    assert "set PTYCELL_HOME to a folder outside of it" in refusal(home, "--share", "~:home")
    assert "PTYCELL_HOME" in refusal(home, "--share", str(home / "cache"))
    (home / "kept").mkdir()
    assert "PTYCELL_KEEP" in refusal(home, "--share", str(home / "kept") + ":rw")


def test_a_link_is_refused_with_what_it_leads_to(home, data):
    (home / "link").symlink_to(data)
    assert f"share '{data}'" in refusal(home, "--share", str(home / "link"))


def test_a_share_that_is_not_there_is_told_and_the_rest_works(home, data):
    folder = home / "later"
    with Server(home, "--share", str(folder), "--share", str(data)) as server:
        answer = server.cell(f"open({str(data / 'a.csv')!r}).read()")
        assert answer.texts[0].endswith(f"\nThe share '{folder}' is not there; start ptycell again when it is.")
        assert answer.state == "done" and "x,y" in answer.text
        assert "is not there" in server.cell("1", session="other").texts[0]
        assert [share["path"] for share in confinement(server)["shares"]] == [str(data)]
        guide = server.request("resources/read", {"uri": "ptycell://guide"})["contents"][0]["text"]
        assert f"- `{folder}`, to read, not there now\n- `{data}`, to read\n" in guide
    folder.mkdir()
    with Server(home, "--share", str(folder)) as server:
        assert server.cell(f"import os; os.listdir({str(folder)!r})").text == "[]\n"


@pytest.mark.parametrize("spares", ["0", "1"])
def test_a_share_that_goes_away_is_left_out_and_told(home, data, spares):
    folder = home / "disk"
    folder.mkdir()
    with Server(home, "--share", f"{folder}:rw", "--share", str(data), env={"PTYCELL_SPARES": spares}) as server:
        assert server.cell(f"import os; os.path.isdir({str(folder)!r})").text == "True\n"
        folder.rename(home / "unplugged")
        answer = server.cell(f"open({str(data / 'a.csv')!r}).read()", session="without")
        assert f"The share '{folder}' is not there any more; start ptycell again when it is." in answer.texts[0]
        assert answer.state == "done" and "x,y" in answer.text
        assert server.cell(f"ls '{data}'", session="bash", language="bash").text == "a.csv\n"
        folder.mkdir()
        answer = server.cell(f"open({str(data / 'a.csv')!r}).read()", session="another")
        assert f"The share '{folder}' is another folder than the one that was there when ptycell started" in answer.texts[0]
        assert answer.state == "done" and "x,y" in answer.text
        assert "No such file" in server.cell(f"import os; os.listdir({str(folder)!r})", session="another").text


@contextlib.contextmanager
def a_disk_without_modes(at):
    """Mounts one there, where that can be."""
    image = at.parent / "image"
    image.write_bytes(bytes(4 << 20))
    ran = shutil.which("mkntfs") and subprocess.run(["mkntfs", "-qF", image], check=False, capture_output=True).returncode == 0
    if not ran or subprocess.run(["ntfs-3g", "-o", "umask=022", image, at], check=False, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", at], check=True)


def test_a_disk_without_modes_is_not_written_in_a_share(home, data):
    folder = home / "work"
    (folder / "disk").mkdir(parents=True)
    write = f"open({str(folder / 'a')!r}, 'w').close()"
    with Server(home, "--share", f"{folder}:rw", "--share", str(data)) as server:
        assert server.cell(write).state == "done"
        with a_disk_without_modes(folder / "disk"):
            answer = server.cell(f"open({str(data / 'a.csv')!r}).read()", session="without")
            assert f"The share '{folder}' is left out: it has another disk in it, and '" in answer.texts[0]
            assert "' is on a file system that stores no modes" in answer.texts[0]
            assert answer.state == "done" and "x,y" in answer.text
            assert "No such file" in server.cell(write, session="without").text
            assert "that stores no modes" in refusal(home, "--share", f"{folder}:rw")
            with Server(home, "--share", str(folder)) as reader:
                assert reader.cell(f"import os; os.listdir({str(folder)!r})").state == "done"
        assert server.cell(write, session="again").state == "done"


@pytest.mark.parametrize("name", [".mcp.json", ".vscode/deep/tasks.json"])
def test_a_hard_link_to_a_name_that_stays_is_not_written_either(home, name):
    work = home / "work"
    top = work / name.split("/", maxsplit=1)[0]
    (work / name).parent.mkdir(parents=True)
    (work / name).write_text("{}")
    (work / "deep/in").mkdir(parents=True)
    with Server(home, "--share", f"{work}:rw") as server:
        assert server.cell("1").state == "done"
        top.rename(home / "old")
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("of the user")
        assert server.cell(f"import os; os.link({str(work / name)!r}, {str(work / 'deep/in/a')!r})").state == "done"
    with Server(home, "--share", f"{work}:rw") as server:
        for code in ("open('a', 'a').write('of code')", "os.truncate('a', 0)", "os.link('a', 'b')", "os.rename('a', 'b')"):
            assert "OSError" in server.cell(f"import os; os.chdir({str(work / 'deep/in')!r}); {code}").text, code
        assert server.cell("open('other', 'w').write('of code'); os.rename('../in', '../moved')").state == "done"
    assert (work / name).read_text() == "of the user"


def test_a_hard_link_in_another_share_is_not_written_either(home):
    one, other = home / "one", home / "other"
    one.mkdir()
    other.mkdir()
    (one / ".mcp.json").write_text("of the user")
    os.link(one / ".mcp.json", other / "a")
    with Server(home, "--share", f"{one}:rw", "--share", f"{other}:rw") as server:
        assert "OSError" in server.cell(f"open({str(other / 'a')!r}, 'a').write('of code')").text
        assert server.cell(f"open({str(other / 'b')!r}, 'a').write('of code')").state == "done"
    assert (one / ".mcp.json").read_text() == "of the user"


@contextlib.contextmanager
def mounted(source, at):
    """Mounts a folder in a second place, where that can be."""
    command = ["mount", "--bind", str(source), str(at)]
    if os.geteuid() != 0 or subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode != 0:
        pytest.skip("only root mounts a folder in a second place")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(at)], check=True)


@pytest.mark.parametrize("at", ["work", "work/deep/in"])
def test_a_file_of_settings_in_a_share_that_is_mounted_elsewhere_is_refused(home, at):
    (home / "own").mkdir()
    (home / at).mkdir(parents=True)
    (home / "own/policy.json").write_text("{}")
    with mounted(home / "own", home / at):
        for name, value in (("PTYCELL_AUDIT", "own/audit.log"), ("PTYCELL_POLICY", "own/policy.json")):
            with Server(home, "--share", f"{home / 'work'}:rw", env={name: str(home / value)}) as server:
                assert "code could change it" in server.cell("1").texts[0]
    with Server(home, "--share", f"{home / 'work'}:rw", env={"PTYCELL_AUDIT": str(home / "own/audit.log")}) as server:
        assert server.cell("1").state == "done"


def test_folders_that_are_not_shared_are_not_shared_where_they_are_mounted_either(home):
    (home / "cache").mkdir(mode=0o700)
    (home / "cache/deep").mkdir()
    (home / "work/in").mkdir(parents=True)
    with mounted(home / "cache", home / "work/in"):
        assert "holds the folders of other sessions" in refusal(home, "--share", str(home / "work"))
    with mounted(home / "cache/deep", home / "work"):
        assert "holds the folders of other sessions" in refusal(home, "--share", str(home / "work"))
    with mounted("/etc", home / "work"):
        assert "is a system folder" in refusal(home, "--share", str(home / "work"))
    with mounted("/", home / "work"):
        refusal(home, "--share", str(home / "work"))


@pytest.fixture(name="in_var_tmp")
def make_in_var_tmp():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        pathlib.Path(folder, "a.txt").write_text("shared", encoding="ascii")
        yield folder


@pytest.mark.parametrize("tier", machines.TIERS)
def test_row_3_a_share_below_var_tmp_works_and_var_tmp_can_be_written_to(in_var_tmp, tier):
    with machines.confined_in(tier, PTYCELL_SHARE=in_var_tmp) as confined:
        assert confined.server.cell(f"open('{in_var_tmp}/a.txt').read()").text == "'shared'\n"
        written = confined.server.cell("open('/var/tmp/mine', 'w').write('x')")
        assert written.state == ("raised" if confined.tier == "landlock" else "done")  # that has no /var/tmp of its own


@pytest.mark.parametrize("tier", machines.TIERS)
def test_a_virtual_environment_below_var_tmp_works(in_var_tmp, tier):
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", in_var_tmp], check=True)
    (packages,) = pathlib.Path(in_var_tmp).glob("lib/python3*/site-packages")
    (packages / "ours.py").write_text("X = 'imported'", encoding="ascii")
    with machines.confined_in(tier, PTYCELL_PYTHON=f"{in_var_tmp}/bin/python") as confined:
        assert confined.server.cell("import ours, sys\nprint(sys.prefix, ours.X)").text == f"{in_var_tmp} imported\n"


def test_a_share_that_is_no_path_is_a_setting_to_correct(home):
    with Server(home, env={"PTYCELL_SHARE": "data:rw"}) as server:
        assert "PTYCELL_SHARE has the value 'data:rw'" in server.cell("1").texts[0]
