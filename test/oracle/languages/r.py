# SPDX-License-Identifier: MIT
"""R: one that reads each cell line by line from its terminal, and stops at the first error as a script does."""
import os
import pathlib
import re

from languages.language import Interpreter, Language, Rule, Terminal

PROMPT = r"\x1e([>+])"
ERROR = re.compile(r"^Error(?: in .*)?:", re.MULTILINE)
# Pages are counted, not drawn: pictures are compared by other tests.
SETUP = """\
options(prompt = "\\x1e>", continue = "\\x1e+", width = 120, menu.graphics = FALSE, device = function(...) pdf(NULL))
setHook("before.plot.new", function(...) if (par("page")) cat("x", file = ".pages", append = TRUE))
setHook("before.grid.newpage", function(...) cat("x", file = ".pages", append = TRUE))
"""


class Bare(Interpreter):
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.begin()

    def begin(self):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        self.terminal = Terminal(["R", "--no-save", "--no-restore", "--no-readline", "--quiet", "--interactive"],
                                 self.folder, environment)
        self.terminal.wait_for("> $", 0)
        for line in SETUP.splitlines():
            start = len(self.terminal.text)
            self.terminal.send(line + "\n")
            self.terminal.wait_for(PROMPT, start)

    def run(self, cell):
        pages = self.pages()
        lines = cell.code.split("\n")
        text = ""
        while lines and not ERROR.search(text):
            text += self.run_line(lines.pop(0), [] if lines else cell.events)
        figures = self.pages() - pages
        return text + (f"\n[figures {figures}]" if figures else "")

    def pages(self):
        file = self.folder / ".pages"
        return file.stat().st_size if file.exists() else 0

    def run_line(self, line, events):
        start = len(self.terminal.text)
        self.terminal.send(line + "\n")
        for kind, text in events:
            if kind == "interrupt":
                self.terminal.wait_for(text, start)
                self.terminal.interrupt()
            else:
                self.terminal.send(text + "\n")
        prompt = self.terminal.wait_for(PROMPT, start)
        text = self.terminal.text[start:prompt.start() if prompt else None]
        if not prompt:
            self.terminal.reaped()
            self.terminal.close()
            self.begin()
        return text

    def close(self):
        self.terminal.close()


class R(Language):
    name = "r"
    program = "R"
    rules = [
        Rule("a figure's place in the text", r"^\[figure[^\]]*\]\n"),
        Rule("R compiles a function when it comes to that", r"^<bytecode: 0x[0-9a-f]+>\n?", ""),
        Rule("an object lies anywhere", r"<environment: 0x[0-9a-f]+>", "<environment>"),
        Rule("ptycell adds the way to an error", r"^Calls: .*\n"),
        Rule("each kind of device has its name", r"^(pdf|bmp) ?$", "DEVICE"),
        Rule("a cell has a name in a traceback", r" at (<cell \d+>)?#\d+$"),
        Rule("cells are counted", r"<cell \d+>(?=[:#])", "<cell N>"),
    ]

    def start(self, folder):
        return Bare(folder)

    def text_of(self, result):
        shown = len(result.images)
        return result.text + (f"\n[figures {shown}]" if shown else "")
