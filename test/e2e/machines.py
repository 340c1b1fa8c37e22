# SPDX-License-Identifier: MIT
"""Servers on machines that give less than this one (support/hostile.c, support/deny_syscalls.c),
run by an ordinary user, and sessions in each tier."""
import atexit
import contextlib
import functools
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

import pytest
from client import BUILD, WAIT_S, Server
from outside import HIDDEN_BY

NOBODY = 65534
IS_ROOT = os.geteuid() == 0


def landlock_abi():
    """The kernel's, asked as lib/lockdown/landlock_ruleset.c does, and no more than that knows."""
    done = subprocess.run([shutil.which("python3"), "-c",
                           "import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))"],
                          stdout=subprocess.PIPE, text=True, check=True)
    return min(9, max(0, int(done.stdout)))


ABI = landlock_abi()
SCOPE_REASON = "this kernel's landlock does not hold signals in"
BWRAP_REASON = "there is no bwrap here"
HAS_BWRAP = os.path.exists("/usr/bin/bwrap")
needs_scope = pytest.mark.skipif(ABI < 6, reason=SCOPE_REASON)
needs_bwrap = pytest.mark.skipif(not HAS_BWRAP, reason=BWRAP_REASON)


@contextlib.contextmanager
def user_home(user=NOBODY):
    """A home folder of the ordinary user that the servers here run as."""
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder:
        if IS_ROOT:
            os.chown(folder, user, user)
        yield pathlib.Path(folder)


@functools.cache
def programs():
    """The build's programs, and the tests', where the ordinary user gets at them."""
    folder = pathlib.Path(tempfile.mkdtemp(dir="/tmp"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    for source in (BUILD, BUILD / "test"):
        for program in source.iterdir():
            if program.name.startswith(("ptycell", "hostile", "deny_syscalls")) and program.is_file():
                shutil.copy(program, folder)
    return folder


def as_user(user=NOBODY):
    """Popen's arguments for an ordinary user."""
    return {"user": user, "group": user, "extra_groups": []} if IS_ROOT else {}


@functools.cache
def user_of_this_run():
    """A user whom no other run of the tests has at this time: the kernel counts all processes of a user."""
    for user in range(60100, 61184):  # below are people, above are systemd's services
        held = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(OSError):
            held.bind(f"\0ptycell-test-user-{user}")
            atexit.register(held.close)
            return user
    raise RuntimeError("no user is free for the tests")


def on(place, *wrapper, program=None, as_root=False, **more):
    """Starts a server behind wrappers, as an ordinary user unless told otherwise."""
    command = [*map(str, wrapper), str(program or programs() / "ptycell")]
    return Server(place, command=command, **({} if as_root else as_user()), **more)


def hostile(kind):
    return [programs() / "hostile", kind, "--"]


def deny(calls):
    return [programs() / "deny_syscalls", calls, "--"]


# What root sets before a command that an ordinary user is to run.
AS_USER = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups") if IS_ROOT else ()
PROCS = ("off", "invisible")  # hidepid: it shows the processes of others, or none


def with_proc(hidepid):
    """A wrapper that gives the machine such a /proc; for a server that root starts."""
    if hidepid == HIDDEN_BY:
        return []
    command = ["unshare", "-m", "sh", "-c", f'mount -t proc -o hidepid={hidepid} proc /proc && exec "$@"', "sh"]
    if not IS_ROOT or subprocess.run([*command, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("only root can mount another /proc, from Linux 5.8 on")
    return command


# ---- sessions in each tier ----

# The last is root as it is in a container: there each session is a user of its own.
TIERS = ("namespaces", "bwrap", "landlock", *(["landlock for root"] if IS_ROOT else []))
INSIDE = pathlib.Path(__file__).with_name("inside.py").read_text(encoding="utf-8")


class Confined:
    """A server whose sessions are in `tier`, and what lies around it that they are after."""

    def __init__(self, tier, home, user, **env):
        self.tier = tier.split()[0]
        self.home = home
        (home / ".ssh").mkdir(mode=0o700)
        self.secret = home / ".ssh/id_rsa"
        self.secret.write_text("TOP SECRET", encoding="ascii")
        if IS_ROOT and tier in ("bwrap", "landlock"):
            for path in (home / ".ssh", self.secret):
                os.chown(path, user, user)
        self.word = f"bystander-{os.getpid()}-{tier.replace(' ', '-')}"
        identity = as_user(user) if tier in ("bwrap", "landlock") else {}
        self.bystander = subprocess.Popen(["sh", "-c", "read line", self.word], stdin=subprocess.PIPE, **identity)
        kinds = {"namespaces": [], "bwrap": hostile("apparmor")}
        command = [*map(str, kinds.get(tier, hostile("docker"))), str(programs() / "ptycell")]
        secrets = {"AWS_SECRET_ACCESS_KEY": "TOP SECRET", "LD_PRELOAD": "", "SSH_AUTH_SOCK": str(home / "agent"), **env}
        self.server = Server(home, command=command, env=secrets, **identity)
        self.ready = set()

    def prepare(self, session):
        """Puts the module of attempts into a session."""
        if session in self.ready:
            return
        self.server.call("upload_file", session_id=session, filename="inside.py", content=INSIDE)
        result = self.server.cell("import os, sys\nFOUND = {'descriptors': sorted(map(int, os.listdir('/proc/self/fd'))), "
                                  "'environment': dict(os.environ)}\nsys.path.insert(0, 'input')\nimport inside", session=session)
        assert result.state == "done", result.texts
        self.ready.add(session)

    def attempts(self, group, session="s"):
        """{attempt: answer} of a group of inside.py."""
        self.prepare(session)
        # Where /proc hides it, its number is tried; where sessions have numbers of their own, that is another's.
        number = self.bystander.pid if self.tier == "landlock" else 0
        facts = {"home": str(self.home), "bystander": self.word, "number": number, "who": session}
        result = self.server.cell(f"inside.report({group!r}, **FOUND, **{facts!r})", session=session)
        assert result.state == "done", result.texts
        read = self.server.request("resources/read", {"uri": f"session://{session}/files/{group}.json"})
        return json.loads(read["contents"][0]["text"])

    def close(self):
        self.server.close()
        self.bystander.stdin.close()
        self.bystander.wait(WAIT_S)


@contextlib.contextmanager
def confined_in(tier, user=NOBODY, **env):
    """A Confined; skips where this machine cannot have such a tier. Root runs it as `user` in tiers of an ordinary user."""
    if tier == "bwrap" and not HAS_BWRAP:
        pytest.skip(BWRAP_REASON)
    if tier.startswith("landlock") and ABI < 6:
        pytest.skip(SCOPE_REASON)
    with (user_home(user) if tier in ("bwrap", "landlock") else own_home()) as home:
        confined = Confined(tier, home, user, **env)
        try:
            confined.server.cell("1", session="first")
            seen = confined.server.call("session_info", session_id="first").object["confinement"]
            assert seen["tier"] == confined.tier
            confined.server.call("destroy_session", session_id="first")
            yield confined
        finally:
            confined.close()


@contextlib.contextmanager
def own_home():
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder:
        home = pathlib.Path(folder)
        home.chmod(0o711)
        yield home
