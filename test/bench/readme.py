#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""readme.py RESULTS.json [README]: redraws the table in README.md of figures from one run of bench.py --json.

It stands between the lines "<!-- benchmark -->" and "<!-- /benchmark -->". A scenario that the run lacks
gives no line, and what failed says so. RESULTS "-" draws nothing and prints the names of the scenarios.
"""
import json
import os
import sys

from report import FLOOR, JUPYTER, Results, format_figure, format_ratio

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
START, END = "<!-- benchmark -->\n", "<!-- /benchmark -->\n"
OURS = "ours"

# What a line says, and the scenarios of its figures: the first gives the ratios, others stand beside it.
LINES = (
    ("start of the server to its first answer", "server_start"),
    ("first result, nothing running", "first_result"),
    ("a new session's first result", "session_start"),
    ("the same in JavaScript", "js_session_start"),
    ("`1+1`, warm", "warm_expr"),
    ("99th of a hundred", "warm_expr_p99"),
    ("`print('x')`, warm", "warm_print"),
    ("99th of a hundred", "warm_print_p99"),
    ("`1+1` in JavaScript, warm", "js_warm_expr"),
    ("`echo` in bash, warm", "bash_warm"),
    ("calls, one session", "calls_1_session"),
    ("calls, one session, 16 under way", "calls_1_session_16_deep"),
    ("calls, eight sessions", "calls_8_sessions"),
    ("10 MB printed in lines", "out_10M_lines"),
    ("100 MB printed", "out_100M"),
    ("the server's growth meanwhile", "out_100M_server_growth"),
    ("100 MB printed by a child process", "out_100M_child"),
    ("a session's first plot", "plot_first"),
    ("a plot, warm", "plot_warm"),
    ("memory of the server", "mem_server_rss"),
    ("memory of a session", "mem_session_pss"),
    ("memory of a session with pandas and matplotlib", "mem_pandas_pss"),
    ("100 sessions, each to open", "sessions_100_open"),
    ("100 sessions, memory of each", "sessions_100_pss"),
    ("endless loop cancelled, next result", "cancel_to_next"),
    ("100 MB of CSV: read, group, plot", "e2e_csv"),
)


def ratio_text(results, key, base):
    ratio = results.ratio(key, OURS, base) if base else None
    return format_ratio(ratio) if ratio is not None else ""


def line(results, text, key):
    row = results.rows[key]
    cell = row["cells"][OURS]
    if cell["median"] is None:
        return f"| {text} | failed: {cell['note']} | | |"
    jupyter = next((base for base in JUPYTER if row["cells"].get(base, {}).get("median")), None)
    figures = [format_figure(cell["median"], row["unit"]), ratio_text(results, key, jupyter),
               ratio_text(results, key, FLOOR)]
    return f"| {text} | {' | '.join(figures)} |"


def table(data):
    results = Results()
    results.rows = data["results"]
    about = data["machine"]
    lines = [f"{about['time'][:10]}, {about['cpus']} processors, {about['memory_gb']:.0f} GB, Linux {about['kernel']}, "
             f"{about['python']}, node {about['node']},",
             f"load {about['load'][0]:.1f} at the start, release build, confinement as by default.", "",
             "| | ptycell | J | F |", "|---|---|---|---|"]
    lines += [line(results, text, key) for text, key in LINES if OURS in results.rows.get(key, {"cells": ()})["cells"]]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    if sys.argv[1] == "-":
        print("\n".join(key for _, key in LINES))
        return 0
    path = sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "test/bench/README.md")
    with open(sys.argv[1], encoding="utf-8") as f:
        new = table(json.load(f))
    with open(path, encoding="utf-8") as f:
        old = f.read()
    if START not in old or END not in old.split(START, 1)[1]:
        print(f"readme.py: {path} has no lines {START.strip()} and {END.strip()}")
        return 1
    before, rest = old.split(START, 1)
    with open(path, "w", encoding="utf-8") as f:
        f.write(before + START + new + END + rest.split(END, 1)[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
