# SPDX-License-Identifier: MIT
"""Recorded sessions of all languages run again in Jupyter and give the same: every third, with PTYCELL_FULL=1 all."""
import os

import pytest

from rerun import assert_same, record, skip_without_jupyter
from sessions_again import ALL
from steps import skip_without


CHOSEN = list(ALL) if os.environ.get("PTYCELL_FULL") == "1" else list(ALL)[::3]


@pytest.mark.parametrize("name", CHOSEN)
def test_a_recorded_session_runs_again(home, tmp_path, name):
    skip_without_jupyter()
    steps, also = ALL[name]
    for language in {step[0] for step in steps} & {"javascript", "r"}:
        skip_without(language)
    assert_same(record(home, steps), tmp_path / "copy", *also)
