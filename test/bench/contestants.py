# SPDX-License-Identifier: MIT
"""The contestants: how each is started, given a session, and asked to run code."""
import functools
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time

import proc
from mcp import Mcp, McpError, images_of, text_of

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("BENCH_BUILD") or os.path.join(ROOT, "build", "bench")
# The Python that every contestant runs sessions on: one with pandas, matplotlib and ipykernel.
PYTHON = os.environ.get("BENCH_PYTHON") or "/usr/bin/python3"
NODE = os.environ.get("BENCH_NODE") or shutil.which("node") or "node"
COMMANDER = os.path.join(BUILD, "peers/node_modules/@wonderwhy-er/desktop-commander/dist/index.js")


def has_language(language):
    return shutil.which({"python": PYTHON, "javascript": NODE, "bash": "bash", "r": "R"}[language]) is not None


@functools.cache
def has_module(python, module):
    return subprocess.run([python, "-c", "import " + module], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


class Contestant:
    images = True  # figures come back as image content
    interruptible = True
    speaks_mcp = True
    languages = ("python",)

    def __init__(self, name):
        self.name = name
        self.sessions = 0

    def new_session(self):
        self.sessions += 1
        return f"s{self.sessions}"

    def run(self, session, code, timeout=120):
        """What the cell printed, with its value, and the number of its images."""
        return self.wait(self.post(session, code), timeout)


class McpContestant(Contestant):
    """An MCP server over stdio with a tool exec_code whose sessions appear on first use."""

    def __init__(self, name, command, tool="exec_code", arguments=None, env=None, images=True,
                 interruptible=True, module=None):
        super().__init__(name)
        self.module = module  # of PYTHON, that it cannot do without
        self.command = shlex.split(command) if isinstance(command, str) else list(command)
        self.tool, self.env = tool, env or {}
        self.arguments = arguments or {"session_id": "$SID", "language": "python", "code": "$CODE"}
        self.images, self.interruptible = images, interruptible
        self.mcp = None
        self.kept = tempfile.TemporaryDirectory(prefix="bench-kept-")  # not in the home of who measures

    def missing(self):
        files = self.command[:1] + [word for word in self.command[1:] if word.startswith("/")]
        absent = [file for file in files if not shutil.which(file) and not os.path.exists(file)]
        if absent:
            return f"{absent[0]} not found"
        return f"{PYTHON} has no {self.module}" if self.module and not has_module(PYTHON, self.module) else None

    def start(self):
        self.mcp = Mcp(self.command, {"PYTHONDONTWRITEBYTECODE": "1", "PTYCELL_PYTHON": PYTHON,
                                      "PTYCELL_NODE": NODE, "PTYCELL_KEEP": self.kept.name, **self.env})
        return self.mcp.initialize()

    def speak(self, language):
        """Before the start: what sessions run from now on."""
        if language != "python":
            self.arguments = {**self.arguments, "language": language}

    def share(self, folder):
        """Before the start: what confined sessions may read of the host."""
        self.env = {**self.env, "PTYCELL_SHARE": folder}

    def post(self, session, code):
        values = {"$SID": session, "$CODE": code}
        arguments = {key: values.get(value, value) for key, value in self.arguments.items()}
        return self.mcp.post_tool(self.tool, arguments)

    def wait(self, request_id, timeout=120):
        result = self.mcp.wait(request_id, timeout)
        return text_of(result), len(images_of(result))

    def cancel(self, session, request_id):
        self.mcp.notify("notifications/cancelled", {"requestId": request_id, "reason": "bench"})

    def bytes_in(self):
        return self.mcp.bytes_in

    def server_pids(self):
        return [self.mcp.pid]

    def session_pids(self):
        return proc.descendants(self.mcp.pid)

    def close(self):
        if self.mcp:
            self.mcp.close()
        self.kept.cleanup()


class Floor(McpContestant):
    """A server runs one language."""

    languages = ("python", "javascript")

    def __init__(self, name):
        super().__init__(name, [os.path.join(BUILD, "floor")])
        self.speak("python")

    def speak(self, language):
        interpreter = {"python": [PYTHON, "-I", os.path.join(BUILD, "driver.pyc")],
                       "javascript": [NODE, os.path.join(HERE, "floor/driver.js")]}
        self.command = self.command[:1] + interpreter[language]


class DesktopCommander(McpContestant):
    """start_process `python3 -i`, then interact_with_process; no images, no cancel."""

    def __init__(self, name):
        super().__init__(name, [NODE, COMMANDER, "--no-onboarding"], images=False, interruptible=False)
        self.processes = {}
        self.home = tempfile.TemporaryDirectory(prefix="bench-commander-")

    def start(self):
        folder = os.path.join(self.home.name, ".claude-server-commander")
        os.mkdir(folder)
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
            json.dump({"telemetryEnabled": False, "defaultShell": "/bin/sh", "blockedCommands": [],
                       "allowedDirectories": [], "fileReadLineLimit": 1000, "fileWriteLineLimit": 50,
                       "welcomeOnboardingEligible": False, "pendingWelcomeOnboarding": False}, f)
        self.env = {"HOME": self.home.name}
        return super().start()

    def open(self, session):
        answer = text_of(self.mcp.call("tools/call", {"name": "start_process", "arguments": {
            "command": f"{PYTHON} -i", "timeout_ms": 30000}}))
        pid = re.search(r"PID (\d+)", answer)
        if not pid:
            raise McpError(answer[:300])
        self.processes[session] = int(pid[1])

    def post(self, session, code):
        if session not in self.processes:
            self.open(session)
        if "\n" in code or code.startswith(("for ", "while ", "with ", "def ")):
            code = f"exec({code!r})"
        return self.mcp.post_tool("interact_with_process", {
            "pid": self.processes[session], "input": code, "timeout_ms": 120000})

    def close(self):
        super().close()
        self.home.cleanup()


class Jupyter(Contestant):
    """jupyter_client from this very process: a kernel a session, no MCP in between."""

    speaks_mcp = False

    def __init__(self, name):
        super().__init__(name)
        self.kernels = {}
        self.received = 0

    def missing(self):
        found = importlib.util.find_spec("jupyter_client")
        return None if found else "jupyter_client is not there for the Python that runs this"

    def start(self):
        """There is no server: the time of a first kernel, which the first session gets."""
        started = time.perf_counter()
        self.open("s1")
        return time.perf_counter() - started

    def open(self, session):
        from jupyter_client.kernelspec import KernelSpec
        from jupyter_client.manager import KernelManager
        manager = KernelManager(kernel_name="python3")
        manager._kernel_spec = KernelSpec(
            argv=[PYTHON, "-m", "ipykernel_launcher", "-f", "{connection_file}"], display_name="Python 3",
            language="python")
        manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client = manager.blocking_client()
        client.start_channels()
        client.wait_for_ready(timeout=120)
        self.kernels[session] = manager, client

    def post(self, session, code):
        if session not in self.kernels:
            self.open(session)
        return session, self.kernels[session][1].execute(code)

    def wait(self, token, timeout=120):
        session, message_id = token
        client = self.kernels[session][1]
        text, images = [], 0
        while True:
            message = client.get_iopub_msg(timeout=timeout)
            kind, content = message["msg_type"], message["content"]
            if message["parent_header"].get("msg_id") != message_id:
                continue
            if kind == "stream":
                text.append(content["text"])
            elif kind in ("execute_result", "display_data") and "image/png" in content["data"]:
                images += 1
            elif kind in ("execute_result", "display_data"):
                text.append(content["data"].get("text/plain", ""))
            elif kind == "error":
                text.append("\n".join(content["traceback"]))
            elif kind == "status" and content["execution_state"] == "idle":
                break
        while client.get_shell_msg(timeout=timeout)["parent_header"].get("msg_id") != message_id:
            pass
        self.received += sum(map(len, text))
        return "".join(text), images

    def cancel(self, session, token):
        self.kernels[session][0].interrupt_kernel()
        self.wait(token, 10)

    def bytes_in(self):
        return self.received

    def server_pids(self):
        return []

    def session_pids(self):
        pids = [manager.provisioner.pid for manager, _ in self.kernels.values()]
        return pids + [child for pid in pids for child in proc.descendants(pid)]

    def close(self):
        for manager, client in self.kernels.values():
            client.stop_channels()
            manager.shutdown_kernel(now=True)
        self.kernels = {}


PEERS = {
    "floor": Floor,
    "jupyter-mcp": lambda name: McpContestant(name, [PYTHON, os.path.join(HERE, "peers/jupyter_mcp.py")],
                                               module="ipykernel, jupyter_client"),
    "jupyter": Jupyter,
    "desktop-commander": DesktopCommander,
}


def make(name, added):
    """A fresh contestant; `added` holds the constructor arguments of those from the command line."""
    if name in added:
        contestant = McpContestant(name, **added[name])
        if "language" in contestant.arguments:
            contestant.languages = ("python", "javascript", "bash", "r")
        return contestant
    if name not in PEERS:
        raise SystemExit(f"no contestant '{name}' (there are: {', '.join([*added, *PEERS])})")
    return PEERS[name](name)
