# SPDX-License-Identifier: MIT
"""doctor packages: each language's installer is run as an installation would run it, and installs nothing."""
import os
import shutil
import subprocess

import pytest
from client import BUILD, CALL_S, WAIT_S, environment
from indexes import Index, wheel
from steps import paths_in

HAS_PIP = subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0
HAS_ALL = HAS_PIP and all(map(shutil.which, ("node", "npm", "R")))
pytestmark = pytest.mark.skipif(not HAS_ALL, reason="not all of pip, npm and R are here")
NOWHERE = "http://localhost:1"


@pytest.fixture(scope="module")
def index():
    index = Index(wheel("pip", "1.0"))
    yield index
    index.close()


@pytest.fixture
def repository(tmp_path):
    contrib = tmp_path / "cran" / "src" / "contrib"
    contrib.mkdir(parents=True)
    (contrib / "PACKAGES").write_text("Package: alphapkg\nVersion: 1.0\n")
    return tmp_path / "cran"


def doctor(home, **variables):
    env = environment(home)
    env.update({"PIP_CONFIG_FILE": os.devnull, "PTYCELL_INSTALL_TIMEOUT": str(CALL_S), **variables})
    done = subprocess.run([str(BUILD / "ptycell"), "doctor", "packages"], env=env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=WAIT_S, check=False)
    return done.returncode, " ".join(done.stdout.split())


def test_what_works_is_told_with_its_version_and_where_packages_come_from(home, index, repository):
    index.asked.clear()
    port = index.server.server_address[1]
    code, text = doctor(home, PTYCELL_PIP_INDEX=index.url, npm_config_registry=f"http://localhost:{port}/",
                        PTYCELL_R_REPOS=str(repository))
    assert code == 0, text
    assert "python pip 2" in text and "javascript npm " in text and text.count(f"packages from localhost:{port}") == 2
    assert "r R 4" in text and f"packages from {repository}" in text
    assert "/simple/pip/" in index.asked and "/npm" in index.asked
    assert not paths_in(home, "cache/*/sessions/*")


def test_what_does_not_is_told_with_why_and_what_to_type(home):
    code, text = doctor(home, PTYCELL_PIP_INDEX=f"{NOWHERE}/simple", npm_config_registry=f"{NOWHERE}/", PTYCELL_R_REPOS=NOWHERE)
    assert code == 1
    for tool, what in {"pip": "PTYCELL_PIP_INDEX=URL", "npm": "npm config set registry URL", "R": "PTYCELL_R_REPOS=URL"}.items():
        assert f"{tool} does not get through" in text and what in text, text
    assert "'localhost:1' does not answer" in text and "The registry localhost:1 does not answer. The user corrects" in text


def test_what_was_turned_off_or_is_not_there_is_no_fault(home, index, tmp_path):
    port = index.server.server_address[1]
    code, text = doctor(home, PTYCELL_PIP_INDEX="off", npm_config_registry=f"http://localhost:{port}/", PTYCELL_R=str(tmp_path / "no-r"))
    assert "turned off (PTYCELL_PIP_INDEX=off)" in text and "no-r" in text
    assert code == 0, text


def test_an_index_that_does_not_answer_in_time_is_told(home, index, tmp_path):
    index.hold.clear()
    try:
        code, text = doctor(home, PTYCELL_PIP_INDEX=index.url, PTYCELL_NODE=str(tmp_path / "no-node"),
                            PTYCELL_R=str(tmp_path / "no-r"), PTYCELL_INSTALL_TIMEOUT="1")
    finally:
        index.hold.set()
    assert code == 1 and "was not done after 1 s (PTYCELL_INSTALL_TIMEOUT)" in text, text


def test_an_index_that_is_none_is_named(home, tmp_path):
    code, text = doctor(home, PTYCELL_PIP_INDEX="nonsense", PTYCELL_NODE=str(tmp_path / "no-node"), PTYCELL_R=str(tmp_path / "no-r"))
    assert code == 1 and "the package index 'nonsense' is neither" in text


def test_doctor_alone_reaches_nothing(home, index):
    index.asked.clear()
    env = environment(home)
    env["PTYCELL_PIP_INDEX"] = index.url
    subprocess.run([str(BUILD / "ptycell"), "doctor"], env=env, capture_output=True, timeout=WAIT_S, check=False)
    assert index.asked == []
