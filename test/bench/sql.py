#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows into a CSV file: exec_sql beside psql's copy-out and sqlite3's csv mode, in turns.

  sql.py --ours build/release/ptycell                     a million rows of each kind
  sql.py --ours build/release/ptycell --rows 10000000     and the helper's memory does not grow

Needs postgresql, odbc-postgresql and sqlite3 (Debian). Figures are rows a second, "speed" is ours over
theirs, the median of the ratios round by round: above 1 is faster than theirs.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import proc  # noqa: E402
from mcp import Mcp  # noqa: E402
from postgres import PASSWORD, Postgres  # noqa: E402

# Rows of numbers, of short texts, of what a table of orders has, and of texts that need quotes.
POSTGRES = {
    "numbers": "SELECT i, i::bigint * 7919 % 100003 AS a, i::bigint * 3 AS b FROM generate_series(1, {}) i",
    "texts": "SELECT i, md5(i::text) AS a, 'item ' || i AS b FROM generate_series(1, {}) i",
    "orders": "SELECT i AS id, TIMESTAMP '2026-01-01' + i * interval '1 second' AS at, 'city ' || i % 500 AS city, "
              "(i % 10000 / 100.0)::numeric(10, 2) AS price, i % 7 AS quantity, i * 0.37::float8 AS weight "
              "FROM generate_series(1, {}) i",
    "quoted": "SELECT i, 'a, \"b\" ' || i AS a, E'two\\nlines ' || i AS b FROM generate_series(1, {}) i",
}
SQLITE = {
    "numbers": "SELECT i, i * 7919 % 100003 AS a, i * 3 AS b FROM r",
    "texts": "SELECT i, hex(i * 1000003) AS a, 'item ' || i AS b FROM r",
    "orders": "SELECT i AS id, '2026-01-01T00:00:00' AS at, 'city ' || i % 500 AS city, i % 10000 / 100.0 AS price, "
              "i % 7 AS quantity, i * 0.37 AS weight FROM r",
    "quoted": "SELECT i, 'a, \"b\" ' || i AS a, 'two' || char(10) || 'lines ' || i AS b FROM r",
}
SERIES = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT {}) "


def table_of(name):
    return f"t_{name}"


class Ours:
    def __init__(self, command, env, home):
        self.mcp = Mcp(command.split(), {**env, "PTYCELL_HOME": str(home), "PTYCELL_KEEP": "off",
                                         "PTYCELL_SQL_LITE": f"sqlite:{home}/bench.db",
                                         "PTYCELL_QUERY_ROWS_MAX": "1000000000", "PTYCELL_FILE_MAX": "100G",
                                         "PTYCELL_QUERY_TIMEOUT": "3600"})
        self.mcp.initialize()
        self.home = home
        self.run("SELECT 1", "files", 1)

    def run(self, query, database, rows):
        started = time.perf_counter()
        answer = self.mcp.call("tools/call", {"name": "exec_sql", "arguments": {
            "session_id": "bench", "query": query, "database": database}}, 3600)
        seconds = time.perf_counter() - started
        if answer.get("isError") or answer["structuredContent"]["row_count"] != rows:
            raise SystemExit(f"sql.py: {answer['content']}")
        for path in self.home.glob("server-*/sessions/*/data/input/*"):
            path.unlink()
        return seconds

    def peak_mb(self):
        """The most that a helper ever used."""
        peaks = [0]
        for pid in proc.descendants(self.mcp.pid):
            status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
            if status.startswith("Name:\tptycell-sql\n"):
                peaks.append(int(status.split("VmHWM:")[1].split()[0]) // 1024)
        return max(peaks)


def psql_seconds(postgres, name, folder):
    """psql's \\copy: rows as CSV to a file of the client."""
    started = time.perf_counter()
    subprocess.run(["psql", "-h", str(postgres.folder), "-U", "boss", "-d", "postgres", "-X", "-q", "-c",
                    f"\\copy (SELECT * FROM {table_of(name)}) to '{folder}/copy.csv' csv header"],
                   check=True, env={**os.environ, "PGPASSWORD": PASSWORD})
    return time.perf_counter() - started


def sqlite_seconds(name, folder):
    started = time.perf_counter()
    with open(folder / "lite.csv", "wb") as out:
        subprocess.run(["sqlite3", "-csv", "-header", "-readonly", str(folder / "bench.db"),
                        f"SELECT * FROM {table_of(name)}"], stdout=out, check=True)
    return time.perf_counter() - started


def measure(options, ours, theirs):
    """The rounds' seconds of both, who takes turns in beginning; the first round only warms up."""
    pairs = []
    for turn in range(options.rounds + 1):
        if turn % 2:
            their_seconds, our_seconds = theirs(), ours()
        else:
            our_seconds, their_seconds = ours(), theirs()
        pairs.append((our_seconds, their_seconds))
    return pairs[1:]


def report(what, rows, pairs, memory):
    ours, theirs = (rows / statistics.median(side) for side in zip(*pairs))
    speed = statistics.median(b / a for a, b in pairs)
    print(f"{what:18} {ours:12,.0f}/s {theirs:12,.0f}/s {speed:8.2f} {memory:8} MB", flush=True)


def bench_postgres(options, home):
    postgres = Postgres()
    try:
        ours = Ours(options.ours, postgres.environment(), home)
        for name in options.kinds:
            postgres.psql(f"CREATE TABLE {table_of(name)} AS {POSTGRES[name].format(options.rows)}")
            pairs = measure(options, lambda: ours.run(f"SELECT * FROM {table_of(name)}", "default", options.rows),
                            lambda: psql_seconds(postgres, name, home))
            report(f"psql {name}", options.rows, pairs, ours.peak_mb())
            postgres.psql(f"DROP TABLE {table_of(name)}")
        ours.mcp.close()
    finally:
        postgres.close()


def bench_sqlite(options, home):
    def make(name):
        subprocess.run(["sqlite3", str(home / "bench.db"), f"CREATE TABLE {table_of(name)} AS "
                        f"{SERIES.format(options.rows)}{SQLITE[name]}"], check=True)

    for name in options.kinds:
        make(name)
    ours = Ours(options.ours, {}, home)
    for name in options.kinds:
        pairs = measure(options, lambda: ours.run(f"SELECT * FROM {table_of(name)}", "lite", options.rows),
                        lambda: sqlite_seconds(name, home))
        report(f"sqlite3 {name}", options.rows, pairs, ours.peak_mb())
    ours.mcp.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", metavar="CMD", required=True, help="our server's command")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kinds", default="numbers,texts,orders,quoted", help="comma-separated")
    parser.add_argument("--against", default="psql,sqlite3", help="comma-separated")
    options = parser.parse_args()
    options.kinds = options.kinds.split(",")
    print(f"{'':18} {'ours':>14} {'theirs':>14} {'speed':>8} {'memory':>11}")
    for name, bench in (("psql", bench_postgres), ("sqlite3", bench_sqlite)):
        if name in options.against.split(","):
            home = pathlib.Path(tempfile.mkdtemp(prefix="ptycell-bench-sql-"))
            try:
                bench(options, home)
            finally:
                shutil.rmtree(home)


if __name__ == "__main__":
    main()
