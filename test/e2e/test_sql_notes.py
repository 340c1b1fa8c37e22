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
                      "CASE WHEN n > 1 THEN length(v) + 0 ELSE 0 END < 5", "(CASE WHEN n > 1 THEN CAST(nullif(v, 'A1') AS REAL) END) < 5", "CASE WHEN n > 1 THEN v = '007' ELSE 0 END = 0", "CASE WHEN n > 1 THEN v || 'x' ELSE v END > 'A'",
                      "n > CASE WHEN name = 'x' THEN 0 ELSE 1 END", "CASE WHEN v IN ('A1') AND name <> 'q' THEN length(v) ELSE n END >= 1", "name = CASE WHEN flag THEN 'x' ELSE 'y' END",
                      "CASE WHEN n > 1 THEN n || '-' ELSE 'z' END > 'a' AND n = 2"):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}")) == [], condition
    for query in ("SELECT id FROM t ORDER BY CASE d WHEN '01.12.2025' THEN 1 ELSE 2 END, id", "SELECT CASE WHEN d = '31.01.2026' THEN 'x' ELSE name END AS y FROM t WHERE name <> 'q' ORDER BY y"):
        assert notes(sql(server, query)) == [], query


# ---- texts that are no numbers ----

HALF = "5\n-\n7\n-\n"


def test_what_a_cast_makes_0_of_is_told(server):
    put(server, "t.csv", f"x\n{HALF}")
    told = "x of t.csv is text: as numbers 2 of its 4 values are 0 ('-'); CAST(nullif(x, '-') AS REAL) makes them NULL"
    assert rows(server, "SELECT avg(CAST(x AS REAL)), avg(CAST(nullif(x, '-') AS REAL)) FROM t") == [[3.0, 6.0]]
    for query in ("SELECT avg(CAST(x AS REAL)) FROM t", "SELECT min(CAST(t.x AS INTEGER)) FROM t", "SELECT avg(x * 1.0) FROM t", "SELECT count(*) FROM t WHERE x + 0 > 4", "SELECT sum(0 + t.x) FROM t",
                  "SELECT max(CAST(x AS DECIMAL(10, 2))) FROM t", "SELECT CAST(x AS NUMERIC) FROM t WHERE x IS NOT NULL"):
        assert notes(sql(server, query)) == [told], query
    for query in ("SELECT avg(CAST(nullif(x, '-') AS REAL)) FROM t", "SELECT avg(CAST(x AS REAL)) FROM t WHERE x <> '-'", "SELECT avg(x + 0) FROM t WHERE t.x GLOB '[0-9]*'", "SELECT CAST(x AS TEXT) FROM t",
                  "SELECT avg(CASE WHEN x = '-' THEN NULL ELSE CAST(x AS REAL) END) FROM t", "SELECT avg(CASE x WHEN '-' THEN NULL ELSE CAST(x AS REAL) END) FROM t", "SELECT CAST(x AS REAL) FROM t WHERE x NOT IN ('-', '')"):
        assert notes(sql(server, query)) == [], query
    put(server, "t.csv", "x,few,y,z,d\n5,1,a,007,2026-01-05\nn.d.,2,b,08,2026-01-06\n-.5 ml,3,c,9,TBD\n<0.5,-,d,010,2026-02-05\nn.d.,4,e,011,2026-02-06\n")
    way = r"CASE WHEN x REGEXP '^[-+]?[.]?\d' THEN CAST(x AS REAL) END"
    assert rows(server, f"SELECT {way} FROM t") == [[5.0], [None], [-0.5], [None], [None]]
    assert f"x of t.csv is text: as numbers 3 of its 5 values are 0 ('n.d.', ...); {way} makes them NULL" in notes(sql(server, "SELECT sum(x * 1) FROM t"))
    assert notes(sql(server, "SELECT sum(CAST(few AS REAL)) FROM t")) == [
        "few of t.csv is text: 1 of its 5 values are not numbers ('-'); it sorts and compares as text", "few of t.csv is text: as numbers 1 of its 5 values are 0 ('-'); CAST(nullif(few, '-') AS REAL) makes them NULL"]
    assert notes(sql(server, "SELECT 1 * y FROM t")) == ["y of t.csv is text: as a number each of its values is 0 ('a', ...)"]
    assert notes(sql(server, "SELECT CAST(z AS REAL), z * 1 FROM t")) == []
    assert all("as numbers" not in note for note in notes(sql(server, "SELECT CAST(d AS INTEGER) FROM t")))


def test_a_text_beside_a_number_is_told_with_what_makes_numbers(server):
    told = "x of t.csv is text and was compared with a number, as text: "
    for data, way in ((HALF, "CAST(nullif(x, '-') AS REAL) compares numbers"), ("yes\nno\n", "no value of it begins with a number ('yes', ...)"), ("7\n12a\n13b\n", "CAST(x AS REAL) compares numbers"),
                      ("7\nn.d.\n-\n", r"CASE WHEN x REGEXP '^[-+]?[.]?\d' THEN CAST(x AS REAL) END compares numbers"), ("7\nit's\n-\nit's\n", r"CASE WHEN x REGEXP '^[-+]?[.]?\d' THEN CAST(x AS REAL) END compares numbers")):
        put(server, "t.csv", f"x\n{data}")
        assert notes(sql(server, "SELECT count(*) FROM t WHERE x > 4")) == [told + way]
    put(server, "t.csv", '"a b"\n5\n-\n7\n-\n')
    assert notes(sql(server, 'SELECT count(*) FROM t WHERE "a b" > 4')) == ["a b of t.csv is text and was compared with a number, as text: CAST(nullif(\"a b\", '-') AS REAL) compares numbers"]


def test_a_text_that_is_compared_with_true_is_told(server):
    put(server, "t.csv", "id,y\n1,a\n2,b\n")
    told = ["y of t.csv is text and was compared with true or false, which are the numbers 1 and 0: compare it with its texts, as y = 'a'"]
    for condition in ("y = true", "FALSE <> y", "y IN (true)", "t.y = TRUE AND id > 0", "CASE y WHEN true THEN 1 END"):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}")) == told, condition
    for condition in ("(y = 'a') = true", "y = 'true'", "id = true", "y = 'a' IS TRUE", "length(y) = true"):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}")) == [], condition


def test_numbers_that_sort_as_text_beside_as_many_texts_are_told(server):
    put(server, "t.csv", "id,conc,code,name,size\n1,5,A1,x,007\n2,12,B1,y,A\n3,n.d.,7,z,7\n4,n.d.,C1,x,12\n5,110,D1,y,B\n6,<0.5,E1,z,C\n")
    told = ["conc of t.csv is text: 3 of its 6 values are numbers and 3 are not ('n.d.', '<0.5'); it sorts and compares as text"]
    for query in ("SELECT max(conc) FROM t", "SELECT min(t.conc) FROM t", "SELECT id FROM t ORDER BY conc DESC", "SELECT rank() OVER (ORDER BY conc) FROM t", "SELECT id FROM t WHERE conc BETWEEN '1' AND '200'",
                  "SELECT id FROM t WHERE conc > ?1", "SELECT * FROM t ORDER BY 2", "SELECT conc AS c FROM t ORDER BY c", "SELECT a.id FROM t a JOIN t b ON a.conc < b.conc"):
        assert notes(sql(server, query, params=["2"] if "?1" in query else [])) == told, query
    for query in ("SELECT conc FROM t", "SELECT id FROM t WHERE conc = '12'", "SELECT conc, count(*) FROM t GROUP BY conc", "SELECT id FROM t WHERE conc < 'm'", "SELECT id FROM t ORDER BY length(conc), id",
                  "SELECT max(code), max(name), max(size) FROM t", "SELECT id FROM t ORDER BY code, size", "SELECT id FROM t WHERE name > 'a' AND code < size", "SELECT max(length(conc)) FROM t",
                  r"SELECT id FROM t WHERE conc NOT IN ('n.d.') ORDER BY CAST(conc AS REAL), conc"):
        assert notes(sql(server, query)) == [], query
    assert len(notes(sql(server, "SELECT id FROM t WHERE conc > 9 ORDER BY conc"))) == 1


def test_times_in_a_column_of_days_are_told_as_what_they_are(server):
    put(server, "t.csv", "id,d,t\n1,2026-01-31,9:05\n2,2026-01-30 10:00:00,08:00\n3,2026-01-29 10:00:00,07:00\n")
    told = notes(sql(server, "SELECT id FROM t WHERE d = '2026-01-31'"))
    assert told[-1] == ("some values of d of t.csv have times, as '2026-01-30 10:00:00', and were compared with a date that has none, as text: none of that day equals it, "
                        "and all of them are more; substr(d, 1, 10) compares days")
    put(server, "u.csv", "t\n9:05\n08:00\n")
    (told,) = notes(sql(server, "SELECT t, count(*) FROM u GROUP BY t"))
    assert told.startswith("t of u.csv has times in several forms ('9:05', '08:00'): ")


def test_what_keeps_the_order_of_texts_is_told_as_they_are(server):
    put(server, "t.csv", "id,d\n1,31.01.2026\n2,01.12.2025\n")
    for item in ("lower(d)", "upper(t.d)", "d || ''", "CAST(d AS TEXT)", "lower(CAST(d AS TEXT))"):
        for query in (f"SELECT id FROM t ORDER BY {item} DESC", f"SELECT max({item}) FROM t"):
            (told,) = notes(sql(server, query))
            assert told.startswith("d of t.csv is text: dates like '31.01.2026' compare as text"), query
    for item in ("substr(d, 7) || substr(d, 4, 2)", "lower(id)", "length(d)", "d || ' ' || id", "upper(substr(d, 7))"):
        assert notes(sql(server, f"SELECT id FROM t ORDER BY {item}")) == [], item


# ---- row values ----

def test_row_values_are_compared_part_by_part(server):
    put(server, "n.csv", "a,b,d\n1,x,2026-01-05\n2,y,2026-01-06\n")
    for query in ("SELECT count(*) FROM n WHERE (b, a) IN (SELECT b, a FROM n)", "SELECT count(*) FROM n WHERE (b, a) = ('x', 1)", "SELECT count(*) FROM n x JOIN n y ON (x.b, x.a) = (y.b, y.a)",
                  "SELECT count(*) FROM n WHERE (b, a) IN (VALUES ('x', 1))", "SELECT count(*) FROM n WHERE (SELECT b, a) = (SELECT 'x', 1)", "SELECT count(*) FROM n WHERE (b, a) < ('y', 9)",
                  "SELECT count(*) FROM n WHERE (a, b, d) NOT IN (SELECT a, b, d FROM n WHERE a = 9)", "SELECT count(*) FROM n WHERE (d, a) BETWEEN ('2026-01-05', 1) AND ('2026-01-09', 2)",
                  "SELECT count(*) FROM n WHERE b IN ('x', 'y') AND (a) IN (1, 2)",
                  "SELECT count(*) FROM n WHERE (b, a) IN (('x', 1), ('q', 2))", "SELECT count(*) FROM n WHERE (a, d) NOT IN ((1, '2026-01-09'))"):
        answer = sql(server, query)
        assert answer.object["rows"][0][0] > 0 and notes(answer) == [], query
    numbered = ["b of n.csv is text and was compared with a number, as text: no value of it begins with a number ('x', ...)"]
    for query in ("SELECT count(*) FROM n WHERE (a, b) = (1, 5)", "SELECT count(*) FROM n WHERE (a, b) IN (SELECT a, a FROM n)", "SELECT count(*) FROM n WHERE b IN (1, 2)",
                  "SELECT count(*) FROM n WHERE (a, b) IN ((1, 'x'), (2, 5))", "SELECT count(*) FROM n WHERE b = (SELECT max(n.a, 0) FROM n, n m ORDER BY 1, 1)"):
        assert notes(sql(server, query)) == numbered, query
    assert "was compared with one that is written otherwise" in notes(sql(server, "SELECT a FROM n WHERE (a, d) < (2, '6.1.2026')"))[0]


# ---- constants ----

SAME = "it is a text, the same for each row; the column is %s"


def test_a_text_that_stands_for_a_column_is_told(server):
    put(server, "k.csv", "k,v,zip code\na,1,8000\nb,3,8001\nc,2,8002\n")
    for query, told in (("SELECT k, v FROM k ORDER BY 'v' DESC", "ORDER BY 'v' orders nothing: " + SAME % "v"), ("SELECT k, sum(v) FROM k GROUP BY 'k'", "GROUP BY 'k' separates nothing: " + SAME % "k"),
                        ("SELECT k, rank() OVER (PARTITION BY 'k' ORDER BY v) FROM k", "PARTITION BY 'k' separates nothing: " + SAME % "k"), ("SELECT rank() OVER (ORDER BY k, 'zip code') FROM k", "ORDER BY 'zip code' orders nothing: " + SAME % '"zip code"'),
                        ("SELECT sum(v) AS s FROM k GROUP BY k ORDER BY 's'", "ORDER BY 's' orders nothing: it is a text, the same for each row; a column has no single quotes"),
                        ("SELECT count(DISTINCT 'v') FROM k", "count() of 'v': " + SAME % "v"), ("SELECT max('V') FROM k", "max() of 'V': " + SAME % "v"),
                        ("SELECT k FROM k WHERE 'k' = 'a'", "'k' is compared with a constant: " + SAME % "k"), ("SELECT k FROM k WHERE 'v' > 2 AND v > 0", "'v' is compared with a constant: " + SAME % "v"),
                        ("SELECT k FROM k WHERE 'zip code' IS NULL", "'zip code' is compared with a constant: " + SAME % '"zip code"'), ("SELECT k FROM k WHERE 'k' NOT IN ('a', 'b')", "'k' is compared with a constant: " + SAME % "k"),
                        ("SELECT k FROM k WHERE 'k' BETWEEN 'a' AND 'b'", "'k' is compared with a constant: " + SAME % "k"), ("SELECT k FROM k WHERE 'a' = 'k'", "'k' is compared with a constant: " + SAME % "k")):
        assert told in notes(sql(server, query)), query
    for query, word in (("SELECT k FROM k ORDER BY ? DESC", "ORDER BY ? orders"), ("SELECT sum(v) FROM k GROUP BY ?", "GROUP BY ? separates"), ("SELECT k FROM k ORDER BY v, :by", "ORDER BY :by orders")):
        assert notes(sql(server, query, params=["v"])) == [f"{word} nothing: a parameter is a value, the same for each row; the name of a column stands in the query itself"], query
    for query in ("SELECT k, v FROM k ORDER BY v DESC, \"k\"", "SELECT k, v FROM k ORDER BY 2", "SELECT 'all' AS what, k, sum(v) FROM k GROUP BY 'all', k", "SELECT k FROM k WHERE k = 'k' OR k IN ('v', 'k')", "SELECT k FROM k WHERE 'k' = k",
                  "SELECT count('x'), count(*), count(k) FROM k", "SELECT max('v', k) FROM k", "SELECT k FROM k ORDER BY k = 'v', k || 'x'", "SELECT k FROM k ORDER BY coalesce(k, 'v')", "SELECT k, row_number() OVER (PARTITION BY 1 ORDER BY v) FROM k",
                  "SELECT 'k', k FROM k WHERE 'x' = 'x'", "SELECT k FROM k WHERE k LIKE 'v' ORDER BY k COLLATE NOCASE", "SELECT group_concat(k, 'v') FROM k"):
        assert notes(sql(server, query)) == [], query
    assert notes(sql(server, "SELECT k FROM k WHERE :by = 'k' AND k = :x ORDER BY CASE :by WHEN 'v' THEN v ELSE k END", params=["k", "a"])) == []


def test_a_text_that_is_a_condition_by_itself_is_told(server):
    put(server, "k.csv", "k,v,flag\na,1,true\nb,3,false\n")
    told = "the text '%s' is a condition by itself here, %s for each row; compare a column with it, as in k = 'a' OR k = 'b'"
    for condition, text, truth in (("k = 'a' OR 'b'", "b", "false"), ("(k = 'a' OR 'b') AND v > 0", "b", "false"), ("v > 0 AND NOT 'x'", "x", "false"), ("k = 'a' OR '7 days'", "7 days", "true"), ("k = ('a' OR 'c')", "c", "false")):
        assert told % (text, truth) in notes(sql(server, f"SELECT k FROM k WHERE {condition}")), condition
    assert notes(sql(server, "SELECT k FROM k WHERE 'flag'")) == ["the text 'flag' is a condition by itself here, false for each row; the column is flag"]
    for condition in ("k = 'a' OR k = 'b'", "k BETWEEN 'a' AND 'b'", "k NOT BETWEEN 'a' AND 'b' OR v = 1", "k IS NOT 'b'", "CASE k WHEN 'a' THEN 1 WHEN 'b' THEN 0 END", "k IN ('a') AND 'a' = k", "k LIKE 'a' OR 'b' LIKE k", "k = 'a' AND flag"):
        assert notes(sql(server, f"SELECT k FROM k WHERE {condition}")) == [], condition


def test_a_comparison_with_null_is_told(server):
    put(server, "k.csv", "k,v\na,1\nb,\n")
    told = ["a comparison with NULL is true for no row: IS NULL finds missing values, IS NOT NULL the others"]
    for condition in ("v = NULL", "v <> NULL", "NULL != v", "k = 'a' OR v == null", "v > NULL AND k = 'a'", "CASE v WHEN NULL THEN 1 ELSE 0 END", "count(*) FILTER (WHERE v = NULL)", "k <> NULL"):
        query = f"SELECT {condition} FROM k" if "count" in condition else f"SELECT k FROM k WHERE {condition}"
        assert notes(sql(server, query)) == told, condition
    for condition in ("k NOT IN ('a', NULL)", "k NOT IN (NULL)", "v NOT IN (NULL, 2) OR k = 'x'"):
        assert notes(sql(server, f"SELECT k FROM k WHERE {condition}")) == ["NOT IN with NULL in its list is true for no row: leave NULL out"], condition
    for condition in ("v IS NULL", "v IS NOT NULL", "k IN ('a', NULL)", "coalesce(v, NULL) = 1", "v = nullif(v, NULL)", "CASE WHEN v = 1 THEN NULL END IS NULL", "k NOT IN ('a', coalesce(NULL, 'b'))", "k = 'NULL' OR v IS 1",
                      "v = (SELECT NULL)", "(:x IS NULL OR v = :x)"):
        assert notes(sql(server, f"SELECT k, NULL AS n FROM k WHERE {condition}", params=[None] if ":x" in condition else [])) == [], condition


def test_not_in_beside_missing_values_is_told(server):
    put(server, "k.csv", "k,v,w,q\na,1,x,1\nb,2,y,2\nc,3,z,3\n")
    put(server, "m.csv", 'v,w,full,blank,short\n1,x,1,"",1\n,,2,"",2\n3,z,3,y,\n4,NA,4,y\n')
    told = "NOT IN is true for no row here, as %s has missing values: WHERE %s IS NOT NULL in its SELECT leaves them out"
    for condition, name in (("v NOT IN (SELECT v FROM m)", "v"), ("w NOT IN (SELECT DISTINCT w FROM m) OR v = 9", "w"), ("q NOT IN (SELECT short FROM m)", "short")):
        answer = sql(server, f"SELECT k FROM k WHERE {condition}")
        assert answer.object["rows"] == [] and told % (name, name) in notes(answer), condition
    for condition in ("v NOT IN (SELECT full FROM m)", "w NOT IN (SELECT blank FROM m)", "v IN (SELECT v FROM m)", "v NOT IN (SELECT v FROM m WHERE v IS NOT NULL)", "v NOT IN (SELECT coalesce(v, 0) FROM m)",
                      "v NOT IN (SELECT q FROM k)", "NOT EXISTS (SELECT v FROM m)"):
        assert not [note for note in notes(sql(server, f"SELECT k FROM k WHERE {condition}")) if "NOT IN" in note], condition
    for cte in ("m AS (SELECT 1 AS v)", "m(v) AS (SELECT 1)", "m AS MATERIALIZED (SELECT 1 AS v)", "m AS NOT MATERIALIZED (SELECT 1 AS v)"):
        assert notes(sql(server, f"WITH {cte} SELECT k FROM k WHERE v NOT IN (SELECT v FROM m)")) == [], cte


# ---- functions of dates ----

def test_a_date_function_that_gives_null_for_each_date_is_told(server):
    put(server, "t.csv", "id,ts\n1,2026-01-31 10:00:00\n2,2025-12-01 00:00:00\n")
    (told,) = notes(sql(server, "SELECT strftime('%Q', ts) FROM t"))
    assert told == "strftime('%Q', ...) is NULL for each date: SQLite does not know its format; %Y %m %d %H %M %S %j %w %W %s are some that it knows"
    (told,) = notes(sql(server, "SELECT id FROM t WHERE strftime('%Y %!', ts) = '2026 x'"))
    assert told.startswith("strftime('%Y %!', ...) is NULL for each date")
    for query, call in (("SELECT date(ts, '+1 moth') FROM t", "date(..., '+1 moth')"), ("SELECT datetime(t.ts, 'start of weak') FROM t", "datetime(..., 'start of weak')"),
                        ("SELECT strftime('%Y', ts, '1 dayz') FROM t", "strftime('%Y', ..., '1 dayz')")):
        assert notes(sql(server, query)) == [call + " is NULL for each date: SQLite does not know its modifier; '+1 month' and 'start of month' are two that it knows"], query
    for query, call in (("SELECT id FROM t WHERE date(ts) = date('2026-1-31')", "date('2026-1-31')"), ("SELECT julianday('31.01.2026') - julianday(ts) FROM t", "julianday('31.01.2026')")):
        assert call + " is NULL: a date is written as '2026-01-31'" in notes(sql(server, query)), query
    assert "date(?) is NULL: a date is written as '2026-01-31'" in notes(sql(server, "SELECT id FROM t WHERE date(ts) = date(?)", params=["31/01/2026"]))
    for query in ("SELECT strftime('%Y-%m-%d %H:%M:%f', ts), strftime('%j %W %w %s %%', ts), strftime('%d.%m.', ts, '-1 day', 'start of month'), date(ts, 'weekday 1') FROM t",
                  "SELECT date(1767600000, 'unixepoch'), date(id, 'unixepoch', '+1 day'), datetime(id, 'auto'), date(id, 'julianday'), date('now', '-7 days'), date(), date(NULL) FROM t",
                  "SELECT date(ts, '+' || id || ' days'), datetime('2026-01-31', '+1 month'), time('10:00'), strftime('%H', '10:00'), unixepoch('2026-01-05'), date(ts, NULL) FROM t", "SELECT date(ts, ?) FROM t",
                  "SELECT strftime('%Y', ts) AS strftime, 'date(x)' FROM t", "SELECT date(2460000.5), julianday('now') - julianday(ts) FROM t"):
        assert notes(sql(server, query, params=["+1 day"] if "?" in query else [])) == [], query


def test_what_date_functions_give_beside_another_form_is_told(server):
    put(server, "t.csv", "id,ts,iso\n1,2026-01-31 10:00:00,2026-01-31\n2,2025-12-01 00:00:00,2025-12-01\n")
    told = "%s gives texts like '%s' and was compared with %s, as text: write it in the same form"
    for condition, call, like, other in (
            ("date(ts) = '2026-1-31'", "date()", "2026-01-05", "'2026-1-31'"), ("date(ts) >= '31.01.2026'", "date()", "2026-01-05", "'31.01.2026'"), ("strftime('%m', ts) = '1'", "strftime()", "01", "'1'"),
            ("'2026-1' = strftime('%Y-%m', ts)", "strftime()", "2026-01", "'2026-1'"), ("date(ts) = '2026-01-31 00:00:00'", "date()", "2026-01-05", "'2026-01-31 00:00:00'"),
            ("datetime(ts) = '2025-12-01'", "datetime()", "2026-01-05 05:00:00", "'2025-12-01'"), ("strftime('%m', ts) IN ('01', '2')", "strftime()", "01", "'2'"), ("date(ts) >= datetime('2025-12-01')", "date()", "2026-01-05", "datetime()"),
            ("date(ts) >= '2025-12-01T00:00:00'", "date()", "2026-01-05", "'2025-12-01T00:00:00'"), ("date(ts) <> '2026/01/31'", "date()", "2026-01-05", "'2026/01/31'"), ("time(ts) = '10:00'", "time()", "05:00:00", "'10:00'"),
            ("date(ts) BETWEEN '2026-1-1' AND '2026-12-31'", "date()", "2026-01-05", "'2026-1-1'"), ("datetime(ts) > '2026-01-05T10:00:00'", "datetime()", "2026-01-05 05:00:00", "'2026-01-05T10:00:00'")):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}")) == [told % (call, like, other)], condition
    assert notes(sql(server, "SELECT id FROM t WHERE strftime('%m', ts) = ?", params=["1"])) == [told % ("strftime()", "01", "'1'")]
    for condition in ("date(ts) = '2026-01-31'", "date(ts) >= '2026-01'", "date(ts) >= '2026'", "strftime('%m', ts) = '01'", "strftime('%m', ts) IN ('01', '12')", "date(ts) BETWEEN '2026-01-01' AND '2026-12-31 23:59:59'",
                      "datetime(ts) >= '2026-01-31'", "datetime(ts) >= '2026-01-31 10:00'", "date(ts) = iso", "date(ts) <> ''", "strftime('%s', ts) > '1'", "time(ts) >= '09:00'", "strftime('%Y', ts) = '2026'", "date(ts) = date('2026-01-31')",
                      "date(ts) < datetime('now')", "date(ts) = coalesce('2026-01-31', iso)", "strftime('%f', ts) = '00.000'", "strftime('%Y', ts) || '-1' = '2026-1'", "strftime('%w', ts) = '6'", "strftime('%j', ts) <= '031'", "date(ts) IN (iso, '2026-01-31')"):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}")) == [], condition
    for condition in ("iso = '20260131'", "iso >= '20260131'", "iso IN ('20260131')"):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}")) == ["iso of t.csv has dates like '2026-01-31' and was compared with one that is written otherwise, as text: write it as the file does"], condition
    assert notes(sql(server, "SELECT id FROM t WHERE iso = '20269931' OR iso = '2026'")) == []


# ---- JSON ----

def test_a_value_of_json_is_not_the_text_that_it_is_in(server):
    put(server, "t.csv", 'id,js,name\n1,"{""a"":5,""b"":""x""}",5\n2,"{""a"":7,""b"":""y""}",y\n')
    for condition in ("js ->> '$.a' = 5", "t.js ->> 'a' > 5", "(js ->> '$.a') > 5", "5 = js ->> '$.a'", "js -> '$.c' ->> 'd' IS NULL", "js ->> '$.b' = name", "js ->> '$.a' IN (5, 7)", "js ->> '$.a' BETWEEN 1 AND 9",
                      "coalesce(js ->> '$.a', 0) > 1", "json_extract(js, '$.a') = 5", "id = js ->> '$.a' - 4", "id > 0 AND js ->> '$.b' = 'x'", "id < js ->> 'a'"):
        answer = sql(server, f"SELECT id FROM t WHERE {condition}")
        assert answer.object["rows"] and notes(answer) == [], condition


def test_a_value_of_json_beside_the_other_kind_is_told(server):
    put(server, "t.csv", 'id,js,other\n1,"{""a"":5,""b"":""7"",""ok"":true,""m"":1}",\n2,"{""a"":7.5,""b"":""8"",""ok"":false,""m"":""x""}",\n3,,"{""a"":1}"\n')
    numbers = "%s gives numbers here, which equal no text: compare it with a number"
    texts = "%s gives texts here, which equal no number: compare it with a text"
    for condition, told, what in (("js ->> '$.a' = '5'", numbers, "js ->> '$.a'"), ("json_extract(js, '$.a') = '5'", numbers, "json_extract(js, '$.a')"), ("t.js ->> 'a' IN ('5', '7')", numbers, "t.js ->> 'a'"),
                                  ("'5' < js ->> 'a'", numbers, "js ->> 'a'"), ("js ->> 'a' BETWEEN '1' AND '9'", numbers, "js ->> 'a'"), ("js ->> '$.b' = 7", texts, "js ->> '$.b'"), ("js ->> '$.b' > -1.5", texts, "js ->> '$.b'"),
                                  ("js -> '$.a' = 5", texts, "js -> '$.a'"), ("JSON_EXTRACT(t.js, '$.b') IN (7, 8)", texts, "JSON_EXTRACT(t.js, '$.b')")):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}")) == [told % what], condition
    assert notes(sql(server, "SELECT id FROM t WHERE js ->> '$.a' = ?", params=["5"])) == [numbers % "js ->> '$.a'"]
    assert notes(sql(server, "SELECT id FROM t WHERE js ->> '$.b' <> :b", params=[7])) == [texts % "js ->> '$.b'"]
    assert notes(sql(server, "SELECT id FROM t WHERE js ->> '$.ok' = 'true'")) == ["js ->> '$.ok' gives numbers here, which equal no text: true is 1 and false is 0"]
    for condition in ("js ->> '$.a' = 5", "js ->> '$.b' = '7'", "js -> '$.a' = '5'", "js ->> '$.m' = '1'", "js ->> '$.m' = 1", "js ->> '$.none' = '1'", "js ->> '$.a' <> ''", "js ->> '$.ok' = 1", "js ->> '$.ok'", "js ->> '$.a' = id",
                      "CAST(js ->> '$.a' AS TEXT) = '5'", "js ->> '$.a' || '' = '5'", "other ->> '$.x' = '5'", "json_extract(js, '$.a', '$.b') = '5'", "json_extract(js, '$.a') + 0 = 5"):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}")) == [], condition


def test_a_number_that_is_made_of_a_value_of_json_is_not_one_of_the_text(server):
    put(server, "t.csv", 'id,js,name\n1,"{""a"":5,""b"":""x""}",5\n2,"{""a"":7,""b"":""y""}",y\n')
    for term in ("CAST(js ->> '$.a' AS INTEGER)", "CAST(t.js ->> 'a' AS REAL)", "sum(CAST(js -> '$.a' AS REAL))", "round(CAST(js ->> 'a' AS REAL), 1)", "js ->> 'a' * 1", "1 * js ->> 'a'", "2 * t.js ->> 'a'", "abs(js ->> 'a')",
                 "1 + js -> '$.a' ->> '$'", "-js ->> 'a'", "round(js ->> 'a', 1)", "CAST(name || '0' AS INTEGER)", "CAST(json_extract(js, '$.a') AS INTEGER)"):
        answer = sql(server, f"SELECT {term} AS p FROM t ORDER BY p")
        assert answer.object["rows"] and notes(answer) == [], term
    assert notes(sql(server, "SELECT id FROM t WHERE js ->> 'a' AND CAST(js ->> 'a' AS INTEGER) > 5")) == []
    assert len(notes(sql(server, "SELECT CAST(js AS INTEGER), js ->> 'a' FROM t"))) == 1


# ---- windows ----

@pytest.mark.parametrize("frame", [
    "ROWS BETWEEN 6 PRECEDING AND CURRENT ROW", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "DESC ROWS BETWEEN 6 PRECEDING AND 1 PRECEDING", "GROUPS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE TIES",
    "NULLS LAST ROWS BETWEEN (1 + 1) PRECEDING AND CURRENT ROW", "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "ROWS 6 PRECEDING", "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING"])
def test_the_frame_of_a_window_compares_nothing(days, frame):
    put(days, "u.csv", "id,s,d\n1,a,31.01.2026\n2,b,01.12.2025\n")
    for query in (f"SELECT id, sum(id) OVER (ORDER BY iso {frame}) FROM t", f"SELECT avg(id) OVER w FROM t WINDOW w AS (PARTITION BY id ORDER BY ts {frame})", f"SELECT count(*) OVER (ORDER BY lower(s) {frame}) FROM u",
                  f"SELECT * FROM (SELECT s, first_value(s) OVER (ORDER BY s {frame}) AS f FROM u) WHERE s = f OR f IS NULL"):
        answer = sql(days, query)
        assert answer.object["rows"] and notes(answer) == [], query
    for item in ("d", "lower(d)"):
        (told,) = notes(sql(days, f"SELECT sum(id) OVER (ORDER BY {item} {frame}) FROM u"))
        assert told.startswith("d of u.csv is text: dates like '31.01.2026' compare as text"), item


def test_columns_that_are_called_as_a_frame_begins_are_compared(server):
    put(server, "t.csv", "id,rows,range\n1,a,7\n2,b,8\n")
    assert len(notes(sql(server, "SELECT id FROM t WHERE rows BETWEEN 1 AND 5"))) == 1
    assert len(notes(sql(server, "SELECT id, sum(id) OVER (ORDER BY rows ROWS 6 PRECEDING) FROM t WHERE t.rows BETWEEN 1 AND 5"))) == 1
    assert rows(server, "SELECT id FROM t WHERE range BETWEEN 1 AND 7") == [[1]]
