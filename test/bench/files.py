#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""files.py BUILD [MEGABYTES [ROUNDS]]: what files cost. A download over loopback by curl, by ptycell-fetch
alone and by upload_file, in turns within every round; and looking at 1,000 and 20,000 files."""
import os
import pathlib
import socketserver
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/release")
os.environ["PTYCELL_BUILD"] = BUILD
import client  # noqa: E402

MEGABYTES = int(sys.argv[2]) if len(sys.argv) > 2 else 500
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 7
MIB = 1 << 20


class Site(socketserver.ThreadingTCPServer):
    """Sends one file, whatever is asked for."""
    daemon_threads = True

    def __init__(self, path):
        self.path = path
        super().__init__(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/data.bin"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answer(socketserver.BaseRequestHandler):
    def handle(self):
        while not self.request.recv(65536).endswith(b"\r\n\r\n"):
            pass
        size = os.path.getsize(self.server.path)
        self.request.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n".encode())
        with open(self.server.path, "rb") as file:
            self.request.sendfile(file)


def spent(command, **popen):
    """(seconds, seconds of processor time) of a process."""
    order = popen.pop("order", None)
    begun = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, **popen)
    if order:
        process.stdin.write(order)
    process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0, command
    return time.monotonic() - begun, used.ru_utime + used.ru_stime


def by_curl(url, target):
    return spent(["curl", "-sS", "-o", str(target), url])


def by_fetch(url, target):
    order = ('{"do": "download", "url": "%s", "allow_private": true, "size_max": %d, "size_name": "x", '
             '"deadline_ms": 600000, "stall_ms": 60000}\n' % (url, 1 << 40)).encode()
    with open(target, "wb") as file:
        fd = file.fileno()
        command = ["bash", "-c", f"exec 3>&{fd}; exec {BUILD}/ptycell-fetch"]
        return spent(command, order=order, pass_fds=[fd])


def downloads(folder):
    source, target = folder / "source", folder / "target"
    with open(source, "wb") as file:
        for _ in range(MEGABYTES):
            file.write(os.urandom(MIB))
    site = Site(source)
    ways = {"curl": by_curl, "ptycell-fetch": by_fetch}
    rounds = {name: [] for name in (*ways, "upload_file")}
    env = {"PTYCELL_ALLOW_PRIVATE_HOSTS": "1", "MAX_DOWNLOAD_SIZE": "64G", "PTYCELL_DISK_MAX": "64G",
           "DOWNLOAD_TIMEOUT": "600", "PTYCELL_KEEP": "off"}
    with client.Server(folder, env=env) as server:
        def by_upload(url, _):
            begun = time.monotonic()
            answer = server.call("upload_file", wait=600, session_id="s", url=url)
            used = time.monotonic() - begun
            assert not answer.is_error, answer.texts
            server.call("destroy_session", session_id="s")
            return used, float("nan")

        ways["upload_file"] = by_upload
        for turn in range(ROUNDS):
            order = list(ways)
            for name in order[turn % 3:] + order[:turn % 3]:
                rounds[name].append(ways[name](site.url, target))
                target.unlink(missing_ok=True)
    print(f"{MEGABYTES} MB over loopback, {ROUNDS} rounds; ratio of throughput to curl's, round by round")
    for name, values in rounds.items():
        ratio = statistics.median(c[0] / v[0] for c, v in zip(rounds["curl"], values))
        processor = statistics.median(c[1] / v[1] for c, v in zip(rounds["curl"], values))
        seconds = statistics.median(v[0] for v in values)
        print(f"  {name:14} {MEGABYTES / seconds:8.0f} MB/s   ratio {ratio:.2f}   by processor time {processor:.2f}")


def timed(function, count=9):
    times = []
    for _ in range(count):
        begun = time.monotonic()
        function()
        times.append((time.monotonic() - begun) * 1000)
    return statistics.median(times)


def scans(folder):
    print("looking at files: milliseconds of list_artifacts (nothing matches) and of a cell that changes nothing")
    with client.Server(folder, env={"PTYCELL_KEEP": "off"}) as server:
        for count in (0, 1000, 20000):
            session = f"n{count}"
            server.cell(f"import os\nfor d in range(100): os.makedirs(f'work/{{d}}')\n"
                        f"for i in range({count}): open(f'work/{{i % 100}}/{{i}}', 'w').close()", session=session)
            listing = timed(lambda: server.call("list_artifacts", session_id=session, pattern="nothing*"))
            cell = timed(lambda: server.cell("0", session=session))
            print(f"  {count:6} files   list {listing:7.1f}   cell {cell:7.1f}")


def main():
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        downloads(pathlib.Path(folder))
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        scans(pathlib.Path(folder))


if __name__ == "__main__":
    main()
