# SPDX-License-Identifier: MIT
"""exec_sql on more CSV files than memory holds at once."""
import pytest
from test_sql import rows, write_long


@pytest.mark.limit(150)
def test_what_earlier_queries_read_gives_way(server):
    write_long(server, ("one", 540), ("two", 560))
    assert rows(server, "SELECT count(*) FROM one") == [[270_000]]
    assert rows(server, "SELECT count(*) FROM two") == [[280_000]]
