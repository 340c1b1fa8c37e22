# SPDX-License-Identifier: MIT
"""What /proc says of a tree of processes: memory in KiB, processor time in seconds."""
import os


def stat_fields(pid):
    """The fields of /proc/PID/stat from the state on."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
        text = f.read()
    return text[text.rindex(")") + 2:].split()


def is_alive(pid):
    try:
        return stat_fields(pid)[0] not in "ZX"
    except OSError:
        return False


def descendants(pid):
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                children.setdefault(int(stat_fields(name)[1]), []).append(int(name))
            except (OSError, ValueError):
                pass
    found, todo = [], [pid]
    while todo:
        for child in children.get(todo.pop(), []):
            found.append(child)
            todo.append(child)
    return found


def memory(pid):
    """{"rss", "pss", "private"} of one process, None when it is gone."""
    values = {}
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as f:
            for line in f:
                key, _, rest = line.partition(":")
                if rest.strip().endswith("kB"):
                    values[key] = int(rest.split()[0])
        return {"rss": values["Rss"], "pss": values["Pss"],
                "private": values["Private_Clean"] + values["Private_Dirty"]}
    except (OSError, KeyError):
        return None


def memory_sum(pids):
    total = {"rss": 0, "pss": 0, "private": 0}
    for one in filter(None, map(memory, pids)):
        for key in total:
            total[key] += one[key]
    return total


def peak_rss(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        for line in f:
            if line.startswith("VmHWM"):
                return int(line.split()[1])
    return 0


def cpu_seconds(pids):
    """Of those that are there; a helper may end meanwhile."""
    ticks = 0
    for pid in pids:
        try:
            fields = stat_fields(pid)
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def name(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as f:
            return f.read().strip()
    except OSError:
        return ""


def cpu_exact(pids):
    """Seconds of those that are there, where a clock tick is too coarse."""
    nanoseconds = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
                nanoseconds += int(f.read().split()[0])
        except OSError:
            continue
    return nanoseconds / 1e9
