# SPDX-License-Identifier: MIT
"""The program where a person has it: installed, and in the demo."""
import json
import os
import subprocess
import xml.etree.ElementTree

import pytest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.path.abspath(os.environ["PTYCELL_BUILD"])
PTYCELL = os.path.join(BUILD, "ptycell")

pytestmark = pytest.mark.skipif(not os.path.exists(PTYCELL), reason="this build has no ptycell")


def test_helpers_are_installed_in_libexec(tmp_path):
    subprocess.run(["cmake", "--install", BUILD, "--prefix", str(tmp_path)], check=True, stdout=subprocess.DEVNULL)
    files = sorted(os.path.relpath(os.path.join(folder, name), tmp_path)
                   for folder, _, names in os.walk(tmp_path) for name in names)
    topics = [f"share/doc/ptycell/{name}" for name in sorted(os.listdir(os.path.join(ROOT, "cmd/server/help")))]
    assert files == ["bin/ptycell", "libexec/ptycell/ptycell-fetch", "libexec/ptycell/ptycell-files", "libexec/ptycell/ptycell-launcher",
                     "libexec/ptycell/ptycell-parent.so", "libexec/ptycell/ptycell-proxy", "libexec/ptycell/ptycell-sql",
                     *topics, "share/ptycell/codebox-ai.json"]
    done = subprocess.run([tmp_path / "bin/ptycell", "--version"], check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout.startswith("ptycell ")


def test_the_demo_shows_confinement_and_ends_with_a_picture_and_how_to_install(tmp_path):
    env = dict(os.environ, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache"))
    env.pop("PTYCELL_PYTHON", None)
    done = subprocess.run(["/usr/bin/python3", os.path.join(ROOT, "test/demo/run.py"), PTYCELL, str(tmp_path / "part.svg")], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    assert "Confined by " in done.stdout
    assert "AttributeError" in done.stdout and '"mcpServers"' in done.stdout
    pictures = [path for path in tmp_path.glob("ptycell/*/co2.png") if path.stat().st_size > 10_000]
    assert len(pictures) == 1
    page = (pictures[0].parent / "transcript.html").read_text(encoding="utf-8")
    assert "AttributeError" in page and page.count("data:image/png;base64,") == 1
    part = xml.etree.ElementTree.parse(tmp_path / "part.svg").getroot()
    assert len(part.findall("{*}image")) == 1 and len(part.findall("{*}rect")) > 5
    # The entry is that of the server that ran.
    entry = json.loads(done.stdout[done.stdout.index("{\n"):])["mcpServers"]["ptycell"]
    assert (entry["command"], entry["args"]) == (PTYCELL, ["--python", "/usr/bin/python3"])
    assert "cmake --install" in done.stdout and "config claude-desktop --python /usr/bin/python3 --write" in done.stdout
