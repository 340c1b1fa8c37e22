# SPDX-License-Identifier: MIT
"""A small MCP client over pipes for the end-to-end tests: one thread reads, callers wait."""
import itertools
import json
import os
import pathlib
import queue
import re
import subprocess
import sys
import threading

BUILD = pathlib.Path(os.environ.get("PTYCELL_BUILD", "build/dev"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import status_parser  # noqa: E402
from patience import CALL_S, WAIT_S  # noqa: E402

REVISION = "2025-11-25"
started = []  # servers; conftest.py tells what those of a failed test said
EARLIER = re.compile(r"\[cell \d+ ended before: ")
NOTICE = re.compile(r"Session '[^']*' is |The \w+ state of session '")


def environment(home):
    """What a server of the tests finds: a home of its own, and the Python that has pandas. Freed
    memory that a sanitizer holds back is not what tests of memory are about."""
    return {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "quarantine_size_mb=1"),
            "HOME": str(home), "PATH": os.environ["PATH"], "PTYCELL_PYTHON": "/usr/bin/python3",
            "PTYCELL_CALL_BUDGET": str(CALL_S), "PTYCELL_HOME": str(home / "cache"), "PTYCELL_KEEP": str(home / "kept"),
            "PTYCELL_RESUME": "off"}


def command(home, *args, code=0, programs=os.environ["PATH"]):
    """What a command prints; it is called in surroundings that differ from the server's."""
    plain = {"PATH": programs, "HOME": str(home), "PTYCELL_HOME": str(home / "cache"),
             "ASAN_OPTIONS": environment(home)["ASAN_OPTIONS"]}
    done = subprocess.run([str(BUILD / "ptycell"), *args], env=plain, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stderr if code else done.stdout


# For one whose sessions last, as they do unless told otherwise: most tests begin with nothing and look at what is left.
# Whether variables are saved in time depends on the load; test_restore_values waits for it.
LASTS = {"PTYCELL_RESUME": None, "PTYCELL_RESUME_VARIABLES": "off"}
# For a server whose processes or folders a test takes for those of its sessions: nothing is made ahead.
ALONE = {"PTYCELL_SPARES": "0"}
# A server imports pandas and matplotlib ahead, for a second: most tests are over before that is of use.
NOT_AHEAD = {"PTYCELL_PRELOAD": "off"}
# For one that does as servers do unless told otherwise.
AHEAD = {"PTYCELL_PRELOAD": None}


CATALOG = json.loads((pathlib.Path(__file__).resolve().parents[2] / "lib/tools/catalog.json").read_text())
OUTPUT = {tool["name"]: tool["outputSchema"] for tool in CATALOG["tools"] if "outputSchema" in tool}
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
         "null": type(None)}


def fits(value, schema):
    """Whether the value is what the schema says: what clients check before they give an answer to anybody."""
    if "anyOf" in schema:
        return any(fits(value, one) for one in schema["anyOf"])
    if not isinstance(value, TYPES[schema["type"]]):
        return False
    if schema["type"] == "array":
        return all(fits(item, schema["items"]) for item in value)
    if schema["type"] != "object":
        return True
    return all(key in value for key in schema.get("required", ())) and all(
        fits(value[key], one) for key, one in schema.get("properties", {}).items() if key in value)


class Result:
    """The answer of a tool call, taken apart."""

    def __init__(self, result):
        self.raw = result
        self.content = result["content"]
        self.is_error = result.get("isError", False)
        self.texts = [b["text"] for b in self.content if b["type"] == "text"]
        self.images = [b for b in self.content if b["type"] == "image"]
        self.links = [b for b in self.content if b["type"] == "resource_link"]
        self.object = result.get("structuredContent")
        self.cell = result.get("_meta", {}).get("ptycell/cell", {})

    @property
    def status(self):
        """The parsed status line: always the last block."""
        return status_parser.of_result(self.raw)

    @property
    def state(self):
        return self.status["state"]

    @property
    def notice(self):
        """What opens the answer when the session is new or lost its state; else empty."""
        return self.texts[0] if NOTICE.match(self.texts[0]) else ""

    @property
    def earlier(self):
        """What is told of cells that ended before, one text each."""
        return [text for text in self.texts if EARLIER.match(text)]

    @property
    def text(self):
        """Everything between notice and status line, but what is told of earlier cells."""
        texts = self.texts[1 if self.notice else 0:-1]
        return "\n".join(text for text in texts if text not in self.earlier)


class Messages(queue.Queue):
    """What comes from the server; who waits for it is patient."""

    def get(self, block=True, timeout=WAIT_S):
        return super().get(block, timeout)


class Server:
    """A running ptycell. Use as a context manager."""

    def __init__(self, home, *args, env=None, initialize=True, command=None, **popen):
        self.home = home
        environ = {**environment(home), **NOT_AHEAD, **(env or {})}
        environ = {name: value for name, value in environ.items() if value is not None}
        self.process = subprocess.Popen(
            [*(command or [str(BUILD / "ptycell")]), *args], env=environ, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)
        started.append(self)
        self.ids = itertools.count(1)  # threads share it
        self.waiting = {}
        self.others = Messages()  # notifications and requests of the server
        self.stderr = b""
        self.readers = [threading.Thread(target=self._read, daemon=True),
                        threading.Thread(target=self._read_stderr, daemon=True)]
        for thread in self.readers:
            thread.start()
        if initialize:
            self.request("initialize", {"protocolVersion": REVISION, "capabilities": {},
                                        "clientInfo": {"name": "e2e", "version": "1"}})
            self.notify("notifications/initialized")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            waiting = self.waiting.pop(message.get("id"), None) if "method" not in message else None
            (waiting or self.others).put(message)
        for waiting in list(self.waiting.values()):
            waiting.put({"error": {"code": 0, "message": "the server closed its stdout"}})

    def _read_stderr(self):
        while data := self.process.stderr.read1():
            self.stderr += data

    def said(self):
        """Returns what the server wrote to its stderr and, if a signal ended it, the kernel's last lines on a ptycell (root may read them)."""
        text = self.stderr.decode(errors="replace")
        if (self.process.poll() or 0) < 0:
            log = subprocess.run(["dmesg"], capture_output=True, text=True, errors="replace", check=False).stdout
            text += "".join([line + "\n" for line in log.splitlines() if " ptycell[" in line][-3:])
        return text

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def start(self, method, params=None):
        """Sends a request; the queue it returns gets the answer."""
        answer = Messages()
        answer.id = next(self.ids)
        self.waiting[answer.id] = answer
        self.send({"jsonrpc": "2.0", "id": answer.id, "method": method, "params": params or {}})
        return answer

    def request(self, method, params=None, wait=WAIT_S):
        message = self.start(method, params).get(timeout=wait)
        assert "error" not in message, message["error"]
        return message["result"]

    def call(self, tool, wait=WAIT_S, budget=None, **arguments):
        """`wait` is this client's patience, `budget` the tool's own argument of the name wait."""
        if budget is not None:
            arguments["wait"] = budget
        result = Result(self.request("tools/call", {"name": tool, "arguments": arguments}, wait))
        assert result.object is None or fits(result.object, OUTPUT[tool]), result.object
        return result

    def start_cell(self, code, session="s", budget=None, **arguments):
        if budget is not None:
            arguments["wait"] = budget
        return self.start("tools/call", {"name": "exec_code", "arguments": {
            "session_id": session, "language": "python", "code": code, **arguments}})

    def cell(self, code, session="s", wait=WAIT_S, **arguments):
        message = self.start_cell(code, session, **arguments).get(timeout=wait)
        assert "error" not in message, message["error"]
        return Result(message["result"])

    def interact(self, session="s", **arguments):
        return self.call("interact", session_id=session, **arguments)

    def notifications(self, method):
        """Those of this method that have come; all others so far are passed over."""
        messages = []
        while not self.others.empty():
            messages.append(self.others.get())
        return [message for message in messages if message.get("method") == method]

    def strays(self):
        """Answers that nobody waited for, so far."""
        messages = []
        while not self.others.empty():
            messages.append(self.others.get())
        return [message for message in messages if "method" not in message]

    def cancel(self, answer):
        self.waiting.pop(answer.id, None)
        self.notify("notifications/cancelled", {"requestId": answer.id})

    def close(self, wait=WAIT_S):
        """Ends its input, as hosts do, and the server where something still runs; returns the exit code."""
        if self.process.stdin and not self.process.stdin.closed:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        try:
            if self.waiting:
                self.process.terminate()
            code = self.process.wait(wait)
        finally:
            self.process.kill()
            for thread in self.readers:
                thread.join(WAIT_S)
        return code
