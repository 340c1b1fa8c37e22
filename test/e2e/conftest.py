# SPDX-License-Identifier: MIT
import json

import client
import pytest
from client import ALONE, LASTS, Server


def pytest_runtest_setup():
    client.started[:] = [server for server in client.started if server.process.poll() is None]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        for server in client.started:
            report.sections.append((f"server {server.process.pid}, stderr", server.said()))


@pytest.fixture
def home(tmp_path):
    """The person's home folder: cache and kept results lie below it."""
    return tmp_path


@pytest.fixture
def own_server(home):
    with Server(home) as running:
        yield running


@pytest.fixture
def server(own_server):
    return own_server


@pytest.fixture
def lone_server(home):
    with Server(home, env=ALONE) as running:
        yield running


@pytest.fixture
def start(home):
    """Starts servers in one home, whose sessions last, and ends them all."""
    running = []

    def begin(**env):
        running.append(Server(home, env={**ALONE, **LASTS, **env}))
        return running[-1]

    yield begin
    for server in running:
        server.close()


@pytest.fixture
def strict_server(home):
    """Code that does not end at its deadline has no grace there."""
    with Server(home, env={"PTYCELL_STOP_GRACE": "0"}) as running:
        yield running


class Shared:
    """Servers that the tests of a module share: one for each way to start it, all in one home, and so with one cache of packages."""

    def __init__(self, home):
        self.home = home
        self.running = {}

    def __call__(self, *flags, policy=None, env=None):
        key = json.dumps([flags, policy, env], sort_keys=True)
        server = self.running.get(key)
        if server is None or server.process.poll() is not None:
            if policy is not None:
                folder = self.home / f"policy-{len(self.running)}"
                folder.mkdir(exist_ok=True)
                (folder / "policy.json").write_text(json.dumps(policy))
                flags = [*flags, "--policy", str(folder / "policy.json")]
            server = self.running[key] = Server(self.home, *flags, env=env)
        server.others.queue.clear()
        return server

    def end_sessions(self):
        for server in self.running.values():
            if server.process.poll() is None:
                for row in server.call("list_sessions").object["sessions"]:
                    server.call("destroy_session", session_id=row["session_id"])

    def close(self):
        for server in self.running.values():
            server.close()


@pytest.fixture(scope="module")
def of_module(tmp_path_factory):
    shared = Shared(tmp_path_factory.mktemp("shared"))
    yield shared
    shared.close()


@pytest.fixture
def shared(of_module):
    """Gives the module's server that was started so. Its sessions end with the test: the next one finds none."""
    yield of_module
    of_module.end_sessions()


@pytest.fixture
def shared_env():
    """What a file adds to the environment of its `shared_server`."""
    return None


@pytest.fixture
def shared_server(request, shared_env):
    """The shared one without flags, for a file that has it as its `server`. Tests that look into its home have one of their own."""
    if "home" in request.fixturenames:
        return request.getfixturevalue("own_server")
    return request.getfixturevalue("shared")(env=shared_env)


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
