# SPDX-License-Identifier: MIT
"""Files: what a session cannot read or change, and what it planted for the server (sandbox.md tests
1 to 14, and 47). Attempts from inside are functions of inside.py, in every tier."""
import base64
import json
import os
import socket
import tempfile
import urllib.parse

import pytest
from client import BUILD, Server
from machines import IS_ROOT, NOBODY, TIERS, confined_in, hostile, on, own_home, user_home
from patience import until
from steps import kept_files, paths_in, session_folders

REFUSED = {"ENOENT", "EACCES", "EPERM", "EROFS"}
SECRET = "TOP SECRET"


@pytest.fixture(scope="module", params=TIERS)
def confined(request):
    with confined_in(request.param) as one:
        yield one


@pytest.fixture(scope="module")
def attempts(confined):
    return confined.attempts("files")


@pytest.fixture(scope="module")
def outside():
    """Of one tier only: what the server does with its own files is the same in all."""
    with confined_in("namespaces") as one:
        yield one


@pytest.fixture(scope="module")
def server(outside):
    return outside.server


def of(attempts, number):
    found = {name: answer for name, answer in attempts.items() if name.split()[0] == str(number)}
    assert found
    return found


def assert_all(attempts, number, allowed):
    wrong = {name: answer for name, answer in of(attempts, number).items()
             if not (isinstance(answer, str) and answer in allowed)}
    assert not wrong


# ---- from inside ----

def test_files_of_the_person_and_of_the_system_are_not_read(attempts):
    # A folder of the session's own, made empty, is nobody's.
    found = {name: answer for name, answer in of(attempts, 1).items() if answer != []}
    assert_all(found, 1, REFUSED)


def test_nothing_outside_of_its_folders_is_written(attempts, confined):
    assert_all(attempts, 2, REFUSED)
    assert confined.secret.read_text(encoding="ascii") == SECRET


def test_its_own_folders_are_written(attempts, confined):
    expected = 3 if confined.tier != "landlock" else 2
    assert list(of(attempts, 3).values()).count("mine") == expected


def test_another_session_sees_none_of_it(attempts, confined):
    """`attempts` has written a file of its own name into each folder."""
    places = ["/tmp", "/dev/shm", "/mnt/data", *[name.split()[-1] for name in of(attempts, 3)]]
    result = confined.server.cell(f"import os\nfor p in {places!r}:\n"
                                  "    try: print('kept-by-s' in os.listdir(p))\n    except OSError: print(False)",
                                  session="other")
    assert set(result.text.split()) == {"False"}


def test_no_device_is_made(attempts):
    assert_all(attempts, 4, REFUSED)


def test_no_file_gets_an_s_bit(attempts, confined):
    answers = of(attempts, 10)
    assert set(answers.values()) <= {"EPERM", "none", "ENOTSUP"}
    for folder in session_folders(confined.home):
        bad = [path for path in paths_in(folder, "**") if not path.is_symlink() and path.stat().st_mode & 0o6000]
        assert not bad


def test_no_hard_link_to_what_is_outside(attempts):
    assert_all(attempts, 11, REFUSED | {"EXDEV"})


def test_no_mount_is_changed(attempts):
    assert_all(attempts, 14, {"EPERM"})


# ---- what the session plants for the server ----

def read(server, path, session="s"):
    quoted = urllib.parse.quote(path)
    return server.start("resources/read", {"uri": f"session://{session}/files/{quoted}"}).get()


def text_of(message):
    content = message["result"]["contents"][0]
    return content["text"] if "text" in content else base64.b64decode(content["blob"]).decode()


def refusal(server, path):
    message = read(server, path)
    assert "error" in message, path
    assert SECRET not in json.dumps(message)
    return json.dumps(message["error"])


def plant(server, code, session="s"):
    result = server.cell(f"import os, socket\n{code}", session=session)
    assert result.state == "done", result.text


def test_a_link_to_a_secret_is_read_by_nobody(server, outside):
    plant(server, f"os.symlink('/etc/shadow', 'shadow'); os.symlink({str(outside.secret)!r}, 'output/key')")
    for path in ("shadow", "output/key"):
        result = server.cell(f"open({path!r}).read()")
        assert result.cell["error_name"] == "FileNotFoundError"
        assert "Resource not found: symbolic links are not followed" in refusal(server, path)
    assert not list((outside.home / "kept").rglob("key"))
    assert SECRET not in json.dumps(server.call("list_artifacts", session_id="s").raw)


def test_no_way_of_links_and_dots_leads_out(server, outside):
    home = str(outside.home)
    plant(server, f"os.symlink('two', 'one'); os.symlink('three', 'two'); os.symlink({str(outside.secret)!r}, 'three')\n"
                  f"os.symlink({home!r}, 'home'); os.symlink('/proc/self/root', 'magic'); os.symlink('..', 'up')\n"
                  "os.symlink('/', 'root'); os.makedirs('real', exist_ok=True); os.symlink('real', 'within')\n"
                  "open('real/file', 'w').write('own')")
    for path in ("one", "home/.ssh/id_rsa", f"magic{home}/.ssh/id_rsa", f"root{home}/.ssh/id_rsa", "up/spool", "within/file",
                 "../../../../../../etc/passwd", "real/../../../../../../../../etc/passwd", f"/{home}/.ssh/id_rsa", "/etc/passwd",
                 "//etc/passwd", "real//../..", ".", "..", "./../data/real/file"):
        refusal(server, path)
    for written in ("%2e%2e/%2e%2e/%2e%2e/etc/passwd", "..%2f..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", "real%00/file"):
        message = server.start("resources/read", {"uri": f"session://s/files/{written}"}).get()
        assert "error" in message and "root:" not in json.dumps(message)
    assert text_of(read(server, "real/file")) == "own"


def test_nothing_is_put_or_listed_through_a_link(server, outside):
    plant(server, f"os.symlink({str(outside.home)!r}, 'input/out'); os.symlink({str(outside.home / 'planted')!r}, 'input/new')")
    for name in ("out/planted", "new", "../../planted", "out/../planted"):
        server.call("upload_file", session_id="s", filename=name, content="x", overwrite=True)
    assert not (outside.home / "planted").exists()
    paths = [a["path"] for a in server.call("list_artifacts", session_id="s", pattern="**").object["artifacts"]]
    assert not [path for path in paths if ".ssh" in path or "id_rsa" in path]


def test_a_pipe_a_socket_and_a_device_hold_nobody_up(server):
    plant(server, "os.mkfifo('output/pipe'); s = socket.socket(socket.AF_UNIX); s.bind('output/socket'); s.listen()\n"
                  "os.mkfifo('input/pipe'); os.symlink('/dev/zero', 'output/zero'); os.symlink('/dev/tty', 'tty')")
    for path in ("output/pipe", "output/socket"):
        assert "it is not a regular file" in refusal(server, path)
    for path in ("output/zero", "tty"):
        assert "links are not followed" in refusal(server, path)
    answer = server.call("upload_file", session_id="s", filename="pipe", content="x", overwrite=True)
    assert answer.is_error or server.cell("import stat; stat.S_ISREG(os.lstat('input/pipe').st_mode)").text == "True\n"
    assert server.cell("1 + 1").text == "2\n"


SWAPPER = """import os, subprocess, sys
open('swap', 'w').write('own'); os.symlink({secret!r}, 'swap-link'); os.makedirs('swapped', exist_ok=True)
open('swapped/id_rsa', 'w').write('own'); os.symlink({folder!r}, 'swapped-link')
open('swapper.py', 'w').write('''
import ctypes
c = ctypes.CDLL(None)
while True:
    for a, b in ((b'swap', b'swap-link'), (b'swapped', b'swapped-link')):
        c.renameat2(-100, a, -100, b, 2)
''')
swapper = subprocess.Popen([sys.executable, 'swapper.py'])
"""


def test_a_file_that_becomes_a_link_while_it_is_read_gives_nothing_away(server, outside):
    plant(server, SWAPPER.format(secret=str(outside.secret), folder=str(outside.secret.parent)), session="swap")
    seen = {"own": 0, "refused": 0}
    begun = {"uri": "session://swap/files/swap"}
    until(lambda: "error" in server.start("resources/read", begun).get())
    for _ in range(100):
        answers = [server.start("resources/read", {"uri": f"session://swap/files/{path}"})
                   for path in ("swap", "swapped/id_rsa") * 50]
        for answer in answers:
            message = answer.get()
            text = "refused" if "error" in message else text_of(message)
            seen[text] = seen.get(text, 0) + 1
    assert sum(seen.values()) == 10000 and set(seen) == {"own", "refused"}
    assert seen["own"] and seen["refused"], "the race was not one"
    assert not [p for p in kept_files(outside.home) if SECRET in p.read_text(errors="replace")]
    server.call("destroy_session", session_id="swap")


def test_a_session_whose_folder_was_replaced_does_not_start_there(confined):
    server = confined.server
    server.call("session_info", session_id="replaced", config={})  # what waits has its folder mounted already
    server.call("upload_file", session_id="replaced", filename="f", content="x")
    (folder,) = [folder for folder in session_folders(confined.home) if (folder / "input" / "f").exists()]
    folder.rename(folder.with_name("moved"))
    folder.symlink_to(confined.home / ".ssh")
    result = server.cell("import os\nos.listdir('.')", session="replaced")
    assert result.state == "not_started" or "id_rsa" not in result.text
    assert "id_rsa" not in " ".join(result.texts)
    server.call("destroy_session", session_id="replaced")
    # What the link points to is nobody's to remove.
    assert confined.secret.read_text(encoding="ascii") == SECRET


NAMES = ["a\nb", "x" * 255, "-rf", "\udcff\udcfe", " ", "\t", "*", "$(id)", "'\"", "\\", "~", "..."]


def test_names_of_every_kind_are_listed_and_served(server):
    plant(server, f"os.makedirs('names', exist_ok=True)\nfor n in {NAMES!a}: open(os.path.join('names', n), 'w').write('12')")
    artifacts = server.call("list_artifacts", session_id="s", pattern="names/**").object["artifacts"]
    assert len(artifacts) == len(NAMES)
    for artifact in artifacts:
        assert text_of({"result": server.request("resources/read", {"uri": artifact["uri"]})}) == "12"


# ---- shares that may be written ----

OURS = """
import os, shutil, subprocess
os.chdir({share!r})
def tries(name, attempt):
    try: attempt(); print(name, 'THROUGH')
    except OSError as e: print(name, type(e).__name__)
def put(path): open(path, 'w').write('#!/bin/sh\\ntouch /tmp/owned\\n')
for path in ('.git/hooks/pre-commit', '.git/hooks/post-checkout', '.git/config', '.mcp.json', '.envrc', '.claude/settings.json',
             '.vscode/tasks.json', '.cursor/mcp.json', 'nested/.git/hooks/pre-commit', 'nested/.git/config', 'nested/.envrc'):
    tries('write ' + path, lambda: put(path))
for path in ('.git/hooks', '.git', '.mcp.json', '.claude', '.vscode', '.envrc', 'nested/.git/hooks', 'nested/.git/config'):
    tries('move ' + path, lambda: os.rename(path, 'moved'))
    tries('replace ' + path, lambda: (put('mine'), os.rename('mine', path)))
    tries('remove ' + path, lambda: os.remove(path) if os.path.isfile(path) else os.rmdir(path))
    if path != '.git': tries('chmod ' + path, lambda: os.chmod(path, 0o777))
for path in ('.claude', '.vscode', '.mcp.json'):
    tries('link ' + path, lambda: os.symlink('/tmp', path))
    tries('make ' + path, lambda: os.mkdir(path))
put('allowed.txt'); put('.git/description'); os.makedirs('new/deep'); put('new/deep/file')
print('ok', open('allowed.txt').read() != '')
"""
COMMANDING = (".mcp.json", ".envrc", ".claude", ".vscode", ".cursor")


def a_project(folder):
    project = folder / "a project"
    for path in (".git/hooks", "nested/.git/hooks"):
        (project / path).mkdir(parents=True)
    for path in (".git/config", "nested/.git/config", "nested/.envrc"):
        (project / path).write_text("mine", encoding="ascii")
    if IS_ROOT:
        for path in (project, *project.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    return project


@pytest.mark.parametrize("tier", [tier for tier in TIERS if tier != "landlock for root"])
def test_names_that_command_the_persons_programs_stay(tier):
    """As root sessions are users of their own, so that this is about an ordinary user."""
    wrapper = {"namespaces": [], "bwrap": hostile("apparmor"), "landlock": hostile("docker")}[tier]
    with user_home() as home:
        project = a_project(home)
        with on(home, *wrapper, env={"PTYCELL_SHARE": f"{project}:rw"}) as server:
            result = server.cell(OURS.format(share=str(project)))
            if tier != "namespaces":  # they cannot hold names, so they do not share for writing
                assert result.is_error and "without :rw" in result.texts[0]
            else:
                lines = result.text.splitlines()
                assert lines[-1] == "ok True", result.text
                assert [line for line in lines if "THROUGH" in line] == []
                assert (project / "allowed.txt").read_text(encoding="ascii").startswith("#!")
        for path in ("nested/.git/config", "nested/.envrc", ".git/config"):
            assert (project / path).read_text(encoding="ascii") == "mine"
        assert not list((project / ".git/hooks").iterdir()) + list((project / "nested/.git/hooks").iterdir())
        # What stood there meanwhile is gone with the session.
        assert not [name for name in COMMANDING if (project / name).exists()]


# FS_IOC_SETFLAGS (NODUMP, NOATIME), FS_IOC_FSSETXATTR (a project) and FS_IOC_SET_ENCRYPTION_POLICY: each needs no right to write.
REQUESTS = """import fcntl, os, struct
fd = os.open({path!r}, os.O_RDONLY)
for request, value in ((0x40086602, struct.pack('l', 0xc0)), (0x401c5820, struct.pack('5I8x', 0, 0, 0, 77, 0)),
                       (0x800c6613, struct.pack('4B8s', 0, 1, 4, 0, b'12345678'))):
    try: fcntl.ioctl(fd, request, value); print('THROUGH')
    except OSError: print('stopped')
"""


@pytest.mark.parametrize("tier", [tier for tier in TIERS if tier != "landlock for root"])
def test_no_request_changes_what_is_shared_for_reading(tier):
    wrapper = {"namespaces": [], "bwrap": hostile("apparmor"), "landlock": hostile("docker")}[tier]
    with user_home() as home:
        project = a_project(home)
        with on(home, *wrapper, env={"PTYCELL_SHARE": str(project)}) as server:
            for path in (project / "nested/.envrc", project / "nested"):
                assert server.cell(REQUESTS.format(path=str(path))).text.split() == ["stopped"] * 3


@pytest.mark.parametrize("mode", ["", ":rw"])
def test_a_socket_in_a_shared_folder_is_not_reached(mode):
    with user_home() as home:
        project = a_project(home)
        with socket.socket(socket.AF_UNIX) as agent, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams:
            for one, name in ((agent, "agent"), (datagrams, "datagrams")):
                one.bind(str(project / name))
                (project / name).chmod(0o777)
            agent.listen()
            agent.setblocking(False)
            datagrams.setblocking(False)
            with on(home, env={"PTYCELL_SHARE": f"{project}{mode}"}) as server:
                result = server.cell(
                    f"import os, socket\nos.chdir({str(project)!r})\n"
                    "def tries(attempt):\n    try: attempt(); print('THROUGH')\n    except OSError: print('stopped')\n"
                    "tries(lambda: socket.socket(socket.AF_UNIX).connect('agent'))\n"
                    "tries(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', 'datagrams'))\n"
                    "a, b = socket.socketpair()\n"
                    "tries(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', 'datagrams'))\n"
                    "tries(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)[0].connect('agent'))\n"
                    "tries(lambda: os.open('agent', os.O_RDWR))")
                assert result.state == "done" and result.text.split() == ["stopped"] * 5, result.text
            for take in (agent.accept, lambda: datagrams.recv(10)):
                with pytest.raises(BlockingIOError):
                    take()


# ---- where the folder for sessions lies ----

@pytest.mark.skipif(not IS_ROOT, reason="only root gives sessions users of their own")
def test_a_container_of_roots_works_with_a_folder_that_was_closed_before():
    """Root's sessions there are users of their own, and have to get through."""
    with own_home() as home:
        (home / "cache").mkdir(mode=0o700)
        with Server(home, command=[*map(str, hostile("docker")), str(BUILD / "ptycell")]) as server:
            assert server.cell("1 + 1").text == "2\n"


@pytest.mark.skipif(not IS_ROOT, reason="only root can use another user's folder")
def test_a_folder_in_another_users_closed_home_is_named_with_what_to_do():
    """Under sudo with PTYCELL_HOME from the person's own environment."""
    with user_home() as home, Server(home) as server:
        result = server.cell("1 + 1")
        assert result.state == "not_started" and "PTYCELL_HOME" in result.text


def test_a_home_folder_that_is_not_there_is_named_with_what_to_do(home):
    with Server(home, env={"HOME": "/nonexistent", "PTYCELL_HOME": "/proc/nowhere/cache"}) as server:
        assert "set PTYCELL_HOME to a folder where you may write" in server.cell("1").texts[0]


@pytest.mark.parametrize("name", ["my home", "h\u00f6me 'q' \"d\"", "-rf", "a:b,c", "line\nbreak"])
def test_a_home_folder_of_any_name_works(name):
    with own_home() as above:
        folder = above / name
        folder.mkdir(mode=0o711)
        with Server(folder) as server:
            assert server.cell("open('output/f', 'w').write('x')\nimport os; os.getcwd()").text == "'/mnt/data'\n"
        assert len(list((folder / "kept").rglob("f"))) == 1


def test_sessions_on_another_file_system_work(home):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, \
            Server(home, env={"PTYCELL_HOME": f"{folder}/cache"}) as server:
        assert server.cell("open('output/f', 'w').write('x')").state == "done"
        until(lambda: list((home / "kept").rglob("f")))
