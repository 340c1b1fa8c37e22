# SPDX-License-Identifier: MIT
import pytest
from client import ALONE, Server


@pytest.fixture
def home(tmp_path):
    """The person's home folder: cache and kept results lie below it."""
    return tmp_path


@pytest.fixture
def server(home):
    with Server(home) as running:
        yield running
    if running.stderr:
        print(running.stderr.decode(errors="replace"))


@pytest.fixture
def lone_server(home):
    with Server(home, env=ALONE) as running:
        yield running
    if running.stderr:
        print(running.stderr.decode(errors="replace"))
