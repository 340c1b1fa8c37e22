# SPDX-License-Identifier: MIT
import glob
import os
import pathlib
import shutil
import subprocess

import node_harness
import pytest

TESTS = pathlib.Path(__file__).resolve().parents[2]


def version_of(node):
    return subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip()


def nodes():
    """The Nodes to test, one a major version: PTYCELL_TEST_NODES, separated by colons, else the
    oldest and the newest of the machine's own and those that npm has installed below test/, with
    PTYCELL_FULL=1 all of them. The end-to-end tests run the machine's own."""
    named = os.environ.get("PTYCELL_TEST_NODES")
    if named:
        return named.split(":")
    installed = glob.glob(f"{TESTS}/*/node_modules/node*/bin/node")
    found = {}
    for node in filter(None, [shutil.which("node"), *sorted(installed)]):
        found.setdefault(version_of(node).partition(".")[0], node)
    versions = sorted(int(version[1:]) for version in found if version)
    if os.environ.get("PTYCELL_FULL") != "1":
        versions = sorted({versions[0], versions[-1]}) if versions else []
    return [found[f"v{version}"] for version in versions]


NODES = nodes()
WHOLE = bool(os.environ.get("PTYCELL_TEST_NODES")) or os.environ.get("PTYCELL_FULL") == "1"


def pytest_configure(config):
    config.addinivalue_line("markers", "one_node: the newest Node is enough: it is about what a cell's text becomes before V8 sees it")
    config.addinivalue_line("markers", "each_case: older Nodes run all cases of a test, not the first alone: they differ in what Node itself does")


def pytest_collection_modifyitems(config, items):
    begun = set()  # tests of which an older Node has a case

    def is_left_out(item):
        node = item.callspec.params.get("node") if hasattr(item, "callspec") else None
        if node in (None, NODES[-1]):
            return False
        test = (node, item.function)
        is_first = test not in begun
        begun.add(test)
        return item.get_closest_marker("one_node") or not (WHOLE or is_first or item.get_closest_marker("each_case"))

    verdicts = [(item, is_left_out(item)) for item in items]
    items[:] = [item for item, out in verdicts if not out]
    config.hook.pytest_deselected(items=[item for item, out in verdicts if out])


@pytest.fixture(params=NODES, ids=version_of, scope="module")
def node(request):
    return request.param


@pytest.fixture(scope="module")
def shared(node, tmp_path_factory):
    """One session for those tests of a file that leave nothing behind which another sees."""
    folder = tmp_path_factory.mktemp("shared")
    session = node_harness.Session(node, cwd=str(folder), env={"HOME": str(folder)})
    session.run("1")
    session.await_guard()
    yield session
    session.close()


@pytest.fixture
def start(node, tmp_path):
    """Starts sessions in a fresh workspace; they end with the test."""
    sessions = []
    (tmp_path / "output").mkdir()

    def start_session(**options):
        options.setdefault("cwd", str(tmp_path))
        options.setdefault("output", str(tmp_path / "output"))
        options.setdefault("env", {"HOME": str(tmp_path)})
        sessions.append(node_harness.Session(options.pop("node", node), **options))
        return sessions[-1]

    yield start_session
    for session in sessions:
        session.close()


@pytest.fixture
def session(start):
    return start()


@pytest.fixture
def major(session):
    return int(session.ready["version"].partition(".")[0])
