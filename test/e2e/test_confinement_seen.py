# SPDX-License-Identifier: MIT
"""What a session is told of what others do with files that it shares with them, and what they are told of it:
watches, locks and attributes, in every tier."""
import contextlib
import fcntl
import os
import shutil
import subprocess
import zlib

import pytest
from machines import IS_ROOT, NOBODY, TIERS, confined_in, deny, on, user_home
from steps import BEGUN, begin, paths_in

READ = "IN_ACCESS | IN_OPEN | IN_CLOSE_NOWRITE"
WATCH = '''
import ctypes, errno, os, struct
C = ctypes.CDLL(None, use_errno=True)
IN_ACCESS, IN_MODIFY, IN_ATTRIB, IN_CLOSE_WRITE, IN_CLOSE_NOWRITE, IN_OPEN, IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE = (1 << n for n in range(10))
def asked(result):
    return result if result >= 0 else errno.errorcode[ctypes.get_errno()]
def watch(path, events):
    """A descriptor, or the name of an error."""
    fd = asked(C.inotify_init1(os.O_NONBLOCK))
    if isinstance(fd, str): return fd
    added = asked(C.inotify_add_watch(fd, path.encode(), events))
    return fd if isinstance(added, int) else added
def seen(fd):
    """Names of files in the events so far; the watched one itself is ''."""
    found, data = set(), b""
    try:
        while True: data += os.read(fd, 65536)
    except BlockingIOError: pass
    while data:
        (length,) = struct.unpack_from("12xI", data)
        found.add(data[16:16 + length].rstrip(b"\\0").decode())
        data = data[16 + length:]
    return sorted(found)
'''
# Programs that nobody calls by chance, and a file that every machine has.
PROGRAM = "/usr/bin/mkfifo"
FILE = "/usr/share/common-licenses/BSD" if os.path.exists("/usr/share/common-licenses/BSD") else PROGRAM


@pytest.fixture(scope="module", params=TIERS)
def confined(request):
    with confined_in(request.param) as one:
        for session in ("s", "other"):
            assert one.server.cell(WATCH, session=session).state == "done"
        yield one


def value(server, code, session="s"):
    return eval(server.cell(code, session=session).text)  # of code that is ours


def use_outside():
    subprocess.run([PROGRAM, "--version"], stdout=subprocess.DEVNULL, check=True)
    with open(FILE, "rb") as file:
        file.read()


# ---- watches ----

def test_what_runs_outside_is_not_seen(confined):
    """S6: names of programs that the user calls, and of files that they read."""
    server = confined.server
    folders = sorted({os.path.dirname(path) for path in (PROGRAM, FILE)} | {"/etc"})
    watches = value(server, f"watches = {{p: watch(p, {READ}) for p in {folders + [PROGRAM, FILE]}}}; watches")
    use_outside()
    server.cell(f"import subprocess; subprocess.run([{PROGRAM!r}, '--version'])", session="other")
    if confined.tier == "namespaces":
        assert all(isinstance(fd, int) for fd in watches.values()), watches
        # Others here may start programs, so only these names say something.
        found = value(server, "sorted({n for fd in watches.values() for n in seen(fd)})")
        assert not {os.path.basename(PROGRAM), os.path.basename(FILE), ""} & set(found)
    else:
        assert set(watches.values()) == {"ENOSYS" if confined.tier == "landlock" else "EPERM"}


@pytest.mark.skipif(not os.path.exists("/proc/keys"), reason="this kernel keeps no keys")
def test_names_of_the_users_keys_are_not_read(confined):
    """In tier landlock, whose /proc is the host's, the help topic says that they are."""
    if confined.tier != "landlock":
        assert confined.server.cell("open('/proc/keys').read() + open('/proc/key-users').read()").text == "''\n"


def test_a_watch_tells_of_the_session_itself(confined):
    """What watchers need: chokidar and tail ask for changes, watchdog and watchfiles for opens as well."""
    server = confined.server
    value(server, "os.makedirs('own', exist_ok=True); own = watch('own', IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO); own")
    server.cell("open('own/new', 'w').write('x'); open('own/new').read()")
    if confined.tier == "landlock":
        assert value(server, "own") == "ENOSYS"
        return
    assert value(server, "seen(own)") == ["new"]
    if confined.tier == "namespaces":
        server.cell(f"own = watch('own', {READ} | IN_CREATE); open('own/new').read()")
        assert "new" in value(server, "seen(own)")
        server.cell(f"programs = watch('/usr/bin', {READ}); import subprocess; subprocess.run([{PROGRAM!r}, '--version'])")
        assert os.path.basename(PROGRAM) in value(server, "seen(programs)")


def test_tail_follows_a_file(confined):
    """Where there are no watches it looks again and again."""
    server = confined.server
    begin(server, "open('log', 'w').close()\n" + BEGUN + "import subprocess; subprocess.run(['tail', '-f', 'log'])",
          session="tail")
    (log,) = paths_in(confined.home, "cache/server-*/sessions/*/data/log")
    with open(log, "a", encoding="ascii") as file:
        file.write("followed\n")
    assert "followed" in server.interact(session="tail", until="followed").text
    server.call("destroy_session", session_id="tail")


@pytest.mark.skipif(not shutil.which("node"), reason="no node here")
def test_node_watches_a_folder(confined):
    if confined.tier == "landlock":
        return  # which has none
    code = ("const fs = require('fs'); fs.mkdirSync('watched', { recursive: true });\n"
            "const w = fs.watch('watched', (kind, name) => { console.log(kind, name); w.close(); });\n"
            "fs.writeFileSync('watched/new', '');")
    assert confined.server.cell(f"import subprocess\nprint(subprocess.run(['node', '-e', {code!r}], "
                                "capture_output=True, text=True).stdout)").text == "rename new\n\n"


# ---- locks ----

LOCK = """
import fcntl
def lock(path, how=fcntl.LOCK_EX | fcntl.LOCK_NB):
    file = open(path, 'rb')
    try: fcntl.flock(file, how)
    except BlockingIOError: return None
    return file
"""


def test_a_lock_on_a_program_is_seen_by_nobody_else(confined):
    """S7: ten bits a second between sessions, and a lock that the machine's own programs meet."""
    server = confined.server
    if confined.tier != "namespaces":
        return  # help/security.md says so
    for session in ("s", "other"):
        server.cell(LOCK, session=session)
    for path in (PROGRAM, "/etc/ld.so.cache"):
        assert value(server, f"held = lock({path!r}); held is not None")
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(file, fcntl.LOCK_UN)
        assert value(server, f"lock({path!r}) is not None", session="other")
        assert value(server, f"lock({path!r}) is None")


# ---- the system as it is shown ----

def test_the_systems_folders_are_the_hosts(confined):
    server = confined.server
    for folder in ("/usr", "/usr/bin", "/usr/share"):
        names = "\n".join(sorted(os.listdir(folder)))
        code = f"import zlib; zlib.crc32('\\n'.join(sorted(os.listdir({folder!r}))).encode())"
        assert value(server, code) == zlib.crc32(names.encode())
    assert value(server, "len({os.stat(p).st_dev for p in ('/usr', '/usr/bin', '/usr/bin/env', '/usr/share')})") == 1
    assert value(server, f"import zlib; zlib.crc32(open({FILE!r}, 'rb').read())") == zlib.crc32(open(FILE, "rb").read())
    for path in ("/usr/x", "/etc/x"):
        assert server.cell(f"open({path!r}, 'w')").cell["error_name"] in ("OSError", "PermissionError")


def test_the_report_says_whether_inodes_are_own(confined):
    layers = confined.server.call("session_info", session_id="s").object["confinement"]["layers"]
    assert ("own inodes" in layers) == (confined.tier == "namespaces")


def test_without_overlays_reading_cannot_be_watched():
    """As in a container on a third overlay, or before Linux 5.11."""
    with user_home() as home, contextlib.closing(on(home, *deny("fsopen"))) as server:
        assert server.cell(WATCH).state == "done"
        confinement = server.call("session_info", session_id="s").object["confinement"]
        assert confinement["tier"] == "namespaces" and "own inodes" not in confinement["layers"]
        assert value(server, f"watch('/usr/bin', {READ})") == "EPERM"
        assert isinstance(value(server, "watch('.', IN_CREATE | IN_MODIFY)"), int)
        assert value(server, "sorted(os.listdir('/usr'))") == sorted(os.listdir("/usr"))


# ---- attributes ----

def test_attributes_of_the_users_files_are_neither_read_nor_changed(confined):
    """Security 11: landlock covers none of them."""
    path = confined.home / "marked"
    path.write_text("x", encoding="ascii")
    if IS_ROOT:
        os.chown(path, NOBODY, NOBODY)
    try:
        os.setxattr(path, "user.mark", b"secret")
    except OSError:
        pytest.skip("the file system of /tmp has no attributes")
    code = f"""
def told(attempt, *arguments):
    try: return attempt(*arguments)
    except OSError as e: return errno.errorcode[e.errno]
p = {str(path)!r}
{{str(told(os.getxattr, p, 'user.mark')), str(told(os.listxattr, p)), str(told(os.setxattr, p, 'user.mark', b'')), str(told(os.removexattr, p, 'user.mark'))}}
"""
    expected = {"ENOTSUP", "EOPNOTSUPP"} if confined.tier == "landlock" else {"ENOENT", "EACCES"}
    assert value(confined.server, code) <= expected
    assert os.getxattr(path, "user.mark") == b"secret"
