# SPDX-License-Identifier: MIT
"""Figures, their ratios, and the table.

A ratio is the median of the ratios round by round, so that a machine whose speed drifts disturbs both
sides alike. It is cost over cost: below 1 is better, for throughput too.
"""
import statistics

FEWER, MORE, INFO = "less is better", "more is better", "no ratio"
JUPYTER = ("jupyter-mcp", "jupyter")  # the base of J: the first that took part
FLOOR = "floor"


def percentile(values, percent):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * percent / 100))]


class Results:
    def __init__(self):
        self.rows = {}  # scenario -> {"unit", "better", "cells": {contestant: cell}}

    def row(self, key, unit, better):
        return self.rows.setdefault(key, {"unit": unit, "better": better, "cells": {}})["cells"]

    def put(self, key, unit, name, rounds, better=FEWER, samples=None, note=""):
        """`rounds`: one figure a round, which is what ratios pair; `samples`: all there are."""
        samples = samples or rounds
        earlier = self.row(key, unit, better).get(name)
        if earlier and earlier["median"] is None:
            note = f"not every time: {earlier['note']}"
        self.row(key, unit, better)[name] = {
            "median": statistics.median(samples), "p95": percentile(samples, 95),
            "p99": percentile(samples, 99), "min": min(samples), "max": max(samples), "n": len(samples),
            "rounds": rounds, "note": note}

    def fail(self, key, unit, name, why, better=FEWER):
        self.row(key, unit, better)[name] = {"median": None, "rounds": [], "note": str(why)[:200]}

    def failures(self, names):
        return [(key, name) for key, row in self.rows.items() for name in names
                if row["cells"].get(name, {"median": 0})["median"] is None]

    def ratio(self, key, name, base):
        row = self.rows[key]
        ours, theirs = row["cells"].get(name), row["cells"].get(base)
        if row["better"] == INFO or name == base or not ours or not theirs:
            return None
        pairs = list(zip(ours["rounds"], theirs["rounds"]))
        if len(ours["rounds"]) != len(theirs["rounds"]):
            pairs = [(ours["median"], theirs["median"])]
        pairs = [(a, b) for a, b in pairs if a and b]
        if not pairs:
            return None
        ratio = statistics.median(a / b for a, b in pairs)
        return 1 / ratio if row["better"] == MORE else ratio


def format_figure(value, unit):
    if unit == "/s":
        return f"{value:,.0f}/s"
    decimals = 0 if value >= 1000 else 1 if value >= 100 else 2 if value >= 1 else 3
    return f"{value:.{decimals}f} {unit}"


def format_ratio(ratio):
    return f"{ratio:.3f}" if ratio < 0.1 else f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"


def format_cell(results, key, name, jupyter):
    cell = results.rows[key]["cells"].get(name)
    if cell is None:
        return ""
    if cell["median"] is None:
        return "failed *"
    ratios = [(results.ratio(key, name, base), letter) for base, letter in ((jupyter, "J"), (FLOOR, "F"))]
    shown = " ".join(format_ratio(ratio) + letter for ratio, letter in ratios if ratio is not None)
    return (format_figure(cell["median"], results.rows[key]["unit"]) + (f" ({shown})" if shown else "") +
            (" *" if cell["note"] else ""))


def cells_of(results, names):
    lines = [["scenario", *names]]
    for key, row in results.rows.items():
        jupyter = next((base for base in JUPYTER if row["cells"].get(base, {}).get("median")), None)
        lines.append([key] + [format_cell(results, key, name, jupyter) for name in names])
    return lines


def table(results, names, markdown=False):
    lines = cells_of(results, names)
    notes = [f"* {key}: {name}: {cell['note']}" for key, row in results.rows.items()
             for name, cell in row["cells"].items() if cell["note"]]
    if markdown:
        lines.insert(1, ["---"] * len(lines[0]))
        return "\n".join(["| " + " | ".join(line) + " |" for line in lines] + [""] + notes).strip()
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                      for line in lines] + notes)
