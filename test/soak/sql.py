# SPDX-License-Identifier: MIT
"""soak sql: CSV files of chance, read by ptycell-sql, DuckDB and pandas, and the same queries on what they read.

Where the three read a value differently, one of RULES has to say so, and what ptycell-sql reads has to be what the rule
says, to the value. On what was read DuckDB and pandas then answer the same queries, and SQLite those that compare columns.
"""
import argparse
import collections
import csv
import io
import itertools
import json
import math
import os
import pathlib
import random
import re
import sqlite3
import subprocess
import sys

import duck
import pandas

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import again  # noqa: E402

BUILD = pathlib.Path(os.environ["PTYCELL_BUILD"])
MISSING = ["NA", "N/A", "NaN", "nan", "NULL", "null", "None", "#N/A"]
WORDS = ["north", "South", "Z\u00fcrich", "K\u00f6ln", "caf\u00e9", "a b", "it's", 'say "x"', "x;y", "1,2,3", "-", "n/a?", "line\nbreak", "cr\r\nlf"]
TRAITS = ["long floats", "missing", "blanks", "semicolon", "ragged", "mark", "encoding", "line ends in quotes", "repeated names",
          "large integers"]
LEAST_SHARE = 0.05
RULES = {
    "padded": "a number with leading zeros is a text",
    "large": "integers keep all their digits, beside missing values too; one beyond 64 bits is a number only where a double holds it",
    "inexact": "integers beside fractions are numbers only where doubles hold them all",
    "words": "NA and the like are texts among texts, and alone",
    "point": "a semicolon does not make a point less of a decimal point",
    "blank": "blanks around numbers, dates and booleans do not matter, nor does a plus; those of another text are its own",
    "empty": "an empty value among texts is NULL without quotes and '' in them",
    "mixed": "a column of numbers with other values is text as it is written",
}


# ---- files ----

class File:
    """Names, columns of texts (None is a field that its row does not have), and how they are written."""

    def __init__(self, chance):
        self.chance = chance
        self.traits = {trait for trait in TRAITS if chance.random() < 0.15}
        self.semicolon = "semicolon" in self.traits
        self.separator = ";" if self.semicolon else chance.choice([",", ",", "\t", "|"])
        self.line_end = chance.choice(["\n", "\r\n"])
        self.rows = chance.randrange(1, 40)
        kinds = [chance.choice(KINDS) for _ in range(chance.randrange(1, 6))]
        kinds += [whole_numbers] * ("missing" in self.traits or "blanks" in self.traits)
        kinds += [floats] * ("long floats" in self.traits) + [decimals] * self.semicolon
        kinds += [large] * ("large integers" in self.traits) + [words_with_breaks] * ("line ends in quotes" in self.traits)
        if len(kinds) == 1 and self.separator != ",":
            kinds.append(whole_numbers)  # or nothing says what separates
        self.names = [f"c{i}" for i in range(len(kinds))]
        self.columns = [kind(self) for kind in kinds]
        for column in self.columns:
            self.spoil(column)
        if "ragged" in self.traits and len(kinds) > 1:
            self.make_ragged()
        self.header = list(self.names)
        if "repeated names" in self.traits:
            self.repeat_name()

    def spoil(self, column):
        numbers = all(re.fullmatch(r"[-+.,eE\d]+", text) for text in column)
        for i in range(len(column)):
            if "missing" in self.traits and self.chance.random() < 0.2:
                column[i] = self.chance.choice([*MISSING, "", ""])
            elif numbers and "blanks" in self.traits and self.chance.random() < 0.2:
                column[i] = self.chance.choice([" {}", "{} ", "  {} ", "+{}" if column[i][:1].isdigit() else "{}"]).format(column[i])

    def make_ragged(self):
        for row in self.chance.sample(range(self.rows), self.rows // 4 + 1):
            for column in self.columns[self.chance.randrange(1, len(self.columns)):]:
                column[row] = None
        # A column that no first line names, and not all rows have: it would be the first one.
        if self.chance.random() < 0.3 and "repeated names" not in self.traits and self.rows > 1:
            self.columns.append([None] * self.rows)
            self.columns[-1][self.chance.randrange(self.rows)] = "7"
            self.names.append(f"column{len(self.columns)}")
            row = self.columns[-1].index("7")
            for column in self.columns[:-1]:
                column[row] = column[row] if column[row] is not None else ""

    def repeat_name(self):
        """c0 once more, and perhaps a column that has the name which that would get."""
        taken = self.chance.random() < 0.5
        self.header += ["c0", "c0_2"] if taken else ["c0"]
        self.names += ["c0_3", "c0_2"] if taken else ["c0_2"]
        self.columns += [[str(i + n) for i in range(self.rows)] for n in range(1 + taken)]
        if "ragged" in self.traits:
            self.columns[-1][0] = None

    def text(self, ragged=True):
        out = io.StringIO()
        writer = csv.writer(out, delimiter=self.separator, lineterminator=self.line_end)
        writer.writerow([name for name in self.header if not name.startswith("column")])
        for row in zip(*self.columns):
            fields = list(row)
            while ragged and fields and fields[-1] is None:
                fields.pop()
            if fields == [""] and len(row) > 1:
                fields.append("")  # alone it would be written with quotes
            writer.writerow(["" if field is None else field for field in fields])
        return out.getvalue()

    def data(self, text):
        if "encoding" in self.traits:
            coding = self.chance.choice(["cp1252", "utf-16", "utf-16-le"])
            return text.encode(coding)
        return ("\ufeff" if "mark" in self.traits else "").encode() + text.encode()


def shown(file, data):
    """The traits that the file has, whatever it was meant to have."""
    values = [value for column in file.columns for value in column if value is not None]
    numbers = [value.strip() for value in values]
    return {trait for trait, there in {
        "long floats": any(re.fullmatch(r"[-+]?\d*[.,]\d+(e[-+]?\d+)?", n) and sum(map(str.isdigit, n)) > 15 for n in numbers),
        "missing": any(value in MISSING for value in values),
        "blanks": any(value != value.strip() or value.startswith("+") for value in values),
        "semicolon": file.semicolon and any(re.fullmatch(r"[-+]?\d+,\d+", n) for n in numbers),
        "ragged": any(None in column for column in file.columns),
        "mark": data.startswith(b"\xef\xbb\xbf"),
        "encoding": b"\0" in data or not is_utf8(data),
        "line ends in quotes": any("\n" in value for value in values),
        "repeated names": len(set(file.header)) < len(file.header),
        "large integers": any(re.fullmatch(r"[-+]?\d{16,}", n) and abs(int(n)) > 2 ** 53 for n in numbers),
    }.items() if there}


def is_utf8(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def many(make):
    def column(file):
        return [make(file) for _ in range(file.rows)]
    column.__name__ = make.__name__
    return column


def with_point(file, text):
    return text.replace(".", ",") if file.semicolon else text


@many
def whole_numbers(file):
    return str(file.chance.randrange(-50, 50))


@many
def floats(file):
    return with_point(file, repr(file.chance.choice([file.chance.random(), file.chance.gauss(0, 1e-4), file.chance.gauss(0, 1e12)])))


@many
def decimals(file):
    return with_point(file, f"{file.chance.uniform(-1000, 1000):.2f}")


@many
def exponents(file):
    return with_point(file, file.chance.choice([".5", "5.0", "1.5E+30", "2.5e-7", "0.0", "-1.25"]))


@many
def large(file):
    return str(file.chance.choice([2 ** 53 + 1, 123456789012345678, -2 ** 63, 2 ** 63 - 1, file.chance.randrange(2 ** 62)]))


@many
def huge(file):
    return file.chance.choice(["10000000000000000000000", "123456789012345678901", "18446744073709551616", "5"])


@many
def inexact(file):
    return with_point(file, file.chance.choice(["9007199254740993", "1.5", "123456789012345678"]))


@many
def padded(file):
    return file.chance.choice(["007", "0123", "100", "5"])


@many
def words(file):
    return file.chance.choice(WORDS[:12])


@many
def words_with_breaks(file):
    return file.chance.choice(WORDS)


@many
def dates(file):
    return f"2026-{file.chance.randrange(1, 13):02}-{file.chance.randrange(1, 29):02}"


@many
def booleans(file):
    return file.chance.choice(["True", "False"])


@many
def mixed(file):
    return file.chance.choice(["12", "3", "4.5", "$5", "unknown"])


KINDS = [whole_numbers, floats, decimals, exponents, large, huge, inexact, padded, words, dates, booleans, mixed]


# ---- what a column is, by the rules ----

def number(text, semicolon):
    """The value of one number, None for a text; the name of the rule that makes it none."""
    text = text.strip(" \t\r\n")
    if re.fullmatch(r"[-+]?\d+", text):
        if re.fullmatch(r"[-+]?0\d+", text):
            return None, "padded"
        value = int(text)
        if -2 ** 63 <= value < 2 ** 63:
            return value, None
        return (float(value), "large") if int(float(value)) == value else (None, "large")
    point = "," if semicolon and "," in text else "."
    if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text.replace(",", ".") if point == "," else text):
        if re.match(r"[-+]?0\d", text):
            return None, "padded"
        return float(text.replace(",", ".")), None
    return None, "mixed"


def read_column(texts, semicolon):
    """The values that the column has, and the rules that they need."""
    present = [text for text in texts if text is not None and text.strip() and text.strip() not in MISSING]
    numbers = [number(text, semicolon) for text in present]
    rules = {rule for _, rule in numbers if rule}
    rules |= {"blank"} if any(text != text.strip() or text.startswith("+") for text in present) else set()
    rules |= {"point"} if semicolon and any("." in text for text in present) else set()
    if present and all(value is not None for value, _ in numbers):
        values = [value for value, _ in numbers]
        if not any(isinstance(value, float) for value in values):
            kind = int
            # Pandas makes doubles of integers beside missing values, and a missing one of the least.
            lost = any(int(float(value)) != value or value == -2 ** 63 for value in values)
            rules |= {"large"} if len(present) < len(texts) and lost else set()
        elif any(isinstance(value, int) and int(float(value)) != value for value in values):
            return as_texts(texts), rules | {"inexact"}
        else:
            kind = float
        given = iter(values)
        return [kind(next(given)) if text in set(present) else None for text in texts], rules
    if present and all(re.fullmatch(r"\d{4}-\d\d-\d\d", text.strip()) for text in present):
        return [text.strip() if text in set(present) else None for text in texts], rules & {"blank"}
    if present and all(text.strip().lower() in ("true", "false") for text in present):
        return [text.strip().lower() == "true" if text in set(present) else None for text in texts], rules & {"blank"}
    rules |= {"words"} if any(text in MISSING for text in texts) else set()
    rules |= {"empty"} if any(text == "" or text is None for text in texts) else set()
    return as_texts(texts), rules | ({"mixed"} if present else {"words"})


def as_texts(texts):
    return [text if text else None for text in texts]


# ---- the three readers ----

class Ours:
    def __init__(self, folder):
        self.folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        os.dup2(self.folder, 3)
        self.process = subprocess.Popen([BUILD / "ptycell-sql"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[3],
                                        encoding="utf-8")
        self.number = 0

    def query(self, sql):
        self.number += 1
        order = {"query": self.number, "database": {"kind": "files"}, "sql": sql, "result": f"r{self.number}.csv", "inline_rows": 1000,
                 "inline_bytes": 1 << 24, "rows_max": 10 ** 6, "bytes_max": 1 << 30, "timeout_ms": 60000}
        print(json.dumps(order), file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            said = json.loads(line)
            said = said.get("progress", said)
            if "failed" in said or "error" in said:
                raise ValueError(said)
            if "answer" in said:
                types = [column.get("type") for column in said["answer"]["columns"]]
                return [[self.value(value, kind) for value, kind in zip(row, types)] for row in said["answer"]["rows"]]
        raise ValueError("ptycell-sql ended")

    @staticmethod
    def value(value, kind):
        """Integers of a column where readers of JSON would round one are texts."""
        if isinstance(value, str) and kind == "bigint":
            return int(value)
        return float(value) if isinstance(value, str) and kind == "real" else value

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        os.close(self.folder)


def literal(text):
    return "'" + text.replace("'", "''") + "'"


def by_duckdb(db, path, file):
    names = ", ".join(literal(name) for name in file.names)
    nulls = ", ".join(literal(text) for text in ["", *MISSING])
    point = "," if file.semicolon else "."
    rows = db.query(f"SELECT * FROM read_csv({literal(path)}, header=false, skip=1, names=[{names}], delim={literal(file.separator)}, "
                    f"quote='\"', escape='\"', comment='', decimal_separator='{point}', nullstr=[{nulls}], null_padding=true, sample_size=-1, "
                    "parallel=false, strict_mode=false)")
    return [list(column) for column in zip(*rows)] or [[] for _ in file.names]


def by_pandas(path, file):
    frame = pandas.read_csv(path, header=None, skiprows=1, names=file.names, sep=file.separator, decimal="," if file.semicolon else ".",
                            na_values=MISSING, float_precision="round_trip")
    return [[None if value is None or value != value else value.item() if hasattr(value, "item") else value for value in frame[name]]
            for name in file.names]


def same(a, b):
    if a is None or b is None or isinstance(a, str) or isinstance(b, str):
        return type(a) is type(b) and a == b
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def close(a, b):
    """Sums in another order; booleans are numbers in expressions."""
    a, b = (int(value) if isinstance(value, bool) else value for value in (a, b))
    return same(a, b) or (isinstance(a, float) and isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9))


# ---- comparing ----

class Soak:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.ours = Ours(folder)
        self.duck = duck.Duck()
        self.rules = collections.Counter()
        self.traits = collections.Counter()
        self.queries = 0

    def run(self, seed):
        file = File(random.Random(seed))
        text = file.text()
        data = file.data(text)
        (self.folder / "t.csv").write_bytes(data)
        full = str(self.folder / "full.txt")
        pathlib.Path(full).write_bytes(file.text(ragged=False).encode())  # ragged ones stop the oracles
        self.traits.update(shown(file, data))
        got = self.ours.query("SELECT * FROM t ORDER BY rowid")
        columns = [list(column) for column in zip(*got)]
        assert len(got) == file.rows and len(columns) == len(file.names), (len(got), len(columns), file.names)
        expected = [self.check_column(column, texts, file) for column, texts in zip(columns, file.columns)]
        self.check_oracle("DuckDB", by_duckdb(self.duck, full, file), columns, expected, file)
        self.check_oracle("pandas", by_pandas(full, file), columns, expected, file)
        self.check_queries(file, columns)

    def check_column(self, got, texts, file):
        """What the rules say, to the value; the rules that oracles may differ by."""
        values, rules = read_column(texts, file.semicolon)
        assert all(map(same, got, values)), ("rules", texts, got, values)
        return rules

    def check_oracle(self, name, theirs, columns, rules, file):
        for got, read, allowed, texts in zip(columns, theirs, rules, file.columns):
            if len(got) == len(read) and all(map(same, got, read)):
                continue
            assert allowed, (name, texts, got, read)
            self.rules.update(allowed)

    # ---- queries ----

    def check_queries(self, file, columns):
        columns = [[int(value) if isinstance(value, bool) else value for value in column] for column in columns]
        kinds = [next((type(value) for value in column if value is not None), str) for column in columns]
        types = {int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}
        self.duck.query("CREATE OR REPLACE TABLE t (" + ", ".join(f'"{n}" {types[k]}' for n, k in zip(file.names, kinds)) + ")")
        lines = ["(" + ", ".join(self.constant(value) for value in row) + ")" for row in zip(*columns)]
        self.duck.query("INSERT INTO t VALUES " + ", ".join(lines))
        frame = pandas.DataFrame(dict(zip(file.names, columns)))
        for name, kind, column in zip(file.names, kinds, columns):
            for sql in self.queries_on(name, kind, column, file.names[0]):
                self.check_query(sql)
            if kind is not str:
                self.check_frame(frame, name)
        self.check_joins(file, kinds, columns)

    @staticmethod
    def constant(value):
        if value is None:
            return "NULL"
        return literal(value) if isinstance(value, str) else f"{value!r}::DOUBLE" if isinstance(value, float) else f"({value})"

    @staticmethod
    def queries_on(name, kind, column, first):
        value = Soak.constant(next((value for value in column if value is not None), None)).replace("::DOUBLE", "")
        yield f'SELECT count("{name}"), min("{name}"), max("{name}"), count(DISTINCT "{name}") FROM t'
        yield f'SELECT count(*) FROM t WHERE "{name}" >= {value}'
        yield f'SELECT count(*) FROM t WHERE "{name}" = {value}'
        yield f'SELECT "{name}", count(*) FROM t GROUP BY "{name}" ORDER BY "{name}" NULLS FIRST'
        yield f'SELECT "{name}" FROM t ORDER BY "{name}" DESC NULLS LAST LIMIT 3'
        if kind is not str and max(abs(value) for value in column if value is not None) < 2 ** 55:
            yield f'SELECT sum("{name}"), avg("{name}") FROM t'
            yield f'SELECT "{first}", sum("{name}") FROM t GROUP BY "{first}" ORDER BY "{first}" NULLS FIRST'

    def check_joins(self, file, kinds, columns):
        """Columns of two kinds are compared as SQLite does."""
        names = file.names
        types = {int: "INTEGER", float: "REAL", str: "TEXT"}
        db = sqlite3.connect(":memory:")
        db.execute("CREATE TABLE t (" + ", ".join(f'"{n}" {types[k]}' for n, k in zip(names, kinds)) + ")")
        db.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(names))})", zip(*columns))
        pairs = list(itertools.product(zip(names, kinds), repeat=2))
        sampled = file.chance.sample(pairs, min(4, len(pairs)))
        for ((a, _), (b, _)), ((c, _), (d, _)) in zip(sampled, sampled[1:]):
            sql = f'SELECT count(*), count(b."{b}") FROM t a LEFT JOIN t b ON a."{a}" = b."{b}" AND a."{c}" IS b."{d}"'
            self.queries += 1
            got, want = self.ours.query(sql), [list(row) for row in db.execute(sql)]
            assert got == want, (sql, got, want)
        for (a, kind), (b, other) in sampled:
            for sql in (f'SELECT count(*) FROM t a JOIN t b ON a."{a}" = b."{b}"',
                        f'SELECT count(*), count(b."{b}") FROM t a LEFT JOIN t b ON a."{a}" = b."{b}"',
                        f'SELECT count(*) FROM t WHERE "{a}" IN (SELECT "{b}" FROM t)'):
                self.queries += 1
                got, want = self.ours.query(sql), [list(row) for row in db.execute(sql)]
                assert got == want, (sql, got, want)
                if kind is other:
                    self.check_query(sql)
        db.close()

    def check_query(self, sql):
        self.queries += 1
        got = self.ours.query(sql)
        want = self.duck.query(re.sub(r"(= -?[0-9.e-]+)$", r"\1::DOUBLE" if "." in sql else r"\1", sql))
        assert len(got) == len(want) and all(close(a, b) for x, y in zip(got, want) for a, b in zip(x, y)), (sql, got, want)

    def check_frame(self, frame, name):
        series = frame[name].dropna()
        got = self.ours.query(f'SELECT count("{name}"), min("{name}"), max("{name}"), avg("{name}"), median("{name}") FROM t')[0]
        self.queries += 1
        want = [int(series.count()), series.min(), series.max(), series.mean(), series.median()]
        assert got[0] == want[0] and all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) for a, b in zip(got[1:], want[1:])), (
            name, got, want)


def main():
    parser = argparse.ArgumentParser(prog="soak sql")
    parser.add_argument("files", nargs="?", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if duck.library() is None:
        print("soak sql: no DuckDB here (scripts/install-deps test)")
        sys.exit(77)
    failed = 0
    with again.folder("ptycell-sql-", f"PTYCELL_BUILD={os.environ['PTYCELL_BUILD']} scripts/soak sql {options.files} "
                      f"--seed {options.seed}") as folder:
        soak = Soak(folder)
        for seed in range(options.seed * 1_000_000, options.seed * 1_000_000 + options.files):
            try:
                soak.run(seed)
            except (AssertionError, ValueError) as problem:
                failed += 1
                print(f"file {seed}: {type(problem).__name__} {problem}", flush=True)
                if failed == 20:
                    break
        soak.ours.close()
        print(f"{options.files} files, {soak.queries} queries, {failed} failed; seed {options.seed}")
        print("rules:", ", ".join(f"{name} {soak.rules[name]}" for name in RULES))
        print("traits:", ", ".join(f"{trait} {soak.traits[trait]}" for trait in TRAITS))
        rare = [trait for trait in TRAITS if soak.traits[trait] < LEAST_SHARE * options.files]
        if options.files >= 200 and rare:
            print("too rare:", ", ".join(rare))
        if failed or (options.files >= 200 and rare):
            sys.exit(1)


main()
