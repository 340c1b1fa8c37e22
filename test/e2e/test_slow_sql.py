# SPDX-License-Identifier: MIT
"""exec_sql on CSV files that memory does not hold."""
import pytest
from patience import until
from test_sql import put, rows, sql


def write_distinct(server, name, thousands):
    """A file of so many thousand rows of 1,000 bytes: no two texts of `a` are the same, `b` has one only."""
    server.cell("rows = bytearray(b''.join(b'0000-%03d-' % j + b'x' * 983 + b',y\\n' for j in range(1000)))\n"
                f"with open('input/{name}.csv', 'wb') as f:\n    f.write(b'a,b\\n')\n    for i in range({thousands}):\n"
                "        for at, digit in enumerate(b'%04d' % i): rows[at::995] = bytes([digit]) * 1000\n        f.write(rows)")
    until(lambda: not (answer := sql(server, f"SELECT count(*) FROM {name}")).is_error and
          answer.object["rows"] == [[thousands * 1000]], 200)


@pytest.fixture
def server(servers):
    return servers(env={"PTYCELL_FILE_MAX": "4G", "PTYCELL_DISK_MAX": "8G"})


def test_only_what_a_query_reads_needs_memory(server):
    write_distinct(server, "huge", 1200)
    put(server, "small.csv", "n\n1\n")
    assert sorted(rows(server, "SELECT name FROM sqlite_master")) == [["huge"], ["small"]]
    assert rows(server, "SELECT b, count(*) FROM huge GROUP BY b") == [["y", 1_200_000]]
    assert sql(server, "SELECT max(a) FROM huge").texts[-1] == (
        "'input/huge.csv': the columns that the query names need more than 1024 MB of memory, which is the most that exec_sql takes "
        "(no setting changes that); name fewer columns, or read the file in python by chunks")
    assert rows(server, "SELECT n AS huge FROM small") == [[1]]


def test_what_earlier_queries_read_gives_way(server):
    write_distinct(server, "one", 350)
    write_distinct(server, "two", 600)
    assert rows(server, "SELECT length(max(a)) FROM one") == [[992]]
    assert rows(server, "SELECT length(max(a)) FROM two") == [[992]]


def test_a_value_is_found_where_memory_for_an_index_lacks(servers):
    """Three columns of integers take 800 MB, an index of one of them 400 MB more."""
    server = servers(env={"PTYCELL_FILE_MAX": "4G", "PTYCELL_DISK_MAX": "8G", "PTYCELL_QUERY_TIMEOUT": "600"})
    server.cell("with open('input/t.csv', 'w') as f:\n    f.write('a,b,c\\n')\n    for i in range(34000):\n"
                "        f.write('1,2,3\\n' * 1000)\n    f.write('5,6,7\\n')")
    assert rows(server, "SELECT a, b, c FROM t WHERE a = 5") == [[5, 6, 7]]
    assert rows(server, "SELECT max(b), max(c), count(*) FROM t WHERE a IN (4, 5)") == [[6, 7, 1]]
