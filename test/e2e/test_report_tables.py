# SPDX-License-Identifier: MIT
"""Tables in the report: the rows of queries, and values that are tables."""
import html.parser
import json

import pytest
from client import LASTS, Server
from steps import paths_in

SECRET = "hunter2-hunter2"
HOSTILE = "</td></table></main><script>alert(1)</script><img src=x onerror=alert(1)>&amp;\"'"


class Tables(html.parser.HTMLParser):
    """The tables of a page as rows of texts, the names first, and all elements that there are."""

    def __init__(self, page):
        super().__init__()
        self.tables, self.notes, self.elements, self.cell, self.note = [], [], set(), None, None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.cell = ""
        elif tag == "p" and dict(attrs).get("class") == "note":
            self.note = ""

    def handle_endtag(self, tag):
        if tag in ("th", "td"):
            self.tables[-1][-1].append(self.cell)
            self.cell = None
        elif tag == "p" and self.note is not None:
            self.notes.append(self.note)
            self.note = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data
        elif self.note is not None:
            self.note += data


def page(home):
    (path,) = paths_in(home, "kept/*-s-*/report.html")
    return path.read_text()


def query_page(home, *queries, check=lambda answer: None, **server_options):
    """The report of a session with these queries; `check` gets each answer."""
    with Server(home, **server_options) as server:
        assert not server.call("session_info", session_id="s", config={}).is_error
        for query in queries:
            answer = server.call("exec_sql", session_id="s", query=query)
            assert not answer.is_error, answer.texts
            check(answer)
    return page(home)


# ---- queries ----

def numbers(count, columns="n, 'row ' || n AS name"):
    return f"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT {columns} FROM r LIMIT {count}"


@pytest.mark.parametrize("count", [0, 1, 10, 11, 30, 31, 99, 100, 101, 3000])
def test_the_report_has_the_first_100_rows_of_a_query(home, count):
    answers = []
    text = query_page(home, numbers(count), check=answers.append)
    found = Tables(text)
    (table,) = found.tables
    assert table == [["n", "name"], *([str(n), f"row {n}"] for n in range(1, min(count, 100) + 1))]
    assert found.notes == ([f"The first 100 of {count} rows are shown."] if count > 100 else [])
    # The answer has what it had.
    (answer,) = answers
    assert len(answer.object["rows"]) == (count if count <= 30 else 10) and "more" not in json.dumps(answer.object)
    assert "row 11" not in answer.texts[0] or count in range(11, 31)
    assert (f"(all {count} rows are in input/sql_result_" in text) == (count > 30) and "the first 10 rows" not in text
    assert count > 30 or f"({count} row{'s' if count != 1 else ''})" in text


def test_rows_of_the_record_change_no_type_in_the_answer(home):
    answers = []
    columns = "CASE WHEN n = 50 THEN 9007199254740993 ELSE n END AS a, CASE WHEN n = 60 THEN NULL ELSE 'NULL' END AS b"
    text = query_page(home, numbers(101, columns), check=answers.append)
    assert [column["type"] for column in answers[0].object["columns"]] == ["integer", "text"]
    assert answers[0].object["rows"][0] == [1, "NULL"]
    (table,) = Tables(text).tables
    assert table[50] == ["9007199254740993", '"NULL"'] and table[60] == ["60", "NULL"]


def test_a_wide_query_and_one_with_long_values_stay_within_their_limits(home):
    wide = numbers(40, ", ".join(f"n AS c{i}" for i in range(150)))
    long_values = numbers(200, ", ".join(f"hex(zeroblob(5000)) || n AS c{i}" for i in range(20)))
    text = query_page(home, wide, long_values)
    found = Tables(text)
    assert found.tables[0] == [[f"c{i}" for i in range(100)], *([str(n)] * 100 for n in range(1, 41))]
    assert found.notes[0] == "The first 100 of 150 columns are shown."
    assert len(text) < 1 << 20 and 10 < len(found.tables[1]) <= 101
    assert found.notes[1] == f"The first {len(found.tables[1]) - 1} of 200 rows are shown."
    assert all(cell.startswith("0") and cell.endswith("\u2026") for row in found.tables[1][1:] for cell in row)


@pytest.mark.parametrize("count, value", [
    (600, "n / 7.0"), (2000, "n / 7.0"), (600, "n * 1000000000000000"), (600, "n || char(1, 2, 3, 4, 5, 6, 7, 8)")])
def test_a_query_with_very_many_columns_has_its_first_ones_in_the_report(home, count, value):
    text = query_page(home, numbers(150, ", ".join(f"{value} AS c{i}" for i in range(count))))
    (table,) = Tables(text).tables
    assert table[0] == [f"c{i}" for i in range(100)] and 20 < len(table) <= 101
    assert f"and the first 100 of {count} columns are shown." in text and "(all 150 rows are in" in text


def test_what_a_database_has_is_text_in_the_report(home):
    quoted = HOSTILE.replace("'", "''")
    name = HOSTILE.replace('"', '""')
    text = query_page(home, numbers(60, f"""'{quoted}' AS "{name}", 'a' || char(10) || 'b' AS two, 'x | y' AS "p | q" """))
    found = Tables(text)
    assert found.tables == [[[HOSTILE, "two", "p | q"]] + [[HOSTILE, '"a\\nb"', '"x | y"']] * 60]
    assert not found.elements & {"script", "img"}


def test_no_secret_is_in_the_rows_of_the_report(home):
    env = {**LASTS, "PTYCELL_SECRET_TOKEN": SECRET}
    rows = numbers(60, "n, 'hunter2' || '-hunter2' AS plain, hex('hunter2' || '-hunter2') AS hex")
    text = query_page(home, rows, env=env)
    (table,) = Tables(text).tables
    assert table[60][:2] == ["60", "[secret TOKEN]"]
    assert SECRET not in text and SECRET.encode().hex() not in text.lower()
    (events,) = paths_in(home, "cache/**/events")
    data = events.read_bytes().lower()
    assert b"\"table\"" in data and SECRET.encode() not in data and SECRET.encode().hex().encode() not in data


# ---- values ----

def value_page(home, *cells, **server_options):
    with Server(home, **server_options) as server:
        server.cell("import pandas as pd")
        for cell in cells:
            answer = server.cell(cell)
            assert answer.status["state"] == "done", answer.text
            assert "row_count" not in answer.text and "column_count" not in answer.text
    return page(home)


@pytest.mark.parametrize("count", [0, 1, 10, 100, 101, 5000])
def test_a_data_frame_that_is_a_value_is_a_table_of_100_rows(home, count):
    text = value_page(home, f"pd.DataFrame({{'n': range({count}), 'half': [n / 2 for n in range({count})]}})")
    found = Tables(text)
    shown = [[str(n), str(n), f"{n / 2:.1f}"] for n in range(min(count, 100))]
    assert found.tables == [[["", "n", "half"], *shown]]
    assert found.notes == {0: ["The table has no rows."], 101: ["The first 100 of 101 rows are shown."],
                           5000: ["The first 100 of 5000 rows are shown."]}.get(count, [])
    # The notebook has the text that the model got.
    book = json.loads(paths_in(home, "kept/*/notebook.ipynb")[0].read_text())
    (output,) = [output for cell in book["cells"] for output in cell.get("outputs", []) if output["output_type"] == "execute_result"]
    assert list(output["data"]) == ["text/plain"]
    assert ("rows x 2 columns" in "".join(output["data"]["text/plain"])) == (count >= 100)


def test_other_values_are_text_and_the_last_value_counts(home):
    text = value_page(home, "pd.DataFrame({'n': [1]}).n", "print(pd.DataFrame({'printed': [1]}))", "display(pd.DataFrame({'shown': [1]}))",
                      "pd.DataFrame({'value': [1]}).pipe(print)", "pd.DataFrame()")
    assert Tables(text).tables == [] and "printed" in text and "Empty DataFrame" in text


def test_what_a_data_frame_has_is_text_in_the_report(home):
    text = value_page(home, f"pd.DataFrame({{{HOSTILE!r}: [{HOSTILE!r}, ['<b>']]}}, index=['<i>', {HOSTILE!r}])")
    found = Tables(text)
    assert found.tables == [[["", HOSTILE], ["<i>", HOSTILE], [HOSTILE, "['<b>']"]]]
    assert not found.elements & {"script", "img", "b", "i"}


def test_no_secret_is_in_a_table_of_a_value(home):
    code = ("import os\nvalue = os.environ['TOKEN']\n"
            "pd.DataFrame({value: [value, value[:7] + '\\x1b[1m' + value[7:], ['x', value], 'x' * 1000 + value]}, index=[value, 1, 2, 3])")
    text = value_page(home, code, env={**LASTS, "PTYCELL_SECRET_TOKEN": SECRET})
    (table,) = Tables(text).tables
    assert table[0] == ["", "[secret TOKEN]"] and table[1] == ["[secret TOKEN]"] * 2
    assert table[2][1] == "[secret TOKEN]" and table[3][1] == "['x', '[secret TOKEN]']"
    (events,) = paths_in(home, "cache/**/events")
    data = events.read_bytes()
    assert b'"table"' in data and not any(part in data or part.decode() in text for part in (b"hunter2-", b"-hunter2"))


def test_wide_frames_long_cells_and_several_levels_stay_within_their_limits(home):
    text = value_page(
        home, "pd.DataFrame({f'c{i}': range(3) for i in range(64)})",
        "pd.DataFrame({'long': ['ä' * 10 ** 6] * 100, 'list': [list(range(1000))] * 100})",
        "pd.DataFrame({f'c{i}': ['\U0001f600' * 200] * 100 for i in range(20)})",
        "pd.DataFrame({'y': [1, 1, 2], 'k': ['a', 'b', 'a'], 'v': [1.5, 2, 3]}).groupby(['y', 'k']).agg(['sum'])")
    wide, long_ones, many_bytes, levels = Tables(text).tables
    assert wide[0] == ["", *(f"c{i}" for i in range(20))] and "The first 20 of 64 columns are shown." in text
    assert len(long_ones) == 101 and long_ones[1][1] == "ä" * (len(long_ones[1][1]) - 1) + "\u2026"
    assert 100 <= len(long_ones[1][1]) < 200 and "18, 19, ...]" in long_ones[1][2]
    assert 10 < len(many_bytes) < 100 and f"The first {len(many_bytes) - 1} of 100 rows are shown." in text
    assert many_bytes[1][1:] == ["\U0001f600" * 100 + "\u2026"] * 20
    assert levels == [["y", "k", "v\nsum"], ["1", "a", "1.5"], ["1", "b", "2.0"], ["2", "a", "3.0"]]


def test_a_forged_table_is_none_or_text(home):
    """Session code can send what it likes on the driver's channel."""
    forge = ("import os\ndef send(table):\n    parts = [(b'text/plain', b'the value'), (b'table', table.encode())]\n"
             "    os.write(3, b'result %d 2\\n' % NUMBER + b''.join(b'%s %d\\n%s' % (n, len(d), d) for n, d in parts))\n")
    small = '{"columns": ["a"], "rows": [["small"]]}'
    tables = [small + " " * ((256 << 10) - len(small)), small + " " * ((256 << 10) + 1 - len(small)), "", "[]", '{"columns": ["a"], "rows": [["1", "2"]]}', '{"columns": ["a"], "rows": [[1]]}', "[" * 3000,
              '{"columns": ["<script>"], "rows": [["<script>"]], "row_count": 7}']
    with Server(home) as server:
        for number, table in enumerate(tables, 1):
            server.cell(forge.replace("NUMBER", str(number)) + f"send({table.rstrip()!r} + ' ' * {len(table) - len(table.rstrip())})")
    found = Tables(page(home))
    assert found.tables == [[["a"], ["small"]], [["<script>"], ["<script>"]]] and found.notes == ["The first 1 of 7 rows are shown."]
    assert "script" not in found.elements and page(home).count("the value</pre>") == len(tables) - 2
