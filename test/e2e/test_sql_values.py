# SPDX-License-Identifier: MIT
"""The same values as the databases' own programs show: column types and queries against psql and mariadb.

Differences are rules, each of which has a name here:
  time     a date with time is ISO 8601, with T
  binary   base64, where the programs are asked for hex
  double   a number: compared as numbers, as the programs write other digits of the same
  truth    true and false, also of MariaDB's bit(1)
  zeros    the mariadb program fills up the numbers of zerofill columns
"""
import base64
import os
import re

import pytest
from client import Server
from mariadb import MariaDB
from postgres import PACKAGES, Postgres

NULL = "\x02"
POSTGRES = {  # a type, and values of it
    "smallint": ["-32768", "32767"], "int": ["-2147483648", "0"], "bigint": ["9223372036854775807", "-9223372036854775808"],
    "numeric": ["1e30", "0.1", "'NaN'"], "numeric(12,2)": ["-1234567.89"], "real": ["0.1", "3.4e38", "'-Infinity'"],
    "float8": ["0.1::float8 + 0.2", "1e308", "5e-324", "'NaN'"], "money": ["'1234.5'"], "bool": ["true", "false"],
    "char(5)": ["'a'"], "varchar(9)": ["''", "'NA'"], "text": ["E'a\\nb'", "' x '", "'007'", "'\U0001f600\u00fc'"], "name": ["'n'"],
    "\"char\"": ["'c'"], "bytea": ["'\\x00ff'", "''"], "bit(1)": ["B'1'"], "bit(5)": ["B'10101'"], "varbit": ["B''", "B'101'"],
    "date": ["'2024-02-29'", "'infinity'", "'0044-03-15 BC'"], "time": ["'23:59:59.999999'"], "timetz": ["'12:00:00+02'"],
    "timestamp": ["'2024-02-29 12:34:56.789'", "'-infinity'"], "timestamptz": ["'2024-02-29 12:00:00+00'"],
    "interval": ["'1 mon -2 days 03:04:05'"], "uuid": ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"], "json": ["'{\"a\": [1,  2]}'"],
    "jsonb": ["'{\"b\": 1, \"a\": null}'"], "xml": ["'<a>x</a>'"], "inet": ["'10.0.0.1/8'"], "cidr": ["'10.0.0.0/8'"],
    "macaddr": ["'08:00:2b:01:02:03'"], "macaddr8": ["'08:00:2b:01:02:03:04:05'"], "point": ["'(1,2.5)'"], "line": ["'{1,2,3}'"],
    "lseg": ["'[(0,0),(1,1)]'"], "box": ["'(1,1),(0,0)'"], "path": ["'((0,0),(1,1))'"], "polygon": ["'((0,0),(1,1),(1,0))'"],
    "circle": ["'<(0,0),1>'"], "int[]": ["'{1,NULL,3}'"], "text[]": ["'{\"a,b\",NULL,\"\\\"\"}'"], "int[][]": ["'{{1,2},{3,4}}'"],
    "int4range": ["'[1,5)'"], "numrange": ["'(,2.5]'"], "tsrange": ["'[2024-01-01,)'"], "daterange": ["'empty'"],
    "int4multirange": ["'{[1,3),[5,7)}'"], "tsvector": ["'a:1 b:2'"], "tsquery": ["'a & b'"], "oid": ["4294967295"],
    "regclass": ["'pg_class'"], "regtype": ["'int'"], "pg_lsn": ["'16/B374D848'"], "xid": ["'7'"], "cid": ["'7'"], "tid": ["'(0,1)'"],
    "mood": ["'ok'"], "pair": ["'(1,\"x y\")'"], "positive": ["5"], "bpchar": ["'z  '"], "txid_snapshot": ["'10:20:10,14'"],
    "jsonpath": ["'$.a[*]'"], "oidvector": ["'1 2'"]}
MARIADB = {
    "tinyint": ["-128", "127"], "tinyint unsigned": ["255"], "bool": ["true"], "smallint": ["-32768"], "smallint unsigned": ["65535"],
    "mediumint": ["-8388608"], "mediumint unsigned": ["16777215"], "int": ["-2147483648", "7"], "int unsigned": ["4294967295"],
    "int(5) zerofill": ["42"], "bigint": ["-9223372036854775808", "9223372036854775807"], "bigint unsigned": ["18446744073709551615"],
    "decimal(10,2)": ["-12345678.90", "0.10"], "decimal(65,30)": ["12345678901234567890.123456789012345678901234567890"],
    "decimal(5,0)": ["99999"], "float": ["0.1", "3.4e38", "-1.5"], "double": ["0.1e0 + 0.2e0", "1e308", "-5e-324", "1e0/3"],
    "bit(1)": ["b'1'"], "bit(5)": ["b'10101'"], "bit(64)": ["~0"], "date": ["'2024-02-29'", "'1000-01-01'"],
    "datetime": ["'2024-02-29 12:34:56'"], "datetime(6)": ["'2024-02-29 12:34:56.789012'"], "timestamp": ["'2024-02-29 12:34:56'"],
    "timestamp(3)": ["'2024-02-29 12:34:56.789'"], "time": ["'12:34:56'", "'-838:59:59'", "'838:59:59'"],
    "time(6)": ["'12:34:56.789012'"], "year": ["2024", "1901"], "char(5)": ["'a'", "''"], "varchar(20)": ["' x '", "'NA'", "'007'"],
    "tinytext": ["'t'"], "text": ["'a\\nb\\tc'", "'\U0001f600\u00fc'"], "mediumtext": ["repeat('m', 60000)"], "longtext": ["'l'"],
    "varchar(20) character set latin1": ["'\u00fc'"], "varchar(20) character set utf8mb3": ["'\u20ac'"],
    "varchar(20) character set ucs2": ["'\u20ac'"], "binary(3)": ["x'00ff'"], "varbinary(20)": ["x'00ff10'", "''"], "tinyblob": ["x'00'"],
    "blob": ["repeat(x'ab', 300)"], "mediumblob": ["x'01'"], "longblob": ["x'02'"], "enum('a','b''c')": ["'b''c'"],
    "set('x','y','z')": ["'x,z'", "''"], "json": ["'{\"a\": [1,  2]}'"], "uuid": ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"],
    "inet6": ["'2001:db8::1'"], "inet4": ["'10.0.0.1'"], "real": ["2.5"], "numeric(6,3)": ["1.5"], "dec(4,1)": ["9.9"],
    "double precision": ["1e22"], "character varying(9)": ["'v'"], "nchar(3)": ["'n'"], "nvarchar(9)": ["'n'"], "serial": ["1"],
    "varchar(9) collate utf8mb4_bin": ["'Aa'"], "int as (1 + 1) virtual": [], "date default '2020-01-01'": []}


def normal(value, type_):
    """What the answer says, as the programs write it."""
    if value is None:
        return NULL
    if type_ == "blob":
        return base64.b64decode(value).hex()
    if value is True or value is False:
        return value
    if isinstance(value, float):
        return value
    return re.sub(r"^(\d{4,}-\d\d-\d\d)T(?=\d)", r"\1 ", str(value))


def same(ours, theirs):
    if isinstance(ours, bool):
        return theirs in (("t", "1") if ours else ("f", "0"))
    if theirs.startswith("000") and str(ours).isdigit() and theirs.isdigit():
        return int(ours) == int(theirs)
    if isinstance(ours, float):
        return theirs != NULL and ours == float(theirs)
    return ours == theirs


def chosen(queries):
    """A part of them; all with PTYCELL_FULL=1."""
    return queries if os.environ.get("PTYCELL_FULL") == "1" else queries[::6]


def check(server, queries, theirs):
    """Rows and their order, of each query."""
    different = []
    for query, expected in zip(queries, theirs):
        answer = server.call("exec_sql", session_id="s", query=query)
        assert not answer.is_error, (query, answer.texts)
        types = [column["type"] for column in answer.object["columns"]]
        rows = [[normal(value, type_) for value, type_ in zip(row, types)] for row in answer.object["rows"]]
        if len(rows) != len(expected) or not all(same(*pair) for a, b in zip(rows, expected) for pair in zip(a, b)):
            different.append((query, types, rows, expected))
    assert different == []


def combined(expressions, filters, orders):
    return [f"SELECT id, {expression} AS x FROM v {where} ORDER BY {order}"
            for expression in expressions for where in filters for order in orders]


FILTERS = ["", "WHERE n > 2", "WHERE s IS NULL OR d < 1", "WHERE id IN (1, 4, 5)", "WHERE s LIKE '%a%' OR n IS NULL"]
ORDERS = ["id", "n DESC, id", "d, id DESC"]
COMMON = ["n", "d", "s", "n * 2", "d / 3", "n + d", "abs(n)", "upper(s)", "length(s)", "coalesce(s, '-')", "nullif(n, 3)", "n % 2",
          "CASE WHEN n > 2 THEN 'many' END", "sum(n) OVER (ORDER BY id)", "concat(s, '|', n)", "round(n / 3, 2)",
          "count(s) OVER ()", "replace(s, 'a', 'b')", "(SELECT max(n) FROM v)", "trim(s)"]
SHAPES = [
    "SELECT s, count(*), sum(n), max(d) FROM v GROUP BY s ORDER BY count(*), s",
    "SELECT n, min(d) FROM v GROUP BY n HAVING count(*) > 1 OR n IS NULL ORDER BY n",
    "SELECT count(*), count(n), count(DISTINCT n), sum(n), sum(d), avg(n), avg(d), min(s), max(s) FROM v",
    "SELECT count(*), sum(n), max(s) FROM v WHERE id > 100",
    "SELECT DISTINCT n FROM v ORDER BY n",
    "SELECT a.id, b.id FROM v a JOIN v b ON a.n = b.n AND a.id < b.id ORDER BY 1, 2",
    "SELECT a.id, b.s, b.d FROM v a LEFT JOIN v b ON b.n = a.id ORDER BY 1, 2, 3",
    "SELECT a.s, b.id FROM v a RIGHT JOIN v b ON b.n = a.id ORDER BY 2, 1",
    "SELECT a.id, b.id FROM v a CROSS JOIN v b WHERE a.d > b.d ORDER BY 1, 2",
    "SELECT id FROM v UNION SELECT n FROM v ORDER BY 1",
    "SELECT n FROM v UNION ALL SELECT n FROM v WHERE n > 3 ORDER BY 1",
    "SELECT n FROM v EXCEPT SELECT id FROM v ORDER BY 1",
    "SELECT n FROM v INTERSECT SELECT id FROM v ORDER BY 1",
    "WITH t AS (SELECT n, row_number() OVER (ORDER BY id DESC) AS r FROM v) SELECT * FROM t ORDER BY r",
    "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < 5) SELECT i, i * i FROM t ORDER BY i",
    "SELECT id, rank() OVER (PARTITION BY n ORDER BY id), ntile(2) OVER (ORDER BY id) FROM v ORDER BY id",
    "SELECT id, lag(s) OVER (ORDER BY id), lead(d, 2) OVER (ORDER BY id) FROM v ORDER BY id",
    "SELECT id, sum(n) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM v ORDER BY id",
    "SELECT id FROM v WHERE EXISTS (SELECT 1 FROM v w WHERE w.n = v.id) ORDER BY id",
    "SELECT id FROM v WHERE n NOT IN (SELECT n FROM v WHERE n > 4) ORDER BY id",
    "SELECT id, s FROM v ORDER BY id LIMIT 2 OFFSET 1",
    "SELECT 'it''s', 1 AS a, 1 AS a, NULL AS nothing",
]
VALUES = "(1, 5, 0.1, 'a'), (2, NULL, 2.5, 'NA'), (3, 3, -1e-5, NULL), (4, -7, NULL, ' padded '), (5, 3, 1e15, ''), (6, 9, 3.0, 'Z\u00fcrich a')"


def rows_of(text):
    """Of the programs' output: \x03 between columns, \x04 behind rows."""
    return [line.split("\x03") for line in text.split("\x04\n")[:-1]]


@pytest.mark.parametrize("version", [None, *list(PACKAGES)[-1:]])
def test_postgresql_says_what_psql_says(home, version):
    postgres = Postgres(version)
    try:
        queries = combined(COMMON, FILTERS, ORDERS)
        assert len(queries) >= 300 and len(POSTGRES) >= 60
        queries = chosen(queries) + SHAPES
        setup = ("CREATE TYPE mood AS ENUM ('ok'); CREATE TYPE pair AS (a int, b text); CREATE DOMAIN positive AS int CHECK (VALUE > 0);"
                 f"CREATE TABLE v (id int, n int, d float8, s text); INSERT INTO v VALUES {VALUES};")
        for i, (type_, values) in enumerate(POSTGRES.items()):
            setup += f"CREATE TABLE c{i} (k serial, x {type_});" + "".join(f"INSERT INTO c{i} (x) VALUES ({v});" for v in [*values, "NULL"])
            queries.append(f"SELECT x FROM c{i} ORDER BY k")
        postgres.psql(setup)
        script = postgres.folder / "queries.sql"
        script.write_text("SET bytea_output = hex;" + "".join(f"{query};\n\\echo \x05\n" for query in queries), encoding="utf-8")
        script.chmod(0o644)
        said = postgres.run("psql", "-h", str(postgres.folder), "-U", "boss", "-d", "postgres", "-X", "-q", "-A", "-t", "-P", f"null={NULL}",
                            "-F", "\x03", "-R", "\x04\n", "-f", str(script))
        theirs = [[[re.sub(r"^\\x([0-9a-f]*)$", r"\1", value) for value in row] for row in rows_of(part.rstrip("\n") + "\x04\n")]
                  for part in said.split("\x05\n")[:-1]]
        with Server(home, env=postgres.environment()) as server:
            check(server, queries, theirs)
    finally:
        postgres.close()


def test_mariadb_says_what_mariadb_says(home):
    mariadb = MariaDB()
    try:
        setup = f"CREATE TABLE v (id int, n int, d double, s text); INSERT INTO v VALUES {VALUES};"
        queries = combined(COMMON, FILTERS, ORDERS)
        assert len(queries) >= 300 and len(MARIADB) >= 60
        queries, script = chosen(queries), ""
        for i, (type_, values) in enumerate(MARIADB.items()):
            empty = "() VALUES ()" if type_ in ("serial", "timestamp", "timestamp(3)") or not values else "(x) VALUES (NULL)"
            setup += (f"CREATE TABLE c{i} (k int NOT NULL, x {type_});" + "".join(
                f"INSERT INTO c{i} (k, x) VALUES ({k}, {v});" for k, v in enumerate(values)))
            if empty.startswith("(x)"):
                setup += f"INSERT INTO c{i} (k, x) VALUES (99, NULL);"
            elif not values:
                setup += f"INSERT INTO c{i} (k) VALUES (99);"
            queries.append(f"SELECT x FROM c{i} ORDER BY k")
        mariadb.ask(setup)
        kinds = list(MARIADB)
        for query in queries:
            column = re.fullmatch(r"SELECT x FROM c(\d+) .*", query)
            hexed = column and re.search("binary|blob|bit", kinds[int(column[1])])
            script += (query.replace("SELECT x", "SELECT lower(hex(x))") if hexed else query) + ";SELECT '\x05';"
        said = mariadb.run(mariadb.client("-N", "-B", "-e", script))
        theirs = [[[unescape(value) for value in line.split("\t")] for line in part.split("\n")[:-1]]
                  for part in said.split("\x05\n")[:-1]]
        with Server(home, env=mariadb.environment()) as server:
            check(server, queries, theirs)
    finally:
        mariadb.close()


def unescape(value):
    if value == "NULL":
        return NULL
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t", "0": "\0"}.get(found[1], found[1]), value)
