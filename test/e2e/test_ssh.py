# SPDX-License-Identifier: MIT
"""ptycell on another machine: this one, through an sshd of our own."""
import contextlib
import os
import pathlib
import pwd
import shutil
import subprocess

import pytest

from client import BUILD, Server
from outside import PROC, pids
from patience import until
from steps import nothing_left

SSHD = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def missing():
    if not SSHD:
        return "sshd is not installed (openssh-server)"
    if not shutil.which("ssh"):
        return "ssh is not installed (openssh-client)"
    if os.path.basename(pwd.getpwuid(os.geteuid()).pw_shell) in ("nologin", "false"):
        return "this user's login shell runs no command"
    return None


pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


def make_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)


@pytest.fixture
def remote(tmp_path):
    """The words before a command that run it through ssh on this machine."""
    folder = tmp_path / "ssh"
    folder.mkdir(mode=0o700)
    for name in ("host", "user"):
        make_key(folder / name)
    shutil.copy(folder / "user.pub", folder / "authorized")
    (folder / "sshd_config").write_text(
        f"HostKey {folder}/host\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nUsePAM no\n"
        "PermitRootLogin prohibit-password\nPasswordAuthentication no\n")
    if os.geteuid() == 0:
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)  # where sshd separates its privileges
    user = pwd.getpwuid(os.geteuid()).pw_name
    # One for this connection alone, as inetd would start it: no port that another may take.
    sshd = f"{SSHD} -i -f {folder}/sshd_config -E {folder}/log"
    return ["ssh", "-T", "-F", "none", "-o", f"ProxyCommand={sshd}", "-i", str(folder / "user"),
            "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", "LogLevel=ERROR",
            "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", f"{user}@127.0.0.1"]


def processes_of(home):
    """Those that were started with a path of this test: server, helpers and interpreters have one."""
    found = []
    for folder in (PROC / str(pid) for pid in pids()):
        with contextlib.suppress(OSError):
            if str(home).encode() in (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes():
                found.append((folder / "cmdline").read_bytes())
    return found


def connect(remote, home):
    command = remote + [str(BUILD.resolve() / "ptycell"), f"--home={home}/cache", f"--keep={home}/kept", "--resume=off",
                        "--python=/usr/bin/python3"]
    return Server(home, command=command)


def test_a_session_runs_on_the_other_side(remote, tmp_path):
    with connect(remote, tmp_path) as server:
        server.cell("x = 41")
        assert server.cell("x + 1").text == "42\n"
        assert "SSH_CONNECTION" not in server.cell("import os; print(*os.environ)").text
        assert server.close() == 0
    nothing_left(tmp_path)


def test_a_connection_that_breaks_leaves_nothing(remote, tmp_path):
    with connect(remote, tmp_path) as server:
        server.cell("import subprocess; child = subprocess.Popen(['sleep', '1000'])")
        server.start_cell("while True: pass")
        assert any(b"sleep" in line or b"python" in line for line in processes_of(tmp_path / "cache"))
        server.process.kill()
        nothing_left(tmp_path)
        until(lambda: processes_of(tmp_path / "cache") == [])
