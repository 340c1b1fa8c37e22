# SPDX-License-Identifier: MIT
"""Recorded sessions of all languages run again in Jupyter and give the same."""
import pytest

from again import differences, results, run_again, skip_without_jupyter
from client import Server
from sessions_again import ALL
from steps import skip_without


def record(home, steps, *flags, **popen):
    """The kept folder of a session with these steps."""
    with Server(home, *flags, **popen) as server:
        for step in steps:
            if isinstance(step[1], str):
                server.cell(step[1], language=step[0], **({"timeout": step[2]} if len(step) > 2 else {}))
            else:
                server.call(step[0], session_id="s", **step[1])
    (kept,) = (home / "kept").glob("*-s-*")
    return kept


def assert_same(kept, folder, *also):
    recorded, executed, work = run_again(kept, folder)
    assert differences(recorded, executed, work, *also) == []
    assert results(work / "output") == results(kept)


@pytest.mark.parametrize("name", ALL)
def test_a_recorded_session_runs_again(home, tmp_path, name):
    skip_without_jupyter()
    steps, also = ALL[name]
    for language in {step[0] for step in steps} & {"javascript", "r"}:
        skip_without(language)
    assert_same(record(home, steps), tmp_path / "copy", *also)
