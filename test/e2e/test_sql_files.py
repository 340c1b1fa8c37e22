# SPDX-License-Identifier: MIT
"""exec_sql on a session's CSV files: which are tables, what their values are, and what is told about them."""
import csv
import gzip
import io
import itertools
import json
import unicodedata

import pytest
from client import Server
from patience import until
from steps import assert_clean
from test_sql import SALES, make_database, put, rows, sql, write


@pytest.fixture(name="server")
def fixture_server(shared_server):
    return shared_server


def test_a_csv_file_is_a_table_by_its_name(server):
    put(server, "sales.csv", SALES)
    answer = sql(server, "SELECT * FROM sales")
    assert answer.object["columns"] == [{"name": "id", "type": "integer"}, {"name": "city", "type": "text"},
                                        {"name": "amount", "type": "real"}]
    assert answer.object["rows"] == [[1, "Bern", 2.5], [2, "Z\u00fcrich, west", 3.0], [3, None, None]]
    assert answer.texts[-1] == ("id | city | amount\n1 | Bern | 2.5\n2 | Z\u00fcrich, west | 3.0\n3 | NULL | NULL\n"
                                "(3 rows)")
    assert_clean(answer.raw)


@pytest.mark.parametrize("name", ["sales", "SALES", '"sales.csv"', "'sales.csv'", "[input/sales.csv]"])
def test_each_name_of_a_file_names_its_table(server, name):
    put(server, "sales.csv", SALES)
    assert rows(server, f"SELECT sum(id) FROM {name}") == [[6]]


def test_a_file_that_changed_is_read_again_and_one_that_is_gone_is_no_table(server):
    put(server, "a.csv", "n\n1\n")
    assert rows(server, "SELECT n FROM a") == [[1]]
    put(server, "a.csv", "n\n2\n3\n")
    assert rows(server, "SELECT n FROM a") == [[2], [3]]
    server.cell("import os; os.remove('input/a.csv')")
    assert "no such table: a; the session has no CSV file" in sql(server, "SELECT n FROM a").texts[-1]


def test_types_lose_nothing(server):
    put(server, "t.csv", "zip,big,mixed,tab\n007,123456789012345678901,1,2\n08,1,x,3.5\n")
    assert rows(server, "SELECT * FROM t") == [["007", "123456789012345678901", "1", 2.0], ["08", "1", "x", 3.5]]


def test_tabs_semicolons_marks_and_odd_headers_are_read(server):
    put(server, "a b.tsv", "x\ty\n1\t2\n")
    put(server, "c.csv", "\ufeffn;N;;q\r\n1;2;3;\"a;b\"\r\n")
    assert rows(server, "SELECT x + y FROM a_b") == [[3]]
    assert rows(server, 'SELECT n, "N_2", column3, q FROM c') == [[1, 2, 3, "a;b"]]


@pytest.mark.parametrize("data, expected", [
    (b"\xef\xbb\xbfa,b\n1,2\n", [[1, 2]]),                                            # a mark in front
    (b'a,b\n"x\ny",2\r\n"p\r\nq",3\r\n', [["x\ny", 2], ["p\r\nq", 3]]),               # line ends in quotes
    (b"a,b\r1,2\r3,4\r", [[1, 2], [3, 4]]),                                          # line ends of old
    (b"a,b\n1\n\n2,3\n", [[1, None], [2, 3]]),                                       # rows too short, empty lines
    (b"a,b\n", []),                                                                   # no rows
    (b"a,b\n1,2\n1,2,3\n4,5,\n", [[1, 2, None], [1, 2, 3], [4, 5, None]]),           # rows too long
    (b"n;x\n1,5;a\n", [[1.5, "a"]]),                                                  # a decimal comma
    (b"n,x\n\"1,5\",a\n", [["1,5", "a"]]),                                            # no such place for one
    (b"sep=;\r\na;b\r\n1,2;3\r\n", [[1.2, 3]]), (b"a|b\n1|2\n", [[1, 2]]),          # other separators
    ("a,b\n1,\u00fc\n".encode("utf-16"), [[1, "\u00fc"]]),                            # other encodings
    ("a,b\n1,\u00fc\n".encode("utf-16-le"), [[1, "\u00fc"]]), ("a,b\n1,\u00fc\n".encode("utf-16-be"), [[1, "\u00fc"]]),
    (b",".join(b"c%d" % i for i in range(2000)) + b"\n" + b",".join([b"1"] * 2000), [[1] * 2000])])
def test_files_of_all_kinds_are_read(server, data, expected):
    write(server, {"input/t.csv": data})
    assert rows(server, "SELECT * FROM t") == expected


@pytest.mark.parametrize("data, why", [
    (b"", "it is empty"), (b'a,b\n1,2\n"x,2\n', "line 3 has a quote that does not end"),
    (b",".join(b"c%d" % i for i in range(10000)) + b"\n", "it has more than 2000 columns"),
    (b"a\n" + b",".join([b"1"] * 2001) + b"\n", "line 2: it has more than 2000 columns")])
def test_a_file_that_is_no_table_is_told_with_its_name_and_hides_no_other(server, data, why):
    write(server, {"input/bad.csv": data, "input/good.csv": b"n\n1\n"})
    assert sql(server, "SELECT * FROM bad").texts == [f"'input/bad.csv': {why}"]
    assert rows(server, "SELECT n FROM good") == [[1]]
    assert rows(server, "SELECT name FROM sqlite_master") == [["good"]]


def test_a_file_that_is_no_table_breaks_only_queries_of_it(server):
    put(server, "open.csv", "a,b\n1,\"2\n")
    put(server, "z.csv", "zip\n1\n")
    told = ["'input/open.csv': line 2 has a quote that does not end"]
    assert rows(server, "SELECT zip AS open FROM z WHERE zip <> 'open'") == [[1]]
    assert rows(server, "WITH open AS (SELECT zip FROM z) SELECT open.zip FROM open") == [[1]]
    for name in ("open", "OPEN", "'open.csv'", "[input/open.csv]", "main.open"):
        assert sql(server, f"SELECT * FROM z, {name} WHERE zip <> 'open'").texts == told
    assert "no such column: open" in sql(server, "SELECT open FROM z").texts[-1]
    put(server, "open.csv", "a,b\n1,2\n")
    assert rows(server, "SELECT a FROM open") == [[1]]
    put(server, "open.csv", "a,b\n1,\"2\n")  # what it was is not read any more
    assert sql(server, "SELECT a FROM open").texts == told


def test_files_of_one_name_are_asked_for_by_their_paths(server):
    write(server, {"input/a/data.csv": b"n\n1\n", "input/b/data.csv": b"n\n2\n", "input/sales 2026 (x).csv": b"n\n7\n"})
    assert "several files have that name, ask for one by its path in quotes: input/a/data.csv, input/b/data.csv" in \
        sql(server, "SELECT * FROM data").texts[-1]
    assert rows(server, "SELECT a.n, b.n FROM 'input/a/data.csv' a, [input/b/data.csv] b") == [[1, 2]]
    assert rows(server, 'SELECT * FROM "sales 2026 (x)"') == rows(server, "SELECT * FROM sales_2026__x_") == [[7]]


def test_the_error_for_an_unknown_table_lists_those_there_are(server):
    put(server, "one.csv", "a\n1\n")
    assert "the session's CSV file is the table one" in sql(server, "SELECT * FROM three").texts[-1]
    put(server, "two.csv", "a\n1\n")
    assert "the session's CSV files are the tables one, two" in sql(server, "SELECT * FROM three").texts[-1]


def test_a_file_that_always_grows_is_told_with_the_line_that_copies_it(server):
    server.cell("""
import threading, time
open('input/log.csv', 'w').write('n\\n' + '1\\n' * 1000000)
stop = False
def grow():
    with open('input/log.csv', 'a', buffering=1) as f:
        while not stop:
            f.write('1\\n')
            time.sleep(0.001)
thread = threading.Thread(target=grow); thread.start()""")
    told = until(lambda: (answer := sql(server, "SELECT sum(n) FROM log")).is_error and answer.texts[-1])
    assert told == ("'input/log.csv': it changed while it was read; run the query again, or one of a copy where the file always changes, "
                    "in bash: cp 'input/log.csv' 'input/log_copy.csv'")
    server.call("exec_code", session_id="s", language="bash", code=told.split("in bash: ")[1])
    assert rows(server, "SELECT sum(n) >= 1000000, min(n), max(n) FROM log_copy") == [[1, 1, 1]]
    server.cell("stop = True; thread.join()")


def test_a_link_to_elsewhere_is_no_table(server, home):
    (home / "secret.csv").write_text("secret\n42\n", encoding="utf-8")
    server.cell(f"import os; os.symlink({str(home / 'secret.csv')!r}, 'input/secret.csv')")
    answer = sql(server, "SELECT * FROM secret")
    assert answer.is_error and "42" not in json.dumps(answer.raw)


# ---- which values are numbers ----

def column(server, values, name="t.csv", header="v", separator="\n"):
    """The types and the numbers of one column of these texts."""
    write(server, {f"input/{name}": (header + "\n" + separator.join(values) + "\n").encode()})
    return [row for row in rows(server, "SELECT typeof(v), v FROM t")]


@pytest.mark.parametrize("values, expected", [
    (["2.7104237895314576e-05", "0.9999501760490148"], [2.7104237895314576e-05, 0.9999501760490148]),  # Q10, pandas' own
    ([" 3", "+1", "4 "], [3, 1, 4]), ([".5", "5.", "1E+300"], [0.5, 5.0, 1e300]),
    (["1", "NA", "3"], [1, None, 3]), (["1.5", "NaN", "", "N/A"], [1.5, None, None, None]),
    (["9223372036854775807", "-9223372036854775808"], ["9223372036854775807", "-9223372036854775808"]),
    (["10000000000000000000000", "1"], [1e22, 1.0]), (["inf", "1"], [float("inf"), 1.0])])
def test_numbers_are_numbers_however_they_are_written(server, values, expected):
    answer = column(server, ['"%s"' % value for value in values])
    assert [float(value) if kind == "real" else value for kind, value in answer] == expected
    assert {kind for kind, value in answer if value is not None} <= {"integer", "real"}


@pytest.mark.parametrize("values", [["007", "008"], ["NA", "NULL"], ["x", "NA"], ["2026-11-23", "2026-01-01"], ["1e999", "x"],
                                    ["123456789012345678901", "123456789012345678902"]])
def test_texts_stay_as_they_are_written(server, values):
    assert column(server, values) == [["text", value] for value in values]


def test_missing_values_beside_dates_and_booleans_are_null(server):
    assert column(server, ["2026-11-23", "NA"]) == [["text", "2026-11-23"], ["null", None]]
    assert column(server, ["True", "None"]) == [["integer", True], ["null", None]]


def test_blanks_around_dates_and_booleans_are_no_part_of_them(server):
    """Else the 11th comes before the 2nd, and no date is found by its text."""
    put(server, "t.csv", "day,ok\n2026-03-02,true\n  2026-03-11 ,\" true\"\n2026-03-03\t, false\n")
    assert rows(server, "SELECT day, ok FROM t ORDER BY day") == [["2026-03-02", True], ["2026-03-03", False], ["2026-03-11", True]]
    assert rows(server, "SELECT count(*) FROM t WHERE day = '2026-03-11' AND ok") == [[1]]
    put(server, "t.csv", "s\n 2026-03-02\nMonday\n")
    assert rows(server, "SELECT s FROM t") == [[" 2026-03-02"], ["Monday"]]


@pytest.mark.parametrize("yes, no", [("True", "False"), ("true", "false"), ("TRUE", "FALSE")])
def test_booleans_are_conditions(server, yes, no):
    """As pandas, DuckDB and R write them. As texts they would be false in every condition."""
    put(server, "t.csv", f"id,b\n1,{yes}\n2,{no}\n3,\n4,NA\n5,{yes}\n")
    for condition in ("b", "b IS TRUE", "b = true", "b = 1", "NOT NOT b", "CASE WHEN b THEN 1 ELSE 0 END", "b AND id > 0"):
        assert rows(server, f"SELECT id FROM t WHERE {condition}") == [[1], [5]], condition
    for condition in ("NOT b", "b IS FALSE", "b = 0"):
        assert rows(server, f"SELECT id FROM t WHERE {condition}") == [[2]], condition
    assert rows(server, "SELECT count(*) FILTER (WHERE b), sum(b), avg(b) FROM t") == [[2, 2, 2 / 3]]
    assert rows(server, "SELECT id FROM t WHERE b = ?", params=[True]) == [[1], [5]]
    answer = sql(server, "SELECT b, count(*) AS n FROM t GROUP BY b ORDER BY b")
    assert answer.object["rows"] == [[None, 2], [False, 1], [True, 2]]
    assert [kind["type"] for kind in answer.object["columns"]] == ["boolean", "integer"] and notes(answer) == []
    assert "\"b\" BOOLEAN" in rows(server, "SELECT sql FROM sqlite_master WHERE name = 't'")[0][0]


@pytest.mark.parametrize("query, params", [
    ("SELECT id FROM t WHERE b = 'True'", []), ("SELECT id FROM t WHERE b <> 'false'", []), ("SELECT id FROM t WHERE b IN ('True', 'x')", []),
    ("SELECT id FROM t WHERE b = ?", ["TRUE"]), ("SELECT id FROM t WHERE b LIKE 'T%'", []),
    ("SELECT sum(CASE b WHEN 'True' THEN 1 END) FROM t", []), ("SELECT id FROM t WHERE lower(b) = 'true'", [])])
def test_a_boolean_beside_its_text_is_told(server, query, params):
    put(server, "t.csv", "id,b,s\n1,True,x\n2,False,y\n")
    told = "b of t.csv is BOOLEAN and equals no text: write b or NOT b, or = true"
    assert notes(sql(server, query, params=params)) == [told]
    for query in ("SELECT id FROM t WHERE s = 'True'", "SELECT CASE WHEN b THEN 'true' ELSE 'false' END FROM t", "SELECT printf('%s', b) FROM t", "SELECT b, strftime('%d', 'now') FROM t"):
        assert notes(sql(server, query)) == [], query
    assert notes(sql(server, "SELECT id FROM t WHERE s = 'y' AND NOT b")) == []


def test_a_column_that_is_no_boolean_for_a_few_values_is_told(server):
    put(server, "t.csv", "b\nTrue\nFalse\nunknown\nTrue\n")
    answer = sql(server, "SELECT count(*) FROM t WHERE b")
    assert answer.object["rows"] == [[0]] and notes(answer) == [
        "b of t.csv is text: 1 of its 4 values are not true or false; as a condition each of them is false, so compare it with its texts"]


@pytest.mark.parametrize("yes, no", [("yes", "no"), ("Y", "N"), ("t", "f")])
def test_a_text_that_is_a_condition_is_told(server, yes, no):
    """Each of them is 0: `WHERE v` has no row, and `NOT v` all."""
    put(server, "t.csv", f"id,v\n1,{yes}\n2,{no}\n")
    told = ["v of t.csv is text: as a condition each of its values that begins with no number is false, so compare it with its texts"]
    for query in ("SELECT id FROM t WHERE v", "SELECT id FROM t WHERE NOT v", "SELECT id FROM t WHERE id = 1 AND t.v ORDER BY id",
                  "SELECT count(*) FILTER (WHERE v) FROM t", "SELECT CASE WHEN \"v\" THEN 1 END FROM t", "SELECT id FROM t WHERE (id = 2 OR v)",
                  "SELECT iif(v, 1, 0) FROM t", "SELECT id, iif(t.v, 1, 0) FROM t", "SELECT id FROM t WHERE v IS TRUE", "SELECT t.v IS NOT FALSE, id FROM t", "SELECT NOT v FROM t",
                  "SELECT id, NOT v AS x FROM t", "SELECT id FROM t WHERE coalesce(v, 0)", "SELECT id FROM t WHERE NOT ifnull(t.v, 0) AND id > 0", "SELECT sum(iif(coalesce(v, 0), 1, 0)) FROM t"):
        assert notes(sql(server, query)) == told, query
    for query in (f"SELECT id FROM t WHERE v = '{yes}'", "SELECT id FROM t WHERE v IS NOT NULL", "SELECT v, id FROM t WHERE id ORDER BY v",
                  "SELECT CASE WHEN id THEN v ELSE v END FROM t WHERE 'x' BETWEEN 'a' AND v", f"SELECT (v = '{yes}') IS TRUE, iif(id, v, v), iif(v = 'x', v, 'y') FROM t",
                  "SELECT id FROM t WHERE v IS NOT v", "SELECT coalesce(v, 'x'), id IS TRUE, NOT id FROM t", "SELECT v = 'x' IS TRUE, v = 'x' IS NOT FALSE FROM t", "SELECT id FROM t WHERE coalesce(v, 'x') IN ('y')"):
        assert notes(sql(server, query)) == [], query
    assert notes(sql(server, "SELECT id FROM t WHERE v = true")) == [f"v of t.csv is text and was compared with true or false, which are the numbers 1 and 0: compare it with its texts, as v = '{yes}'"]


def notes(answer):
    assert not answer.is_error, answer.texts
    return answer.object.get("notes", [])


def test_a_column_that_is_text_for_a_few_values_is_told_each_time_it_is_read(server):  # Q5, Q10
    put(server, "t.csv", "id,amount\n" + "".join(f"{i},{i}.5\n" for i in range(1200)) + "1,n/a?\n2,$5\n3,unknown\n")
    told = ("amount of t.csv is text: 3 of its 1,203 values are not numbers ('n/a?', '$5', ...); it sorts and compares as text")
    first = sql(server, "SELECT count(id) FROM t")
    assert notes(first) == [told] and first.texts[-1].endswith("(1 row)\nNote: " + told)
    assert notes(sql(server, "SELECT count(id) FROM t")) == []
    for query in ("SELECT max(amount) FROM t", "SELECT count(*) FROM t WHERE amount > 1000", "SELECT id FROM t ORDER BY amount LIMIT 1"):
        assert notes(sql(server, query)) == [told]


def test_large_integers_beside_fractions_keep_their_digits(server):  # Q5
    put(server, "t.csv", "i\n123456789012345678\n1.5\n")
    answer = sql(server, "SELECT i FROM t WHERE i = '123456789012345678'")
    assert answer.object["rows"] == [["123456789012345678"]]
    assert "i of t.csv is text: it has fractions, and integers with more digits than a REAL holds" in notes(answer)[0]


@pytest.mark.parametrize("other, what", [("9223372036854775808", "integers of more than 64 bits"), ("inf", "infinite numbers")])
def test_what_is_beside_large_integers_is_told_as_what_it_is(server, other, what):  # Q5
    put(server, "t.csv", f"i\n{other}\n9223372036854775807\n")
    assert notes(sql(server, "SELECT i FROM t")) == [
        f"i of t.csv is text: it has {what}, and integers with more digits than a REAL holds; it sorts and compares as text"]


def test_a_code_that_is_read_as_a_number_is_told(server):  # Q5
    put(server, "t.csv", "c\n1E5\n10E4\n")
    assert notes(sql(server, "SELECT c FROM t")) == ["c of t.csv is read as numbers: '1E5' is 100000"]


def test_a_sum_says_which_texts_it_counted(server):  # Q10
    put(server, "t.csv", 'p\n"1,234.50"\n$5\n"2,000"\n')
    answer = sql(server, "SELECT sum(p), avg(p) FROM t")
    assert answer.object["rows"] == [[3.0, 1.0]]
    told = "p of t.csv is text: its numbers have other characters in them ('1,234.50', '$5', ...), at which CAST stops: replace() changes them; it sorts and compares as text"
    assert notes(answer) == ["sum counted 3 texts that are not numbers, each as the digits it begins with or as 0 ('1,234.50'); avg does so, too", told]
    answer = sql(server, "SELECT sum(p), sum(p || '') FROM t")
    assert notes(answer)[0] == "sum counted 6 texts that are not numbers, each as the digits it begins with or as 0 ('1,234.50')"
    assert notes(sql(server, "SELECT sum(CASE p WHEN '$5' THEN 5 END) FROM t")) == [told]


MARKED = [["1,000", "$9", "$20"], ["12%", "9%", "-3 %"], ["1 000,5", "999", "1.000,25"], ["\u20ac5", "\u00a312.50", "(7)"],
          ["12,5%", "9,25%"], ["1.234,56 \u20ac", "12,50\u20ac"], ["$1.234,56", "US$ 10"], ["10 EUR", "9 EUR"], ["CHF 99.90", "CHF 100.00"], ["\u20bd10", "\u20bd9"],
          ["12 K\u010d", "9 K\u010d"], ["10 kg", "9 kg"], ["10kg", "9.5kg"], ["1.2M", "3.4M"], ["3k", "20k"], ["3.4 bn", "900 mn"]]


@pytest.mark.parametrize("values", MARKED)
def test_numbers_with_other_characters_are_told_each_time_they_are_read(server, values):
    """Whatever compares or orders them does it as texts: '$20' is before '$9'."""
    put(server, "t.csv", "id,v\n" + "".join(f'{i},"{value}"\n' for i, value in enumerate(values)))
    start = "v of t.csv is text: its numbers have other characters in them ("
    assert notes(sql(server, "SELECT v FROM t"))[0].startswith(start)
    for query in ("SELECT max(v), min(v) FROM t", "SELECT id FROM t ORDER BY v", "SELECT id FROM t WHERE v > 9", "SELECT id FROM t WHERE v > 5 + 4",
                  "SELECT id FROM t WHERE v IN (7, 8)", "SELECT id FROM t WHERE v > (SELECT 9)", "SELECT id FROM t WHERE v > id",
                  "SELECT a.id FROM t a JOIN t b ON a.v = b.id", "SELECT CASE WHEN v > 9 THEN 1 END FROM t",
                  "SELECT id FROM t WHERE coalesce(v, 0) > 9", "SELECT id FROM t WHERE trim(v) > 9", "SELECT id FROM t GROUP BY id HAVING max(v) > 9"):
        told = notes(sql(server, query))
        assert len(told) == 1 and told[0].startswith(start) and told[0].endswith("; it sorts and compares as text"), query
    assert notes(sql(server, "SELECT id FROM t")) == []


@pytest.mark.parametrize("values, units", [
    (["1.2M", "900K"], "'M' beside 'K'): CASE WHEN v LIKE '%M'"), (["17", "1.2M", "3M"], "none beside 'M'): CASE WHEN v LIKE '%M'"),
    (["5 MB", "900 kB"], "'MB' beside 'kB'): CASE WHEN v LIKE '%MB'"), (["$1.2M", "$3.4M"], None), (["$5", "7"], None), (["12%", "3"], None)])
def test_numbers_that_do_not_count_the_same_are_told(server, values, units):
    put(server, "t.csv", "v\n" + "\n".join(values) + "\n")
    (told,) = notes(sql(server, "SELECT max(v) FROM t"))
    more = f"; they do not all count the same ({units} tells them apart" if units else ""
    assert told.endswith(f"replace() changes them{more}; it sorts and compares as text")


@pytest.mark.parametrize("values, shown", [(["1,23,456", "7,654"], "'1,23,456', '7,654'"), (["\u22125", "3.5"], r"'\u22125'"), (["1\u00a0234", "5"], r"'1\u00A0234'"),
                                           (["1\u202f234", "5"], r"'1\u202F234'")])
def test_characters_that_look_like_others_are_shown(server, values, shown):
    put(server, "t.csv", "v\n" + "".join(f'"{value}"\n' for value in values))
    assert notes(sql(server, "SELECT v FROM t")) == [f"v of t.csv is text: its numbers have other characters in them ({shown}), at which CAST stops: replace() changes them; it sorts and compares as text"]


def test_a_text_that_is_compared_with_a_number_is_told(server):  # Q10
    told = r"p of t.csv is text and was compared with a number, as text: CASE WHEN p REGEXP '^[-+]?[.]?\d' THEN CAST(p AS REAL) END compares numbers"
    marked = "p of t.csv is text: its numbers have other characters in them ('$5', '$20', ...), at which CAST stops: replace() changes them; it sorts and compares as text"
    stops = "p of t.csv is text and was compared with a number, as text: CAST(p AS REAL) compares numbers, after replace() took out separators and signs, at which it stops"
    for data, note, plain in (("p\nx5\nx20\n007\n", told, []), ('p\nx5\n"1,234.50"\n007\n', stops, []), ("p\n$5\n$20\n007\n", marked, [marked])):
        put(server, "t.csv", data)
        for query in ("SELECT p FROM t WHERE p > 10", "SELECT p FROM t WHERE 7 = p", "SELECT count(*) FROM t WHERE p BETWEEN 1 AND 9"):
            assert notes(sql(server, query)) == [note]
        assert notes(sql(server, "SELECT p FROM t WHERE p = '007'")) == plain


@pytest.mark.parametrize("data", ["007\n008\n9\n010\n", "A1\n7\nB2\nC3\n"])
@pytest.mark.parametrize("condition, params", [
    ("v > ?", [6]), ("? < v", [6]), ("v > :low", [6.5]), ("v IN (7, 8)", []), ("v NOT IN (7, 8)", []), ("v IN (?, ?)", ["x", 7]), ("v IN (SELECT id FROM t)", []),
    ("v > (SELECT 9)", []), ("v > (SELECT max(id) FROM t)", []), ("v > id", []), ("id = t.v", []), ("v = 1 * id", []), ("CASE WHEN v > 9 THEN 1 END", []),
    ("CASE v WHEN 'x' THEN 0 WHEN 7 THEN 1 END", []), ("coalesce(v, 0) > 9", []), ("ifnull(v, 0) > ?", [9]), ("trim(v) > 9", []), ("v IS 7", []),
    ("v IS NOT 7", []), ("v BETWEEN ? AND ?", [7, 9]), ("id = 1 AND NOT v < length(v)", []), ("v = CAST('7' AS INTEGER)", []), ("v > -1", []), ("? = id AND v = ?2", [1, 7]), (":a = 'x' OR :a = id OR v > :b", [1, 7]),
    ("EXISTS (SELECT 1 FROM (SELECT v AS w FROM t GROUP BY v) s WHERE w > ?)", [9]), ("v = (SELECT CASE WHEN id = 2 THEN 1 END)", [])])
def test_texts_are_told_wherever_they_are_compared_with_numbers(server, data, condition, params):  # Q10
    """pandas and DuckDB refuse this or compare numbers; '9' is more than 10 here, and '007' is not 7."""
    put(server, "t.csv", "id,v\n" + "".join(f"{i},{line}\n" for i, line in enumerate(data.split())))
    way = "CAST(v AS REAL)" if "A1" not in data else r"CASE WHEN v REGEXP '^[-+]?[.]?\d' THEN CAST(v AS REAL) END"
    told = [f"v of t.csv is text and was compared with a number, as text: {way} compares numbers"]
    assert notes(sql(server, f"SELECT id FROM t WHERE {condition}", params=params)) == told


def test_texts_are_told_when_a_join_compares_them_with_numbers(server):  # Q10
    put(server, "a.csv", "code,x\n007,1\nA8,2\n")
    put(server, "b.csv", "code,y\n7,1\n8,2\n")
    told = ["code of a.csv is text and was compared with a number, as text: CAST(nullif(code, 'A8') AS REAL) compares numbers"]
    for query in ("SELECT * FROM a JOIN b ON a.code = b.code", "SELECT * FROM a JOIN b USING (code)", "SELECT * FROM a NATURAL JOIN b",
                  "SELECT * FROM a, b WHERE b.code = a.code", "SELECT x FROM a GROUP BY x HAVING max(code) > 9"):
        assert notes(sql(server, query)) == told, query


@pytest.mark.parametrize("query, params", [
    ("SELECT v, id FROM t WHERE id > 1", []), ("SELECT v FROM t WHERE id > ? AND v = ?", [1, "007"]), ("SELECT v FROM t WHERE v IN ('007', 'A1')", []),
    ("SELECT v FROM t WHERE CAST(nullif(v, 'A1') AS REAL) > 9", []), ("SELECT v FROM t WHERE v + 0 > 9 AND v <> 'A1'", []), ("SELECT v FROM t WHERE length(v) > 2", []),
    ("SELECT v FROM t WHERE substr(v, 1, 1) = '0'", []), ("SELECT v FROM t WHERE v LIKE '0%' AND id IN (1, 2) ORDER BY 1 LIMIT 5", []),
    ("SELECT CASE WHEN id > 1 THEN v ELSE 'x' END, CASE v WHEN '7' THEN 1 ELSE 0 END FROM t", []), ("SELECT v FROM t WHERE v IS NOT NULL", []),
    ("SELECT v, count(*) FROM t GROUP BY v HAVING count(*) > 1", []), ("SELECT count(v) FROM t HAVING count(v) > 2", []),
    ("SELECT v FROM t JOIN (SELECT 1 AS one) o ON o.one = t.id", []), ("SELECT v FROM t WHERE v = (SELECT min(v) FROM t WHERE id > 1 LIMIT 1)", []),
    ("SELECT v FROM t WHERE v = (CASE WHEN id > 1 THEN '7' ELSE 'x' END)", []), ("SELECT iif(v = '7', 1, 0) > 0, (v = '7') > 0, 1 = (v IN ('7')) FROM t", []), ("SELECT 1 FROM t WHERE :a = v AND id = :b AND v <> :a", ["007", 1])])
def test_texts_that_are_not_compared_with_numbers_are_not_told(server, query, params):
    put(server, "t.csv", "id,v\n1,007\n2,A1\n3,7\n")
    assert notes(sql(server, query, params=params)) == []


def test_a_code_with_leading_zeros_is_told_as_that(server):
    put(server, "t.csv", "zip\n98101\n10001\n60601\n01234\n")
    assert notes(sql(server, "SELECT max(zip) FROM t")) == [
        "zip of t.csv is text: 1 of its 4 values have leading zeros ('01234'); it sorts and compares as text"]


def test_a_limit_compares_nothing(server):
    put(server, "t.csv", "p\n007\n008\n")
    answer = sql(server, "SELECT p FROM t LIMIT 1 OFFSET 1")
    assert answer.object["rows"] == [["008"]] and notes(answer) == []


@pytest.mark.parametrize("values, most", [(["123456789012345678901", "99999999999999999999"], "99999999999999999999"),
                                          (["18446744073709551615", "5"], "5")])
def test_integers_of_more_than_64_bits_are_told_each_time(server, values, most):  # Q5
    put(server, "t.csv", "id,n\n" + "".join(f"{value},1\n" for value in values))
    assert notes(sql(server, "SELECT n FROM t"))[0].startswith("id of t.csv is text: it has integers of more than 64 bits (")
    for _ in range(2):
        answer = sql(server, "SELECT max(id) FROM t")
        assert answer.object["rows"] == [[most]] and "it sorts and compares as text" in notes(answer)[0]


def test_decimal_commas_are_numbers_where_a_semicolon_separates(server):  # Q10
    put(server, "t.csv", "a;b\n1,5;x\n2,5;y\n")
    answer = sql(server, "SELECT sum(a) FROM t")
    assert answer.object["rows"] == [[4.0]] and notes(answer) == ["a of t.csv has decimal commas and is read as numbers"]
    put(server, "t.csv", "a;b\n1,5;x\n2.5;y\n")
    assert "some of its numbers have a decimal comma and some a point" in notes(sql(server, "SELECT a FROM t"))[0]


@pytest.mark.parametrize("data, told, value", [
    ("id;v\n1;1.250\n2;12.000\n", "v of t.csv is read as numbers with a decimal point: '1.250' is 1.25. If the point separates thousands, "
                                  "round(1000 * v) gives the numbers", 1.25),
    ("id;v;d\n1;;31.01.2026\n2;17;\n3;-1.250;\n", "v of t.csv is read as numbers with a decimal point: '-1.250' is -1.25. If the point separates "
                                               "thousands, in python, pandas.read_csv(PATH, sep=';', decimal=',', thousands='.') reads the file", 17),
    ("v;w;id\n1.001;9.999;1\n", "v and 1 more column of t.csv are read as numbers with a decimal point: '1.001' is 1.001. If the point separates "
                               "thousands, in python, pandas.read_csv(PATH, sep=';', decimal=',', thousands='.') reads the file", 1.001)])
def test_points_that_may_separate_thousands_are_told_where_nothing_says_what_they_are(server, data, told, value):
    """The first answer of a file says so, whatever it names."""
    put(server, "t.csv", data)
    assert notes(sql(server, "SELECT id FROM t")) == [told]
    answer = sql(server, "SELECT max(v) FROM t")
    assert answer.object["rows"] == [[12.0 if value == 1.25 else value]] and notes(answer) == []
    if "round" in told:
        assert rows(server, "SELECT round(1000 * v) FROM t ORDER BY id") == [[1250.0], [12000.0]]


@pytest.mark.parametrize("data", ["v;c\n1.250;1.5\n", "v;c\n1.250;1\n2.5;2\n", "v,c\n1.250,2\n", "v\tc\n1.250\t2\n", "v;c\n0.250;1\n0.125;2\n"])
def test_points_that_separate_no_thousands_are_not_told(server, data):
    put(server, "t.csv", data)
    assert notes(sql(server, "SELECT v FROM t")) == []


@pytest.mark.parametrize("values, other", [(["1.250", "2.980", "12.000"], "1,5"), (["1.250", "980", "NA"], "1,5"), (["1.250", "-2.980"], "12,50 \u20ac")])
def test_points_before_three_digits_are_texts_beside_decimal_commas(server, values, other):
    """1.250 is 1250 in such a file, but for its writer only: as text no reading is lost."""
    put(server, "t.csv", "id;v;c\n" + "".join(f"{i};{value};{other}\n" for i, value in enumerate(values)))
    told = ("v of t.csv is text: other columns have decimal commas, so '1.250' may be 1250 (then CAST(replace(v, '.', '') AS REAL) gives numbers) or 1.25 "
            "(then CAST(v AS REAL)); it sorts and compares as text")
    answer = sql(server, "SELECT v FROM t")
    assert answer.object["rows"] == [[value] for value in values] and told in notes(answer)
    assert rows(server, "SELECT max(CAST(replace(v, '.', '') AS REAL)) FROM t WHERE id = 0") == [[1250.0]]
    assert notes(sql(server, "SELECT max(v) FROM t")) == [told] and notes(sql(server, "SELECT id FROM t")) == []
    for data in ("v;c\n1.250;1,5\n1.5;2,5\n", "v;c\n0.250;1,5\n", "v;c\n1.250;1.5\n", "v,c\n1.250,2\n"):
        put(server, "t.csv", data)
        assert rows(server, "SELECT typeof(v) FROM t")[0] == ["real"], data


def test_phone_numbers_with_a_plus_are_texts(server):
    assert column(server, ["+41791234567", "+41791234568", "NA"]) == [["text", "+41791234567"], ["text", "+41791234568"], ["null", None]]
    assert notes(sql(server, "SELECT v FROM t WHERE v = '+41791234567' OR v LIKE '+41%'")) == []
    assert column(server, ["+41791234567", "5"]) == [["integer", 41791234567], ["integer", 5]]
    assert column(server, ["+1234567"]) == [["integer", 1234567]]


# ---- dates ----

@pytest.mark.parametrize("word", ["TBD", "unknown", "-"])
def test_a_column_that_is_no_dates_for_a_few_values_is_told_each_time_it_is_read(server, word):
    put(server, "t.csv", f"id,d\n1,2026-01-05\n2,2026-11-02\n3,{word}\n")
    told = [f"d of t.csv is text: 1 of its 3 values are not dates or times ('{word}'); they sort and compare with them as text"]
    for query in ("SELECT max(d) FROM t", "SELECT id FROM t ORDER BY d", "SELECT id FROM t WHERE d > '2026-02-01'"):
        assert notes(sql(server, query)) == told, query
    assert notes(sql(server, "SELECT id FROM t")) == []


@pytest.mark.parametrize("word", ["\\N", "NaT"])
def test_words_for_missing_values_of_databases_and_pandas_are_null(server, word):
    assert column(server, ["2026-11-23", word]) == [["text", "2026-11-23"], ["null", None]]
    assert column(server, ["1", word]) == [["integer", 1], ["null", None]]
    assert column(server, ["x", word]) == [["text", "x"], ["text", word]]


DATES = [  # what a column has, in the order of time; the expression that the note gives, in which d is the column
    (["31.01.2020", "15.06.2021", "01.02.2026"], "substr(d, 7, 4) || '-' || substr(d, 4, 2) || '-' || substr(d, 1, 2)"),
    (["31.01.2020 10:15", "01.02.2026 09:00"], "substr(d, 7, 4) || '-' || substr(d, 4, 2) || '-' || substr(d, 1, 2) || substr(d, 11)"),
    (["12/31/2019", "01/02/2020"], "substr(d, 7, 4) || '-' || substr(d, 1, 2) || '-' || substr(d, 4, 2)"),
    (["31/12/2019", "01/02/2020"], "substr(d, 7, 4) || '-' || substr(d, 4, 2) || '-' || substr(d, 1, 2)"),
    (["12/31/2019", "1/2/2020", "10/5/2021"],
     "nullif(printf('%04d-%02d-%02d', substr(d, -4), d, substr(d, instr(d, '/') + 1)), '0000-00-00')"),
    (["31.12.2019", "1.2.2020", "10.5.2021"],
     "nullif(printf('%04d-%02d-%02d', substr(d, -4), substr(d, instr(d, '.') + 1), d), '0000-00-00')"),
    (["2026-1-5", "2026-01-15", "2026-9-1", "2026-11-2"],
     "nullif(printf('%04d-%02d-%02d', d, substr(d, 6), substr(d, 6 + instr(substr(d, 6), '-'))), '0000-00-00')"),
    (["2025/12/31", "2026-01-15", "2026/11/02"], "replace(replace(d, '/', '-'), '.', '-')"),
    (["2026-01-05 9:05", "2026-01-05 10:15"], "substr(d, 1, 11) || printf('%02d', substr(d, 12)) || substr(d, instr(d, ':'))"),
    (["2026-01-05T08:00", "2026-01-05 09:00", "2026-01-05T10:00"], "replace(d, 'T', ' ')"),
    (["2026-01-05T10:00:00Z", "2026-01-05T10:00:00.123456Z", "2026-01-05T10:00:00.5Z"], "replace(rtrim(d, 'Z'), 'T', ' ')"),
    (["9:05", "10:15"], "printf('%02d', d) || substr(d, instr(d, ':'))"),
    (["12:05 AM", "9 AM", "10:30 a.m.", "11:59 AM", "12 PM", "9:05 PM", "10pm"],
     "time(3600 * (CAST(d AS INTEGER) - 12 * (d LIKE '12%a%') + 12 * (d LIKE '%p%' AND d NOT LIKE '12%')) + "
     "60 * CAST(substr(d, instr(d || ':', ':') + 1) AS INTEGER), 'unixepoch')")]


@pytest.mark.parametrize("dates, way", DATES, ids=[dates[0] for dates, way in DATES])
def test_dates_that_do_not_sort_are_told_with_what_makes_them_sort(server, dates, way):
    put(server, "t.csv", "id,d\n" + "".join(f"{i},{date}\n" for i, date in reversed(list(enumerate(dates)))) + "9,\n")
    for query in ("SELECT max(d), min(d) FROM t", "SELECT id FROM t ORDER BY d", "SELECT id, d AS x FROM t ORDER BY x DESC", "SELECT * FROM t ORDER BY 2",
                  "SELECT id, d FROM t ORDER BY 1, 2 LIMIT 1", f"SELECT id FROM t WHERE d > '{dates[0]}'", f"SELECT id FROM t WHERE d BETWEEN '{dates[0]}' AND 'x'",
                  "SELECT row_number() OVER (ORDER BY d) FROM t", "SELECT a.id FROM t a JOIN t b ON a.d < b.d", "SELECT id FROM t GROUP BY id HAVING max(d) > 'a'",
                  "WITH s(i, e) AS (SELECT id, d FROM t) SELECT i FROM s ORDER BY e", "SELECT e FROM (SELECT d e FROM t) ORDER BY e"):
        (told,) = notes(sql(server, query))
        assert told.startswith("d of t.csv is text: ") and " compare as text" in told and told.endswith(f"; {way} gives what sorts"), query
    assert rows(server, f"SELECT id FROM t WHERE d IS NOT NULL ORDER BY {way}") == [[i] for i in range(len(dates))]
    assert rows(server, f"SELECT {way} FROM t WHERE id = 9") == [[None]]
    if dates[0] not in ("2026-1-5", "2025/12/31", "2026-01-05T08:00", "2026-01-05T10:00:00Z"):  # of which a date may be written in two ways
        assert notes(sql(server, f"SELECT id FROM t WHERE d = '{dates[0]}'")) == []
    for query in ("SELECT d FROM t", "SELECT d, count(*) FROM t GROUP BY d", f"SELECT max({way}) FROM t",
                  f"SELECT {way} AS d FROM t ORDER BY d", f"SELECT d FROM (SELECT {way} AS d FROM t) WHERE d > '2019-01-01'", "SELECT d FROM t ORDER BY id",
                  f"SELECT max(d) FROM (SELECT {way} d FROM t)", f"WITH s(id, d) AS (SELECT id, {way} FROM t) SELECT max(d) FROM s WHERE d > '2019-01-01' ORDER BY d",
                  f"WITH s(id, d) AS NOT MATERIALIZED (SELECT id, {way} FROM t) SELECT x.id FROM s x ORDER BY x.d"):
        assert notes(sql(server, query)) == [], query


def test_dates_that_have_no_simple_expression_are_told_with_another_way(server):
    for dates, way in ((["5 Jan 2026", "15 Feb 2025"], "in python, pandas.to_datetime(column, format='mixed') gives what sorts"),
                       (["31.01.20", "01.02.26"], "in python, pandas.to_datetime(column, format='mixed', dayfirst=True) gives what sorts"),
                       (["9:05:30 AM", "10:15:00 PM"], "in python, pandas.to_datetime(column, format='mixed') gives what sorts"),
                       (["2026-01-05T10:00+01:00", "2026-07-05T10:00+02:00"],
                        "in python, pandas.to_datetime(column, format='mixed', utc=True) gives what sorts"),
                       (["31/01/2020", "01/31/2020"], "some of them have the day first and some the month"),
                       (["01/02/2020", "03/04/2019"],
                        "if the month is first, substr(d, 7, 4) || '-' || substr(d, 1, 2) || '-' || substr(d, 4, 2) gives what sorts")):
        put(server, "t.csv", "id,d\n" + "".join(f"1,{date}\n" for date in dates))
        (told,) = notes(sql(server, "SELECT max(d) FROM t"))
        assert told.endswith("; " + way), told


@pytest.mark.parametrize("a, b", [("+01:00", "-05:00"), ("-05:00", "-04:00"), ("-08:00", "-06:00"), ("+01:00", "+03:00"), ("+01:00", "+02:00"), ("+01", "-05"), ("+0100", "-0500"),
                                  ("+05:30", "+05:00")])
def test_dates_with_several_offsets_do_not_sort_and_are_told(server, a, b):
    put(server, "t.csv", f"id,d\n1,2026-01-05T10:00:00{a}\n2,2026-01-05T09:00:00{b}\n")
    for query in ("SELECT max(d) FROM t", "SELECT id FROM t ORDER BY d", f"SELECT id FROM t WHERE d > '2026-01-05T09:30:00{a}'"):
        (told,) = notes(sql(server, query))
        assert told.startswith("d of t.csv is text: dates like '2026-01-05T") and " compare as text" in told, told
        assert told.endswith("pandas.to_datetime(column, format='mixed', utc=True) gives what sorts"), told
    put(server, "t.csv", f"id,d\n1,2026-01-05T10:00:00{a}\n2,2026-01-05T09:00:00{a}\n")
    if ":" in a:
        assert notes(sql(server, "SELECT max(d) FROM t")) == []
        assert notes(sql(server, f"SELECT id FROM t WHERE d > '2026-01-05T09:30:00{a}'")) == []


@pytest.mark.parametrize("a, b", [("+01:00", "-05:00"), ("-05:00", "-04:00"), ("-07:00", "-05:00"), ("+01:00", "+03:00"), ("+05:30", "+05:00")])
def test_dates_with_another_offset_than_the_columns_are_told(server, a, b):
    for name, offset in (("a", a), ("b", b)):
        put(server, f"{name}.csv", f"id,d\n1,2026-01-05T10:00:00{offset}\n2,2026-01-06T10:00:00{offset}\n")
    for condition in (f"d > '2026-01-05T10:00:00{b}'", f"d = '2026-01-05T10:00:00{b}'", f"d BETWEEN '2026-01-05T10:00:00{b}' AND '2027'"):
        assert notes(sql(server, f"SELECT id FROM a WHERE {condition}")) == [
            f"d of a.csv has dates like '2026-01-05T10:00:00{a}' and was compared with one that is written otherwise, as text: write it as the file does"]
        assert notes(sql(server, f"SELECT id FROM b WHERE {condition}")) == []
    for query in ("SELECT a.id FROM a JOIN b ON a.d = b.d", "SELECT a.id FROM a JOIN b USING (d)", "SELECT id FROM a WHERE d > (SELECT min(d) FROM b)"):
        assert [told.split(" and comes together")[0] for told in notes(sql(server, query))] == [
            f"d of {name}.csv has dates like '2026-01-05T10:00:00{offset}'" for name, offset in (("a", a), ("b", b))], query
    assert notes(sql(server, "SELECT x.id FROM a x JOIN a y ON x.d = y.d WHERE x.d > (SELECT min(d) FROM a)")) == []


def test_functions_of_dates_that_they_do_not_read_are_told(server):
    put(server, "t.csv", "id,d,iso\n1,31.01.2020,2020-01-31\n")
    for call in ("strftime('%Y', d)", "date(d)", "julianday(t.d) - julianday(iso)"):
        assert ", and date functions give NULL; " in notes(sql(server, f"SELECT {call} FROM t"))[0]
    assert notes(sql(server, "SELECT strftime('%Y', iso), date(substr(d, 7, 4) || '-' || substr(d, 4, 2) || '-' || substr(d, 1, 2)) FROM t")) == []


NUMBERS_AS_DATES = [  # what a column has, what it is, the expression that makes a date of it
    (["20260105", "20261102"], "of 20260131", "substr(d, 1, 4) || '-' || substr(d, 5, 2) || '-' || substr(d, 7, 2)"), (["2026", "2027"], "of a year", "d || '-01-01'"),
    (["1767607200", "1793600000"], "of seconds since 1970", "datetime(d, 'unixepoch')"), (["1767607200.5", "NA"], "of seconds since 1970", "datetime(d, 'unixepoch')"),
    (["1767607200000", "1793600000123"], "of milliseconds since 1970", "datetime(d / 1000, 'unixepoch')")]


@pytest.mark.parametrize("values, what, way", NUMBERS_AS_DATES, ids=[values[0] for values, what, way in NUMBERS_AS_DATES])
def test_functions_of_dates_that_take_numbers_for_julian_days_are_told(server, values, what, way):
    put(server, "t.csv", "id,d\n" + "".join(f"{i},{value}\n" for i, value in enumerate(values)))
    told = [f"d of t.csv has numbers, which date functions take for Julian days; {what} {way} makes a date"]
    for query in ("SELECT strftime('%Y', d) FROM t", "SELECT id FROM t WHERE date(t.d) > '2025-01-01'", "SELECT date(d, '+1 day') FROM t", "SELECT julianday(x) FROM (SELECT d AS x FROM t)"):
        assert notes(sql(server, query)) == told, query
    assert rows(server, f"SELECT date({way}) FROM t WHERE id = 0") in ([["2026-01-05"]], [["2026-01-01"]])
    for query in (f"SELECT {way} FROM t", "SELECT datetime(d, 'unixepoch') FROM t", "SELECT date(d / 1000, 'auto') FROM t", "SELECT d FROM t", "SELECT date('now', d || ' days') FROM t"):
        assert notes(sql(server, query)) == [], query


def test_functions_of_dates_of_julian_days_and_of_small_numbers(server):
    put(server, "t.csv", "id,d\n1,2461046\n2,2461046.5\n")
    assert notes(sql(server, "SELECT date(d) FROM t")) == []
    assert notes(sql(server, "SELECT date(id) FROM t")) == ["id of t.csv has numbers, which date functions take for Julian days"]


def test_functions_of_dates_that_give_null_for_a_column_are_told(server):
    put(server, "t.csv", "id,d,s\n1,2026-01-05 10:00:00 UTC,week 3\n2,2026-01-06 10:00:00 UTC,week 4\n")
    assert notes(sql(server, "SELECT date(s), s FROM t")) == ["s of t.csv has texts like 'week 3', of which date functions give NULL"]
    assert notes(sql(server, "SELECT date(d) FROM t")) == [
        "d of t.csv is text: dates like '2026-01-05 10:00:00 UTC' compare as text, and date functions give NULL; "
        "in python, pandas.to_datetime(column, format='mixed', utc=True) gives what sorts"]
    assert notes(sql(server, "SELECT max(d), date(substr(d, 1, 10)) FROM t ORDER BY d")) == []


def test_a_date_that_is_not_written_as_the_files_are_is_told(server):
    put(server, "t.csv", "id,d,at\n1,2026-01-05,2026-01-05T10:00\n2,2026-11-02,2026-11-02T08:00\n")
    told = "%s of t.csv has dates like '%s' and was compared with %s, as text: write it as the file does"
    for condition, params in (("d > '2026-1-10'", []), ("d = '05.01.2026'", []), ("d < ?", ["1/2/2026"]), ("d IN ('2026-1-5')", []), ("d <> '5 Jan 2026'", [])):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}", params=params)) == [told % ("d", "2026-01-05", "one that is written otherwise")]
    for moment in ("'2026-01-05 09:00'", "datetime('2026-01-05')", "CURRENT_TIMESTAMP", "strftime('%Y-%m-%d %H:%M', 'now')"):
        assert notes(sql(server, f"SELECT id FROM t WHERE at > {moment}")) == [told % ("at", "2026-01-05T10:00", "one that is written otherwise")], moment
    assert notes(sql(server, "SELECT id FROM t WHERE d > 20260105")) == [told % ("d", "2026-01-05", "a number")]
    for condition in ("d > '2026-01-10'", "at >= '2026-01-05'", "at > '2026-01-05T09:00'", "d = 'x'", "d LIKE '2026-1-%'", "date(at) = '2026-01-05'"):
        assert notes(sql(server, f"SELECT max(d), max(at) FROM t WHERE {condition}")) == [], condition


def test_dates_with_times_beside_one_without_are_told(server):
    put(server, "t.csv", "id,at\n1,2026-01-05 00:00:00\n2,2026-11-02 08:00:00\n")
    put(server, "d.csv", "day,at\n2026-01-05,2026-01-05\n2026-11-02,2026-11-02\n")
    told = ["at of t.csv has times, as '2026-01-05 00:00:00', and was compared with a date that has none, as text: none of that day equals it, "
            "and all of them are more; substr(at, 1, 10) compares days"]
    for condition, params in (("at = '2026-01-05'", []), ("at <= ?", ["2026-01-05"]), ("'2026-01-05' >= at", []), ("at <> '2026-01-05'", []),
                              ("at IN ('2026-01-05')", []), ("at BETWEEN '2026-01-01' AND '2026-01-05'", []), ("CASE at WHEN '2026-01-05' THEN 1 END", [])):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}", params=params)) == told, condition
    for condition in ("at = date('2026-01-05')", "at <= date('now')", "date('now', '-7 days') >= at", "at BETWEEN date('2026-01-01') AND date('2026-01-05')", "at = CURRENT_DATE",
                      "at = strftime('%Y-%m-%d', 'now')", "at = (SELECT date(max(x.at)) FROM t x)", "at IN (SELECT date(day) FROM d)", "at IN (SELECT strftime('%Y-%m-%d', day) FROM d)"):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}")) == told, condition
    for query in ("SELECT id FROM t JOIN d ON t.at = date(day, '+1 day')", "WITH p AS (SELECT date('now') AS since) SELECT id FROM t, p WHERE t.at <= since",
                  "WITH p AS (SELECT '2026-01-05' AS x) SELECT id FROM t JOIN p ON x = t.at"):
        assert notes(sql(server, query)) == told, query
    for query in ("SELECT id FROM t JOIN d ON t.at = d.day", "SELECT id FROM t JOIN d ON day = t.at", "SELECT id FROM t JOIN d USING (at)", "SELECT id FROM t NATURAL JOIN d"):
        assert notes(sql(server, query)) == told, query
    for condition in ("at >= '2026-01-05'", "at < '2026-01-06'", "'2026-01-05' <= at", "at = '2026-01-05 00:00:00'", "substr(at, 1, 10) = '2026-01-05'",
                      "at >= date('now')", "at < date('now', '+1 day')", "date(at) = date('2026-01-05')", "at < CURRENT_DATE", "at > datetime('2026-01-05')",
                      "at BETWEEN date('2026-01-05') AND date('2026-01-05') || ' 23:59:59'", "strftime('%Y-%m', at) = strftime('%Y-%m', 'now')", "at > strftime('%Y', at)",
                      "at BETWEEN '2026-01-05' AND '2026-01-05 23:59:59'", "date(at) <= '2026-01-05'", "at <> ''", "at LIKE '2026-01-05%'"):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}")) == [], condition
    assert notes(sql(server, "SELECT t.id FROM t JOIN d ON t.at >= d.day AND t.id = 1 WHERE day = '2026-01-05'")) == []


def test_dates_of_two_files_that_are_written_otherwise_are_told(server):
    put(server, "a.csv", "day,x\n31.01.2020,1\n01.02.2026,2\n")
    put(server, "b.csv", "day,y\n2020-01-31,1\n2026-02-01,2\n")
    for query in ("SELECT * FROM a JOIN b ON a.day = b.day", "SELECT * FROM a JOIN b USING (day)", "SELECT * FROM a NATURAL JOIN b"):
        (told,) = notes(sql(server, query))
        assert told.startswith("day of a.csv is text: dates like '31.01.2020' compare as text"), query
    for query in ("SELECT b.day FROM a JOIN b ON a.x = b.y ORDER BY b.day", "SELECT max(q.day) FROM a JOIN b AS q ON x = y WHERE a.day LIKE '%2020'",
                  "SELECT a.day FROM a, 'b.csv' q WHERE q.day > '2020-02-01' AND y = x"):
        assert notes(sql(server, query)) == [], query


SPELLINGS = ["2026-01-05 10:00", "2026-01-05T10:00", "2026-01-05 10:00:00", "2026-01-05T10:00:00.000", "2026-01-05T10:00:00Z", "2026-01-05T10:00:00.000Z"]


@pytest.mark.parametrize("a, b", itertools.combinations(SPELLINGS, 2))
def test_moments_that_columns_write_otherwise_are_told_where_they_meet(server, a, b):
    for name, text in (("a", a), ("b", b)):
        put(server, f"{name}.csv", f"id,at\n1,{text}\n2,{text.replace('05', '17')}\n")
    told = ["at of %s.csv has dates like '%s' and comes together with others that are written otherwise, as text: the same moment is two values; "
            "strftime('%%Y-%%m-%%d %%H:%%M:%%f', at) of each gives one" % pair for pair in (("a", a), ("b", b))]
    for query in ("SELECT * FROM a JOIN b USING (at)", "SELECT * FROM a NATURAL JOIN b", "SELECT * FROM a JOIN b ON a.at = b.at",
                  "SELECT id FROM a WHERE at IN (SELECT at FROM b)", "SELECT id FROM a WHERE at = (SELECT max(at) FROM b)", "SELECT at FROM a UNION SELECT at FROM b",
                  "WITH m AS (SELECT max(at) AS last FROM b) SELECT id FROM a JOIN m ON a.at = last", "SELECT * FROM a UNION ALL SELECT * FROM b"):
        assert notes(sql(server, query)) == told, query
    told = ["at of a.csv has dates like '%s' and was compared with one that is written otherwise, as text: write it as the file does" % a]
    for condition, params in ((f"at = '{b}'", []), ("at IN (?)", [b]), (f"'{b}' <> at", [])):
        assert notes(sql(server, f"SELECT id FROM a WHERE {condition}", params=params)) == told, condition
    form = "strftime('%Y-%m-%d %H:%M:%f', {}.at)".format
    assert rows(server, f"SELECT a.id, b.id FROM a JOIN b ON {form('a')} = {form('b')}") == [[1, 1], [2, 2]]
    assert notes(sql(server, f"SELECT a.id FROM a JOIN b ON {form('a')} = {form('b')} WHERE a.at = '{a}' AND b.at >= '{b}'")) == []


@pytest.mark.parametrize("stored, asked", itertools.product(SPELLINGS, repeat=2))
def test_a_moment_at_a_limit_is_found_as_it_is_meant_or_told(server, stored, asked):
    put(server, "t.csv", "id,at\n" + "".join(f"{i},{stored.replace('05', f'{i:02}')}\n" for i in (4, 5, 6)))
    for condition, ids in (("= '{}'", [5]), ("< '{}'", [4]), ("<= '{}'", [4, 5]), ("> '{}'", [6]), (">= '{}'", [5, 6]), ("BETWEEN '{}' AND '{}'", [5])):
        answer = sql(server, f"SELECT id FROM t WHERE at {condition}".replace("{}", asked))
        right = answer.object["rows"] == [[i] for i in ids]
        assert notes(answer) == [] if stored == asked else right or notes(answer), condition
        assert right or stored != asked


def test_moments_that_meet_in_one_form_are_not_told(server):
    put(server, "a.csv", "id,at,min\n1,2026-01-05 10:00:00,2026-01-05 10:00\n2,2026-01-17 10:00:30,2026-01-17 10:00\n")
    put(server, "b.csv", "id,at,py\n1,2026-01-05 10:00:00,2026-01-05T10:00:00\n2,2026-01-17 10:00:30,2026-01-05T10:00:00.123456\n")
    for query in ("SELECT * FROM a JOIN b USING (at)", "SELECT at FROM a UNION SELECT at FROM b", "SELECT id FROM a WHERE at >= '2026-01-05 10:00'",
                  "SELECT id FROM a WHERE at < '2026-01-05 10:00'", "SELECT id FROM a WHERE at BETWEEN '2026-01-05' AND '2026-01-17 23:59:59'",
                  "SELECT a.id FROM a JOIN b ON a.min || ':00' = b.at", "SELECT max(py) FROM b GROUP BY id ORDER BY max(py)", "SELECT id FROM a WHERE at > '2026-01-05T00'"):
        assert notes(sql(server, query)) == [], query


def test_moments_in_several_forms_in_one_column_are_told(server):
    for values, way in ((["2026-01-05T10:00:00", "2026-01-05 10:00:00"], "strftime('%Y-%m-%d %H:%M:%f', at) gives one"),
                        (["2026-01-05 10:00:00", "2026-01-05 10:00"], "strftime('%Y-%m-%d %H:%M:%f', at) gives one"),
                        (["2026-01-05T10:00:00Z", "2026-01-05T10:00:00"], "strftime('%Y-%m-%d %H:%M:%f', at) gives one"),
                        (["2026-01-05", "05.01.2026"], "in python, pandas.to_datetime(column, format='mixed', dayfirst=True) gives what sorts")):
        put(server, "t.csv", "id,at\n" + "".join(f"{i},{value}\n" for i, value in enumerate(values)))
        assert notes(sql(server, "SELECT at, count(*) FROM t GROUP BY at")) == [
            f"at of t.csv has dates in several forms ('{values[0]}', '{values[1]}'): as text the same moment is several values, which do not group, join or sort as one; {way}"]
        assert notes(sql(server, "SELECT count(*) FROM t")) == []


def test_an_offset_that_sqlite_does_not_read_is_told(server):
    put(server, "t.csv", "id,at\n1,2026-01-05 10:00:00+00\n")
    assert rows(server, "SELECT date(at) FROM t") == [[None]]
    assert ", and date functions give NULL; in python" in notes(sql(server, "SELECT date(at) FROM t"))[0]


def test_missing_values_beside_dates_of_any_kind_are_null(server):
    assert column(server, ["31.01.2020", " NA", "1.2.2021 "]) == [["text", "31.01.2020"], ["null", None], ["text", "1.2.2021"]]


# ---- numbers beside texts ----

@pytest.mark.parametrize("condition, params", [("day < '2026-01-15'", []), ("day = 'NA'", []), ("day > ?", ["2026-01-15"]), ("day BETWEEN '2026-01-01' AND 'x'", []),
                                               ("day IN ('a', 'b')", []), ("day <> '2026-01-15'", []), ("'' = day", [])])
def test_a_column_of_numbers_that_is_compared_with_a_text_is_told(server, condition, params):
    put(server, "t.csv", "day,r\n20260101,1.5\n20260305,2.5\n")
    told = "%s of t.csv is %s and was compared with a text that is no number: each number is less than it; missing values are NULL"
    assert notes(sql(server, f"SELECT count(*) FROM t WHERE {condition}", params=params)) == [told % ("day", "INTEGER")]
    assert notes(sql(server, f"SELECT count(*) FROM t WHERE {condition.replace('day', 'r')}", params=params)) == [told % ("r", "REAL")]


@pytest.mark.parametrize("condition", ["day = '20260101'", "day <> ''", "day NOT IN ('', 'NA')", "day LIKE '2026%'", "substr(day, 1, 4) = '2026'", "day IS NOT NULL"])
def test_a_column_of_numbers_beside_a_text_that_does_no_harm_is_not_told(server, condition):
    put(server, "t.csv", "day\n20260101\n20260305\n")
    answer = sql(server, f"SELECT count(*) FROM t WHERE {condition}")
    assert answer.object["rows"][0][0] > 0 and notes(answer) == []


def test_what_functions_give_is_told_when_it_is_compared_as_text(server):
    put(server, "t.csv", "id,d\n1,2026-01-05\n2,2026-11-02\n")
    told = "%s() gives a text and was compared with a number: it equals none and is more than any; CAST(%s(...) AS REAL) compares numbers"
    for condition, name in (("strftime('%Y', d) = 2026", "strftime"), ("substr(d, 1, 4) >= 2030", "substr"), ("1 > upper(d)", "upper"),
                            ("strftime('%m', d) IN (1, 2)", "strftime"), ("CASE strftime('%m', d) WHEN 1 THEN 1 END", "strftime")):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}")) == [told % (name, name)], condition
    for condition in ("strftime('%Y', d) = '2026'", "CAST(strftime('%Y', d) AS INTEGER) = 2026", "strftime('%Y', d) + 0 = 2026",
                      "strftime('%m', d) = id", "length(substr(d, 1, 4)) = 4",
                      "json_object('a', d) ->> '$.a' > '2026-01'", "json_object('a', id) -> '$.a' = '1'"):
        assert notes(sql(server, f"SELECT id FROM t WHERE {condition}")) == [], condition
    make_database(server, script="create table s(d text, y integer); insert into s values ('2026-01-05', 2026)")
    assert notes(sql(server, "SELECT * FROM s WHERE strftime('%Y', d) = 2026", database="data.db")) == [told % ("strftime", "strftime")]
    for condition in ("strftime('%Y', d) = y", "d > '2025'", "y = '2026'", "main.s.y > 2000 AND s.d < '2027'", "y + 0 = 2026"):
        answer = sql(server, f"SELECT * FROM s WHERE {condition}", database="data.db")
        assert answer.object["rows"] == [["2026-01-05", 2026]] and notes(answer) == [], condition
    told = ["a number was compared with the text '1': it equals none and is less than any; a number in its place compares numbers"]
    assert notes(sql(server, "SELECT count(*) FROM t HAVING count(*) > '1'")) == told
    assert notes(sql(server, "SELECT d FROM t GROUP BY d HAVING sum(id) = ?", params=["1"])) == told
    assert notes(sql(server, "SELECT d FROM t WHERE :a = '' OR :a = id", params=[1])) == []


MADE = "a text that the query makes was compared with a number that it makes: no text equals a number, and each is more; CAST(... AS REAL) of the text compares numbers"
CALLED = "strftime() gives a text and was compared with a number: it equals none and is more than any; CAST(strftime(...) AS REAL) compares numbers"
BY_YEAR = "(SELECT substr(d, 1, 4) AS y, count(*) AS c FROM t GROUP BY 1)"


@pytest.mark.parametrize("query, told", [
    ("SELECT id FROM t WHERE strftime('%Y', d) = (SELECT max(year) FROM t)", CALLED),
    ("SELECT id FROM t WHERE (SELECT 2000 + count(*) FROM t) < strftime('%Y', d)", CALLED),
    ("SELECT id FROM t WHERE strftime('%Y', d) IN (SELECT max(year) FROM t)", CALLED),
    ("SELECT id FROM t WHERE strftime('%Y', d) IN (SELECT year + 0 FROM t)", CALLED),
    ("SELECT id FROM t WHERE length(d) = 10 AND strftime('%Y', d) = length(d) + 2016", CALLED),
    ("SELECT id FROM t WHERE (SELECT max(strftime('%Y', d)) FROM t) = 2026", None),
    (f"SELECT * FROM {BY_YEAR} JOIN (SELECT max(year) AS y FROM t) USING (y)", MADE),
    (f"SELECT * FROM {BY_YEAR} NATURAL JOIN (SELECT max(year) AS y FROM t)", MADE),
    (f"WITH a AS {BY_YEAR}, b AS (SELECT year + 0 AS y, count(*) AS n FROM t GROUP BY 1) SELECT * FROM a JOIN b ON a.y = b.y", MADE),
    (f"WITH a AS {BY_YEAR}, b AS (SELECT year + 0 AS y, count(*) AS n FROM t GROUP BY 1) SELECT * FROM b LEFT JOIN a ON a.y = b.y", MADE),
    (f"SELECT y FROM {BY_YEAR} WHERE y > 2025", None),
    ("SELECT y FROM (SELECT d || '' AS y FROM t ORDER BY 1 LIMIT 5) WHERE y > (SELECT count(*) FROM t)", None),
    ("SELECT name FROM t GROUP BY name HAVING group_concat(id) = sum(id)", "group_concat() gives a text and was compared with a number: it equals none and is more than any; "
     "CAST(group_concat(...) AS REAL) compares numbers"),
    ("SELECT count(*) FROM t HAVING count(*) > (SELECT substr('12', 1, 1))", None)])
def test_texts_that_subqueries_make_are_told_beside_numbers(server, query, told):
    put(server, "t.csv", "id,d,year,name\n1,2026-01-05,2026,a\n2,2025-11-02,2025,b\n3,2026-03-05,2026,c\n")
    (note,) = notes(sql(server, query))
    assert note == told or (told is None and "was compared with a number" in note), note


@pytest.mark.parametrize("query", [
    "SELECT id FROM t WHERE strftime('%Y', d) = (SELECT year FROM t LIMIT 1)", "SELECT id FROM t WHERE strftime('%Y', d) IN (SELECT year FROM t)",
    "SELECT id FROM t WHERE year IN (SELECT strftime('%Y', d) FROM t)", "SELECT id FROM t WHERE year = (SELECT max(strftime('%Y', d)) FROM t)",
    f"SELECT t.id FROM t JOIN {BY_YEAR} s ON s.y = t.year", f"WITH a AS {BY_YEAR}, b AS (SELECT year AS y, count(*) AS n FROM t GROUP BY 1) SELECT * FROM a JOIN b USING (y)",
    "SELECT id FROM t WHERE CAST(strftime('%Y', d) AS REAL) = (SELECT max(year) FROM t)", f"SELECT * FROM {BY_YEAR} a JOIN {BY_YEAR} b USING (y)",
    "SELECT name FROM t GROUP BY name HAVING count(*) > 0 AND max(name) > 'A'", "SELECT id, rank() OVER (PARTITION BY name ORDER BY year RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
    "WITH RECURSIVE n(i, s) AS (SELECT 1, 'x' UNION ALL SELECT i + 1, s || 'x' FROM n WHERE i < 5) SELECT * FROM n WHERE length(s) > 2",
    "SELECT CASE WHEN length(name) > 0 AND upper(name) = 'A' THEN 'yes' ELSE 'no' END FROM t", "SELECT coalesce(nullif(upper(name), 'A'), 0) = 0 FROM t",
    "SELECT DISTINCT upper(name) FROM t WHERE EXISTS (SELECT 1 FROM t x WHERE x.year = t.year) ORDER BY length(name) LIMIT 2"])
def test_what_is_converted_for_a_comparison_is_not_told(server, query):
    put(server, "t.csv", "id,d,year,name\n1,2026-01-05,2026,a\n2,2025-11-02,2025,b\n3,2026-03-05,2026,c\n")
    answer = sql(server, query)
    assert answer.object["rows"] and notes(answer) == []


@pytest.mark.parametrize("query", [
    "SELECT count(*) FROM t a JOIN t b ON a.id || '-' || a.year = b.id || '-' || b.year", "SELECT id FROM t WHERE d BETWEEN year || '-01-01' AND year || '-12-31'",
    "SELECT id FROM t WHERE id || '-' || year = '1-2026'", "SELECT id FROM t WHERE ok || '' = '1'", "SELECT id FROM t WHERE year || '-01-05' = d",
    "SELECT n, round(avg(amt), 1) || ' EUR' FROM t GROUP BY n", "SELECT strftime('%Y-%m', d) AS m, sum(amt) FROM t GROUP BY m HAVING m >= '2026-01'",
    "SELECT id FROM t WHERE at >= date('2026-01-01') AND at < date('2026-01-01', '+1 year')", "SELECT id FROM t WHERE at >= datetime('2026-01-01 00:00:00')",
    "SELECT id FROM t WHERE date(at) = d", "SELECT id FROM t WHERE date(at) BETWEEN '2026-01-01' AND '2026-12-31'", "SELECT max(at), min(d) FROM t WHERE d <= date('now', '+100 years')",
    "SELECT id FROM t WHERE d > date('2025-01-01', '-1 month') AND ok", "SELECT date(year || '-01-01'), julianday(at) - julianday(d) FROM t", "SELECT iif(ok, n, 'none'), iif(amt > 2, 'a', 'b') FROM t",
    "SELECT CASE WHEN ok THEN 'true' ELSE 'false' END AS s, count(*) FROM t GROUP BY s", "SELECT printf('%s: %d', n, id) FROM t WHERE ok IS TRUE OR NOT ok", "SELECT n FROM t WHERE coalesce(amt, 0) > 1",
    "SELECT id FROM t WHERE time(at) BETWEEN '00:00' AND '23:59:59'", "SELECT t.id FROM t JOIN (SELECT date(max(at)) AS day FROM t) m ON t.d <= m.day", "SELECT n, amt FROM t UNION ALL SELECT 'Total', sum(amt) FROM t",
    "SELECT id FROM t WHERE d = (SELECT max(d) FROM t)", "SELECT date(d, '+' || id || ' days') FROM t", "SELECT id FROM t WHERE code = '007' AND code LIKE '0%'", "SELECT phone FROM t WHERE phone LIKE '+41%'"])
def test_everyday_queries_get_no_note(server, query):
    put(server, "t.csv", "id,d,at,year,n,amt,ok,code,phone\n1,2026-01-05,2026-01-05 10:00:00,2026,Ann,1.5,true,007,+41791234567\n"
        "2,2026-11-02,2026-11-02 08:30:00,2026,Bob,2.5,false,010,+41791234568\n3,2026-11-03,2026-11-03 00:00:00,2026,Ann,,true,012,\n")
    answer = sql(server, query)
    assert answer.object["rows"] and notes(answer) == []


def test_a_column_beside_aggregates_of_all_rows_is_told(server):
    put(server, "t.csv", "name,x,k\na,1,5\nb,2,6\n")
    told = "name of t.csv stands beside aggregates of all rows: its value is that of an arbitrary row; GROUP BY name gives a row for each"
    for query in ("SELECT name, sum(x) FROM t", "SELECT count(*), name AS n FROM t WHERE x > 0", "SELECT t.name, min(x), max(x) FROM t", "SELECT * FROM (SELECT name, avg(x) FROM t)",
                  "SELECT name, count(*) FILTER (WHERE x > 1) FROM t ORDER BY 1", "SELECT 1, 2 UNION ALL SELECT name, sum(x) FROM t"):
        assert notes(sql(server, query)) == [told], query
    for query in ("SELECT name, max(x) FROM t", "SELECT name, max(x), count(*) FROM t", "SELECT name, sum(x) FROM t GROUP BY name", "SELECT k, name, sum(x) FROM t GROUP BY k",
                  "SELECT name, sum(x) OVER () FROM t", "SELECT name, sum(x) FROM t WHERE name = 'a'", "SELECT 'all', sum(x), date('now'), count(*) FROM t", "SELECT name, max(x, k) FROM t",
                  "SELECT name, (SELECT sum(x) FROM t) FROM t", "SELECT sum(x) FROM t ORDER BY 1", "SELECT sum(x) / count(*), (SELECT name FROM t LIMIT 1) FROM t",
                  "SELECT name, x / (SELECT avg(x) FROM t) FROM t WHERE x IN (SELECT max(x) FROM t)", "SELECT name, count(*) FILTER (WHERE x > 1) OVER () FROM t"):
        assert notes(sql(server, query)) == [], query


def test_texts_that_a_query_calculates_with_are_told(server):
    """'a' + 'b' is 0, and the days between two dates of a year are 0."""
    put(server, "t.csv", "id,d,n,z\n1,2026-01-05,Ann,007\n2,2026-11-02,Bob,010\n")
    told = ("%s of t.csv is text and was calculated with: each value counts as the number that it begins with, or as 0 ('%s'); %s")
    dates, texts = told % ("d", "2026-01-05", "julianday() gives days for ISO dates"), told % ("n", "Ann", "|| joins texts")
    for query in ("SELECT max(d) - min(d) FROM t", "SELECT d + 30 FROM t", "SELECT t.d - '2026-01-01' FROM t", "SELECT id FROM t WHERE 5 * coalesce(d, n) > 2",
                  "SELECT d - lag(d) OVER (ORDER BY id) FROM t", "SELECT sum(2 * (d)) FROM t"):
        assert dates in notes(sql(server, query)), query
    assert notes(sql(server, "SELECT id FROM t ORDER BY -d")) == [dates]
    for query in ("SELECT n + ' ' + n FROM t", "SELECT -n FROM t", "SELECT id, abs(t.n) FROM t", "SELECT round(n, 1) FROM t", "SELECT sqrt(n) FROM t WHERE id > -n", "SELECT 'x' + t.n FROM t", "SELECT w * 2 FROM (SELECT n AS w FROM t)", "SELECT id % n FROM t"):
        assert notes(sql(server, query)) == [texts], query
    for query in ("SELECT julianday(d) - julianday('2026-01-01'), n || d, z * 2, d + 0, 1 * z, substr(d, 1, 4) - 1 FROM t", "SELECT *, -id, t.* FROM t",
                  "SELECT n, -1, count(*) FROM t GROUP BY n", "SELECT id FROM t WHERE id BETWEEN -5 AND +7 AND n = 'Ann' LIMIT 3 OFFSET -1",
                  "SELECT length(n) + id, strftime('%Y', d) - 1 FROM t", "SELECT abs(id), round(id, 1), -id, -z, round(z, 1), abs(julianday(d) - 1), n FROM t",
                  "SELECT -length(n), -(id) FROM t", "SELECT json_object('a', n) ->> '$.a' FROM t"):
        assert notes(sql(server, query)) == [], query


def test_texts_that_a_union_puts_beside_numbers_are_told(server):
    put(server, "q1.csv", "cust,amt,paid\n1,10,true\n2,20,false\n")
    put(server, "q2.csv", "cust,amt,paid\n1,5,yes\nX9,1,no\nY8,2,no\n")
    told = "%s of q2.csv is text and comes into one column with numbers or booleans: 1 and '1' are two values there; CAST(... AS TEXT) in each SELECT makes them one"
    query = "SELECT cust, sum(amt) FROM (SELECT * FROM q1 UNION ALL SELECT * FROM q2) GROUP BY cust"
    assert [1, 10] in rows(server, query) and ["1", 5] in rows(server, query)
    assert notes(sql(server, query)) == [told % "cust", told % "paid"]
    for query in ("SELECT cust FROM q1 UNION SELECT cust FROM q2", "SELECT amt, cust FROM q2 EXCEPT SELECT amt, cust AS c FROM q1 WHERE amt > 1",
                  "SELECT a.cust FROM q1 a INTERSECT SELECT b.cust FROM q2 b", "WITH u AS (SELECT cust c FROM q1 x UNION ALL SELECT cust FROM 'q2.csv' AS y) SELECT count(DISTINCT c) FROM u",
                  "SELECT cust FROM q1 UNION SELECT cust FROM q1 UNION SELECT cust FROM q2"):
        assert notes(sql(server, query)) == [told % "cust"], query
    assert told % "paid" in notes(sql(server, "SELECT paid FROM q1 UNION SELECT paid FROM q2"))
    for query in ("SELECT CAST(cust AS TEXT) FROM q1 UNION SELECT CAST(cust AS TEXT) FROM q2", "SELECT amt FROM q1 UNION SELECT amt FROM q2",
                  "SELECT cust, amt FROM q2 UNION ALL SELECT 'total', sum(amt) FROM q2", "SELECT cust FROM q2 UNION SELECT NULL", "SELECT cust FROM q2 UNION ALL SELECT count(*) FROM q1"):
        assert notes(sql(server, query)) == [], query


def test_a_boolean_that_is_compared_with_a_column_of_texts_is_told(server):
    put(server, "t.csv", "id,b,s\n1,true,yes\n2,false,no\n")
    put(server, "u.csv", "b\nY\nN\n")
    assert notes(sql(server, "SELECT id FROM t WHERE b = s")) == [
        "s of t.csv is text and was compared with a BOOLEAN, which equals no text: compare that with a condition, as (s = 'yes')"]
    assert notes(sql(server, "SELECT id FROM t JOIN u USING (b)")) == [
        "b of u.csv is text and was compared with a BOOLEAN, which equals no text: compare that with a condition, as (b = 'Y')"]
    assert notes(sql(server, "SELECT id FROM t WHERE b = 'yes'")) == ["b of t.csv is BOOLEAN and equals no text: write b or NOT b, or = true"]
    assert rows(server, "SELECT id FROM t WHERE b = (s = 'yes')") == [[1], [2]]
    assert notes(sql(server, "SELECT id FROM t WHERE b = (s = 'yes')")) == []


def test_names_that_a_query_makes_are_followed_to_their_columns(server):
    put(server, "t.csv", "id,v\n1,007\n2,A1\n")
    told = ["v of t.csv is text and was compared with a number, as text: CAST(nullif(v, 'A1') AS REAL) compares numbers"]
    for query in ("WITH s(i, w) AS (SELECT id, v FROM t) SELECT i FROM s WHERE w > 9", "SELECT w FROM (SELECT v w FROM t) WHERE w > 9",
                  "WITH s(i, w) AS (SELECT max(id, 0), v FROM t), u AS (SELECT w x FROM s) SELECT * FROM u WHERE x = 7",
                  "SELECT * FROM (SELECT nth_value(v, 1) OVER () w FROM t) WHERE w > 9"):
        assert notes(sql(server, query)) == told, query
    for query in ("WITH s(i, w) AS (SELECT id, v FROM t) SELECT w FROM s WHERE i > 0", "SELECT v FROM (SELECT CAST(nullif(v, 'A1') AS REAL) AS v FROM t) WHERE v > 9"):
        assert notes(sql(server, query)) == [], query


def test_a_long_query_is_read_for_what_it_compares(server):
    put(server, "t.csv", "id,d\n1,2026-01-05\n2,31.01.2026\n")
    for query in (" UNION ALL ".join(["SELECT t.d AS x, id AS y FROM t WHERE t.d > '2026-01-02' AND x > '2' AND y > 0"] * 400),
                  "SELECT id FROM t WHERE " + " OR ".join(["(" + " OR ".join(["d > '2027'", "d = d"] * 20) + ")"] * 40)):
        answer = sql(server, query)
        assert not answer.is_error and notes(answer)[0].startswith("d of t.csv is text: dates like '31.01.2026' compare as text")


# ---- files of all kinds ----

def test_a_name_that_is_made_is_none_that_the_file_has(server):
    """Else the name of one column gives the values of another."""
    put(server, "t.csv", "x,x,x_2,X,,column5\n1,2,3,4,5,6\n")
    answer = sql(server, "SELECT * FROM t")
    assert [column["name"] for column in answer.object["columns"]] == ["x", "x_3", "x_2", "X_4", "column5_2", "column5"]
    assert rows(server, "SELECT x_2, column5 FROM t") == [[3, 6]]


def test_blanks_around_names_of_columns_are_no_part_of_them(server):
    """As DuckDB reads them. `SELECT b` finds ` b`."""
    put(server, "t.csv", "a, b ,\" c\",  , b\n1,2,3,4,5\n")
    answer = sql(server, "SELECT a, b, c, column4, b_2 FROM t")
    assert answer.object["rows"] == [[1, 2, 3, 4, 5]] and notes(answer) == ["blanks around the names of columns in t.csv are no part of them"]
    assert notes(sql(server, "SELECT a FROM t")) == []
    put(server, "t.csv", "a b,c\n1,2\n")
    assert notes(sql(server, 'SELECT "a b" FROM t')) == []


def test_a_zero_byte_in_a_small_file_is_no_utf16(server):
    write(server, {"input/t.csv": b"a,b\n1,x\0y\n2,z\n"})
    answer = sql(server, "SELECT a FROM t")
    assert answer.object["rows"] == [[1], [2]] and notes(answer) == []


APART = " comes into one column with numbers: 1 and '1' are two values there; CAST(... AS TEXT) in each SELECT makes them one"


@pytest.mark.parametrize("query, count, what", [
    ("SELECT year FROM t UNION SELECT strftime('%Y', d) FROM t", 4, "what strftime() gives is text and"), ("SELECT strftime('%Y', d) FROM t EXCEPT SELECT year FROM t", 2, "what strftime() gives is text and"),
    ("SELECT year FROM t EXCEPT SELECT strftime('%Y', d) FROM t", 2, "what strftime() gives is text and"), ("SELECT year FROM t INTERSECT SELECT substr(d, 1, 4) FROM t", 0, "what substr() gives is text and"),
    ("SELECT substr(d, 1, 4) FROM t INTERSECT SELECT year FROM t", 0, "what substr() gives is text and"), ("SELECT year AS y FROM t UNION SELECT strftime('%Y', d) FROM t ORDER BY 1", 4, "what strftime() gives is text and"),
    ("SELECT substr(d, 1, 4) AS y FROM t EXCEPT SELECT year FROM t ORDER BY y DESC", 2, "what substr() gives is text and"), ("SELECT name, year FROM t INTERSECT SELECT name, substr(d, 1, 4) FROM t ORDER BY 1", 0, "what substr() gives is text and"),
    ("WITH a AS (SELECT year AS y FROM t), b AS (SELECT strftime('%Y', d) AS y FROM t GROUP BY 1) SELECT * FROM a UNION SELECT * FROM b", 4, "what strftime() gives is text and"),
    ("SELECT y, count(*) FROM (SELECT year AS y FROM t UNION SELECT CAST(year AS TEXT) FROM t) GROUP BY y", 4, "a text that the query makes"), ("SELECT count(*) FROM t UNION SELECT year || '' FROM t", 3, "a text that the query makes"),
    ("SELECT year + 0 FROM t UNION SELECT name FROM t UNION SELECT max(substr(d, 1, 4)) FROM t", 6, "what max() gives is text and"), ("SELECT year FROM t EXCEPT SELECT '2026'", 2, "the text '2026'")])
def test_texts_that_a_query_makes_and_puts_beside_numbers_are_told(server, query, count, what):
    put(server, "t.csv", "id,d,year,name\n1,2026-01-05,2026,a\n2,2025-11-02,2025,b\n3,2026-03-05,2026,c\n")
    answer = sql(server, query)
    assert len(answer.object["rows"]) == count and notes(answer) == [what + APART]


@pytest.mark.parametrize("query", [
    "SELECT year FROM t UNION SELECT CAST(strftime('%Y', d) AS INTEGER) FROM t", "SELECT CAST(year AS TEXT) FROM t INTERSECT SELECT strftime('%Y', d) FROM t ORDER BY 1", "SELECT name FROM t UNION SELECT strftime('%Y', d) FROM t",
    "SELECT year, id FROM t UNION SELECT 'all', count(*) FROM t", "SELECT year FROM t UNION ALL SELECT strftime('%Y', d) FROM t ORDER BY 1", "SELECT id, count(*) FROM t GROUP BY 1 UNION SELECT id, NULL FROM t ORDER BY 1, 2",
    "SELECT year FROM t WHERE id + 0 IN (1, 2, 'x')", "SELECT count(DISTINCT CASE WHEN id > 1 THEN upper(name) ELSE year END) FROM t", "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n",
    "SELECT coalesce(strftime('%Y', d), 0) FROM t UNION SELECT year FROM t", "SELECT DISTINCT upper(name) FROM t EXCEPT SELECT name FROM t",
    "SELECT 'rows', count(*) FROM t UNION SELECT 'last', max(upper(name)) FROM t", "SELECT 'rows' AS k, count(*) FROM t UNION SELECT 'last', max(upper(name)) FROM t ORDER BY k"])
def test_what_a_query_puts_together_as_one_kind_is_not_told(server, query):
    put(server, "t.csv", "id,d,year,name\n1,2026-01-05,2026,a\n2,2025-11-02,2025,b\n3,2026-03-05,2026,c\n")
    answer = sql(server, query)
    assert answer.object["rows"] and notes(answer) == []


@pytest.mark.parametrize("name, data, line, first", [
    ("t.csv", "5,2.5\n7,3.5\n", "{ seq -s ',' -f c%g 2; cat 'input/t.csv'; } > 'input/t_with_names.csv'", [5, 2.5]),
    ("t.csv", "17\n3\n", "{ seq -s ',' -f c%g 1; cat 'input/t.csv'; } > 'input/t_with_names.csv'", [17]),
    ("t.csv", "1,2026-01-05,Bern\n2,2026-01-06,Basel\n", "{ seq -s ',' -f c%g 3; cat 'input/t.csv'; } > 'input/t_with_names.csv'", [1, "2026-01-05", "Bern"]),
    ("t.tsv", "Bern\t1.5\nBasel\t2.5\n", "{ seq -s $'\\t' -f c%g 2; cat 'input/t.tsv'; } > 'input/t_with_names.tsv'", ["Bern", 1.5]),
    ("t.csv", "\ufeffBern;1,5;x\nBasel;2,5;y\n", "{ seq -s ';' -f c%g 3; tail -c +4 'input/t.csv'; } > 'input/t_with_names.csv'", ["Bern", 1.5, "x"])])
def test_a_first_line_that_looks_like_data_is_told_with_the_line_that_names_the_columns(server, name, data, line, first):
    put(server, name, data)
    told = notes(sql(server, "SELECT * FROM t"))[0]
    assert told.startswith(f"the first line of {name} looks like data ('{first[0]}', ...) and is read as the names of the columns. ") and told.endswith(": " + line)
    assert notes(sql(server, "SELECT count(*) FROM t")) == []
    server.cell(f"import subprocess; subprocess.run(['bash', '-c', {line!r}], check=True)")
    assert rows(server, "SELECT * FROM t_with_names LIMIT 1") == [first]


def test_the_line_for_a_first_line_of_data_writes_over_no_file(server):
    put(server, "sales 2026.csv", "5,2.5\n7,3.5\n")
    put(server, "sales 2026_with_names.csv", "a\nx\n")
    assert notes(sql(server, 'SELECT * FROM "sales 2026"'))[0].endswith("; cat 'input/sales 2026.csv'; } > 'input/sales 2026_with_names_2.csv'")
    server.cell("import os; os.rename('input', 'other')")
    assert notes(sql(server, 'SELECT * FROM "sales 2026"'))[0].endswith("; cat 'other/sales 2026.csv'; } > 'input/sales 2026_with_names.csv'")


def test_the_line_that_makes_a_table_of_another_file_writes_over_no_file(server):
    put(server, "t.csv", "a\n1\n")
    put(server, "t.xlsx", "x")
    assert ".to_csv('input/t_2.csv', index=False)" in " ".join(sql(server, 'SELECT * FROM "t.xlsx"').texts)


@pytest.mark.parametrize("data", ["country,2020,2021\nCH,1,2\n", ",0,1\n0,1.5,2.5\n", "0,1,2\n5,6,7\n", "2020,2021,2022\n5,6,7\n", "id,n\n1,2\n", "a,b\nx,y\n", "1,2\n",
                                  "station,2026-01-05,2026-01-06\nA,1.5,2.5\n", "1st,2nd\n1,2\n", "true,false\n1,2\n", "name,10\nx,3\n"])
def test_a_first_line_of_names_is_not_told(server, data):
    put(server, "t.csv", data)
    assert notes(sql(server, "SELECT * FROM t")) == []


def test_an_empty_text_is_null_without_quotes_only(server):
    put(server, "t.csv", 'id,city\n1,\n2,""\n3,Bern\n')
    assert rows(server, "SELECT id FROM t WHERE city IS NULL") == [[1]] and rows(server, "SELECT id FROM t WHERE nullif(city, '') IS NULL") == [[1], [2]]


def test_ragged_rows_are_read_and_told(server):
    put(server, "t.csv", "a,b\n1,2\n3\n\"x\ny\",4,5\n6\n")
    answer = sql(server, "SELECT * FROM t")
    assert answer.object["rows"] == [["1", 2, None], ["3", None, None], ["x\ny", 4, 5], ["6", None, None]]
    assert notes(answer)[:2] == [
        "2 rows of t.csv with fewer fields than its first line (the first is line 3): what is missing is NULL",
        "1 row of t.csv with more fields than its first line (the first is line 4): they are in further columns, the last is column3"]


@pytest.mark.parametrize("data, names", [
    ('"x","y"\n"1",1.5,"a"\n"2",2.5,"b"\n', ["column1", "x", "y"]), ("x\ty\nr1\t1.5\ta\nr2\t2.5\t\nr3\t2\tb\n", ["column1", "x", "y"]),
    ('"x","column1"\n"7",1.5,"a"\n"8",2.5,"b"\n', ["column1_2", "x", "column1"]), ('x,y\n"a",2,b\n', ["column1", "x", "y"])])
def test_rows_with_names_that_the_first_line_does_not_have_are_read_as_r_writes_them(server, data, names):
    name = "t.tsv" if "\t" in data else "t.csv"
    put(server, name, data)
    answer = sql(server, "SELECT * FROM t")
    assert [column["name"] for column in answer.object["columns"]] == names
    assert rows(server, "SELECT avg(x) FROM t") == [[2]]
    assert [note for note in notes(answer) if "field" in note] == [
        f"each row of {name} has one more field than its first line, as R writes names of rows"
        f"{', or a value has a comma and no quotes around it' if name == 't.csv' else ''}: the first field is {names[0]}"]


@pytest.mark.parametrize("data, why", [
    ("day,amount\n2026-01-01,1,200\n2026-01-02,2,300\n", True), ("name,price\nA,1,50\nB,2,75\n", True), ("id,price\n1,1,50\n2,2,75\n", True), ("x,y\na,1,2\n", True),
    ('x,y\n"a",1,2\n"a",1,3\n', True), ("x\ty\na\t1\t2\na\t1\t3\n", False), ("x;y\na;1;2\nb;1;3\nb;1;4\n", False)])
def test_a_comma_in_a_value_is_no_name_of_a_row(server, data, why):
    name = "t.tsv" if "\t" in data else "t.csv"
    put(server, name, data)
    answer = sql(server, "SELECT * FROM t")
    assert [column["name"] for column in answer.object["columns"]] == [*data.splitlines()[0].replace("\t", ",").replace(";", ",").split(","), "column3"]
    count = data.count("\n") - 1
    assert [note for note in notes(answer) if "field" in note] == [
        f"{count} row{'s' if count > 1 else ''} of {name} with more fields than its first line (the first is line 2): they are in further columns, the last is column3"
        + ("; its first line lacks a name, or a value has a comma and no quotes around it" if why else "")]


@pytest.mark.parametrize("data", ["a,b\n1,2,\n3,4,\n", "a,b\n1,2,\n3,4,note\n", "a,b\n1,2,3\n4,5\n", "a,b\n1,2,3\n4,5,6,7\n", "a,b\n1,2\n3,4\n", "a,b\n"])
def test_rows_without_names_are_not_read_so(server, data):
    put(server, "t.csv", data)
    answer = sql(server, "SELECT * FROM t")
    assert [column["name"] for column in answer.object["columns"]][:2] == ["a", "b"] and "R writes" not in " ".join(notes(answer))


def test_a_blank_line_of_a_file_with_one_column_is_a_row(server):
    """As to DuckDB and sqlite3; else a value that is missing would not be counted."""
    put(server, "t.csv", "\nv\n1\n\n3\n")
    answer = sql(server, "SELECT count(*), count(v), sum(v) FROM t")
    assert answer.object["rows"] == [[3, 2, 4]] and notes(answer) == ["blank lines of t.csv, which has one column, are rows with NULL: 1"]
    assert rows(server, "SELECT v FROM t") == [[1], [None], [3]]
    put(server, "t.csv", 'v\n"x"\n""\ny')
    answer = sql(server, "SELECT v FROM t")
    assert answer.object["rows"] == [["x"], [""], ["y"]] and notes(answer) == []
    put(server, "t.csv", "v,w\n1,2\n\n3,4\n")
    answer = sql(server, "SELECT v FROM t")
    assert answer.object["rows"] == [[1], [3]] and notes(answer) == []


@pytest.mark.parametrize("data, expected", [
    ('id,name,qty\n1,"5\\" pipe",3\n2,"a, \\"b\\", c",4\n3,"C:\\\\x",5\n4,"27\\"",6\n', [[1, '5" pipe', 3], [2, 'a, "b", c', 4], [3, "C:\\x", 5], [4, '27"', 6]]),
    ('id\tname\n1\t"27\\" wide"\n2\t"b"\n', [[1, '27" wide'], [2, "b"]]), ('id;name\n1;"a\\"\n2;"b\\" c"', None)])
def test_quotes_after_backslashes_are_read_where_they_are_no_ends(server, data, expected):
    """As Spark, MySQL and R write them."""
    put(server, "t.tsv" if "\t" in data else "t.csv", data)
    answer = sql(server, "SELECT * FROM t")
    assert [note for note in notes(answer) if "backslash" in note] == (
        [f"quotes within values of t.{'tsv' if chr(9) in data else 'csv'} have a backslash before them, which is no part of the value"] if expected else [])
    assert expected is None or answer.object["rows"] == expected


@pytest.mark.parametrize("data, expected", [
    ('id,path\n1,"C:\\"\n2,"D:\\x\\"\n', [[1, "C:\\"], [2, "D:\\x\\"]]), ('id,name\n1,"say ""\\"""\n2,b\n', [[1, 'say "\\"'], [2, "b"]]),
    ('id,name\n1,a\\"b\n2,"x"y\n', [[1, 'a\\"b'], [2, "xy"]]), ('id,path\n1,"C:\\"\n2,"x"y\n', [[1, "C:\\"], [2, "xy"]])])
def test_a_backslash_that_escapes_nothing_is_a_character(server, data, expected):
    put(server, "t.csv", data)
    answer = sql(server, "SELECT * FROM t")
    assert answer.object["rows"] == expected and notes(answer) == []


def test_a_lone_quote_in_a_file_with_tabs_is_a_character(server):  # Q20
    put(server, "t.tsv", 'a\tb\n5"\t"x\n6\ty\n')
    answer = sql(server, "SELECT * FROM t")
    assert answer.object["rows"] == [['5"', '"x'], ["6", "y"]]
    assert "a quote in t.tsv does not end: quotes are read as plain characters" in notes(answer)


ENCODED = {"cp1252": "name,city\nM\u00fcller,Z\u00fcrich\nGr\u00fcn,K\u00f6ln\n" * 5,
           "cp932": "\u540d\u524d,\u90fd\u5e02\n\u7530\u4e2d,\u6771\u4eac\n\u9234\u6728,\u5927\u962a\n" * 5,
           "gb18030": "\u59d3\u540d,\u57ce\u5e02\n\u5f20\u4f1f,\u5317\u4eac\n\u738b\u82b3,\u4e0a\u6d77\n" * 5,
           "cp1251": "\u0438\u043c\u044f,\u0433\u043e\u0440\u043e\u0434\n\u0418\u0432\u0430\u043d,\u041c\u043e\u0441\u043a\u0432\u0430\n" * 5,
           "koi8_r": "\u0438\u043c\u044f,\u0433\u043e\u0440\u043e\u0434\n\u0418\u0432\u0430\u043d,\u041c\u043e\u0441\u043a\u0432\u0430\n" * 5,
           "euc_kr": "\uc774\ub984,\ub3c4\uc2dc\n\uae40\ucca0\uc218,\uc11c\uc6b8\n" * 5,
           "big5": "\u59d3\u540d,\u57ce\u5e02\n\u5f35\u5049,\u53f0\u5317\n" * 5}


@pytest.mark.parametrize("encoding", sorted(ENCODED))
def test_a_file_that_is_not_utf8_is_read_as_what_it_is_and_told(server, encoding):  # W2
    text = ENCODED[encoding]
    write(server, {"input/t.csv": text.encode(encoding)})
    answer = sql(server, "SELECT * FROM t")
    (told,) = notes(answer)
    lines = list(csv.reader(io.StringIO(text)))
    assert [column["name"] for column in answer.object["columns"]] == lines[0]
    assert answer.object["rows"] == lines[1:31]
    assert "input/t.csv is not UTF-8; it is read as " in told and "iconv -f RIGHT -t UTF-8 'input/t.csv' > input/utf8.csv" in told


def test_a_filter_finds_what_latin_letters_spell(server):  # W2
    write(server, {"input/t.csv": ("name\n" + "M\u00fcller\nMeier\n" * 20).encode("latin-1")})
    answer = sql(server, "SELECT count(*) FROM t WHERE name = 'M\u00fcller'")
    assert answer.object["rows"] == [[20]] and "it is read as CP1252 ('M\u00fcller')" in notes(answer)[0]


def test_a_few_broken_bytes_leave_a_file_what_it_is(server):
    write(server, {"input/t.csv": ("n\n" + "Z\u00fcrich\n" * 30).encode() + b"a\xffb\n"})
    answer = sql(server, "SELECT n FROM t WHERE n NOT LIKE 'Z\u00fcrich'")
    assert answer.object["rows"] == [["a\ufffdb"]]
    assert notes(answer) == ["bytes of input/t.csv that are not UTF-8: 1, read as U+FFFD"]


@pytest.mark.parametrize("blank", ["\u00a0", "\u3000", "\ufeff"])
def test_blanks_that_are_no_ascii_are_blanks_in_a_query_and_letters_in_a_text(server, blank):  # W6
    put(server, "t.csv", f"n,s\n1,a{blank}b\n")
    assert rows(server, f"{blank}SELECT{blank}n,{blank}s FROM t{blank}WHERE s = 'a{blank}b'") == [[1, f"a{blank}b"]]
    assert "line 1, column 8: delete" in sql(server, f"{blank * 7}delete from t").texts[-1]


# ---- names ----

def test_a_name_that_is_exact_comes_before_one_that_is_like_it(server):  # Q20
    write(server, {"input/my file.csv": b"n\n1\n", "input/my-file.csv": b"n\n2\n", "input/my_file.csv": b"n\n3\n",
                   "input/DATA.csv": b"n\n4\n", "input/data.csv": b"n\n5\n"})
    assert rows(server, "SELECT n FROM my_file") == [[3]]
    assert rows(server, 'SELECT n FROM "my file"') == [[1]] and rows(server, 'SELECT n FROM "my-file"') == [[2]]
    assert rows(server, "SELECT n FROM DATA") == [[4]] and rows(server, "SELECT n FROM data") == [[5]]
    assert "several files have that name" in sql(server, "SELECT n FROM Data").texts[-1]
    assert sql(server, "SELECT * FROM 'input/data.csv', 'input/DATA.csv'").texts[-1] == \
        "'input/data.csv' and 'input/DATA.csv' differ only in case, which SQL does not: name one of them in a query"


def test_a_text_or_a_column_names_no_other_file_in_another_case(server):
    write(server, {"input/north.csv": b"n\n1\n", "input/s/North.csv": b"north,n\n5,2\n", "input/k.csv": b"k\nnorth\nNorth\n"})
    differ = "'input/north.csv' and 'input/s/North.csv' differ only in case, which SQL does not: name one of them in a query"
    for query in ("SELECT count(*) FROM k WHERE k = 'north' OR k = 'North'", "SELECT count(*) FROM k WHERE k IN ('north', 'North')",
                  "SELECT max(k) AS north, count(*) - 1 AS North_ FROM k WHERE 'North' <> ''", "SELECT count(north.k) FROM k AS north WHERE North.k LIKE 'n%'"):
        assert rows(server, query)[0][-1] in (1, 2), query
    assert rows(server, "SELECT n FROM north WHERE 'North' <> 'x'") == [[1]] and rows(server, "SELECT n FROM 'North' WHERE 'north' <> 'x'") == [[2]]
    for query in ("SELECT north.n FROM north, North AS b", "SELECT * FROM 'north' JOIN 'North'", "SELECT 1 FROM north WHERE n IN North"):
        assert sql(server, query).texts == [differ], query
    assert rows(server, "SELECT name FROM pragma_table_info('north')") == [["n"]]
    assert rows(server, "SELECT name FROM pragma_table_info('North'), (SELECT count(*) FROM sqlite_master)") == [["north"], ["n"]]


def test_a_name_with_a_point_and_no_quotes_is_told_with_them(server):
    write(server, {"input/sales.csv": b"n\n1\n", "input/data.v2.csv": b"n\n2\n"})
    for name in ("sales.csv", "SALES.csv", "data.v2"):
        assert sql(server, f"SELECT * FROM {name}").texts == [f'no such table: {name}; a name with a point stands in quotes: "{name}"']
        assert rows(server, f'SELECT count(*) FROM "{name}"') == [[1]]
    for name in ("csv", "csv.csv", "sales.x"):
        assert sql(server, f"SELECT * FROM {name}").texts == [f"no such table: {name}; the session's CSV files are the tables data.v2, sales"]
    put(server, "csv.csv", "n\n3\n")
    assert rows(server, "SELECT n FROM csv") == [[3]] and rows(server, "SELECT n FROM main.sales") == [[1]]


def test_a_name_of_sqlites_own_is_asked_for_by_its_path(server):  # Q20
    write(server, {"input/sqlite_foo.csv": b"n\n1\n"})
    assert sql(server, "SELECT * FROM sqlite_foo").texts == [
        "names that begin with sqlite_ are SQLite's own: ask for 'input/sqlite_foo.csv' by its path in quotes"]
    assert rows(server, "SELECT * FROM 'input/sqlite_foo.csv'") == [[1]]
    assert rows(server, "SELECT name FROM sqlite_master") == [["input/sqlite_foo.csv"]]


@pytest.mark.parametrize("form, asked", [("NFD", "NFC"), ("NFC", "NFD")])
def test_composed_and_decomposed_names_are_one(server, form, asked):  # W3
    name = "\u30c7\u30fc\u30bf"
    write(server, {f"input/{unicodedata.normalize(form, name)}.csv": b"n\n1\n"})
    assert rows(server, f"SELECT n FROM {unicodedata.normalize(asked, name)}") == [[1]]


def test_a_name_in_its_own_form_comes_before_one_that_looks_the_same(server):  # W3
    name = "\u30c7 a"
    forms = {form: unicodedata.normalize(form, name) for form in ("NFC", "NFD")}
    write(server, {f"input/{forms['NFC']}.csv": b"n\n1\n", f"input/{forms['NFD']}.csv": b"n\n2\n"})
    for n, form in enumerate(forms.values(), 1):
        for asked in (f'"{form}"', form.replace(" ", "_"), f"'{form}.csv'", f"'input/{form}.csv'"):
            assert rows(server, f"SELECT n FROM {asked}") == [[n]], asked
    assert sql(server, f"SELECT n FROM \"{forms['NFC'].upper()}\"").texts == [
        "no such table: \u30c7 A; several files have that name, ask for one by its path in quotes: "
        "input/\\u30C6\\u3099 a.csv, input/\\u30C7 a.csv"]


@pytest.mark.parametrize("name, line", [
    ("d.csv.gz", "'input/d.csv.gz' is compressed; in bash: gzip -dc 'input/d.csv.gz' > 'input/d.csv'"),
    ("d.parquet", "'input/d.parquet' is a Parquet file; in python: import pandas as pd; "
                  "pd.read_parquet('input/d.parquet').to_csv('input/d.csv', index=False)"),
    ("d.xlsx", "pd.read_excel('input/d.xlsx').to_csv('input/d.csv', index=False)"), ("d.txt", "cp 'input/d.txt' 'input/d.csv'"),
    ("d.psv", "cp 'input/d.psv' 'input/d.csv'"), ("d.tab", "cp 'input/d.tab' 'input/d.csv'"), ("d.dat", "cp 'input/d.dat' 'input/d.csv'"),
    ("d.ndjson", "import json, pandas as pd; pd.DataFrame([json.loads(s) for s in open('input/d.ndjson', 'rb') if s.strip()], dtype=object)"
                 ".to_csv('input/d.csv', index=False)"),
    ("d.csv.bz2", "in bash: bzip2 -dc 'input/d.csv.bz2' > 'input/d.csv'"), ("d.csv.xz", "in bash: xz -dc 'input/d.csv.xz' > 'input/d.csv'"),
    ("d.csv.zst", "in bash: zstd -dc 'input/d.csv.zst' > 'input/d.csv'"), ("d.ods", "pd.read_excel('input/d.ods').to_csv('input/d.csv', index=False)"),
    ("d.feather", "pd.read_feather('input/d.feather').to_csv("), ("d.dta", "pd.read_stata('input/d.dta').to_csv("),
    ("d.sav", "pd.read_spss('input/d.sav').to_csv("), ("d.csv.txt", "cp 'input/d.csv.txt' 'input/d.csv'")])
def test_a_file_of_another_kind_is_told_with_the_line_that_converts_it(server, name, line):  # Q21
    write(server, {f"input/{name}": b"x"})
    for query in ("SELECT * FROM d", 'SELECT * FROM "d.csv"') if ".csv" in name else ("SELECT * FROM d",):
        assert line in sql(server, query).texts[-1]


@pytest.mark.parametrize("name", ["d.json", "d.jsonl", "a long name of a file, in a folder/and another one/d.ndjson"])
def test_the_line_for_json_changes_no_value(server, name):
    made = [{"zip": "01067", "id": 12345678901234567, "date": "31.01.2026", "created_at": 1700000000, "n": 5, "x": 0.1, "ok": True, "t": "\u00fc"},
            {"zip": "8001", "id": None, "date": "2026-01-31", "created_at": 1, "n": None, "x": None, "ok": None, "t": None}]
    text = json.dumps(made, ensure_ascii=False) if name.endswith(".json") else "\n".join(map(json.dumps, made)) + "\n\n"
    write(server, {f"input/{name}": text.encode()})
    (line,) = sql(server, "SELECT * FROM d").texts
    server.cell(line.split("in python: ")[1])
    assert rows(server, "SELECT zip, id, date, created_at, n, x, ok, t FROM d") == [
        ["01067", "12345678901234567", "31.01.2026", 1700000000, 5, 0.1, True, "\u00fc"], ["8001", None, "2026-01-31", 1, None, None, None, None]]


def test_lines_to_run_hold_any_name_and_all_of_it(server):
    """A name may be long, or have a quote, which would end where the name begins."""
    long = "a name that is longer than what a sentence shows of it"
    write(server, {"input/it's.csv.gz": gzip.compress(b"n\n1\n"), "input/o'k\\.json": b'[{"n": 2}]',
                   f"input/it's {long}.csv": "n\nM\u00fcller\n".encode("latin-1"), "input/q'q.csv": b"n\n3\n"})
    (gz,) = sql(server, 'SELECT * FROM "it\'s"').texts
    server.call("exec_code", session_id="s", language="bash", code=gz.split("in bash: ")[1])
    assert rows(server, "SELECT n FROM 'it''s'") == [[1]]
    (json_line,) = sql(server, 'SELECT * FROM "o\'k\\"').texts
    server.cell(json_line.split("in python: ")[1])
    assert rows(server, 'SELECT n FROM "o\'k\\"') == [[2]]
    (iconv,) = notes(sql(server, f"SELECT * FROM 'it''s {long}.csv'"))
    server.call("exec_code", session_id="s", language="bash", code=iconv.split("in bash: ")[1].replace("RIGHT", "LATIN1"))
    assert rows(server, "SELECT n FROM utf8") == [["M\u00fcller"]]
    assert rows(server, "SELECT n FROM 'q''q.csv'") == [[3]]


def test_a_misspelt_name_in_quotes_is_no_text(server):  # Q4
    put(server, "t.csv", "Region,Amount\nSouth,1\n")
    for query, name in (('SELECT avg("Amuont") FROM t', "Amuont"), ('SELECT * FROM t WHERE "Regoin" = \'South\'', "Regoin"),
                        ('SELECT count(*) FROM t GROUP BY "Regoin"', "Regoin")):
        assert sql(server, query).texts[-1] == f"no such column: {name}; a text has single quotes, a name double ones"
    assert rows(server, 'SELECT "Amount" FROM t WHERE "Region" = \'South\'') == [[1]]


def test_a_wrong_name_or_dialect_is_answered_with_the_right_one(server):
    put(server, "t.csv", "Region,Amount\nSouth,1\n")
    assert sql(server, "SELECT Amuont FROM t").texts[-1] == "no such column: Amuont; input/t.csv has: Region, Amount"
    put(server, "u.csv", "zed\n1\n")
    sql(server, "SELECT zed FROM u")
    assert sql(server, "SELECT zed FROM t").texts[-1] == "no such column: zed; input/t.csv has: Region, Amount; input/u.csv has: zed"
    for query in ("SELECT TOP 5 * FROM t", "SELECT date_trunc('month', Region) FROM t"):
        assert sql(server, query).texts[-1].endswith("; files are queried in SQLite's SQL")


def test_a_column_in_another_form_of_its_letters_is_named(server):
    put(server, "t.csv", unicodedata.normalize("NFD", "gr\u00f6\u00dfe,n\n1,2\n"))
    for name in ("gr\u00f6\u00dfe", "t.gr\u00f6\u00dfe"):
        assert sql(server, f"SELECT {name} FROM t").texts == [f'no such column: {name}; input/t.csv has it in another form of its letters: "gro\\u0308\\u00DFe"']
    assert rows(server, "SELECT \"gro\u0308\u00dfe\" FROM t") == [[1]]


@pytest.mark.parametrize("query", ["SHOW TABLES", "DESCRIBE t", "desc t", "PRAGMA table_info(t)"])
def test_who_asks_for_tables_is_told_how(server, query):  # B5
    put(server, "t.csv", "n,s\n1,a\n")
    (told,) = sql(server, query).texts
    assert "SELECT name FROM sqlite_master gives the tables, SELECT name, type FROM pragma_table_info('TABLE') the columns" in told
    assert rows(server, "SELECT name FROM sqlite_master") == [["t"]]
    assert rows(server, "SELECT name, type FROM pragma_table_info('t')") == [["n", "INTEGER"], ["s", "TEXT"]]


def test_a_database_in_another_folder_is_named(server):  # B5
    server.cell("import sqlite3\nc = sqlite3.connect('output/shop.db')\nc.execute('create table t(a)')\nc.close()")
    assert sql(server, "SELECT * FROM t", database="shop.db").texts == [
        "'shop.db': there is no such file; 'output/shop.db' is"]
    assert rows(server, "SELECT * FROM t", database="output/shop.db") == []
    assert sql(server, "SELECT * FROM t", database="none.db").texts == ["'none.db': there is no such file"]


def test_sql_as_code_is_sent_to_the_tool_for_it(server):  # B5
    answer = server.call("exec_code", session_id="s", language="SQL", code="SELECT 1")
    assert answer.is_error and 'SQL is run by another tool; call exec_sql {"session_id":"s","query":"SELECT 1"}' in answer.texts[0]


# ---- functions ----

def test_functions_that_analysts_miss_are_there(server):  # Q21
    put(server, "t.csv", "n,s\n1,a1\n2,b\n3,c33\n10,\n,d4\n")
    assert rows(server, "SELECT median(n), percentile(n, 25), percentile_cont(n, 0.5), percentile_disc(n, 0.5) FROM t") == [
        [2.5, 1.75, 2.5, 2.0]]
    assert rows(server, "SELECT s FROM t WHERE s REGEXP '^[a-c]\\d+$'") == [["a1"], ["c33"]]
    assert rows(server, "SELECT value FROM generate_series(1, 10, 4)") == [[1], [5], [9]]
    assert rows(server, "SELECT group_concat(value) FROM generate_series(3, 1, -1)") == [["3,2,1"]]
    assert rows(server, "SELECT median(n), stddev(n) FROM t WHERE n > 100") == [[None, None]]
    assert round(float(rows(server, "SELECT stddev(n) FROM t")[0][0]), 12) == 4.082482904639
    assert "a number from 0 to 100" in sql(server, "SELECT percentile(n, 101) FROM t").texts[-1]
    assert "no extended regular expression" in sql(server, "SELECT 'a' REGEXP '('").texts[-1]
    assert "needs a start and a stop" in sql(server, "SELECT * FROM generate_series").texts[-1]
    days, steps = "date('2026-01-01', value || ' days') FROM generate_series(0, 4) gives days", "value * 0.25 FROM generate_series(0, 4) gives numbers between integers"
    for query, value, way in (("generate_series('2026-01-01', '2026-01-05', '1 day')", "2026-01-01", days), ("generate_series(0, 1, 0.25)", "0.25", steps),
                              ("generate_series(0.5, 3)", "0.5", steps), ("generate_series('0.5', 3)", "0.5", steps), ("generate_series(1, 'x')", "x", days)):
        assert sql(server, f"SELECT value FROM {query}").texts[-1] == f"generate_series takes integers, and '{value}' is none; SELECT {way}"
    assert rows(server, "SELECT value * 0.25 FROM generate_series(0, 4)")[1] == [0.25]
    assert rows(server, "SELECT date('2026-01-01', value || ' days') FROM generate_series(0, 4)")[::4] == [["2026-01-01"], ["2026-01-05"]]
    assert rows(server, "SELECT value FROM generate_series('1', 5 / 2.0, 1.0)") == [[1], [2]] and rows(server, "SELECT value FROM generate_series(1, NULL)") == []


def test_the_time_zone_is_that_of_the_sessions_code(home):  # W12
    with Server(home, env={"PTYCELL_ENV_TZ": "Asia/Tokyo"}) as server:
        server.cell("1")
        assert rows(server, "SELECT datetime(0, 'unixepoch', 'localtime')") == [["1970-01-01 09:00:00"]]


def test_patterns_are_of_letters_and_of_what_people_write(server):
    put(server, "t.csv", "s\nü\njo.doe@x.com\n\"a b\"\nÄrger\nx-y]z\n")
    for pattern, found in ((r"^.{5}$", ["Ärger", "x-y]z"]), ("^[äöü]", ["ü"]), (r"^[a-z]+[\s]b$", ["a b"]), (r"\Aa", ["a b"]),
                           (r"[\w.]+@\w+\.com\z", ["jo.doe@x.com"]), (r"[\-\]]z$", ["x-y]z"]), (r"^\w$", ["ü"]), (r"[\.]", ["jo.doe@x.com"])):
        assert rows(server, "SELECT s FROM t WHERE s REGEXP ?", params=[pattern]) == [[text] for text in found], pattern
    for pattern in (r"\x41", r"\p{L}", r"[\D]"):
        assert "no extended regular expression" in sql(server, "SELECT 'a' REGEXP ?", params=[pattern]).texts[-1]


def test_sums_of_windows_forget_what_left_them(server):
    """As pandas' and DuckDB's do: SQLite 3.40 subtracts, and what a large value rounded away is gone."""
    put(server, "t.csv", "i,x\n" + "".join(f"{i},{x}\n" for i, x in enumerate(["0.1", "1e17", "0.2", "0.3", "inf", "0.25", "0.5", "-inf", "1", "2"])))
    found = rows(server, "SELECT sum(x) OVER w, avg(x) OVER w, total(x) OVER w FROM t WINDOW w AS (ORDER BY i ROWS 1 PRECEDING)")
    assert [row[0] for row in found[3:4] + found[6:7] + found[9:]] == [0.5, 0.75, 3.0]
    assert [row[1] for row in found[3:4] + found[6:7] + found[9:]] == [0.25, 0.375, 1.5]
    assert all(row[0] == row[2] for row in found)
    assert rows(server, "SELECT sum(x), avg(x) FROM t WHERE i < 4") == [[1e17, 2.5e16]]
    assert rows(server, "SELECT sum(x), total(x) FROM t WHERE i IN (4, 7)") == [[None, None]]
    put(server, "t.csv", "x\n" + "0.1\n" * 10)
    assert rows(server, "SELECT sum(x), avg(x) FROM t") == [[1.0, 0.1]]


def test_letters_beyond_ascii_have_cases(server):
    """As to DuckDB and pandas; to SQLite alone lower('\u00c4pfel') is '\u00c4pfel'."""
    put(server, "t.csv", "s,n\n\u00c4pfel,1\nZEBRA \u0416\u00c9,2\nstra\u00dfe,3\n,4\n")
    assert rows(server, "SELECT lower(s), upper(s) FROM t") == [["\u00e4pfel", "\u00c4PFEL"], ["zebra \u0436\u00e9", "ZEBRA \u0416\u00c9"],
                                                           ["stra\u00dfe", "STRASSE"], [None, None]]
    assert rows(server, "SELECT n FROM t WHERE lower(s) = lower('\u00c4PFEL')") == [[1]]
    assert rows(server, "SELECT lower(n), upper(1.5), lower(x'ff41') FROM t WHERE n = 1")[0][:2] == ["1", "1.5"]
    for pattern, found in (("\u00e4%", [[1]]), ("%\u0436_", [[2]]), ("STRA\u00dfE", [[3]]), ("z%\u00e9", [[2]]), ("_PFEL", [[1]]), ("a%", [])):
        assert rows(server, "SELECT n FROM t WHERE s LIKE ?", params=[pattern]) == found, pattern


def test_like_is_sqlites_own_but_for_letters(server):
    server.cell("import random, sqlite3\nrandom.seed(5)\nword = lambda chars, most: ''.join(random.choices(chars, k=random.randint(0, most)))\n"
                "rows = [(word('aAb%_!', 7), word('aAbB%%__!', 5)) for _ in range(3000)]\nc = sqlite3.connect('data.db')\n"
                "c.execute('create table t(s text, p text)')\nc.executemany('insert into t values (?, ?)', rows)\nc.commit()\nc.close()\n"
                "open('input/t.csv', 'w').write('s,p\\n' + ''.join(f'\"{s}\",\"{p}\"\\n' for s, p in rows))")
    for query in ("SELECT count(*), sum(s LIKE p), sum(p LIKE s) FROM t", "SELECT s, p FROM t WHERE s LIKE p AND p <> '%' ORDER BY 1, 2 LIMIT 30",
                  "SELECT sum(s LIKE p ESCAPE '!'), sum(NULL LIKE p), sum(s NOT LIKE '%a_' ESCAPE '_') FROM t WHERE p NOT LIKE '%!'", "SELECT 1 LIKE '1', 'a' LIKE x'41'"):
        assert rows(server, query) == rows(server, query, database="data.db"), query
    assert "ESCAPE expression must be a single character" in sql(server, "SELECT 'a' LIKE 'b' ESCAPE 'xy'").texts[-1]


# ---- joins and groups ----

def test_texts_are_found_by_the_numbers_of_a_query(server):
    """As SQLite compares them, whatever the size of the file."""
    put(server, "a.csv", "p,q\n" + "007,1\n010,1\n2,1\n7,1\n099,1\n" * 12)
    put(server, "b.csv", "k\n7\n10\n2\n")
    for condition in ("p IN (SELECT k FROM b)", "+p IN (SELECT k FROM b)", "p = (SELECT k FROM b WHERE k = 7) OR p = (SELECT 10) OR p = 2"):
        assert rows(server, f"SELECT count(*) FROM a WHERE {condition}") == [[48 if "SELECT 10" not in condition else 36]], condition
    assert rows(server, "SELECT count(*) FROM a JOIN b ON p = k") == [[48]]


def test_texts_are_found_by_numbers_beyond_64_bits(server):
    put(server, "a.csv", "id,x\n007,5.5\n5,1e22\n10000000000000000000000,1e22\n123456789012345678901,123456789012345678901.5\n-20000000000000000000,-2e19\n")
    for join in ("a t LEFT JOIN a u ON t.x = u.id", "a u CROSS JOIN a t ON t.x = u.id", "a t CROSS JOIN a u ON t.x = u.id"):
        assert rows(server, f"SELECT count(u.id) FROM {join}") == [[4]], join
    assert rows(server, "SELECT count(*) FROM a WHERE x IN (SELECT id FROM a)") == [[4]]


def test_joins_of_numbers_with_texts_look_at_few_rows(server):
    """Each row beside each would take hours."""
    server.cell("n = 200_000\n"
                "open('input/c.csv', 'w').write('id\\n' + ''.join(f'{i}\\n' for i in range(n)))\n"
                "open('input/o.csv', 'w').write('cid,amt,num\\nx,0.25,7\\n' + ''.join(f'A{i},{i}.25,{i}\\n' for i in range(n)))\n"
                "open('input/m.csv', 'w').write('cid\\n' + ''.join(f'{i}\\n' if i % 2 else f'A{i}\\n' for i in range(n)))")
    for query, count in (("SELECT count(*) FROM o JOIN c ON c.id = o.cid", 0), ("SELECT count(c.id) FROM o LEFT JOIN c ON c.id = o.cid", 0),
                         ("SELECT count(*) FROM c WHERE id IN (SELECT amt FROM o)", 0), ("SELECT count(*) FROM c JOIN o ON amt = id", 0),
                         ("SELECT count(*) FROM c LEFT JOIN o ON amt = id", 200_000), ("SELECT count(*) FROM c JOIN m ON c.id = m.cid", 100_000),
                         ("SELECT count(m.cid) FROM c LEFT JOIN m ON c.id = m.cid", 100_000),
                         ("SELECT count(*) FROM m JOIN c ON c.id = m.cid", 100_000), ("SELECT count(*) FROM m JOIN o ON amt = m.cid", 0),
                         ("SELECT count(m.cid) FROM o LEFT JOIN m ON amt = m.cid", 0), ("SELECT count(*) FROM m JOIN o ON num = m.cid", 100_001)):
        assert rows(server, query) == [[count]], query


def test_joins_by_is_and_without_case_look_at_few_rows(server):
    server.cell("n = 200_000\n"
                "open('input/a.csv', 'w').write('id,mail\\n' + ''.join(f'{i if i % 2 else \"\"},Ab{i}@X\\n' for i in range(n)))\n"
                "open('input/b.csv', 'w').write('uid,mail\\n,\\n' + ''.join(f'{i},aB{i}@x\\n' for i in range(n)))")
    for query, count in (("SELECT count(*) FROM a JOIN b ON a.id IS b.uid", 200_000), ("SELECT count(*) FROM b JOIN a ON b.uid IS a.id", 200_000),
                         ("SELECT count(*) FROM a JOIN b ON a.mail = b.mail COLLATE NOCASE", 200_000),
                         ("SELECT count(*) FROM b LEFT JOIN a ON a.mail COLLATE NOCASE IS b.mail", 200_001)):
        assert rows(server, query) == [[count]], query


def test_rows_are_found_and_grouped_as_sqlite_does(server):
    """The values are compared with those of a table of SQLite's own, which has no index."""
    server.cell("import random, sqlite3\nrandom.seed(3)\n"
                "rows = [(random.choice([1, 2, 3, None, 10**12]), random.choice(['a', 'B', 'z', None, '']), "
                "random.choice([0.5, -0.0, 0.0, 2.0, None])) for _ in range(500)]\n"
                "q = lambda v: '' if v is None else '\"\"' if v == '' else repr(v) if not isinstance(v, str) else v\n"
                "open('input/t.csv', 'w').write('i,s,r\\n' + ''.join(','.join(map(q, row)) + '\\n' for row in rows))\n"
                "c = sqlite3.connect('t.db')\nc.execute('create table t(i integer, s text, r real)')\n"
                "c.executemany('insert into t values (?, ?, ?)', rows)\nc.commit()\nc.close()")
    for query in ("SELECT i, count(*), sum(r) FROM t GROUP BY i ORDER BY i", "SELECT s, i, count(*) FROM t GROUP BY s, i ORDER BY s, i",
                  "SELECT s, sum(i) FROM t GROUP BY s ORDER BY s DESC", "SELECT i, s, count(*) FROM t GROUP BY i, s ORDER BY i DESC, s",
                  "SELECT i, s, count(*) FROM t GROUP BY i, s ORDER BY 1, 2 DESC LIMIT 3",
                  "SELECT x.s FROM (SELECT s FROM t GROUP BY s ORDER BY s DESC LIMIT 1) x", "SELECT DISTINCT s, i FROM t ORDER BY i DESC, s DESC",
                  "SELECT r, count(*) FROM t GROUP BY r ORDER BY r", "SELECT DISTINCT s FROM t ORDER BY s DESC",
                  "SELECT count(*) FROM t a JOIN t b ON a.i = b.i AND a.s = b.s", "SELECT count(*) FROM t WHERE i = 2.0",
                  "SELECT count(*) FROM t WHERE i = '2'", "SELECT count(*) FROM t WHERE s = 2", "SELECT count(*) FROM t WHERE r = 2",
                  "SELECT count(*) FROM t WHERE r = 0", "SELECT count(*) FROM t WHERE i = NULL", "SELECT count(*) FROM t WHERE i IS NULL",
                  "SELECT count(*) FROM t a JOIN t b ON a.r = b.i", "SELECT count(*) FROM t WHERE s = 'b' COLLATE NOCASE",
                  "SELECT count(*) FROM t a JOIN t b ON a.s IS b.s", "SELECT count(*) FROM t a LEFT JOIN t b ON a.i IS b.r WHERE b.s IS 'a'",
                  "SELECT count(*) FROM t a JOIN t b ON a.s = b.s COLLATE NOCASE", "SELECT count(*) FROM t WHERE s IS 'b' COLLATE NOCASE AND i IS NULL",
                  "SELECT count(*) FROM t a LEFT JOIN t b ON b.r IS NULL AND a.i IS b.i WHERE b.i IS NULL", "SELECT count(*) FROM t WHERE r COLLATE NOCASE = '2'",
                  "SELECT count(*) FROM t WHERE (i, s) IS (2, NULL)", "SELECT count(*) FROM t WHERE s COLLATE NOCASE IN ('b', 'A')",
                  "SELECT (SELECT count(*) FROM t b WHERE b.i IS a.i AND b.s = a.s COLLATE NOCASE) FROM t a",
                  "SELECT count(*) FROM t WHERE i IN (1, 3) AND s IN ('a', '')", "SELECT s, max(i), min(r) FROM t GROUP BY 1 ORDER BY 1",
                  "SELECT count(DISTINCT i), count(DISTINCT s) FROM t", "SELECT sum(i) OVER (ORDER BY rowid ROWS 3 PRECEDING) FROM t LIMIT 20",
                  "SELECT (SELECT count(*) FROM t b WHERE b.i = a.i) FROM t a GROUP BY a.i ORDER BY 1",
                  "SELECT x.n, y.n FROM (SELECT s, count(*) n FROM t GROUP BY s) x JOIN (SELECT i, count(*) n FROM t GROUP BY i) y ON 1 ORDER BY 1, 2"):
        assert rows(server, query) == rows(server, query, database="t.db"), query


def test_columns_beyond_those_that_sqlite_tells_apart_are_read(server):
    names = [f"c{i}" for i in range(200)]
    write(server, {"input/w.csv": (",".join(names) + "\n" + ",".join(str(i) for i in range(200)) + "\n").encode()})
    assert rows(server, "SELECT c0, c62, c63, c64, c199, c3 + c150 FROM w GROUP BY c100") == [[0, 62, 63, 64, 199, 153]]
    assert rows(server, "SELECT count(*) FROM w WHERE c180 = 180 AND c5 = 5") == [[1]]
    assert rows(server, "SELECT * FROM w") == rows(server, "SELECT DISTINCT w.* FROM w") == [list(range(200))]
    assert rows(server, 'SELECT 2*C190, "c191" FROM w NATURAL JOIN w v') == [[380, 191]]
