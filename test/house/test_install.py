# SPDX-License-Identifier: MIT
"""The program where a person has it: installed, and in the demo."""
import os
import subprocess

import pytest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.path.abspath(os.environ["PTYCELL_BUILD"])
PTYCELL = os.path.join(BUILD, "ptycell")

pytestmark = pytest.mark.skipif(not os.path.exists(PTYCELL), reason="this build has no ptycell")


def test_helpers_are_installed_in_libexec(tmp_path):
    subprocess.run(["cmake", "--install", BUILD, "--prefix", str(tmp_path)], check=True, stdout=subprocess.DEVNULL)
    files = sorted(os.path.relpath(os.path.join(folder, name), tmp_path)
                   for folder, _, names in os.walk(tmp_path) for name in names)
    assert files == ["bin/ptycell", "libexec/ptycell/ptycell-fetch", "libexec/ptycell/ptycell-files", "libexec/ptycell/ptycell-launcher",
                     "libexec/ptycell/ptycell-parent.so", "libexec/ptycell/ptycell-proxy", "libexec/ptycell/ptycell-sql",
                     "share/ptycell/codebox-ai.json"]
    done = subprocess.run([tmp_path / "bin/ptycell", "--version"], check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout.startswith("ptycell ")


def test_the_demo_shows_confinement_and_ends_with_a_picture_and_the_config_entry(tmp_path):
    env = dict(os.environ, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache"))
    done = subprocess.run(["/usr/bin/python3", os.path.join(ROOT, "test/demo/run.py"), PTYCELL], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    assert "Confined by " in done.stdout
    assert "AttributeError" in done.stdout and '"mcpServers"' in done.stdout
    pictures = [path for path in tmp_path.glob("ptycell/*/co2.png") if path.stat().st_size > 10_000]
    assert len(pictures) == 1
