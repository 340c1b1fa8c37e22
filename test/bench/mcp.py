# SPDX-License-Identifier: MIT
"""A small, fast MCP client over stdio (handshake of 2025-11-25)."""
import json
import os
import select
import signal
import subprocess
import tempfile
import time

import proc


class McpError(Exception):
    pass


class Mcp:
    def __init__(self, argv, env=None):
        self.err = tempfile.TemporaryFile()
        self.started = time.perf_counter()
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.err,
                                        env={**os.environ, **(env or {})}, bufsize=0, start_new_session=True)
        self.pid = self.process.pid
        self.to_server, self.from_server = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.buffer = bytearray()
        self.scanned = 0
        self.last_id = 0
        self.replies = {}  # read while waiting for another
        self.bytes_in = 0
        self.poll = select.poll()
        self.poll.register(self.from_server, select.POLLIN)

    # ---- messages

    def send(self, message):
        data = (json.dumps(message, separators=(",", ":")) + "\n").encode()
        while data:
            data = data[os.write(self.to_server, data):]

    def read_line(self, deadline):
        while True:
            end = self.buffer.find(b"\n", self.scanned)
            if end >= 0:
                line = bytes(self.buffer[:end])
                del self.buffer[:end + 1]
                self.scanned = 0
                return line
            self.scanned = len(self.buffer)
            left = deadline - time.perf_counter()
            if left <= 0 or not self.poll.poll(left * 1000):
                raise TimeoutError("no reply in time")
            data = os.read(self.from_server, 1 << 20)
            if not data:
                raise McpError("the server closed its output; its stderr: " + self.stderr()[-400:])
            self.bytes_in += len(data)
            self.buffer += data

    def receive(self, deadline):
        """Reads one line; keeps it when it is a reply, refuses it when it is a request."""
        try:
            message = json.loads(self.read_line(deadline))
        except ValueError:
            return  # some servers print other things too
        if "method" not in message:
            self.replies[message.get("id")] = message
        elif "id" in message:
            self.send({"jsonrpc": "2.0", "id": message["id"],
                       "error": {"code": -32601, "message": "not supported"}})

    def post(self, method, params):
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        return self.last_id

    def wait(self, request_id, timeout=60):
        deadline = time.perf_counter() + timeout
        while request_id not in self.replies:
            self.receive(deadline)
        reply = self.replies.pop(request_id)
        if "error" in reply:
            raise McpError(json.dumps(reply["error"])[:400])
        return reply["result"]

    def call(self, method, params, timeout=60):
        return self.wait(self.post(method, params), timeout)

    def notify(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    # ---- MCP

    def initialize(self):
        """The seconds from the start of the process to the answer."""
        self.call("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                 "clientInfo": {"name": "bench", "version": "1"}})
        seconds = time.perf_counter() - self.started
        self.notify("notifications/initialized", {})
        return seconds

    def post_tool(self, name, arguments):
        return self.post("tools/call", {"name": name, "arguments": arguments})

    def stderr(self):
        self.err.seek(0)
        return self.err.read().decode("utf-8", "replace")

    def close(self):
        """Ends the server's input, gives it time to clean up, and kills what it leaves."""
        children = proc.descendants(self.pid)
        self.process.stdin.close()
        try:
            self.process.wait(2 + len(children) / 10)
        except subprocess.TimeoutExpired:
            pass
        left = [(os.kill, child) for child in children if proc.is_alive(child)]
        for kill, pid in [(os.killpg, self.pid), *left]:
            try:
                kill(pid, signal.SIGKILL)
            except OSError:
                pass
        self.process.wait()
        self.process.stdout.close()
        self.err.close()


def text_of(result):
    return "".join(block["text"] for block in result.get("content", []) if block["type"] == "text")


def images_of(result):
    return [block for block in result.get("content", []) if block["type"] == "image"]
