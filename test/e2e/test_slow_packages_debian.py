# SPDX-License-Identifier: MIT
"""Real packages, most with compiled parts: wheels of Debian's, each imported and used in a cell. The sessions had numpy and
pandas imported ahead, as far as they can be: an installed copy takes their place."""
import contextlib

import pytest
from client import AHEAD, Server
from debian_packages import USES, installed, version_of, wheels
from indexes import Index
from steps import install
from test_packages import HAS_PIP

LEAST = 40
pytestmark = [pytest.mark.skipif(not HAS_PIP, reason="no pip for /usr/bin/python3 here"),
              pytest.mark.skipif(len(installed()) < LEAST, reason="fewer of Debian's packages are installed here")]


@pytest.fixture(scope="module")
def index():
    with contextlib.closing(Index(*wheels(), told=True)) as index:
        yield index


AHEAD_OF_IT = ("numpy", "pandas")


def install_to_the_end(server, names):
    """Waits for as long as it takes: on a busy machine one call may not be enough."""
    while "Still installing" in (result := install(server, *names)).texts[0]:
        pass
    return result


@pytest.mark.limit(900)
@pytest.mark.parametrize("left", [(), AHEAD_OF_IT], ids=["all", "without those that are imported ahead"])
def test_packages_of_the_data_field_are_imported_and_used(home, index, left):
    names = sorted(set(installed()) - set(left))
    with Server(home, "--pip-index", index.url, env={**AHEAD, "MPLBACKEND": "Agg"}) as server:
        wanted = [f"{name}=={version_of(installed()[name])}" for name in names]
        result = install_to_the_end(server, wanted)
        assert not result.is_error and len(result.object["packages"]) == len(names), result.texts
        wrong = {}
        for name in (*names, *left):
            modules, use = USES[name]
            module = modules.split()[0]
            text = server.cell(f"import {module}; print('/packages/' in ({module}.__file__ or {module}.__path__[0]), {use})").text
            if text.split() != [str(name not in left), "True"]:
                wrong[name] = text
        assert not wrong, wrong
