#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uploads.py BUILD [MEGABYTES [ROUNDS]]: a large file into Azure Blob by ptycell-fetch and by the service's own
client for Node, in turns within every round: to Azurite, and to a server that only takes bytes."""
import json
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
import storages  # noqa: E402

MEGABYTES = int(sys.argv[2]) if len(sys.argv) > 2 else 200
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 7
PEERS = pathlib.Path(os.environ.get("BENCH_BUILD", HERE.parents[1] / "build/bench")) / "peers"
CREATED = (b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\nETag: \"1\"\r\nx-ms-version: 2021-12-02\r\n"
           b"Last-Modified: Wed, 02 Jan 2030 03:04:05 GMT\r\n\r\n")


class Taker(socketserver.ThreadingTCPServer):
    """Says of every request that it is done, after its body."""
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Take)
        self.endpoint = f"http://127.0.0.1:{self.server_address[1]}/devstoreaccount1"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    connection = storages.Azurite.connection


class Take(socketserver.BaseRequestHandler):
    def handle(self):
        room = memoryview(bytearray(1 << 20))
        head = b""
        while True:
            while b"\r\n\r\n" not in head:
                got = self.request.recv(65536)
                if not got:
                    return
                head += got
            head, _, rest = head.partition(b"\r\n\r\n")
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
            left = int(fields.get(b"content-length", 0)) - len(rest)
            if b"expect" in fields:
                self.request.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            while left > 0:
                left -= self.request.recv_into(room, min(left, len(room)))
            self.request.sendall(CREATED)
            head = b""


def spent(command, order=None, **popen):
    """(seconds, seconds of processor time) of a process."""
    begun = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, **popen)
    if order is not None:
        process.stdin.write(json.dumps(order).encode() + b"\n")
    process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0, command
    return time.monotonic() - begun, used.ru_utime + used.ru_stime


def by_fetch(connection, folder):
    order = {"do": "store", "azure": {"connection": connection, "container": "box"}, "link_seconds": 60,
             "deadline_ms": 600000, "stall_ms": 60000,
             "files": [{"path": "data.bin", "name": "s/data.bin", "size_max": 1 << 40}]}
    with storages.Folder(folder) as held:
        command = ["bash", "-c", f"exec 3<&{held.fileno()}; exec {BUILD}/ptycell-fetch"]
        return spent(command, order, pass_fds=[held.fileno()])


def by_client(connection, folder):
    return spent([storages.node(), str(HERE / "peers/azure.cjs"), connection, str(folder / "data.bin")],
                 env={"NODE_PATH": str(PEERS / "node_modules")})


def compare(name, connection, folder):
    ways = {"@azure/storage-blob": by_client, "ptycell-fetch": by_fetch}
    rounds = {way: [] for way in ways}
    by_fetch(connection, folder)  # makes the container
    for _ in range(ROUNDS):
        for way, run in ways.items():
            rounds[way].append(run(connection, folder))
    print(f"{MEGABYTES} MB to {name}, {ROUNDS} rounds; ratio of throughput to the service's own client's")
    first = rounds["@azure/storage-blob"]
    for way, values in rounds.items():
        ratio = statistics.median(c[0] / v[0] for c, v in zip(first, values))
        processor = statistics.median(c[1] / v[1] for c, v in zip(first, values))
        seconds = statistics.median(v[0] for v in values)
        print(f"  {way:20} {MEGABYTES / seconds:7.0f} MB/s   ratio {ratio:.2f}   by processor time {processor:.2f}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with open(folder / "data.bin", "wb") as file:
            for _ in range(MEGABYTES):
                file.write(os.urandom(1 << 20))
        taker = Taker()
        compare("a server that only takes bytes", taker.connection(), folder)
        (folder / "azurite").mkdir()
        with storages.Azurite(folder / "azurite") as azurite:
            compare("Azurite", azurite.connection(), folder)


if __name__ == "__main__":
    main()
