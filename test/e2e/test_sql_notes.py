# SPDX-License-Identifier: MIT
"""What exec_sql tells about a query on files: what it compares, orders or calculates with otherwise than it was meant."""
import pytest
from test_sql import put, rows, sql
from test_sql_files import notes

MIDNIGHT = ["iso of t.csv has days, as '2026-01-31', and was compared with a midnight, as text: a day is less than its midnight and never equals it; "
            "write the midnight as a day alone"]


@pytest.fixture(name="days")
def make_days(server):
    put(server, "t.csv", "id,iso,ts\n1,2026-01-31,2026-01-31 10:00:00\n2,2025-12-01,2025-12-01 00:00:00\n")
    return server


@pytest.mark.parametrize("condition, params", [
    ("iso BETWEEN '2025-12-01 00:00:00' AND '2026-01-31 23:59:59'", []), ("iso >= '2025-12-01 00:00:00'", []), ("iso >= '2025-12-01T00:00'", []), ("iso = '2026-01-31T00:00:00'", []),
    ("iso <> ?", ["2026-01-31 00:00:00.000"]), ("iso BETWEEN ? AND ?", ["2025-12-01T00:00:00", "2026-01-31"]), ("iso < '2026-01-31 00:00:00'", []), ("'2025-12-01 00:00:00' <= iso", []),
    ("iso IN ('2026-01-31 00:00:00')", []), ("iso >= datetime('2025-12-01')", []), ("iso = datetime(?)", ["2025-12-01"]), ("iso >= datetime('now', 'start of year', '-1 years')", []),
    ("iso NOT BETWEEN '2025-12-01 00:00:00' AND '2026-01-31'", []), ("iso >= strftime('%Y-%m-%dT%H:%M', '2025-12-01')", [])])
def test_days_beside_a_midnight_are_told(days, condition, params):
    assert notes(sql(days, f"SELECT id FROM t WHERE {condition}", params=params)) == MIDNIGHT


@pytest.mark.parametrize("condition", [
    "iso BETWEEN '2025-12-01' AND '2026-01-31 00:00:00'", "iso >= '2025-12-01 10:00:00'", "iso > '2025-12-01 00:00:00'", "iso <= '2026-01-31 00:00:00'", "iso <= '2026-01-31 23:59:59'",
    "iso >= datetime('now', '-30 days')", "iso >= datetime('2025-12-01', '+1 hours')", "ts >= '2025-12-01 00:00:00'", "ts BETWEEN '2025-12-01 00:00:00' AND '2026-01-31 23:59:59'", "iso >= '2025-12-01'",
    "iso >= date('2025-12-01 00:00:00')", "iso || ' 00:00:00' >= '2025-12-01 00:00:00'", "iso < CURRENT_TIMESTAMP"])
def test_days_beside_another_moment_are_not_told(days, condition):
    assert notes(sql(days, f"SELECT id FROM t WHERE {condition}")) == []


# ---- what is calculated with ----

def test_only_a_sum_with_0_and_a_product_with_1_make_a_number_of_a_text(server):
    put(server, "t.csv", "d,n,z\n2026-01-05,Ann,007\n2026-11-02,Bob,010\n")
    told = "%s of t.csv is text and was calculated with: each value counts as the number that it begins with, or as 0 ('%s'); %s"
    for term in ("d + 1", "d - 10", "10 + d", "d * 100", "d / 10", "d - 1.10", "1 - d", "d + 1e1"):
        assert notes(sql(server, f"SELECT {term} FROM t")) == [told % ("d", "2026-01-05", "julianday() gives days for ISO dates")], term
    for term in ("avg(n * 100)", "n * 1.1", "n + 1", "1 / n"):
        assert notes(sql(server, f"SELECT {term} FROM t")) == [told % ("n", "Ann", "|| joins texts")], term
    for term in ("z + 0", "0 + z", "z - 0.0", "z * 1", "1.0 * z", "z / 1.", "z + 1", "z * 100", "d + 0", "sum(z * 1.0) / 10", "z + 00"):
        assert notes(sql(server, f"SELECT {term} FROM t")) == [], term


# ---- CASE ... END as an operand ----

def test_a_case_is_an_operand(server):
    put(server, "t.csv", "id,d,flag,name,v,n\n1,31.01.2026,1,x,007,1\n2,01.12.2025,0,y,A1,2\n")
    dates = "d of t.csv is text: dates like '31.01.2026' compare as text"
    for query in ("SELECT id FROM t ORDER BY CASE WHEN d IS NULL THEN 1 ELSE 0 END, d", "SELECT id FROM t ORDER BY CASE flag WHEN 1 THEN 0 ELSE 1 END, d DESC",
                  "SELECT id FROM t ORDER BY n, CASE WHEN n > 1 THEN 1 END DESC, d", "SELECT rank() OVER (ORDER BY CASE WHEN d IS NULL THEN 1 ELSE 0 END, d) FROM t",
                  "SELECT id FROM t WHERE CASE WHEN n > 1 THEN d ELSE d END > '01.01.2026'", "SELECT id FROM t ORDER BY CASE WHEN 1 THEN d END", "SELECT max(CASE WHEN n > 1 THEN d END) FROM t",
                  "SELECT id FROM t WHERE '01.01.2026' < CASE n WHEN 1 THEN CASE WHEN flag THEN d END ELSE d END", "SELECT CASE WHEN n > 0 THEN d END AS x FROM t ORDER BY x",
                  "SELECT n, CASE WHEN n > 1 THEN 1 ELSE 0 END, d FROM t ORDER BY 3"):
        assert [note for note in notes(sql(server, query)) if note.startswith(dates)], query
    numbered = "%s of t.csv is text and was compared with a number, as text: "
    for condition, column in (("name = CASE WHEN flag THEN 1 ELSE 2 END", "name"), ("CASE n WHEN 1 THEN 10 ELSE 20 END = t.name", "name"), ("CASE WHEN flag THEN v ELSE name END > 9", "v")):
        assert [note for note in notes(sql(server, f"SELECT id FROM t WHERE {condition}")) if note.startswith(numbered % column)], condition
    for condition in ("CASE WHEN name = 'x' THEN 1 ELSE 0 END = 1", "CASE v WHEN 'A1' THEN 1 ELSE 0 END > 0", "(CASE d WHEN 'x' THEN 1 ELSE 0 END) < 1", "name = CASE WHEN n + n > 3 THEN 'y' ELSE 'x' END",
                      "CASE WHEN n > 1 THEN v + 0 ELSE 0 END < 5", "(CASE WHEN n > 1 THEN CAST(v AS REAL) END) < 5", "CASE WHEN n > 1 THEN v = '007' ELSE 0 END = 0", "CASE WHEN n > 1 THEN v || 'x' ELSE v END > 'A'",
                      "n > CASE WHEN name = 'x' THEN 0 ELSE 1 END", "CASE WHEN v IN ('A1') AND name <> 'q' THEN length(v) ELSE n END >= 1", "name = CASE WHEN flag THEN 'x' ELSE 'y' END",
                      "CASE WHEN n > 1 THEN n || '-' ELSE 'z' END > 'a' AND n = 2"):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}")) == [], condition
    for query in ("SELECT id FROM t ORDER BY CASE d WHEN '01.12.2025' THEN 1 ELSE 2 END, id", "SELECT CASE WHEN d = '31.01.2026' THEN 'x' ELSE name END AS y FROM t WHERE name <> 'q' ORDER BY y"):
        assert notes(sql(server, query)) == [], query
