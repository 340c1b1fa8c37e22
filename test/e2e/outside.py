# SPDX-License-Identifier: MIT
"""The /proc by which tests look at processes from outside.

Where the machine's /proc hides processes (mount option hidepid), an ordinary user does not see those that let nobody
look into them: server, init and supervisors. scripts/test-as-user mounts one that shows all and names it in
$PTYCELL_TEST_PROC; the programs under test keep the machine's."""
import os
import pathlib
import re

import pytest

PROC = pathlib.Path(os.environ.get("PTYCELL_TEST_PROC", "/proc"))
# What an ordinary user, or a session that has no /proc of its own, sees of the processes of others.
MOUNTED = re.findall(r"^\S+ \S+ \S+ / /proc .* - proc \S+ (\S+)$", pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8"), re.M)[-1:]
HIDDEN_BY = (re.findall(r"hidepid=(\w+)", "".join(MOUNTED)) or ["off"])[0]
HIDES = HIDDEN_BY not in ("off", "0")


def pids():
    """The numbers of all processes."""
    if not (PROC / "1").exists():
        pytest.skip("/proc hides processes here (hidepid): scripts/test-as-user, run by root, gives tests one that shows them")
    return [int(name) for name in os.listdir(PROC) if name.isdigit()]
