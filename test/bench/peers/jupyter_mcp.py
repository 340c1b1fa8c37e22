# SPDX-License-Identifier: MIT
"""A plain MCP stdio server over jupyter_client: what a code interpreter on Jupyter costs.

exec_code {session_id, code}; an ipykernel a session; calls of one session queue. Needs Debian's
python3-ipykernel and python3-jupyter-client.
"""
import asyncio
import json
import os
import re
import subprocess
import sys

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
TOOL = {"name": "exec_code", "description": "run code", "inputSchema": {"type": "object", "properties": {
    "session_id": {"type": "string"}, "language": {"type": "string"}, "code": {"type": "string"}},
    "required": ["session_id", "code"]}}

sessions = {}
running = {}  # request id -> session


def write(message):
    data = (json.dumps(message) + "\n").encode()
    while data:
        data = data[os.write(sys.stdout.fileno(), data):]


class Session:
    def __init__(self):
        self.turn = asyncio.Lock()
        self.manager = self.client = None

    async def start(self):
        from jupyter_client import AsyncKernelManager  # costs nothing until there is a session
        self.manager = AsyncKernelManager(kernel_name="python3")
        await self.manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client = self.manager.client()
        client.start_channels()
        await client.wait_for_ready(timeout=120)
        self.client = client

    async def run(self, code):
        async with self.turn:
            if self.client is None:
                await self.start()
            return {"content": await self.collect(self.client.execute(code))}

    async def collect(self, message_id):
        text, images = [], []
        while True:
            message = await self.client.get_iopub_msg(timeout=None)
            kind, content = message["msg_type"], message["content"]
            if message["parent_header"].get("msg_id") != message_id:
                continue
            if kind == "stream":
                text.append(content["text"])
            elif kind in ("execute_result", "display_data"):
                png = content["data"].get("image/png")
                if png:
                    images.append({"type": "image", "mimeType": "image/png", "data": png})
                else:
                    text.append(content["data"].get("text/plain", ""))
            elif kind == "error":
                text.append(COLOURS.sub("", "\n".join(content["traceback"])))
            elif kind == "status" and content["execution_state"] == "idle":
                break
        while (await self.client.get_shell_msg(timeout=None))["parent_header"].get("msg_id") != message_id:
            pass
        return [{"type": "text", "text": "".join(text)}, *images]

    async def stop(self):
        if self.client:
            self.client.stop_channels()
            await self.manager.shutdown_kernel(now=True)


async def call_tool(request_id, arguments):
    session = running[request_id] = sessions.setdefault(arguments["session_id"], Session())
    try:
        reply = {"result": await session.run(arguments["code"])}
    except Exception as error:
        reply = {"error": {"code": -32603, "message": repr(error)}}
    del running[request_id]
    write({"jsonrpc": "2.0", "id": request_id, **reply})


async def cancel(request_id):
    session = running.get(request_id)
    if session and session.client:
        await session.manager.interrupt_kernel()


async def handle(message, calls):
    method, request_id, params = message.get("method"), message.get("id"), message.get("params", {})
    if method == "notifications/cancelled":
        await cancel(params["requestId"])
    if request_id is None:
        return
    if method == "tools/call":
        calls.add(asyncio.ensure_future(call_tool(request_id, params["arguments"])))
        return
    result = {}
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "jupyter-mcp", "version": "0"}}
    elif method == "tools/list":
        result = {"tools": [TOOL]}
    write({"jsonrpc": "2.0", "id": request_id, "result": result})


async def main():
    lines = asyncio.StreamReader(limit=1 << 28)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    calls = set()
    while line := await lines.readline():
        await handle(json.loads(line), calls)
        calls = {call for call in calls if not call.done()} if len(calls) > 64 else calls
    for session in sessions.values():
        await session.stop()


asyncio.run(main())
