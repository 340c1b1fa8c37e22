#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Code interpreters side by side: contestants by scenarios, medians and ratios.

  bench.py --ours build/release/ptycell                      ours beside every peer that is installed
  bench.py --ours CMD -c ours,floor,jupyter-mcp -s warm,plot  some contestants, some scenarios (prefixes)
  bench.py --add new=CMD --add old=CMD -c new,old             two builds, interleaved
  bench.py --tiers CMD                                       what confinement costs
  bench.py --list                                             what there is

Ends with 1 when a contestant of --ours, --add or --spec failed in a scenario.
"""
import argparse
import ctypes
import fcntl
import json
import os
import platform
import socket
import struct
import subprocess
import sys
import time

import contestants
import scenarios
import tiers
from report import FEWER, Results, table

QUICK = {"rounds": 3, "block": 20, "cold": 3, "sessions": 10, "csv_mb": 5, "flood_s": 0.3, "watch_s": 0.5}


class Bench:
    def __init__(self, options, names, added):
        self.options, self.all_names, self.added = options, names, added
        self.results = Results()

    def make(self, name, language="python"):
        contestant = contestants.make(name, self.added)
        if language != "python":
            contestant.speak(language)
        return contestant

    def names(self, condition=lambda contestant: True, language="python"):
        if not contestants.has_language(language):
            return []
        made = [contestants.make(name, self.added) for name in self.all_names]
        return [one.name for one in made if language in one.languages and not one.missing() and condition(one)]

    def put_all(self, key, unit, figures, better=FEWER):
        for name, rounds in figures.items():
            self.results.put(key, unit, name, rounds, better)

    def fail(self, key, unit, name, why, better=FEWER):
        self.log(f"   {key}: {name}: {why!r:.200}")
        self.results.fail(key, unit, name, repr(why), better)

    def run(self):
        wanted = self.options.scenarios.split(",") if self.options.scenarios else [""]
        for key, scenario in scenarios.ALL.items():
            if key.startswith(tuple(wanted)):
                started = time.perf_counter()
                scenario(self)
                self.log(f"{key}: {time.perf_counter() - started:.1f} s")

    @staticmethod
    def log(text):
        print(text, file=sys.stderr, flush=True)


def leave_the_network():
    """Moves this process to a network of its own with loopback only, so that no peer phones home."""
    new_network = 0x40000000  # CLONE_NEWNET
    if ctypes.CDLL(None, use_errno=True).unshare(new_network):
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        up_and_running = 0x1 | 0x40
        request = struct.pack("16sH", b"lo", up_and_running) + bytes(14)
        fcntl.ioctl(any_socket, 0x8914, request)  # SIOCSIFFLAGS
    return True


def first_line(*command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=100, check=True)
        return done.stdout.strip().splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return None


def machine():
    with open("/proc/meminfo", encoding="ascii") as f:
        kibibytes = int(f.readline().split()[1])
    return {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "kernel": platform.release(),
            "cpus": os.cpu_count(), "memory_gb": round(kibibytes / 1e6, 1), "load": os.getloadavg(),
            "python": first_line(contestants.PYTHON, "--version"),
            "node": first_line(contestants.NODE, "--version")}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--ours", metavar="CMD", help="our server's command: adds the contestant 'ours'")
    add("--add", action="append", default=[], metavar="NAME=CMD", help="another server with a tool exec_code")
    add("--tiers", metavar="CMD", help="our server unconfined, in tier namespaces and in tier bwrap, and nobody else")
    add("--spec", metavar="FILE", help="other servers, as JSON (README.md)")
    add("-c", "--contestants", help="comma-separated (default: all that are installed)")
    add("-s", "--scenarios", help="comma-separated prefixes (default: all)")
    add("--rounds", type=int, default=10, help="rounds of the warm scenarios (10)")
    add("--block", type=int, default=100, help="calls in a row in a round (100)")
    add("--block-s", type=float, default=1.5, help="but no more than these seconds of them (1.5)")
    add("--cold", type=int, default=15, help="runs of the cold scenarios (15)")
    add("--flood-s", type=float, default=0.7, help="seconds of a measurement of throughput (0.7)")
    add("--watch-s", type=float, default=3, help="seconds of a measurement of processor time at rest (3)")
    add("--sessions", type=int, default=100, help="how many sessions to keep open (100)")
    add("--csv-mb", type=int, default=100, help="size of the file of e2e_csv (100)")
    add("--quick", action="store_true", help="less of everything, to see that it works")
    add("--json", metavar="FILE", help="write everything that was measured")
    add("--md", metavar="FILE", help="write the table as Markdown")
    add("--list", action="store_true", help="name scenarios and contestants, and end")
    add("--net", action="store_true", help="as root, do not take the network away from the contestants")
    options = parser.parse_args()
    if options.quick:
        vars(options).update(QUICK)
    if options.tiers:
        options.contestants = options.contestants or ",".join(tiers.NAMES)
        options.scenarios = options.scenarios or tiers.SCENARIOS
    return options


def added_contestants(options):
    added = {}
    if options.ours:
        added["ours"] = {"command": options.ours}
    for entry in options.add:
        name, _, command = entry.partition("=")
        added[name] = {"command": command}
    if options.tiers:
        added.update(tiers.contestants_of(options.tiers))
    if options.spec:
        with open(options.spec, encoding="utf-8") as f:
            added.update(json.load(f))
    return added


def use_the_python_with_jupyter():
    """The contestant `jupyter` needs jupyter_client in this very process."""
    here, there = os.path.realpath(sys.executable), os.path.realpath(contestants.PYTHON)
    if here != there and not contestants.has_module(sys.executable, "jupyter_client") and \
            contestants.has_module(contestants.PYTHON, "jupyter_client"):
        os.execv(contestants.PYTHON, [contestants.PYTHON, os.path.abspath(__file__), *sys.argv[1:]])


def print_list(bench):
    for key, scenario in scenarios.ALL.items():
        print(f"{key:18} {scenario.__doc__}")
    for name in bench.all_names:
        print(f"{name:18} {bench.make(name).missing() or 'ready'}")


def write_json(path, bench, about):
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"machine": about, "results": bench.results.rows}, f, indent=1)


def main():
    options = parse_options()
    added = added_contestants(options)
    names = options.contestants.split(",") if options.contestants else [*added, *contestants.PEERS]
    if "jupyter" in names:
        use_the_python_with_jupyter()
    bench = Bench(options, names, added)
    if options.list:
        print_list(bench)
        return 0
    isolated = not options.net and os.geteuid() == 0 and leave_the_network()
    about = {**machine(), "network": "loopback only" if isolated else "as found"}
    bench.log(json.dumps(about))
    try:
        bench.run()
    except KeyboardInterrupt:
        bench.log("interrupted; what there is:")
    print(table(bench.results, bench.names()))
    if options.tiers:
        print(tiers.summary(bench.results))
    if options.json:
        write_json(options.json, bench, about)
    if options.md:
        with open(options.md, "w", encoding="utf-8") as f:
            f.write(table(bench.results, bench.names(), markdown=True) + "\n")
    return 1 if bench.results.failures(added) else 0


if __name__ == "__main__":
    sys.exit(main())
