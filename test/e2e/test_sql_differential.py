# SPDX-License-Identifier: MIT
"""What the check of a query's text lets through, a real SQLite and a real PostgreSQL never find writing."""
import os
import random
import re
import sqlite3
import subprocess

from client import BUILD
from postgres import Postgres

COUNT = 100000 if os.environ.get("PTYCELL_FULL") else 20000
# Whole statements and parts that are put together at random, breaks and ambiguities among them.
READS = ["SELECT 1", "SELECT a FROM t", "SELECT * FROM t WHERE a = 1", "VALUES (1, 2)", "SELECT count(*) FROM u",
         "WITH x AS (SELECT 1) SELECT * FROM x", "(SELECT 1)", "SELECT 'DELETE FROM t'", "SELECT \"a\" FROM t",
         "WITH x AS (SELECT a FROM t) SELECT * FROM x, u", "SELECT a FROM t UNION ALL SELECT a FROM u",
         "EXPLAIN SELECT 1", "EXPLAIN QUERY PLAN SELECT 1", "SELECT a AS update FROM t", "SELECT t.a FROM t, u"]
WRITES = ["DELETE FROM t", "INSERT INTO t VALUES (1)", "UPDATE t SET a = 2", "DROP TABLE u", "CREATE TABLE v (a int)",
          "ALTER TABLE t RENAME TO w", "CREATE TABLE IF NOT EXISTS v AS SELECT 1", "INSERT INTO t SELECT 1", "VACUUM",
          "WITH x AS (SELECT 1) DELETE FROM t", "WITH x AS (DELETE FROM t RETURNING a) SELECT * FROM x",
          "SELECT a INTO v FROM t", "SELECT * FROM t FOR UPDATE", "SELECT nextval('s')", "SELECT setval('s', 5)",
          "WITH x AS (INSERT INTO t VALUES (1) RETURNING a), y AS (SELECT 1) SELECT * FROM y", "ATTACH ':memory:' AS z",
          "WITH x AS (WITH y AS (SELECT 1) DELETE FROM t RETURNING a) SELECT * FROM x",
          "WITH x AS (WITH y AS (SELECT 1) UPDATE t SET a = 2 RETURNING a) SELECT * FROM x",
          "EXPLAIN ANALYZE DELETE FROM t", "EXPLAIN (ANALYZE) INSERT INTO t VALUES (1)", "REPLACE INTO t VALUES (1)",
          "WITH x AS (SELECT 1) INSERT INTO t SELECT 1 FROM x", "PRAGMA user_version = 5", "TRUNCATE t", "REINDEX"]
JOINTS = [";", " ; ", "; ", " ", "\n", ", ", " UNION ALL ", " -- \n", " /* */ ", " /* /* */ ", " */ ", "'", "''", "\"",
          " $$ ", "$a$", " E'", "(", ")", " ( ", " ) ", " --", " --x\n", "/*", " AS ", " AS (", "[", "]", "`", "' ;", "E'\\'",
          "\\'", " WITH x AS (", " SELECT ", " FROM t", " WHERE a = '", "\r", "\r\n", "\t", "$", "U&'", ".", "1.", ";;",
          " AS (WITH x AS (SELECT 1) "]


def statements(seed):
    chance = random.Random(seed)
    for _ in range(COUNT):
        parts = [chance.choice(WRITES if chance.random() < 0.1 else READS)]
        for _ in range(chance.randrange(5)):
            parts += [chance.choice(JOINTS), chance.choice(chance.choice((READS, WRITES, JOINTS, JOINTS)))]
        if chance.random() < 0.1:
            parts.reverse()
        yield "".join(parts)


def accepted(dialect, texts):
    done = subprocess.run([BUILD / "test" / "guard_lines", dialect], input="\0".join(texts) + "\0",
                          stdout=subprocess.PIPE, encoding="utf-8", check=True)
    verdicts = [line[0] for line in done.stdout.splitlines() if line[:2] in ("+ ", "- ")]
    assert len(verdicts) == len(texts)
    return [text for text, verdict in zip(texts, verdicts) if verdict == "+"]


def written_by_sqlite(text):
    """The actions beyond reading that SQLite's authorizer is asked about."""
    actions = []
    reading = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, 33)  # 33: recursive

    def authorize(action, *_):
        if action not in reading:
            actions.append(action)
        return sqlite3.SQLITE_OK

    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript("CREATE TABLE t (a); CREATE TABLE u (a); INSERT INTO t VALUES (1)")
    before = "\n".join(db.iterdump())
    db.set_authorizer(authorize)
    try:
        db.executescript(text)
    except (sqlite3.Error, ValueError):
        pass
    db.set_authorizer(None)
    return actions or "\n".join(db.iterdump()) != before


def test_sqlite_never_finds_writing_in_what_is_accepted():
    texts = list(statements(1))
    passed = accepted("sqlite", texts)
    assert len(passed) > COUNT // 20
    assert [text for text in passed if written_by_sqlite(text)] == []
    assert any(written_by_sqlite(text) for text in set(texts) - set(passed))


def refused_by_postgres(postgres, texts):
    """Those that a read-only transaction refuses, or that get out of it."""
    script = postgres.folder / "script.sql"
    # \gexec sends a text as a driver does; psql's own reading would wait for the end of what is left open.
    lines = []
    for i, text in enumerate(texts):
        quoted = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
        lines.append(f"\\echo @{i}\nSELECT unnest(ARRAY['BEGIN READ ONLY', E'{quoted}', 'ROLLBACK']) \\gexec\n")
    script.write_text("\\set VERBOSITY verbose\n" + "".join(lines), encoding="utf-8")
    script.chmod(0o644)
    said = postgres.run("psql", "-h", str(postgres.folder), "-U", "boss", "-d", "postgres", "-X", "-q", "-f", str(script))
    found, at = set(), 0
    for line in said.splitlines():
        if re.fullmatch(r"@\d+", line):
            at = int(line[1:])
        elif " 25006: " in line:
            found.add(texts[at])
    return found


def test_postgresql_never_finds_writing_in_what_is_accepted():
    texts = list(dict.fromkeys(statements(2)))[:COUNT // 2]
    postgres = Postgres()
    try:
        postgres.psql("CREATE TABLE t (a int); CREATE TABLE u (a int); CREATE SEQUENCE s; INSERT INTO t VALUES (1)")
        passed = accepted("postgresql", texts)
        assert len(passed) > len(texts) // 20
        whole = [text for text in passed if "\0" not in text]
        assert refused_by_postgres(postgres, whole) == set()
        assert refused_by_postgres(postgres, ["SELECT ('", "DELETE FROM t", "SELECT 1"]) == {"DELETE FROM t"}
        assert postgres.psql("SELECT a FROM t") == "1"
    finally:
        postgres.close()
