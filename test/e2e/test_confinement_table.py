# SPDX-License-Identifier: MIT
"""The table of tiers in help/security.md, "what code sees" and "what it lacks", row by row: each claim is tried in a session.

That the weaker ones refuse shares with :rw, what happens without any, and with a masked /proc: test_machines.py.
"""
import os
import pathlib
import re
import socket

import pytest
from machines import TIERS, confined_in

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
    "landlock": ("your system's programs and its own folder; no network, no sockets; it cannot signal or look into your processes",
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
    assert found["signal"] == "Operation not permitted" and found["look"] in REFUSED and found["bystander"]
    assert found["inotify"] == "Function not implemented" and found["attributes"] == "Operation not supported"
    if tier == "landlock":  # the user's own
        assert (found["size"], found["mode"], found["times"]) == (len("TOP SECRET"), None, None)
