# SPDX-License-Identifier: MIT
"""What is measured. Every scenario lets its contestants take turns, round after round, in rotating order."""
import contextlib
import os
import random
import statistics
import tempfile
import time

import proc
from report import INFO, MORE, percentile

TWO = {"bash": "echo $((1+1))"}  # where "1+1" does not say 2

now = time.perf_counter
median = statistics.median


class Wrong(Exception):
    """An answer that is not what the code computes."""


def check(answer, want):
    text, _ = answer
    if want not in text:
        raise Wrong(f"wanted {want!r}, got {text[:200]!r}")


def milliseconds(function, *args):
    started = now()
    answer = function(*args)
    return (now() - started) * 1e3, answer


def rotated(names, turn):
    names = list(names)
    shift = turn % len(names) if names else 0
    return names[shift:] + names[:shift]


@contextlib.contextmanager
def live(bench, names, sessions=0, language="python"):
    """Starts each; gives {name: (contestant, its sessions)} without those that fail."""
    started = {}
    try:
        for name in names:
            contestant = bench.make(name, language)
            try:
                contestant.start()
                started[name] = contestant, []
                for _ in range(sessions):
                    started[name][1].append(contestant.new_session())
                    check(contestant.run(started[name][1][-1], TWO.get(language, "1+1")), "2")
            except Exception as error:
                bench.log(f"   {name}: did not start: {error!r:.200}")
                if started.pop(name, None):
                    contestant.close()
        yield started
    finally:
        for contestant, _ in started.values():
            contestant.close()


# ---- cold

def cold(bench, key, measure, language="python"):
    """`measure(contestant)` gives milliseconds; the first round only warms the disk cache."""
    figures = {}
    for turn in range(bench.options.cold + 1):
        for name in rotated(bench.names(language=language), turn):
            contestant = bench.make(name, language)
            try:
                figure = measure(contestant)
                if turn:
                    figures.setdefault(name, []).append(figure)
            except Exception as error:
                bench.fail(key, "ms", name, error)
            finally:
                contestant.close()
    bench.put_all(key, "ms", figures)


def server_start(bench):
    """process started -> initialize answered (jupyter: a kernel ready, as there is no server)"""
    cold(bench, "server_start", lambda contestant: contestant.start() * 1e3)


def start_to_result(contestant):
    started = now()
    contestant.start()
    check(contestant.run(contestant.new_session(), "1+1"), "2")
    return (now() - started) * 1e3


def first_result(bench):
    """nothing running -> the first result of a first session"""
    cold(bench, "first_result", start_to_result)


def js_first_result(bench):
    """the same in JavaScript"""
    cold(bench, "js_first_result", start_to_result, "javascript")


def new_sessions(bench, key, language):
    figures = {}
    with live(bench, bench.names(language=language), 1, language) as contestants:
        for turn in range(bench.options.cold):
            for name in rotated(contestants, turn):
                contestant, _ = contestants[name]
                time.sleep(0.15)  # let it come to rest
                try:
                    code = TWO.get(language, "1+1")
                    figure, answer = milliseconds(contestant.run, contestant.new_session(), code)
                    check(answer, "2")
                    figures.setdefault(name, []).append(figure)
                except Exception as error:
                    bench.fail(key, "ms", name, error)
    bench.put_all(key, "ms", figures)


def session_start(bench):
    """server warm and at rest -> the first result of a new session"""
    new_sessions(bench, "session_start", "python")


def js_session_start(bench):
    """the same in JavaScript"""
    new_sessions(bench, "js_session_start", "javascript")


def bash_session_start(bench):
    """the same in bash"""
    new_sessions(bench, "bash_session_start", "bash")


# ---- warm

def warm_cells(bench, language, cells):
    rounds, samples = {}, {}
    with live(bench, bench.names(language=language), 1, language) as contestants:
        for turn in range(bench.options.rounds):
            for name in rotated(contestants, turn):
                contestant, (session,) = contestants[name]
                for key, (code, want) in cells.items():
                    try:
                        block = warm_block(bench, contestant, session, code, want)
                        rounds.setdefault((key, name), []).append(median(block))
                        samples.setdefault((key, name), []).extend(block)
                    except Exception as error:
                        bench.fail(key, "ms", name, error)
    for key, name in rounds:
        bench.results.put(key, "ms", name, rounds[key, name], samples=samples[key, name])
    for key, name in rounds:
        for percent in (95, 99):
            bench.results.put(f"{key}_p{percent}", "ms", name, [percentile(samples[key, name], percent)])


def warm(bench):
    """one session, one call at a time: `1+1`, then print('x'); median, p95, p99"""
    warm_cells(bench, "python", {"warm_expr": ("{}+1", lambda i: str(i + 1)),
                                 "warm_print": ("print('v{}')", lambda i: f"v{i}")})


def js_warm(bench):
    """the same in JavaScript, the expression only"""
    warm_cells(bench, "javascript", {"js_warm_expr": ("{}+1", lambda i: str(i + 1))})


def bash_warm(bench):
    """the same in bash, `echo`"""
    warm_cells(bench, "bash", {"bash_warm": ("echo v{}", lambda i: f"v{i}")})


def warm_block(bench, contestant, session, code, want):
    figures, stop = [], now() + bench.options.block_s
    for i in range(bench.options.block):
        figure, answer = milliseconds(contestant.run, session, code.format(i))
        check(answer, want(i))
        figures.append(figure)
        if now() > stop and len(figures) >= 3:
            break
    return figures


def ping(bench):
    """the protocol alone: ping and tools/list one at a time, pings with 64 in flight"""
    figures = {}
    with live(bench, bench.names(lambda contestant: contestant.speaks_mcp)) as contestants:
        for turn in range(bench.options.rounds):
            for name in rotated(contestants, turn):
                mcp = contestants[name][0].mcp
                for key, method in (("ping", "ping"), ("tools_list", "tools/list")):
                    block = [milliseconds(mcp.call, method, {})[0] for _ in range(bench.options.block)]
                    figures.setdefault(key, {}).setdefault(name, []).append(median(block))
                figures.setdefault("pipelined", {}).setdefault(name, []).append(
                    pipelined_pings(mcp, bench.options.block * 10))
    bench.put_all("ping", "ms", figures.get("ping", {}))
    bench.put_all("tools_list", "ms", figures.get("tools_list", {}))
    bench.put_all("ping_pipelined", "/s", figures.get("pipelined", {}), MORE)


def pipelined_pings(mcp, count):
    started, flying = now(), []
    for _ in range(count):
        flying.append(mcp.post("ping", {}))
        if len(flying) >= 64:
            mcp.wait(flying.pop(0))
    for request_id in flying:
        mcp.wait(request_id)
    return count / (now() - started)


def calls(bench):
    """print calls a second: 1 session with one in flight, with 16 in flight, 8 sessions with one each"""
    shapes = {"calls_1_session": (1, 1), "calls_1_session_16_deep": (1, 16), "calls_8_sessions": (8, 1)}
    figures, failed = {key: {} for key in shapes}, set()
    with live(bench, bench.names(), sessions=8) as contestants:
        for turn in range(bench.options.rounds):
            for name in rotated(contestants, turn):
                for key, (width, depth) in shapes.items():
                    contestant, sessions = contestants[name]
                    if (key, name) in failed:
                        continue
                    try:
                        rate = flood(contestant, sessions[:width], depth, bench.options.flood_s)
                        figures[key].setdefault(name, []).append(rate)
                    except Exception as error:
                        bench.fail(key, "/s", name, error, MORE)
                        failed.add((key, name))
                        contestants[name] = restarted(bench, contestant)
    for key in shapes:
        bench.put_all(key, "/s", figures[key], MORE)


def restarted(bench, contestant):
    """A fresh one in place of one whose answers came too late or wrong."""
    contestant.close()
    fresh = bench.make(contestant.name)
    fresh.start()
    sessions = [fresh.new_session() for _ in range(8)]
    for session in sessions:
        fresh.run(session, "1+1")
    return fresh, sessions


def flood(contestant, sessions, depth, seconds):
    def post(session):
        nonlocal posted
        posted += 1
        return session, posted, contestant.post(session, f"print('v{posted}')")

    posted = answered = 0
    started = now()
    flying = [post(session) for _ in range(depth) for session in sessions]
    while flying:
        session, number, token = flying.pop(0)
        check(contestant.wait(token, 20), f"v{number}")
        answered += 1
        if now() < started + seconds:
            flying.append(post(session))
    return answered / (now() - started)


# ---- large output

OUTPUTS = {
    "out_10M_lines": "for _ in range(131072): print('x'*79)",
    "out_10M": "import sys\nfor _ in range(10): sys.stdout.write(('x'*79+'\\n')*13107)",
    "out_100M": "import sys\nfor _ in range(100): sys.stdout.write(('x'*79+'\\n')*13107)",
    "out_100M_child": "import subprocess\nsubprocess.run('yes ' + 'x'*79 + ' | head -c 100000000', shell=True).returncode",
}


def out(bench):
    """10 MB printed by lines, 10 MB and 100 MB by megabytes, 100 MB by a child process: seconds, MB given to us, the server's peak"""
    for key, code in OUTPUTS.items():
        figures, delivered, growth = {}, {}, {}
        for turn in range(max(3, bench.options.rounds // 3)):
            for name in rotated(bench.names(), turn):
                contestant = bench.make(name)
                try:
                    seconds, megabytes, peak = large_output(contestant, code)
                    figures.setdefault(name, []).append(seconds)
                    delivered.setdefault(name, []).append(megabytes)
                    growth.setdefault(name, []).append(peak)
                except Exception as error:
                    bench.fail(key, "s", name, error)
                finally:
                    contestant.close()
        bench.put_all(key, "s", figures)
        bench.put_all(key + "_delivered", "MB", delivered, INFO)
        bench.put_all(key + "_server_growth", "MB", growth, INFO)


def large_output(contestant, code):
    contestant.start()
    session = contestant.new_session()
    check(contestant.run(session, "1+1"), "2")
    received = contestant.bytes_in()
    before = sum(map(proc.peak_rss, contestant.server_pids()))
    started = now()
    check(contestant.run(session, code, 60), "x" * 70)
    seconds = now() - started
    growth = sum(map(proc.peak_rss, contestant.server_pids())) - before
    megabytes = (contestant.bytes_in() - received) / 1e6
    check(contestant.run(session, "41+1", 30), "42")  # the session still works
    return seconds, megabytes, growth / 1024


# ---- figures

PLOT = """import matplotlib.pyplot as plt
fig = plt.figure(figsize=(6, 4), dpi=100)
plt.plot([i*i for i in range({})])
plt.show()"""

# For those that return no images: the same work, the picture as text.
SHOW = "plt.show()"
PRINT_PNG = """import io, base64
f = io.BytesIO()
fig.savefig(f, format='png', bbox_inches='tight')
plt.close(fig)
print(base64.b64encode(f.getvalue()).decode())"""
AGG = "import matplotlib; matplotlib.use('agg')\n"


def plotting(contestant, code):
    return code if contestant.images else AGG + code.replace(SHOW, PRINT_PNG)


def check_plot(contestant, answer):
    text, images = answer
    if not images if contestant.images else "iVBOR" not in text:
        raise Wrong(f"no image: {text[:300]!r}")


def plot_ms(contestant, session, points):
    figure, answer = milliseconds(contestant.run, session, plotting(contestant, PLOT.format(points)))
    check_plot(contestant, answer)
    return figure


def plot(bench):
    """a line plot as PNG: the first of a session, imports included, then warm"""
    first, rounds, samples = {}, {}, {}
    with live(bench, bench.names(), sessions=0) as contestants:
        for turn in range(max(3, bench.options.cold // 3)):
            for name in rotated(contestants, turn):
                contestant, sessions = contestants[name]
                try:
                    session = contestant.new_session()
                    contestant.run(session, "1+1")
                    first.setdefault(name, []).append(plot_ms(contestant, session, 9))
                    sessions[:] = [session]
                except Exception as error:
                    bench.fail("plot_first", "ms", name, error)
        for turn in range(bench.options.rounds):
            for name in rotated(first, turn):
                contestant, (session,) = contestants[name]
                points = range(10, 10 + max(3, bench.options.block // 10))
                block = [plot_ms(contestant, session, count) for count in points]
                rounds.setdefault(name, []).append(median(block))
                samples.setdefault(name, []).extend(block)
    bench.put_all("plot_first", "ms", first)
    for name in rounds:
        bench.results.put("plot_warm", "ms", name, rounds[name], samples=samples[name])


# ---- memory and many sessions

IMPORTS = "import numpy, pandas, matplotlib\nimport matplotlib.pyplot\nprint('ok')"


def mem(bench):
    """the server's RSS; of 4 sessions PSS and private memory each, idle and with pandas imported"""
    for name in bench.names():
        contestant = bench.make(name)
        try:
            contestant.start()
            measure_memory(bench, contestant)
        except Exception as error:
            bench.fail("mem_session_pss", "MB", name, error)
        finally:
            contestant.close()


def come_to_rest(contestant, limit_s=10):
    """Waits until what a contestant prepares in the background is there: it uses less than 2 % of a processor."""
    pids, used = [], 0
    for _ in range(int(limit_s / 0.3)):
        time.sleep(0.3)
        before = pids, used
        pids = contestant.server_pids() + contestant.session_pids()
        used = proc.cpu_exact(pids)
        if before[0] == pids and used - before[1] < 0.3 * 0.02:
            return


def measure_memory(bench, contestant):
    count, name, server = 4, contestant.name, contestant.server_pids()
    time.sleep(1.5)  # what it prepares in the background is there
    alone = proc.memory_sum(server + (contestant.session_pids() if server else []))
    if server:
        bench.results.put("mem_server_rss", "MB", name, [alone["rss"] / 1024])

    def put(what):
        time.sleep(0.5)
        pids = contestant.session_pids()
        pss = proc.memory_sum(server + pids)["pss"] - (alone["pss"] if server else 0)
        bench.results.put(f"mem_{what}_pss", "MB", name, [pss / 1024 / count])
        private = proc.memory_sum(pids)["private"]
        bench.results.put(f"mem_{what}_private", "MB", name, [private / 1024 / count])
        return server + pids

    sessions = [contestant.new_session() for _ in range(count)]
    for session in sessions:
        check(contestant.run(session, "1+1"), "2")
    put("session")
    come_to_rest(contestant)
    pids = contestant.server_pids() + contestant.session_pids()
    before = proc.cpu_seconds(pids)
    time.sleep(2)
    bench.results.put("idle_cpu", "ms/s", name, [(proc.cpu_seconds(pids) - before) / 2 * 1e3], INFO)
    imports = []
    for session in sessions:
        figure, answer = milliseconds(contestant.run, session, IMPORTS)
        check(answer, "ok")
        imports.append(figure)
    bench.results.put("import_pandas", "ms", name, imports)
    put("pandas")


def sessions(bench):
    """N sessions opened one after another and kept: time and PSS each, then one call to each"""
    count = bench.options.sessions
    for name in bench.names():
        contestant = bench.make(name)
        try:
            contestant.start()
            ids = [contestant.new_session() for _ in range(count)]
            started = now()
            for session in ids:
                check(contestant.run(session, "1+1"), "2")
            each = (now() - started) * 1e3 / count
            pss = proc.memory_sum(contestant.server_pids() + contestant.session_pids())["pss"] / 1024 / count
            calls_ms = [milliseconds(contestant.run, session, "7+1")[0] for session in ids]
            bench.results.put(f"sessions_{count}_open", "ms each", name, [each])
            bench.results.put(f"sessions_{count}_pss", "MB each", name, [pss])
            bench.results.put(f"sessions_{count}_exec", "ms", name, [median(calls_ms)], samples=calls_ms)
        except Exception as error:
            bench.fail(f"sessions_{count}_open", "ms each", name, error)
        finally:
            contestant.close()


FOREVER = ("while True: pass", "import time; time.sleep(600)", "while True: print('y' * 200)",
           "import subprocess; subprocess.run(['sleep', '600'])")


def beside(bench):
    """from a cell's last statement to its answer, while four other sessions compute, sleep, flood, wait"""
    for name in bench.names(lambda contestant: contestant.interruptible):
        contestant = bench.make(name)
        figures = []
        try:
            contestant.start()
            session = contestant.new_session()
            contestant.run(session, "import time")
            for code in FOREVER:
                other = contestant.new_session()
                contestant.run(other, "1")
                contestant.post(other, code)
            for _ in range(20):
                text, _ = contestant.run(session, "time.sleep(0.05); print('at', time.monotonic())")
                figures.append((time.monotonic() - float(text.split("at ")[1].split()[0])) * 1e3)
            bench.results.put("answer_beside", "ms", name, figures)
        except Exception as error:
            bench.fail("answer_beside", "ms", name, error)
        finally:
            contestant.close()


WATCHED = {
    "idle": None,
    "sleeping": "import time; time.sleep(600)",
    "busy": "while True: pass",
    "waiting": "input('? ')",
}


def watch(bench):
    """what a session costs beside its interpreter: idle, in a quiet cell, a busy one, at a prompt"""
    seconds = bench.options.watch_s
    for name in bench.names(lambda contestant: contestant.name in bench.added):
        for key, code in WATCHED.items():
            contestant = bench.make(name)
            try:
                contestant.start()
                session = contestant.new_session()
                contestant.run(session, "1+1")
                if code:
                    contestant.post(session, code)
                time.sleep(1)
                pids = [pid for pid in contestant.server_pids() + contestant.session_pids()
                        if not proc.name(pid).startswith("python")]
                before = proc.cpu_exact(pids)
                time.sleep(seconds)
                figure = (proc.cpu_exact(pids) - before) * 1e3 / seconds
                bench.results.put(f"watch_{key}_cpu", "ms/s", name, [figure], INFO)
            except Exception as error:
                bench.fail(f"watch_{key}_cpu", "ms/s", name, error, INFO)
            finally:
                contestant.close()


CANCELLED = (  # key, language, an endless loop, a value, what comes of it
    ("cancel_to_next", "python", "while True: pass", "kept = 7", "kept+1"),
    ("js_cancel_to_next", "javascript", "while (true);", "var kept = 7", "kept+1"),
    ("bash_cancel_to_next", "bash", "while :; do :; done", "kept=7", "echo $((kept+1))"),
    ("r_cancel_to_next", "r", "while (TRUE) {}", "kept <- 7", "kept+1"),
)


def cancelled(bench, key, language, loop, keep, look):
    for name in bench.names(lambda contestant: contestant.interruptible, language):
        contestant = bench.make(name, language)
        figures, kept = [], 0
        try:
            contestant.start()
            session = contestant.new_session()
            contestant.run(session, keep)
            for _ in range(5):
                token = contestant.post(session, loop)
                time.sleep(0.3)
                started = now()
                contestant.cancel(session, token)
                text, _ = contestant.run(session, look, 15)
                figures.append((now() - started) * 1e3)
                kept += "8" in text
            bench.results.put(key, "ms", name, figures, note=f"state kept {kept} of 5 times")
        except Exception as error:
            bench.fail(key, "ms", name, error)
        finally:
            contestant.close()


def cancel(bench):
    """an endless loop, cancelled after 0.3 s -> the next result of the same session, in each language"""
    for row in CANCELLED:
        cancelled(bench, *row)


# ---- a whole job

CSV_JOB = """import pandas as pd
import matplotlib.pyplot as plt
d = pd.read_csv({!r})
fig = plt.figure(figsize=(6, 4), dpi=100)
d.groupby('k')['b'].mean().plot()
plt.show()
print(len(d))"""


def csv_file(megabytes):
    folder = os.path.join(tempfile.gettempdir(), f"ptycell-bench-{os.getuid()}")
    path = os.path.join(folder, f"{megabytes}M.csv")
    os.makedirs(folder, mode=0o755, exist_ok=True)
    if not os.path.exists(path):
        numbers = random.Random(1)
        block = "".join(f"{numbers.randrange(1000)},{numbers.random():.6f},{numbers.gauss(0, 1):.6f},"
                        f"item-{numbers.randrange(10 ** 6)}\n" for _ in range(50000))
        with open(path + ".part", "w", encoding="ascii") as f:
            f.write("k,a,b,name\n")
            while f.tell() < megabytes * 1e6:
                f.write(block)
        os.rename(path + ".part", path)
    return path


def e2e_csv(bench):
    """a new session on a warm server at rest: import, read a 100 MB CSV, group, plot; until the image is there"""
    path = csv_file(bench.options.csv_mb)
    with open(path, "rb") as f:  # into the page cache, for everyone
        while f.read(1 << 24):
            pass
    figures = {}
    for turn in range(3):
        for name in rotated(bench.names(), turn):
            contestant = bench.make(name)
            try:
                if contestant.speaks_mcp:
                    contestant.share(os.path.dirname(path))
                    contestant.start()
                    contestant.run(contestant.new_session(), "1+1")
                    come_to_rest(contestant)
                started = now()
                code = plotting(contestant, CSV_JOB.format(path))
                check_plot(contestant, contestant.run(contestant.new_session(), code, 180))
                figures.setdefault(name, []).append(now() - started)
            except Exception as error:
                bench.fail("e2e_csv", "s", name, error)
            finally:
                contestant.close()
    bench.put_all("e2e_csv", "s", figures)


ALL = {function.__name__: function for function in (
    server_start, first_result, session_start, warm, js_first_result, js_session_start, js_warm, bash_session_start,
    bash_warm, ping, calls, out, plot, mem, sessions, beside, watch, cancel, e2e_csv)}
