# SPDX-License-Identifier: MIT
import json

import client
import pytest
from client import ALONE, Server


def pytest_runtest_setup():
    client.started[:] = [server for server in client.started if server.process.poll() is None]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        for server in client.started:
            report.sections.append((f"server {server.process.pid}, stderr", server.stderr.decode(errors="replace")))


@pytest.fixture
def home(tmp_path):
    """The person's home folder: cache and kept results lie below it."""
    return tmp_path


@pytest.fixture
def server(home):
    with Server(home) as running:
        yield running


@pytest.fixture
def lone_server(home):
    with Server(home, env=ALONE) as running:
        yield running


@pytest.fixture
def strict_server(home):
    """Code that does not end at its deadline has no grace there."""
    with Server(home, env={"PTYCELL_STOP_GRACE": "0"}) as running:
        yield running


@pytest.fixture
def servers(home):
    """Starts servers in one home, with more options of theirs, and ends them all."""
    running = []

    def start(*flags, policy=None, kind=Server, **options):
        if policy is not None:
            (home / "policy.json").write_text(json.dumps(policy))
            flags = [*flags, "--policy", str(home / "policy.json")]
        running.append(kind(home, *flags, **options))
        return running[-1]

    yield start
    for server in running:
        server.close()
