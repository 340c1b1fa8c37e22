# SPDX-License-Identifier: MIT
"""exec_sql finds rows of CSV files by the values of several columns: the answers are SQLite's, in time that grows with the rows."""
import csv
import io
import itertools
import random
import sqlite3

import pytest
from test_sql import put, rows, write

VALUES = {"n": [None, None, 0, 1, 2, 7, 2 ** 53, 2 ** 53 + 1], "r": [None, 0.0, 1.0, 2.5, 7.0, 9007199254740992.0], "t": [None, "a", "A", "b", "\u00e9", "\u00c9"],
          "z": [None, "007", "7", "1", "x", "2.50", "9007199254740993", "9007199254740992.5"]}
TYPES = {"n": "INTEGER", "r": "REAL", "t": "TEXT", "z": "TEXT"}


def test_a_join_by_several_columns_looks_up_all_of_them(servers):
    """Found by one of the columns alone, rows would be compared three thousand million times."""
    server = servers(env={"PTYCELL_QUERY_TIMEOUT": "60"})
    for name in "ab":
        write(server, {f"input/{name}.csv": b"x,y,z\n" + b"".join(b"%d,%d,%d\n" % row for row in itertools.product(range(80), repeat=3))})
    for condition in ("ON a.x = b.x AND a.y = b.y AND a.z = b.z", "ON b.z = a.z AND b.y = a.y AND b.x = a.x", "USING (y, z, x)",
                      "ON a.x IS b.x AND a.y IS b.y AND a.z = b.z", "ON a.x = b.x WHERE b.y = a.y AND a.z = b.z AND b.y < 100"):
        assert rows(server, f"SELECT count(*) FROM a JOIN b {condition}") == [[80 ** 3]]
    assert rows(server, "SELECT count(b.z) FROM a LEFT JOIN b USING (x, y, z)") == [[80 ** 3]]
    assert rows(server, "SELECT count(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.y = a.y AND b.x = a.x AND b.z = a.z)") == [[80 ** 3]]
    assert rows(server, "SELECT count(*) FROM a WHERE (x, y, z) IN (SELECT z, x, y FROM b)") == [[80 ** 3]]


def text_of(values):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(["" if value is None else value for value in row] for row in values)
    return out.getvalue()


def conditions(chance, count):
    for _ in range(count):
        parts = []
        for _ in range(chance.randrange(1, 4)):
            a, b = chance.choice(list(VALUES)), chance.choice(list(VALUES))
            side = chance.choice([f"y.{b}", f"y.{b}", chance.choice(["1", "'1'", "7.0", "'007'", "'A'", "NULL"])])
            parts.append(f"x.{a} {chance.choice(['=', '=', 'IS'])} {side}{chance.choice(['', '', ' COLLATE NOCASE'])}")
        if chance.random() < 0.2:
            parts.append(f"x.{chance.choice('nr')} IN (1, 7, 2.5)")
        if chance.random() < 0.2:
            a, b, c, d = chance.sample(list(VALUES), 4)
            parts.append(f"(x.{a}, x.{b}) IN (SELECT {chance.choice([a, c])}, {chance.choice([b, d, f'max({d})'])} FROM u)")
        chance.shuffle(parts)
        yield " AND ".join(parts)


@pytest.mark.parametrize("seed", range(4))
def test_rows_found_by_several_columns_are_those_that_sqlite_finds(server, seed):
    chance = random.Random(seed)
    db = sqlite3.connect(":memory:")
    for name in "tu":
        made = [[chance.choice(values) for values in VALUES.values()] for _ in range(120)]
        put(server, f"{name}.csv", ",".join(VALUES) + "\n" + text_of(made))
        db.execute(f"CREATE TABLE {name} ({', '.join(f'{column} {TYPES[column]}' for column in VALUES)})")
        db.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", made)
    for condition in conditions(chance, 60):
        for query in (f"SELECT count(*), count(DISTINCT x.rowid), sum(y.rowid) FROM t x JOIN u y ON {condition}",
                      f"SELECT count(*), count(x.rowid), sum(y.rowid) FROM u y LEFT JOIN t x ON {condition}",
                      f"SELECT count(*), sum(y.rowid) FROM u y WHERE EXISTS (SELECT 1 FROM t x WHERE {condition})"):
            assert rows(server, query) == [list(row) for row in db.execute(query)], query


def test_pairs_of_texts_are_found_whatever_they_are_compared_with(server):
    """SQLite gives the values of such a SELECT as they are, and compares them as texts."""
    put(server, "t.csv", "z,n,d\n" + "007,7,a\n7,7,b\n1.0,1,c\nx,2,d\n" + "y,5,e\n" * 300)
    put(server, "u.csv", "z,n\n7,7\n1,1\n" + "5,5\n" * 300)
    for query in ("SELECT d FROM t WHERE (z, n) IN (SELECT n, n FROM u)", "SELECT d FROM t WHERE (n, z) IN (SELECT DISTINCT n, z FROM u)",
                  "SELECT d FROM (SELECT z AS q, n, d FROM t) WHERE (q, n) IN (SELECT z, n FROM u)", "SELECT d FROM t WHERE ((z), n) IN (SELECT u.z, n FROM u)",
                  "SELECT d FROM t WHERE (t.z, n) IN (WITH w AS (SELECT n AS m FROM u) SELECT m, m FROM w)",
                  "WITH m AS (SELECT n, n AS o FROM u) SELECT d FROM t WHERE (z, n) IN m", "SELECT d FROM t WHERE ((z, n)) IN (SELECT n, n FROM u)", "SELECT d FROM t WHERE (((n, z))) IN (SELECT ALL n, n FROM u)",
                  "WITH m(n, z) AS (SELECT n, n FROM u) SELECT d FROM t WHERE (n, z) IN (SELECT n, z FROM m)", "WITH m(n, z) AS MATERIALIZED (SELECT n, n FROM u) SELECT d FROM t WHERE (n, z) IN (SELECT n, m.z FROM m)",
                  "SELECT d FROM t WHERE (n, z) IN (SELECT n, z FROM (SELECT n, n AS z FROM u))", "SELECT d FROM t WHERE (n, z) IN (SELECT n, z FROM (SELECT n, n z FROM u))",
                  "SELECT d FROM (SELECT z AS n, n AS q, d FROM t) WHERE (q, n) IN (SELECT n, n FROM u)", "WITH c(q, n, d) AS (SELECT n, z, d FROM t) SELECT d FROM c WHERE (q, n) IN (SELECT n, n FROM u)"):
        assert sorted(rows(server, query)) == [["a"], ["b"], ["c"]], query
    assert rows(server, "SELECT d FROM t WHERE (z, n) IN (SELECT max(z), n FROM u GROUP BY n)") == [["b"]]  # max(z) is no column
    latest = "SELECT count(*), min(d) FROM t WHERE (d, n) IN (SELECT max(d), n FROM t GROUP BY n)"
    assert rows(server, latest) == [[303, "b"]] and "INDEX 0:?" in str(rows(server, f"EXPLAIN QUERY PLAN {latest}"))
    assert rows(server, "SELECT count(*) FROM t WHERE (z, n) NOT IN (SELECT n, n FROM u)") == [[301]]


def test_pairs_that_several_selects_give_are_those_that_sqlite_finds(server):
    put(server, "t.csv", "z,n,d\n" + "007,7,a\n7,7,b\n1.0,1,c\nx,2,d\n" + "y,5,e\n" * 300)
    put(server, "u.csv", "z,n\n7,7\nx,2\n1,1\n" + "5,5\n" * 300)
    db = sqlite3.connect(":memory:")
    for name, columns in (("t", "z TEXT, n INTEGER, d TEXT"), ("u", "z TEXT, n INTEGER")):
        db.execute(f"CREATE TABLE {name} ({columns})")
    db.executemany("INSERT INTO t VALUES (?, ?, ?)", [("007", 7, "a"), ("7", 7, "b"), ("1.0", 1, "c"), ("x", 2, "d")] + [("y", 5, "e")] * 300)
    db.executemany("INSERT INTO u VALUES (?, ?)", [("7", 7), ("x", 2), ("1", 1)] + [("5", 5)] * 300)
    for query in ("SELECT d FROM t WHERE (z, n) IN (SELECT n, n FROM u UNION SELECT z, n FROM u)", "SELECT d FROM t WHERE (z, n) IN (SELECT z, n FROM u UNION SELECT n, n FROM u)", "SELECT d FROM t WHERE (z, n) IN u",
                  "WITH m AS (SELECT z, n FROM t UNION ALL SELECT n, n FROM u) SELECT d FROM t WHERE (z, n) IN (SELECT z, n FROM m)",
                  "SELECT d FROM t WHERE (z, n) IN (VALUES (7, 7), (1, 1))", "SELECT d FROM t WHERE (n, z) IN (SELECT n, z FROM (SELECT n, n + 0 z FROM u))",
                  "SELECT d FROM t WHERE (z, n) IN (SELECT n, n FROM u INTERSECT SELECT n, n FROM t)"):
        query = query.replace("SELECT d ", "SELECT d, count(*) ") + " GROUP BY d"
        assert rows(server, query) == [list(row) for row in db.execute(query)], query
