# SPDX-License-Identifier: MIT
import pytest
from client import Server


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
