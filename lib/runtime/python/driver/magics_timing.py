# SPDX-License-Identifier: MIT
"""`%time`, `%timeit` and `%prun`."""

from .magics_expand import scope_of
from .magics_syntax import without_magics
from .own import own, with_own_modules
from .run import evaluate, evaluate_body
from .state import NAMESPACE, State


def magic_time(line, frame):
    # The statement stays on its line of the cell, for tracebacks.
    source = "\n" * (frame.f_lineno - 1) + line
    return timed(lambda: evaluate(source, State.cell.name, scope_of(frame)))


def magic_time_cell(line, body, lineno):
    return timed(lambda: evaluate_body(body, lineno))


def timed(work):
    import time

    cpu, wall = time.process_time(), time.perf_counter()
    try:
        return work()
    finally:
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print("CPU time %s, wall time %s" % (seconds_text(cpu), seconds_text(wall)))


def seconds_text(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return "%.3g %s" % (seconds * factor, unit)
    return "%.3g ns" % (seconds * 1e9)


def magic_timeit(line, frame):
    options, statement = split_options(line)
    return measure(options, statement, "pass", scope_of(frame))


def magic_timeit_cell(line, body, lineno):
    options, setup = split_options(line)
    return measure(options, body, setup or "pass")


def measure(options, statement, setup, scope=None):
    timeit = own("timeit")

    name = State.cell.name
    names = NAMESPACE if scope is None else {**NAMESPACE, **scope}
    timer = timeit.Timer(without_magics(statement, name), without_magics(setup, name), globals=names)
    number = options.get("n") or timer.autorange()[0]
    measured = Measured(number, timer.repeat(options.get("r") or 5, number))
    if "q" not in options:
        print(measured)
    return measured if "o" in options else None


class Measured:
    """The value that %timeit prints, and returns with -o."""

    def __init__(self, loops, all_runs):
        self.loops, self.repeat, self.all_runs = loops, len(all_runs), all_runs
        self.timings = runs = [total / loops for total in all_runs]
        self.best, self.worst, self.average = min(runs), max(runs), sum(runs) / len(runs)
        self.stdev = (sum((run - self.average) ** 2 for run in runs) / len(runs)) ** 0.5

    def __repr__(self):
        spread = seconds_text(self.average), seconds_text(self.stdev), self.repeat, self.loops
        return "%s +- %s per loop (mean +- std. dev. of %d runs, %d loops each)" % spread


def split_options(line):
    """Returns `-n 10 -r 3 -q rest` as ({"n": 10, "r": 3, "q": 0}, "rest")."""
    re = own("re")

    options = {}
    while True:
        match = re.match(r"\s*-(?:([nr])\s*(\d+)|([qo]))(?:\s+|$)", line)
        if match is None:
            return options, line
        options[match[1] or match[3]] = int(match[2] or 0)
        line = line[match.end() :]


def magic_prun(line, frame):
    profile = own("cProfile").Profile()
    try:
        profile.runctx(line, NAMESPACE, scope_of(frame) or NAMESPACE)
    except SystemExit:
        pass
    finally:
        with_own_modules(lambda: profile.print_stats("cumulative"))
