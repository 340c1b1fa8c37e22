# SPDX-License-Identifier: MIT
"""What confinement costs: one server without any, in tier namespaces and in tier bwrap, side by side.

All three run as an ordinary user and under the same filter for a system call, which for `bwrap` is one that
only tier namespaces needs: so the program takes the next tier, whose mounts are the same.
"""
import atexit
import os
import pathlib
import shlex
import shutil
import statistics
import tempfile

NOBODY = 65534
NAMES = ("unconfined", "namespaces", "bwrap")
SCENARIOS = "first_result,session_start,warm,mem"


def contestants_of(command):
    """{name: arguments of McpContestant}; the build of `command` has deny_syscalls, too."""
    words = shlex.split(command)
    build = pathlib.Path(words[0]).resolve().parent
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-tiers-", dir="/tmp"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    for program in (*build.glob("ptycell*"), build / "test/deny_syscalls"):
        if program.is_file():
            shutil.copy(program, folder)
    home = folder / "home"
    home.mkdir(mode=0o700)
    user = []
    if os.geteuid() == 0:
        os.chown(home, NOBODY, NOBODY)
        user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]

    def server(denied, *flags):
        return {"command": [*user, str(folder / "deny_syscalls"), denied, "--", str(folder / "ptycell"),
                            *words[1:], "--keep", "off", *flags],
                "env": {"HOME": str(home), "PTYCELL_HOME": str(home / "sessions")}}

    return {"unconfined": server("copy_file_range", "--unconfined"), "namespaces": server("copy_file_range", "--floor", "namespaces"),
            "bwrap": server("setns", "--floor", "bwrap")}


def _added(results, key, name):
    """What is added: the median round by round, and between the fastest of each, which noise disturbs least."""
    cells = results.rows[key]["cells"]
    pairs = zip(cells[name]["rounds"], cells["unconfined"]["rounds"])
    return (statistics.median(with_it - without for with_it, without in pairs),
            cells[name]["min"] - cells["unconfined"]["min"])


def summary(results):
    """The promises of confinement, and what was measured; nothing where one did not take part."""
    lines = []
    try:
        for name in NAMES[1:]:
            start, first = _added(results, "session_start", name), _added(results, "first_result", name)
            memory, _ = _added(results, "mem_session_pss", name)
            ratio = results.ratio("warm_expr", name, "unconfined")
            lines.append(f"{name} adds {start[0]:.2f} ms to a session's start (fastest: {start[1]:.2f}), "
                         f"{first[0] - start[0]:.2f} ms once to the first (fastest: {first[1] - start[1]:.2f}), "
                         f"{memory:.2f} MB to a session; a warm call takes {ratio:.2f} times as long")
        lines.append("promised: namespaces at most 3 ms, 0.6 MB and 1.10 times; faster than bwrap")
    except (KeyError, TypeError, statistics.StatisticsError):
        return ""
    return "\n".join(lines)
