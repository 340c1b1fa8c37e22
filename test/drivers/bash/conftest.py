# SPDX-License-Identifier: MIT
"""A bash with the driver for each test."""
import pytest

import harness


@pytest.fixture
def bash(tmp_path):
    session = harness.Session(tmp_path)
    yield session
    session.close()
