# SPDX-License-Identifier: MIT
"""DuckDB through the C interface of its library, which npm brings (test/oracles)."""
import ctypes
import pathlib

FOLDER = pathlib.Path(__file__).parents[1] / "oracles" / "node_modules" / "@duckdb"


def library():
    """Its path, None where it is not installed."""
    return next(iter(FOLDER.glob("*/libduckdb.so")), None)


class Table(ctypes.Structure):
    """Its members are not for reading."""
    _fields_ = [("members", ctypes.c_uint64 * 6)]


KINDS = {1: "true".__eq__, 2: int, 3: int, 4: int, 5: int, 6: int, 7: int, 8: int, 9: int, 16: int, 32: int, 10: float, 11: float, 19: float}


class Duck:
    def __init__(self):
        self.lib = ctypes.CDLL(str(library()))
        self.lib.duckdb_result_error.restype = ctypes.c_char_p
        self.lib.duckdb_column_count.restype = self.lib.duckdb_row_count.restype = ctypes.c_uint64
        self.lib.duckdb_value_varchar.restype = ctypes.c_void_p
        self.lib.duckdb_value_varchar.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
        self.lib.duckdb_value_is_null.restype = ctypes.c_bool
        self.lib.duckdb_value_is_null.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
        self.lib.duckdb_column_type.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
        self.lib.duckdb_free.argtypes = [ctypes.c_void_p]
        database = ctypes.c_void_p()
        self.connection = ctypes.c_void_p()
        assert self.lib.duckdb_open(None, ctypes.byref(database)) == 0
        assert self.lib.duckdb_connect(database, ctypes.byref(self.connection)) == 0
        self.query("SET threads = 1")

    def query(self, sql):
        """Rows as lists of None, bool, int, float and str; everything else as DuckDB writes it."""
        table = Table()
        try:
            if self.lib.duckdb_query(self.connection, sql.encode(), ctypes.byref(table)) != 0:
                raise ValueError(self.lib.duckdb_result_error(ctypes.byref(table)).decode())
            columns = range(self.lib.duckdb_column_count(ctypes.byref(table)))
            kinds = [KINDS.get(self.lib.duckdb_column_type(ctypes.byref(table), c), str) for c in columns]
            return [[self.value(table, c, r, kinds[c]) for c in columns]
                    for r in range(self.lib.duckdb_row_count(ctypes.byref(table)))]
        finally:
            self.lib.duckdb_destroy_result(ctypes.byref(table))

    def value(self, table, column, row, kind):
        if self.lib.duckdb_value_is_null(ctypes.byref(table), column, row):
            return None
        text = self.lib.duckdb_value_varchar(ctypes.byref(table), column, row)
        try:
            return kind(ctypes.string_at(text).decode())
        finally:
            self.lib.duckdb_free(text)
