#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows into a CSV file: exec_sql beside psql's copy-out, the mariadb program and sqlite3's csv mode, in turns; and groups
of a CSV file beside pandas, each in a process of its own that reads the file.

  sql.py --ours build/release/ptycell                     a million rows of each kind
  sql.py --ours build/release/ptycell --rows 10000000     and the helper's memory does not grow

Needs postgresql, odbc-postgresql, mariadb-server, odbc-mariadb, sqlite3 and python3-pandas (Debian). Figures are rows a second, "speed" is ours over
theirs, the median of the ratios round by round: above 1 is faster than theirs. Of the CSV file the figures are
seconds, of the processor too.
"""
import argparse
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import proc  # noqa: E402
from mariadb import MariaDB  # noqa: E402
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
MARIADB = {
    "numbers": "SELECT seq AS i, seq * 7919 % 100003 AS a, seq * 3 AS b FROM seq_1_to_{}",
    "texts": "SELECT seq AS i, md5(seq) AS a, concat('item ', seq) AS b FROM seq_1_to_{}",
    "orders": "SELECT seq AS id, TIMESTAMP '2026-01-01 00:00:00' + INTERVAL seq SECOND AS at, concat('city ', seq % 500) AS city, "
              "CAST(seq % 10000 / 100 AS decimal(10, 2)) AS price, seq % 7 AS quantity, seq * 0.37e0 AS weight FROM seq_1_to_{}",
    "quoted": "SELECT seq AS i, concat('a, \"b\" ', seq) AS a, concat('two\\nlines ', seq) AS b FROM seq_1_to_{}",
}
SQLITE = {
    "numbers": "SELECT i, i * 7919 % 100003 AS a, i * 3 AS b FROM r",
    "texts": "SELECT i, hex(i * 1000003) AS a, 'item ' || i AS b FROM r",
    "orders": "SELECT i AS id, '2026-01-01T00:00:00' AS at, 'city ' || i % 500 AS city, i % 10000 / 100.0 AS price, "
              "i % 7 AS quantity, i * 0.37 AS weight FROM r",
    "quoted": "SELECT i, 'a, \"b\" ' || i AS a, 'two' || char(10) || 'lines ' || i AS b FROM r",
}
GROUP = "SELECT city, count(*), avg(amount) FROM big GROUP BY city"
PANDAS = """
import pandas, sys, time
started = time.perf_counter()
df = pandas.read_csv(sys.argv[1])
first = df.groupby("city").amount.agg(["size", "mean"])
read = time.perf_counter()
df.groupby("city").amount.agg(["size", "mean"])
print(len(first), read - started, time.perf_counter() - read, time.process_time())
"""
SERIES = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT {}) "


def table_of(name):
    return f"t_{name}"


class Ours:
    def __init__(self, command, env, home):
        self.mcp = Mcp(command.split(), {**env, "PTYCELL_HOME": str(home), "PTYCELL_KEEP": "off",
                                         "PTYCELL_SQL_LITE": f"sqlite:{home}/bench.db",
                                         "PTYCELL_FILE_MAX": "100G",
                                         "PTYCELL_QUERY_TIMEOUT": "3600"})
        self.mcp.initialize()
        self.home = home
        self.mcp.call("tools/call", {"name": "exec_code", "arguments": {
            "session_id": "bench", "language": "bash", "code": "true"}}, 3600)
        self.run("SELECT 1", "files", 1)

    def run(self, query, database, rows, keep=False):
        started = time.perf_counter()
        answer = self.mcp.call("tools/call", {"name": "exec_sql", "arguments": {
            "session_id": "bench", "query": query, "database": database}}, 3600)
        seconds = time.perf_counter() - started
        if answer.get("isError") or answer["structuredContent"]["row_count"] != rows:
            raise SystemExit(f"sql.py: {answer['content']}")
        for path in self.home.glob("server-*/sessions/*/data/input/*"):
            if not keep:
                path.unlink()
        return seconds

    def helpers(self):
        for pid in proc.descendants(self.mcp.pid):
            status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
            if status.startswith("Name:\tptycell-sql\n"):
                yield pid, status

    def peak_mb(self):
        """The most that a helper ever used."""
        return max((int(status.split("VmHWM:")[1].split()[0]) // 1024 for _, status in self.helpers()), default=0)

    def processor_seconds(self):
        """Of all helpers."""
        fields = [pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split() for pid, _ in self.helpers()]
        return sum(int(f[11]) + int(f[12]) for f in fields) / os.sysconf("SC_CLK_TCK")


def psql_seconds(postgres, name, folder):
    """psql's \\copy: rows as CSV to a file of the client."""
    started = time.perf_counter()
    subprocess.run(["psql", "-h", str(postgres.folder), "-U", "boss", "-d", "postgres", "-X", "-q", "-c",
                    f"\\copy (SELECT * FROM {table_of(name)}) to '{folder}/copy.csv' csv header"],
                   check=True, env={**os.environ, "PGPASSWORD": PASSWORD})
    return time.perf_counter() - started


def mariadb_seconds(mariadb, name, folder):
    """Rows as the mariadb program writes them when it does not hold them all."""
    started = time.perf_counter()
    with open(folder / "batch.tsv", "wb") as out:
        subprocess.run(mariadb.client("-q", "-B", "-e", f"SELECT * FROM {table_of(name)}"), stdout=out, check=True)
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


def bench_mariadb(options, home):
    mariadb = MariaDB()
    try:
        ours = Ours(options.ours, mariadb.environment(), home)
        for name in options.kinds:
            mariadb.ask(f"CREATE TABLE {table_of(name)} AS {MARIADB[name].format(options.rows)}")
            pairs = measure(options, lambda: ours.run(f"SELECT * FROM {table_of(name)}", "default", options.rows),
                            lambda: mariadb_seconds(mariadb, name, home))
            report(f"mariadb {name}", options.rows, pairs, ours.peak_mb())
            mariadb.ask(f"DROP TABLE {table_of(name)}")
        ours.mcp.close()
    finally:
        mariadb.close()


def write_groups(path, rows):
    """Some 34 bytes a row."""
    chance = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        file.write("id,city,amount,day\n")
        for i in range(rows):
            file.write(f"{i},city {i % 500},{chance.random() * 1000:.2f},2026-{i % 12 + 1:02}-{i % 28 + 1:02}\n")


def group_once(options, home, path):
    """Seconds of the first query, of the next, and of the processor for both."""
    ours = Ours(options.ours, {}, home)
    (folder,) = home.glob("server-*/sessions/*/data/input")
    os.link(path, folder / "big.csv")
    before = ours.processor_seconds()
    first, again = (ours.run(GROUP, "files", 500, keep=True) for _ in range(2))
    spent = ours.processor_seconds() - before
    peak = ours.peak_mb()
    ours.mcp.close()
    return first, again, spent, peak


def bench_pandas(options, home):
    path = home / "big.csv"
    write_groups(path, 2 * options.rows)
    for _ in range(options.rounds):
        first, again, spent, peak = group_once(options, home, path)
        said = subprocess.run(["/usr/bin/python3", "-c", PANDAS, str(path)], stdout=subprocess.PIPE, text=True, check=True).stdout
        _, their_first, their_again, their_spent = map(float, said.split())
        print(f"groups of {path.stat().st_size / 1e6:.0f} MB: first {first:.2f} s, again {again:.2f}, processor {spent:.2f}, {peak} MB; "
              f"pandas {their_first:.2f}, {their_again:.2f}, with its import {their_spent:.2f}", flush=True)


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
    parser.add_argument("--against", default="psql,mariadb,sqlite3,pandas", help="comma-separated")
    options = parser.parse_args()
    options.kinds = options.kinds.split(",")
    print(f"{'':18} {'ours':>14} {'theirs':>14} {'speed':>8} {'memory':>11}")
    for name, bench in (("psql", bench_postgres), ("mariadb", bench_mariadb), ("sqlite3", bench_sqlite), ("pandas", bench_pandas)):
        if name in options.against.split(","):
            home = pathlib.Path(tempfile.mkdtemp(prefix="ptycell-bench-sql-"))
            try:
                bench(options, home)
            finally:
                shutil.rmtree(home)


if __name__ == "__main__":
    main()
