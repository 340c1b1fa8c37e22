# SPDX-License-Identifier: MIT
import os

import pytest

import harness


def pythons():
    """The interpreters to test: PTYCELL_TEST_PYTHONS, separated by colons."""
    return os.environ.get("PTYCELL_TEST_PYTHONS", "/usr/bin/python3").split(":")


@pytest.fixture(scope="session", params=pythons())
def python(request):
    return request.param


@pytest.fixture(scope="session")
def codes(tmp_path_factory):
    """The marshalled driver of each interpreter, made once."""
    made = {}

    def get(python):
        if python not in made:
            made[python] = harness.pack(python, str(tmp_path_factory.mktemp("driver")))[1]
        return made[python]

    return get


@pytest.fixture(scope="session")
def font_cache(tmp_path_factory):
    return str(tmp_path_factory.mktemp("matplotlib"))


@pytest.fixture
def start(python, codes, font_cache, tmp_path):
    """Starts sessions in a fresh workspace; they end with the test."""
    sessions = []
    (tmp_path / "output").mkdir()

    def start_session(**options):
        options.setdefault("cwd", str(tmp_path))
        options.setdefault("output", str(tmp_path / "output"))
        options.setdefault("marshal", codes(python))
        options.setdefault("env", {"HOME": str(tmp_path), "MPLCONFIGDIR": font_cache})
        sessions.append(harness.Session(python, **options))
        return sessions[-1]

    yield start_session
    for session in sessions:
        session.close()


@pytest.fixture
def session(start):
    return start()


@pytest.fixture
def needs(python):
    def check(*modules):
        for module in modules:
            if not harness.has_module(python, module):
                pytest.skip("%s has no %s" % (python, module))

    return check
