# SPDX-License-Identifier: MIT
"""Folders of an earlier version's server are gone on with by this one's, and the other way round."""
import os
import pathlib
import shutil
import subprocess

import pytest
from client import BUILD, Server
from patience import until

TREE = pathlib.Path(__file__).resolve().parents[2]
EARLIER = "deae016c7b9a"  # an ancestor whose folders are known to be about
PARTS = ["ptycell", "ptycell-launcher", "ptycell-files", "ptycell-parent"]
WORKS_ON = """
import subprocess
open('output/told.txt', 'w').write('told')
late = subprocess.Popen(['sh', '-c', 'echo late > output/late.txt; echo; sleep 1000000'], stdout=subprocess.PIPE)
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


@pytest.mark.limit(1800)
@pytest.mark.parametrize("upgraded", [True, False], ids=["upgraded", "set back"])
def test_the_other_version_goes_on_with_the_folders_of_a_killed_server(earlier, tmp_path, upgraded):
    home, versions = tmp_path, [earlier, BUILD / "ptycell"]
    first, second = versions if upgraded else reversed(versions)
    server = Server(home, command=[str(first)])
    said = server.cell(WORKS_ON).status["saved"]
    (data,) = [path.parent for path in home.glob("cache/server-*/sessions/*/data/output") if (path / "told.txt").exists()]
    kept = home / "kept" / os.path.basename(said)
    until((data / "output/late.txt").exists)
    until((kept / "notebook.ipynb").exists)
    server.process.kill()
    server.close()
    with Server(home, command=[str(second)]) as server:
        assert server.cell("open('output/more.txt', 'w').write('m'); 6 * 7").text == "42\n"
        until(lambda: not data.exists())
        assert (kept / "told.txt").read_text() == "told" and (kept / "late.txt").read_text() == "late\n"
        assert "late.txt" in (kept / "notebook.ipynb").read_text(encoding="utf-8")
    assert [path.name for path in home.glob("kept/*/more.txt")] == ["more.txt"]
    until(lambda: not list(home.glob("cache/server-*")))
