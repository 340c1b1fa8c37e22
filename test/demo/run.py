#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py PTYCELL [SVG]: plays a chat host for one conversation and shows what the model sends and gets.

The job: 44 years of carbon dioxide at Mauna Loa (test/data/co2.csv), in one session, by Python and
bash. Then code tries to break out. The whole is left as an HTML page beside the results. SVG is a file
for a part of it: test/demo/transcript.svg is the picture of README.md.
"""
import base64
import json
import os
import re
import shlex
import struct
import subprocess
import sys
import textwrap

from transcript import Transcript

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data", "co2.csv")
# The Python that scripts/install-deps gave pandas and matplotlib; PATH may begin with another.
PYTHON = os.environ.get("PTYCELL_PYTHON", "/usr/bin/python3")
SESSION = "co2-demo"
PROTOCOL = "2025-11-25"
ANSWER_LINES = 24
QUESTION = "Here is the carbon dioxide at Mauna Loa since 1958. How fast does it rise? Is there a season?"
FIT, DRAW = "It fixes the typo and fits trend and season.", "And draws it."

CELLS = [
    ("The model looks at the file in bash: its own terminal, the same folder.", "bash", """
head -3 PATH
grep -c ^1974 PATH
"""),
    ("It reads it in Python.", "python", """
import pandas as pd

air = pd.read_csv(PATH, parse_dates=["date"], index_col="date")
print(len(air), "weeks,", int(air.co2.isna().sum()), "of them without a value")
air.co2.describe().round(1)
"""),
    ("The session keeps its state: `air` is still there.", "python", """
air["co2"] = air.co2.interpolate()
decades = air.groupby(air.index.year // 10 * 10).co2.agg(["mean", "min", "max"]).round(1)
decades.index.name = "decade"
decades
"""),
    ("A cell that raises: the model sees the traceback, and nothing is lost.", "python", """
air["co2"].groupby(air.index.yaer).mean()
"""),
    (FIT, "python", """
import numpy as np

years = air.index.year + air.index.dayofyear / 365.25
trend = np.polynomial.Polynomial.fit(years, air.co2, 2)
season = (air.co2 - trend(years)).groupby(air.index.month).mean()
for year in (1960, 1980, 2000):
    print(f"in {year} it rose by {trend.deriv()(year):.2f} ppm a year")
print(f"highest in month {season.idxmax()}, lowest in month {season.idxmin()},",
      f"{season.max() - season.min():.1f} ppm apart")
"""),
    (DRAW, "python", """
import matplotlib.pyplot as plt

fig, (top, low) = plt.subplots(2, figsize=(9, 7), gridspec_kw={"height_ratios": [2, 1]})
top.plot(air.index, air.co2, lw=0.7, label="weekly mean")
top.plot(air.index, trend(years), lw=2, label="trend")
top.set(title="Carbon dioxide at Mauna Loa", ylabel="ppm")
top.legend()
low.bar(season.index, season, color=["C3" if v > 0 else "C0" for v in season])
low.set(xlabel="month", ylabel="ppm above the trend")
fig.tight_layout()
fig.savefig("output/co2.png", dpi=110)
plt.show()
"""),
]

# Code might try to read a file of the user's, and to reach the network.
BREAK_OUT = """
head -c 40 THEIRS
(: <>/dev/tcp/192.0.2.1/443) && echo connected
"""


class Host:
    """The smallest MCP client: one request at a time over the server's pipes."""

    def __init__(self, program):
        command = [program, "--python", PYTHON, "--resume", "off"]
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.last_id = 0
        self.request("initialize", protocolVersion=PROTOCOL, capabilities={},
                     clientInfo={"name": "ptycell-demo", "version": "1"})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.server.stdin.write(json.dumps(message) + "\n")
        self.server.stdin.flush()

    def request(self, method, **params):
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        for line in self.server.stdout:
            message = json.loads(line)
            if message.get("id") != self.last_id:
                continue
            if "error" in message:
                sys.exit(f"demo: {method}: {message['error']['message']}")
            return message["result"]
        sys.exit(f"demo: the server ended with status {self.server.wait()}")

    def call(self, tool, **arguments):
        return self.request("tools/call", name=tool, arguments=arguments)

    def close(self):
        self.server.stdin.close()
        if self.server.wait() != 0:
            sys.exit(f"demo: the server ended with status {self.server.returncode}")


def bold(text):
    return f"\033[1m{text}\033[0m" if sys.stdout.isatty() else text


def show(text, gutter):
    lines = text.rstrip("\n").split("\n")
    if len(lines) > ANSWER_LINES:
        half = ANSWER_LINES // 2
        lines = lines[:half] + [f"... {len(lines) - 2 * half} more lines ..."] + lines[-half:]
    print(textwrap.indent("\n".join(lines), gutter, lambda line: True))


def describe(block):
    """One block of an answer as text."""
    if block["type"] == "text":
        return block["text"]
    if block["type"] == "image":
        data = base64.b64decode(block["data"])
        size = ""
        if data.startswith(b"\x89PNG"):
            size = " of {} x {} pixels".format(*struct.unpack(">II", data[16:24]))
        return f"(a picture{size}, {len(data) // 1000} KB, which the host shows in the chat)"
    return f"(a link to {block.get('name') or block.get('uri')})"


def run_cell(host, transcript, title, language, code):
    expect_error = "raises" in title
    print("\n" + bold(title))
    show(code.strip("\n"), "  > ")
    transcript.add("note", title)
    transcript.add("code", code.strip("\n"))
    result = host.call("exec_code", session_id=SESSION, language=language, code=code.strip("\n"))
    for block in result["content"]:
        show(describe(block), "  | ")
        if block["type"] == "image":
            transcript.add("picture", block["data"])
        elif block["type"] == "text":
            transcript.add("text", block["text"])
    if bool(result.get("isError")) != expect_error:
        sys.exit("demo: this cell should have " + ("raised" if expect_error else "run") + "; something is wrong")
    return result["content"]


def try_to_break_out(host, transcript):
    """In a cell, as code that a model wrote might; and what the server says of it."""
    theirs = os.path.abspath(__file__)
    content = run_cell(host, transcript, "Code that looks for the user's files and the network finds neither.", "bash",
                       BREAK_OUT.replace("THEIRS", shlex.quote(theirs)))
    if "#!/usr" in content[0]["text"] or "connected" in content[0]["text"]:
        sys.exit("demo: this code was not confined; something is wrong")
    confinement = host.call("session_info", session_id=SESSION)["structuredContent"]["confinement"]
    print(bold(f"\nConfined by {confinement['tier']}: ") + confinement["explanation"])
    print(f"Self-test at the start: {confinement['verified']}.")


def find_saved(content):
    """The folder that the status line names after "saved"."""
    found = re.search(r"\| saved ([^|\]]+)", content[-1].get("text", ""))
    return os.path.expanduser(found[1].strip()) if found else None


def print_next_steps(program):
    config = ["config", "claude-desktop", "--python", PYTHON]
    print(bold("\nTo install it and have this in Claude Desktop:\n"))
    print(f"    cmake --install {shlex.quote(os.path.relpath(os.path.dirname(program)))} --prefix ~/.local")
    print("    ~/.local/bin/ptycell doctor")
    print(f"    ~/.local/bin/ptycell {shlex.join([*config, '--write'])}")
    print(bold("\nThe configuration that this demo ran:\n"), flush=True)
    return subprocess.run([program, *config], stderr=subprocess.DEVNULL).returncode


def main():
    program = os.path.abspath(sys.argv[1])
    host = Host(program)
    transcript = Transcript()
    tools = [tool["name"] for tool in host.request("tools/list")["tools"]]
    print(bold("The host started ptycell, which offers: ") + ", ".join(tools))
    with open(DATA, encoding="utf-8") as f:
        uploaded = host.call("upload_file", session_id=SESSION, filename="co2.csv", content=f.read())
    if uploaded.get("isError"):
        sys.exit("demo: " + describe(uploaded["content"][0]))
    path = uploaded["structuredContent"]["saved_path"]
    print(bold("\nThe user's file is in the session: ") + path)
    print(bold("\nThe user asks: ") + QUESTION)
    transcript.add("user", QUESTION)

    content = []
    for title, language, code in CELLS:
        quoted = shlex.quote(path) if language == "bash" else repr(path)
        content = run_cell(host, transcript, title, language, code.replace("PATH", quoted))
    saved = find_saved(content)
    try_to_break_out(host, transcript)
    host.close()
    picture = os.path.join(saved, "co2.png") if saved else ""
    if not os.path.isfile(picture):
        sys.exit(f"demo: the picture is not where the status line says: {saved}")
    print(bold("\nThe session is gone, the picture stays: ") + picture)
    page = os.path.join(saved, "transcript.html")
    with open(page, "w", encoding="utf-8") as f:
        f.write(transcript.html())
    print(bold("This conversation as a page: ") + page)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as f:
            f.write(transcript.svg({FIT, DRAW}))
    return print_next_steps(program)


if __name__ == "__main__":
    sys.exit(main())
