#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""packages.py BUILD [MEGABYTES [ROUNDS]]: installing a set of wheels that another session had already: from the call
to its answer, and to the first import. The wheels are made here: modules, compiled data and a large library."""
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/release")
os.environ["PTYCELL_BUILD"] = BUILD
import client  # noqa: E402
import indexes  # noqa: E402

MEGABYTES = int(sys.argv[2]) if len(sys.argv) > 2 else 30
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 15
PACKAGES = 5
MODULES = 300  # a package: the number that scientific packages have
LIMIT_MS = 150


def make_wheels(folder):
    """MEGABYTES in all, which do not compress, in wheels that need each other."""
    rng = random.Random(1)
    for n in range(PACKAGES):
        files = {f"part{n}/m{i}.py": f"# {rng.randbytes(600).hex()}\nvalue = {i}\n" for i in range(MODULES)}
        files[f"part{n}/__init__.py"] = f"version = {n}\n"
        files[f"part{n}/lib.bin"] = rng.randbytes(MEGABYTES * (1 << 20) // PACKAGES - sum(map(len, files.values())) // 2)
        name, data = indexes.wheel(f"part{n}", "1.0", [f"part{n - 1}"] if n else [], files)
        (folder / name).write_bytes(data)
    return sum(path.stat().st_size for path in folder.iterdir())


def timed(function):
    begun = time.perf_counter()
    answer = function()
    assert not answer.is_error, answer.texts
    return (time.perf_counter() - begun) * 1000, answer


def install(server, session):
    return timed(lambda: server.call("install_packages", wait=600, session_id=session, packages=[f"part{PACKAGES - 1}"]))


def measure(home, wheels):
    env = {"PTYCELL_KEEP": "off", "PTYCELL_PIP_INDEX": str(wheels)}
    figures = {"again": [], "import": []}
    with client.Server(home, env=env) as server:
        first, _ = install(server, "first")
        for turn in range(ROUNDS):
            session = f"s{turn}"
            server.cell("0", session=session)  # the session is there: what is measured is the installation
            ms, answer = install(server, session)
            assert answer.object["cached"], answer.object
            figures["again"].append(ms)
            figures["import"].append(timed(lambda: server.cell(f"import part{PACKAGES - 1}.m7", session=session))[0])
    return first, figures


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "wheels").mkdir()
        size = make_wheels(folder / "wheels")
        first, figures = measure(folder, folder / "wheels")
    files = PACKAGES * (MODULES + 2)
    print(f"{size / 1e6:.0f} MB in {PACKAGES} wheels, {files} files and as many compiled; {ROUNDS} rounds, milliseconds")
    print(f"  the first time, by pip            {first:8.1f}")
    for what, key in (("again, in another session", "again"), ("the first import there", "import")):
        print(f"  {what:32}  {statistics.median(figures[key]):8.1f}   worst {max(figures[key]):.1f}")
    return 0 if statistics.median(figures["again"]) < LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
