# SPDX-License-Identifier: MIT
"""Gives the first rows of a DataFrame as texts, for the report of the session.

They cost little, however large the frame and its values are. A frame whose library does not do as
expected has no table.
"""

import sys

from .cut import bounded_word
from .kinds import is_a, loaded_class, root_of, type_name
from .limits import TABLE_BYTES, TABLE_CELL_MIN, TABLE_CHARS, TABLE_COLUMNS, TABLE_ITEMS, TABLE_LABELS, TABLE_LEVELS, TABLE_ROWS
from .own import own
from .text import PLAIN_CONTAINERS, int_text

COUNTED = "iub"  # kinds of dtypes
FORMATTED = "fcmM"  # those whose digits depend on the whole column
NESTED = (list, dict, bytes)  # types of pyarrow's values that hold others, or may be large
FLAT = ("Int", "UInt", "Float", "Boolean", "Date", "Time")  # how polars' types begin that hold nothing else
LARGE = 1e6  # pandas writes a column with such a number in scientific notation


def is_frame(value):
    return reader_of(value) is not None


def reader_of(value):
    for module, read in READERS:
        kind = loaded_class(module, "DataFrame")
        if kind is not None and is_a(value, kind):
            return read
    return None


def table_parts(value):
    """Returns the part `table` of a result in a list, empty if the value is no DataFrame."""
    read = reader_of(value)
    if read is None:
        return []
    try:
        table = read(value)
        text = encoded(table) if table else None
        return [("table", text)] if text else []
    except Exception:
        return []


def encoded(table):
    """Returns the table as JSON, with as many rows as there is room for; None if the names alone have none."""
    while True:
        text = own("json").dumps(table, ensure_ascii=False).encode("utf-8", "backslashreplace")
        if len(text) <= TABLE_BYTES:
            return text
        if not table["rows"]:
            return None
        table["rows"] = table["rows"][: len(table["rows"]) * TABLE_BYTES // len(text)]


def table_of(labels, columns, counts):
    """Returns the table as the server wants it. `labels` and `columns` are pairs of a name and texts."""
    all_columns = [*labels, *columns]
    count = len(columns[0][1])
    limit = max(TABLE_CELL_MIN, TABLE_CHARS // (len(all_columns) * (count + 1)))
    rows = zip(*(texts for _, texts in all_columns))
    return {
        "columns": [bounded_word(name, limit) for name, _ in all_columns],
        "labels": len(labels),
        "rows": [[bounded_word(text, limit) for text in row] for row in rows],
        "row_count": counts[0],
        "column_count": counts[1],
    }


def pandas_table(frame):
    head = frame.iloc[:TABLE_ROWS, :TABLE_COLUMNS]
    if not head.shape[1] or max(head.index.nlevels, head.columns.nlevels) > TABLE_LABELS:
        return None
    names = ["\n".join(levels) for levels in zip(*index_texts(head.columns))]
    return table_of(
        list(zip(label_names(head), index_texts(head.index))),
        [(name, series_texts(head.iloc[:, i])) for i, name in enumerate(names)],
        frame.shape,
    )


def label_names(head):
    """Returns a name for each level of the index. The last one has the names of the columns' levels above it."""
    names = [name_text(name) for name in head.index.names]
    levels = [name_text(name) for name in head.columns.names]
    if any(levels):
        names[-1] = "\n".join([*levels, names[-1]])
    return names


def name_text(name):
    return "" if name is None else value_text(name)


def index_texts(index):
    """Returns the texts of each level of an index of pandas."""
    series = sys.modules["pandas"].Series
    return [series_texts(series(index.get_level_values(level))) for level in range(index.nlevels)]


def series_texts(series):
    kind = series.dtype.kind
    if kind in COUNTED:
        return list(map(str, series.tolist()))
    if kind == "f" and root_of(type(series.dtype)) == "numpy" and not has_own_format():
        return float_texts(series.tolist(), option("display.precision"))
    if kind in FORMATTED and len(series):
        formatter = sys.modules["pandas.io.formats.format"].DataFrameFormatter(series.to_frame(0))
        return [text.strip() for text in formatter.format_col(0)]
    if is_nested(series.dtype):
        return ["<NA>" if missing else str(series.dtype) for missing in series.isna().tolist()]
    return list(map(value_text, series.tolist()))


def is_nested(dtype):
    """Returns whether tolist() would make Python objects of all that the values hold."""
    arrow = loaded_class("pandas", "ArrowDtype")
    return arrow is not None and is_a(dtype, arrow) and dtype.type in NESTED


def option(name):
    return sys.modules["pandas"].get_option(name)


def has_own_format():
    return option("display.float_format") is not None or option("display.chop_threshold") is not None


def float_texts(values, digits):
    """Returns the texts that pandas makes of a column, in a tenth of its time."""
    texts = trimmed(["NaN" if value != value else "%.*f" % (digits, value) for value in values])
    sizes = [abs(value) for value in values if value]
    # pandas counts the sign, or a blank in its place.
    long = any(len(text) + (text[0] != "-") > digits + 6 for text in texts)
    if any(size < 10**-digits for size in sizes) or long and any(size > LARGE for size in sizes):
        return ["NaN" if value != value else "%.*e" % (digits, value) for value in values]
    return texts


def trimmed(texts):
    """Returns numbers without the zeros that all of them end in."""
    numbers = [text for text in texts if "." in text]
    extra = min((len(text) - len(text.rstrip("0")) for text in numbers), default=0)
    extra -= any(text[: len(text) - extra].endswith(".") for text in numbers)
    return [text[: len(text) - extra] if "." in text else text for text in texts]


def polars_table(frame):
    head = frame.head(TABLE_ROWS)
    names = head.columns[:TABLE_COLUMNS]
    if not names:
        return None
    columns = [(name, [polars_text(value) for value in polars_values(head.get_column(name))]) for name in names]
    return table_of([], columns, frame.shape)


def polars_values(column):
    """Returns values, or texts for them: to_list() makes Python objects of all that the values hold."""
    kind, _, parts = str(column.dtype).partition("(")
    if kind in ("String", "Utf8"):
        column = column.str.slice(0, TABLE_CHARS)
    elif kind == "List" and parts.startswith(FLAT):
        column = column.list.head(TABLE_ITEMS + 1)
    elif kind == "List":
        return sized(kind, column.list.len())
    elif kind == "Binary":
        return sized(kind, column.bin.size())
    elif kind in ("Array", "Struct"):
        return [None if missing else str(column.dtype) for missing in column.is_null().to_list()]
    return column.to_list()


def sized(kind, sizes):
    return [None if size is None else "%s (length %d)" % (kind, size) for size in sizes.to_list()]


def polars_text(value):
    return "null" if value is None else value_text(value)


def value_text(value):
    """Returns the text of one value, without the cost of a large one."""
    kind = type(value)
    if kind is str:
        return value[:TABLE_CHARS]
    if kind is int:
        return int_text(value)
    if kind is float:
        return "NaN" if value != value else repr(value)
    if kind in PLAIN_CONTAINERS:
        return short_repr(value)
    if not is_a(value, str) and is_large(value):
        return "%s (length %d)" % (type_name(kind), len(value))
    return str(value)[:TABLE_CHARS]


def short_repr(container):
    short = own("reprlib").Repr()
    short.maxlevel = TABLE_LEVELS
    short.maxlist = short.maxtuple = short.maxdict = short.maxset = short.maxfrozenset = TABLE_ITEMS
    short.maxstring = short.maxother = TABLE_CELL_MIN
    return short.repr(container)


def is_large(value):
    """Returns whether a value of any other class has too many items, or items that may be large."""
    try:
        return len(value) > TABLE_ITEMS or root_of(type(value)) in ("pandas", "polars")
    except TypeError:
        return False


# Rows (module, function from a value of its class DataFrame to a table).
READERS = (("pandas", pandas_table), ("polars", polars_table))
