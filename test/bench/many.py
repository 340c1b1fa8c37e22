#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""many.py --ours CMD [--sessions 300] [--svg FILE] [--json FILE]: what one more session costs.

Opens sessions one after another and keeps them all. Of each the time to its first result, and after some of
them the memory (PSS) of everything, divided by their number. Ends with a table, and draws it.
"""
import argparse
import json
import statistics
import sys
import time

import contestants
import proc

POINTS = (1, 2, 5, 10, 20, 50, 100, 150, 200, 250, 300)
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 320, 60, 60, 40, 50


def points_of(count):
    return sorted({point for point in POINTS if point <= count} | {count})


def measure(command, count):
    """[(sessions, ms of the median start since the last point, MB each)]"""
    contestant = contestants.McpContestant("ours", command, env={"PTYCELL_MAX_SESSIONS": str(count)})
    rows, starts = [], []
    try:
        contestant.start()
        for number in range(1, count + 1):
            began = time.perf_counter()
            text, _ = contestant.run(contestant.new_session(), "1+1")
            starts.append((time.perf_counter() - began) * 1e3)
            if "2" not in text:
                raise RuntimeError(f"session {number}: {text[:200]!r}")
            if number in points_of(count):
                time.sleep(0.5)
                pids = contestant.server_pids() + contestant.session_pids()
                rows.append((number, statistics.median(starts), proc.memory_sum(pids)["pss"] / 1024 / number))
                starts = []
    finally:
        contestant.close()
    return rows


def scale(values):
    """The end of an axis: a round number above them all."""
    top, step = max(values), 1
    while step * 10 <= top:
        step *= 10
    return next(step * part for part in (1, 2, 5, 10) if step * part >= top)


def line_of(rows, column, color):
    last, top = rows[-1][0], scale([row[column] for row in rows])
    spots = [(LEFT + (WIDTH - LEFT - RIGHT) * row[0] / last,
              HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * row[column] / top) for row in rows]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in spots)
    return f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>{dots}'


def text(x, y, what, color="#555", anchor="middle"):
    return f'<text x="{x}" y="{y}" fill="{color}" text-anchor="{anchor}">{what}</text>'


def axis(rows, column, color, x, anchor):
    top = scale([row[column] for row in rows])
    return "".join(text(x, HEIGHT - BOTTOM + 4 - (HEIGHT - TOP - BOTTOM) * part / 4, f"{top * part / 4:g}", color, anchor)
                   for part in range(5))


def draw(rows):
    blue, red, last = "#1f6fb4", "#c4422b", rows[-1][0]
    grid = "".join(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#ddd"/>' for y in
                   (HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part / 4 for part in range(5)))
    below = "".join(text(LEFT + (WIDTH - LEFT - RIGHT) * part / 4, HEIGHT - BOTTOM + 20, f"{last * part / 4:g}")
                    for part in range(5))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
            f'font-size="12"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{grid}{below}'
            f'{text(WIDTH / 2, HEIGHT - 10, "sessions that are open")}'
            f'{text(LEFT, 20, "one more to open, ms", blue, "start")}'
            f'{text(WIDTH - RIGHT, 20, "memory of each, MB (PSS)", red, "end")}'
            f'{axis(rows, 1, blue, LEFT - 8, "end")}{axis(rows, 2, red, WIDTH - RIGHT + 8, "start")}'
            f'{line_of(rows, 1, blue)}{line_of(rows, 2, red)}</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", metavar="CMD", required=True)
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--svg", metavar="FILE")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    rows = measure(options.ours, options.sessions)
    print("sessions  ms to open  MB each")
    for row in rows:
        print("%8d  %10.1f  %7.2f" % row)
    if options.svg:
        with open(options.svg, "w", encoding="utf-8") as f:
            f.write(draw(rows))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump([dict(zip(("sessions", "open_ms", "pss_mb"), row)) for row in rows], f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
