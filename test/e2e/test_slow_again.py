# SPDX-License-Identifier: MIT
"""Recorded sessions of all languages run again in Jupyter and give the same."""
import pytest

from rerun import assert_same, record, skip_without_jupyter
from sessions_again import ALL
from steps import skip_without


@pytest.mark.parametrize("name", ALL)
def test_a_recorded_session_runs_again(home, tmp_path, name):
    skip_without_jupyter()
    steps, also = ALL[name]
    for language in {step[0] for step in steps} & {"javascript", "r"}:
        skip_without(language)
    assert_same(record(home, steps), tmp_path / "copy", *also)
