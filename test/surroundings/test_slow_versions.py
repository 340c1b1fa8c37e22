# SPDX-License-Identifier: MIT
"""Folders of an earlier version's server are gone on with by this one's, and the other way round."""
import os
import pathlib
import shutil
import subprocess

import pytest
from client import BUILD, Server
from indexes import Index, wheel
from patience import until
from steps import go, install

TREE = pathlib.Path(__file__).resolve().parents[2]
EARLIER = "ce920d6edfe3"  # where the work on issue 23, which promises this, began
PARTS = ["ptycell", "ptycell-launcher", "ptycell-files", "ptycell-parent", "ptycell-proxy"]
WORKS_ON = """
import subprocess
open('output/told.txt', 'w').write('told')
late = subprocess.Popen(['sh', '-c', 'until [ -e input/go ]; do sleep 0.01; done; echo late > output/late.txt; sleep 1000000'])
"""


def git(*arguments, **options):
    return subprocess.run(["git", "-C", TREE, *arguments], check=False, capture_output=True, **options)


@pytest.fixture(name="earlier", scope="module")
def fixture_earlier():
    """The earlier version's ptycell, made from the history once a build folder: what sessions need of it, not optimised."""
    if not shutil.which("git") or git("cat-file", "-e", f"{EARLIER}^{{commit}}").returncode != 0:
        pytest.skip("there is no history of the sources here, from which the earlier version is made")
    folder = BUILD.resolve() / "test" / f"version-{EARLIER}"
    if not (folder / "build/release/ptycell").exists():
        folder.mkdir(exist_ok=True)
        subprocess.run(["tar", "-x", "-C", folder], input=git("archive", EARLIER).stdout, check=True)
        made = ["cmake", "-S", ".", "-B", "build/release", "-G", "Ninja", "-C", "scripts/cmake/release.cmake",
                "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O0 -w", "-DPTYCELL_HARDEN=OFF"]
        for command in (made, ["ninja", "-C", "build/release", *PARTS]):
            subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    return folder / "build/release/ptycell"


@pytest.fixture(name="versions", params=[True, False], ids=["upgraded", "set back"])
def fixture_versions(request, earlier):
    """The programs of the first server and of the second."""
    both = [str(earlier), str(BUILD / "ptycell")]
    return both if request.param else both[::-1]


def is_there(path, text):
    until(lambda: path.exists() and path.read_text() == text)


@pytest.mark.limit(1800)
def test_the_other_version_goes_on_with_the_folders_of_a_killed_server(versions, tmp_path):
    """What came after the last look at the results is saved by those versions that know of it, not by the earlier."""
    home, (first, second) = tmp_path, versions
    server = Server(home, command=[first])
    said = server.cell(WORKS_ON).status["saved"]
    (data,) = [path.parent for path in home.glob("cache/server-*/sessions/*/data/output") if (path / "told.txt").exists()]
    kept = home / "kept" / os.path.basename(said)
    until((kept / "notebook.ipynb").exists)
    go(server)
    is_there(data / "output/late.txt", "late\n")
    server.process.kill()
    server.close()
    with Server(home, command=[second]) as server:
        assert server.cell("open('output/more.txt', 'w').write('m'); 6 * 7").text == "42\n"
        until(lambda: not data.exists())
        assert (kept / "told.txt").read_text() == "told"
        assert "told.txt" in (kept / "notebook.ipynb").read_text(encoding="utf-8")
        if second == str(BUILD / "ptycell"):
            is_there(kept / "late.txt", "late\n")
    assert [path.name for path in home.glob("kept/*/more.txt")] == ["more.txt"]
    assert len(list(home.glob("kept/*/told*.txt"))) == 1
    until(lambda: not list(home.glob("cache/server-*")))


@pytest.mark.limit(1800)
def test_both_versions_run_over_one_home_and_share_what_is_installed(versions, tmp_path):
    index = Index(wheel("alpha", "1.0", files={"alpha.py": "text = 'of a wheel'\n"}))
    index.fresh = "max-age=600"
    servers = [Server(tmp_path, "--pip-index", index.url, command=[program]) for program in versions]
    for server in servers:
        assert install(server, "alpha").object["packages"] == ["alpha 1.0"]
        assert server.cell("import alpha; open('output/a.txt', 'w').write(alpha.text); alpha.text").text == "'of a wheel'\n"
    asked = len(index.asked)
    assert not install(servers[1], "alpha", session="t").is_error and len(index.asked) == asked
    servers[0].close()
    assert servers[1].cell("open('output/b.txt', 'w').write(alpha.text); 6 * 7").text == "42\n"
    servers[1].close()
    index.close()
    assert sorted(path.name for path in tmp_path.glob("kept/*/?.txt")) == ["a.txt", "a.txt", "b.txt"]
    until(lambda: not list(tmp_path.glob("cache/server-*")))
