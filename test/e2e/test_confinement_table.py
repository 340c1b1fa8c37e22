# SPDX-License-Identifier: MIT
"""The tables of what code can do: each claim is tried in a session. One is that of tiers in help/security.md, the other that of the README.

That the weaker ones refuse shares with :rw, what happens without any, and with a masked /proc: test_machines.py.
"""
import os
import pathlib
import re
import socket
import threading

import pytest
from client import Server
from machines import TIERS, confined_in, programs
from outside import HIDES
from proxies import own_names
from steps import all_gone, family

TOPIC = pathlib.Path(__file__).parents[2] / "cmd/server/help/security.md"

# Each is tried by code in the session, with what lies around it; the value says how it went.
TRIED = r"""
import ctypes, os, socket
def told(attempt):
    try: return attempt()
    except OSError as e: return e.strerror
def lines(path): return open(path).read().split('\n')
C = ctypes.CDLL(None, use_errno=True)
status = dict(line.split(':\t', 1) for line in lines('/proc/self/status') if ':\t' in line)
def connects():
    with socket.create_connection(('127.0.0.1', PORT), 5): return 'connected'
def command_lines():
    return [str(told(lambda: open(f'/proc/{pid}/cmdline').read())) for pid in os.listdir('/proc') if pid.isdigit()]
def terminals():
    return [name for name in os.listdir('/dev/pts') if name.isdigit()]
def inotify():
    return 'there' if C.inotify_init1(0) >= 0 else os.strerror(ctypes.get_errno())
def attribute():
    open('own', 'w').close(); os.setxattr('own', 'user.x', b'1'); return os.getxattr('own', 'user.x')
def own(folder):
    path = f'{folder}/own-{os.getpid()}'; open(path, 'w').close(); os.unlink(path); return 'written'
FOUND = {
    'home': told(lambda: sorted(os.listdir(os.path.dirname(SECRET)))), 'secret': told(lambda: open(SECRET).read()),
    'change': told(lambda: open(SECRET, 'a').write('x')), 'mode': told(lambda: os.chmod(SECRET, 0o640)),
    'times': told(lambda: os.utime(SECRET, (1, 1))), 'size': told(lambda: os.stat(SECRET).st_size),
    'programs': os.path.exists('/usr/bin/env'), 'folder': told(lambda: own('.')), 'tmp': told(lambda: own('/tmp')),
    'shm': told(lambda: own('/dev/shm')), 'network': told(connects), 'unix': told(lambda: socket.socket(socket.AF_UNIX) and 'socket'),
    'bystander': any(WORD in line for line in command_lines()), 'signal': told(lambda: os.kill(PID, 0)), 'look': told(lambda: open(f'/proc/{PID}/environ').read()),
    'terminals': told(terminals), 'namespaces': os.readlink('/proc/self/ns/user'),
    'seccomp': status['Seccomp'], 'privileges': status['NoNewPrivs'], 'inotify': inotify(), 'attributes': told(attribute),
}
FOUND
"""
REFUSED = {"Permission denied", "Operation not permitted", "No such file or directory", "Read-only file system"}


def rows():
    """{tier: (sees, lacks)} as the topic has it."""
    text = TOPIC.read_text(encoding="utf-8")
    table = text[text.index("| tier | what code sees |"):].split("\n\n")[0]
    found = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return {re.sub(r"`(\w+)`.*", r"\1", tier): cells for tier, *cells in found}


OWN = [tier for tier in TIERS if not tier.startswith("landlock")]
LANDLOCK = [tier for tier in TIERS if tier.startswith("landlock")]


@pytest.fixture(name="tried", scope="module", params=TIERS)
def fixture_tried(request):
    """(tier as the tests call it, what code found)."""
    with confined_in(request.param) as confined, socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        facts = f"SECRET, WORD, PID, PORT = {str(confined.secret)!r}, {confined.word!r}, {confined.bystander.pid}, {port}\n"
        result = confined.server.cell(facts + TRIED)
        assert result.state == "done", result.texts
        found = eval(result.text)  # of code that is ours
        found["changed"] = confined.secret.read_text(encoding="ascii") != "TOP SECRET"
        found["outside"] = os.readlink("/proc/self/ns/user")
        yield request.param, found


# What the rows say, in the order of what is tried below: who changes a row looks here.
SAID = {
    "namespaces": ("a system of its own: root, processes, network, terminals, users; landlock, seccomp and limits on top",
                   "a `/proc` of its own where a container masks parts of the machine's"),
    "bwrap": ("the same, made by the system's own `/usr/bin/bwrap`", "the second user namespace; shares with `:rw`"),
    "landlock": ("your system's programs and its own folder; no network, no sockets; code cannot send signals to your processes or read their memory",
                 "`/tmp` and `/dev/shm` of its own; shares with `:rw`; watches (inotify) and extended attributes; **code can read names, "
                 "command lines, limits and mounts of your processes, addresses of the machine's connections and names of your kernel keys, "
                 "see whether a path is there, its size, times and where a link leads, and change modes, times and groups of your files and "
                 "terminals**, though not read or change what is in them"),
    "none of them": ("no code runs, and the answer says what to type", ""),
}


def test_the_rows_say_what_is_tried():
    assert rows().keys() == SAID.keys()
    for tier, cells in rows().items():
        assert all(cell.startswith(said) for cell, said in zip(cells, SAID[tier])), (tier, cells)


def test_no_tier_shows_or_changes_what_is_in_the_user_s_files(tried):
    _, found = tried
    assert found["secret"] in REFUSED and found["change"] in REFUSED and not found["changed"]
    assert isinstance(found["home"], str) and found["home"] in REFUSED
    assert found["programs"] and found["folder"] == "written"
    assert found["seccomp"] == "2" and found["privileges"] == "1"


@pytest.mark.parametrize("tried", OWN, indirect=True)
def test_namespaces_and_bwrap_are_a_system_of_their_own(tried):
    _, found = tried
    assert {found["mode"], found["times"], found["size"]} == {"No such file or directory"}  # root
    assert not found["bystander"] and found["signal"] == "No such process"
    assert found["network"] == "Connection refused" and len(found["terminals"]) == 1
    assert found["namespaces"] != found["outside"]
    assert (found["tmp"], found["shm"], found["unix"], found["inotify"]) == ("written", "written", "socket", "there")
    assert found["attributes"] == b"1" or found["attributes"] == "Operation not supported"


@pytest.mark.parametrize("tried", LANDLOCK, indirect=True)
def test_landlock_is_the_machine_s_system_and_says_what_it_lacks(tried):
    tier, found = tried
    assert found["network"] in REFUSED and found["unix"] in REFUSED
    assert found["tmp"] in REFUSED and found["shm"] in REFUSED
    assert found["signal"] == "Operation not permitted" and found["look"] in REFUSED and found["bystander"] != HIDES
    assert found["inotify"] == "Function not implemented" and found["attributes"] == "Operation not supported"
    if tier == "landlock":  # the user's own
        assert (found["size"], found["mode"], found["times"]) == (len("TOP SECRET"), None, None)


# ---- the README ----

README = pathlib.Path(__file__).parents[2] / "README.md"
PROMISED = r"""
import os, pty, resource, socket, subprocess
def told(attempt):
    try: return attempt()
    except Exception as e: return type(e).__name__
def reach(port):
    with socket.create_connection(('127.0.0.1', port), 5): return 'connected'
def ask(port):
    import urllib.request
    return urllib.request.urlopen(f'http://ok.test:{port}/', timeout=30).status
def write(path):
    open(path, 'w').write('own'); return open(path).read()
def terminal():
    _, inner = pty.openpty(); return os.isatty(inner)
LIMITS = [resource.getrlimit(getattr(resource, name))[0] for name in ('RLIMIT_AS', 'RLIMIT_DATA', 'RLIMIT_NPROC', 'RLIMIT_FSIZE')]
os.makedirs('output', exist_ok=True)
{'own': told(lambda: [write(path) for path in ('own', '/tmp/own', 'output/own')]), 'process': told(lambda: subprocess.check_output(['echo', 'ran'], text=True)),
 'terminal': told(terminal), 'system': [os.path.exists(path) for path in ('/usr/bin/env', '/usr/lib')], 'memory': told(lambda: len(bytearray(1 << 40))),
 'limits': any(limit != resource.RLIM_INFINITY for limit in LIMITS), 'file': told(lambda: open(FILE).read()), 'shared': told(lambda: open(SHARED).read()),
 'change': told(lambda: write(SHARED)), 'variables': sorted(name for name in os.environ if name.endswith('_TRIED')), 'named': told(lambda: ask(PORT)),
 'other': told(lambda: reach(OTHER))}
"""
# What code finds, by what the rows say that it can and cannot do.
CAN = {
    "use its own folder, `/tmp`, processes and terminals": {"own": ["own"] * 3, "process": "ran\n", "terminal": True},
    "read the system's programs and libraries": {"system": [True, True]},
    "use processor, memory and disk up to its limits": {"memory": "MemoryError", "limits": True},
    "write anything into `output/`, which is copied to you": {},
}
CANNOT = {
    "read your files, except in folders that you share": {"file": "FileNotFoundError", "shared": "shared", "change": "OSError"},
    "see your environment, except what you pass to it": {"variables": ["PASSED_TRIED"]},
    "use the network, except hosts that you name": {"named": 204, "other": "ConnectionRefusedError"},
    "outlive the server": {},
}


def answer_requests(listener):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")


def test_the_readme_s_table_is_what_code_finds():
    text = README.read_text(encoding="utf-8")
    table = text[text.index("| Code in a session can |"):].split("\n\n")[0]
    rows_there = [tuple(line.strip("| ").split(" | ")) for line in table.splitlines()[2:]]
    assert rows_there == list(zip(CAN, CANNOT))


def test_code_can_and_cannot_do_what_the_readme_says(home):
    (home / "mine").mkdir()
    (home / "shared").mkdir()
    for path in (home, home / "mine", home / "shared"):
        path.chmod(0o755)
    for name in ("mine", "shared"):
        (home / name / "file").write_text(name, encoding="ascii")
        (home / name / "file").chmod(0o644)
    (home / "names").write_text("127.0.0.1 localhost ok.test\n", encoding="ascii")
    with socket.create_server(("127.0.0.1", 0)) as named, socket.create_server(("127.0.0.1", 0)) as other:
        threading.Thread(target=answer_requests, args=[named], daemon=True).start()
        facts = (f"FILE, SHARED, PORT, OTHER = {str(home / 'mine/file')!r}, {str(home / 'shared/file')!r}, "
                 f"{named.getsockname()[1]}, {other.getsockname()[1]}\n")
        env = {"SECRET_TRIED": "1", "PTYCELL_ENV_PASSED_TRIED": "1", "PTYCELL_SHARE": str(home / "shared"), "PTYCELL_ALLOW_PRIVATE_HOSTS": "1",
               "PTYCELL_HOSTS": f"ok.test:{named.getsockname()[1]}"}
        server = Server(home, env=env, command=own_names(home / "names", [str(programs() / "ptycell")]))
        if server.call("session_info", session_id="s").object["confinement"]["tier"] != "namespaces":
            server.close()
            pytest.skip("the table is that of tier namespaces")
        result = server.cell(facts + PROMISED)
        assert result.state == "done", result.texts
        found = eval(result.text)  # of code that is ours
        for row, expected in {**CAN, **CANNOT}.items():
            assert {name: found[name] for name in expected} == expected, row
        assert [path.read_text(encoding="ascii") for path in (home / "kept").glob("*/own")] == ["own"]
        server.cell("import subprocess; subprocess.Popen(['setsid', 'sleep', '1000'], start_new_session=True); subprocess.Popen('sleep 1000 &', shell=True)")
        processes = family(server.process.pid)
        server.close()
        all_gone(processes)
