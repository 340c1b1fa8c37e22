#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""packages_npm.py [--node NODE] [WORD...]: asks npm and our installer for the same packages of the same registry.

packages/registry.txt has what the registry has, packages/requests_npm.txt the requests. Both have to choose the same
versions for the same places. With words, only the requests that contain one of them. Both use the npm that lies beside
NODE, which is a file and no link: NODE/../../lib/node_modules/npm.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "e2e"))
import registries  # noqa: E402

AT_ONCE = 4
SKIPPED = 77
POLICY = {"allow": [], "block": [], "minimum": {}}
FIELDS = {"dep": "dependencies", "opt": "optionalDependencies", "peer": "peerDependencies"}


def lines(path):
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def packages():
    for line in lines(HERE / "packages/registry.txt"):
        name, version, *words = line.split()
        more = {}
        for word in words:
            key, _, value = word.partition("=")
            if key in FIELDS:
                needed, _, wanted = value.rpartition("@")
                more.setdefault(FIELDS[key], {})[needed] = wanted.replace("~_", " ")
            else:
                more[key] = [value]
        yield registries.package(name, version, **more)


def npm_of(node):
    """How to start the npm that our installer takes for this Node, or None."""
    beside = pathlib.Path(node).resolve().parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
    if beside.exists():
        return [node, str(beside)]
    return ["npm"] if shutil.which("npm") and shutil.which("node") else None


def of_npm(node, registry, words):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "package.json").write_text('{"name": "x", "version": "1.0.0"}')
        pathlib.Path(folder, "npmrc").write_text(f"registry={registry.url}\naudit=false\nfund=false\n")
        run = subprocess.run([*npm_of(node), "install", "--ignore-scripts", *words], cwd=folder, capture_output=True, check=False,
                             env={**os.environ, "npm_config_userconfig": f"{folder}/npmrc", "npm_config_cache": f"{folder}/cache"})
        if run.returncode != 0:
            return None
        lock = json.loads(pathlib.Path(folder, "package-lock.json").read_text())
        return sorted(f"{place}@{row['version']}" for place, row in lock["packages"].items()
                      if place and pathlib.Path(folder, place).exists())


def of_ours(node, registry, words):
    """(places and versions or None, what it says)"""
    with tempfile.TemporaryDirectory() as folder:
        request = {"step": "fetch", "asked": words, "packages": words, "have": [], "locked": [], "policy": POLICY, "indexes": [registry.url],
                   "options": {}, "builds": False, "proxied": False}
        ours, theirs = socket.socketpair()
        child = subprocess.Popen([node, "-e", (ROOT / "lib/install/node.cjs").read_text()], cwd=folder, close_fds=False,
                                 preexec_fn=lambda: os.dup2(theirs.fileno(), 3), stdin=subprocess.DEVNULL)
        theirs.close()
        ours.sendall(json.dumps(request).encode() + b"\n")
        with ours, ours.makefile("rb") as replies:
            reply = json.loads(replies.readline())
        child.wait()
        if not reply["ok"]:
            return None, reply["text"]
        return sorted(row["file"] for row in reply["files"]), ""


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--node", default=shutil.which("node") or "node")
    options.add_argument("words", nargs="*")
    given = options.parse_args()
    if npm_of(given.node) is None:
        print("there is no npm here")
        return SKIPPED
    rows = [line for line in lines(HERE / "packages/requests_npm.txt") if not given.words or any(word in line for word in given.words)]
    registry = registries.Registry(*packages())
    wrong = 0

    def both(line):
        return line, of_npm(given.node, registry, line.split()), of_ours(given.node, registry, line.split())

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for line, npm, (ours, said) in pool.map(both, rows):
            if npm != ours:
                wrong += 1
                print(f"{line}\n  npm:  {npm or 'refuses'}\n  ours: {ours or 'refuses: ' + said}")
    print(f"{len(rows) - wrong:4} same\n{wrong:4} differ")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
