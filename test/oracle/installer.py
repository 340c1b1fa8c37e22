# SPDX-License-Identifier: MIT
"""The program that installs Python packages, run as the server runs it, but without a sandbox."""
import json
import os
import pathlib
import socket
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
POLICY = {"allow": [], "block": [], "minimum": {}}


def pack(folder):
    """The program, as one text."""
    out = pathlib.Path(folder) / "installer.py"
    subprocess.run([ROOT / "scripts/pack-driver", out, out.with_suffix(".marshal"), ROOT / "lib/install/python/main.py"], check=True)
    return out.read_text()


def step(program, work, name, asked, python="/usr/bin/python3", **more):
    """The reply of one step to a request; `work` is its folder, from which the next step reads."""
    request = {"step": name, "asked": asked, "packages": [text for text in asked if not text.startswith("--")], "have": [],
               "policy": POLICY, "indexes": [], "trusted": [], "folders": [], "builds": False, "proxied": False,
               "bytes_max": 1 << 30, **more}
    ours, theirs = socket.socketpair()

    def become_three():
        os.dup2(theirs.fileno(), 3)

    child = subprocess.Popen([python, "-I", "-c", program], cwd=work, preexec_fn=become_three, close_fds=False,
                             stdin=subprocess.DEVNULL)
    theirs.close()
    ours.sendall(json.dumps(request).encode() + b"\n")
    with ours, ours.makefile("rb") as replies:
        lines = replies.read().splitlines()
    child.wait()
    return json.loads(lines[-1])
