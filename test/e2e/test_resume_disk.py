# SPDX-License-Identifier: MIT
"""Sessions that last, on a disk that is full: nothing that was there is lost, and the answer is true."""
import os
import subprocess

import pytest

from client import ALONE, BUILD, LASTS, Server

SIZE = "24m"


@pytest.fixture(name="inside")
def fixture_inside(home):
    """The command of servers that share a namespace, in which a small disk of its own is mounted at their home."""
    cache = home / "cache"
    cache.mkdir(mode=0o700)
    script = f'mount -t tmpfs -o size={SIZE},mode=700 none "$0" && echo ready && exec sleep infinity'
    user = ["-U", "-r"] if os.geteuid() else []
    holder = subprocess.Popen(["unshare", *user, "-m", "sh", "-c", script, str(cache)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        if holder.stdout.readline() != b"ready\n":
            pytest.skip("no mount namespace here")
        enter = ["nsenter", "-t", str(holder.pid), "-m", *(["-U", "--preserve-credentials"] if user else [])]
        yield [*enter, "--wd=" + str(home), str((BUILD / "ptycell").resolve())], enter
    finally:
        holder.kill()
        holder.wait()


FILLS = """
import os
written = 0
with open('fill', 'wb') as f:
    try:
        while True: written += f.write(bytes(65536)); f.flush()
    except OSError as error:
        print(error.errno)
"""


def test_cells_that_a_full_disk_keeps_out_of_the_record_are_told(inside, home):
    command, _ = inside
    with Server(home, env={**ALONE, **LASTS, "PTYCELL_KEEP": "off"}, command=command) as server:
        server.cell(FILLS)
        said = [server.cell(f"# {'c' * 900}\nx = {n}").text for n in range(9)]
    told = [text for text in said if "missing in it" in text]
    assert len(told) == 1 and "outputs, or cells until the disk has room, may be missing in it" in told[0], said


@pytest.mark.parametrize("killed", (False, True))
def test_a_full_disk_loses_nothing_and_the_session_is_resumed(inside, home, killed):
    command, enter = inside
    env = {**ALONE, **LASTS, "PTYCELL_KEEP": "off"}
    with Server(home, env=env, command=command) as server:
        server.cell("echo kept > a", language="bash")
        result = server.cell(FILLS)
        assert result.text == "28\n", result.texts
        if killed:
            server.process.kill()
            server.process.wait()
    for life in (3, 4):
        with Server(home, env=env, command=command) as server:
            result = server.cell("cat a", language="bash")
            assert "Session 's' is resumed: " in result.notice, result.texts
            assert result.text == "kept\n" and result.status["cell"] >= life
            if life == 4:
                server.cell("rm fill", language="bash")
                server.call("destroy_session", session_id="s")
    left = subprocess.run([*enter, "find", str(home / "cache"), "-name", "fill"], stdout=subprocess.PIPE, check=True).stdout
    assert left == b""
