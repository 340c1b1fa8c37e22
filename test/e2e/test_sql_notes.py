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
