# SPDX-License-Identifier: MIT
"""JavaScript: the repl module of Node, which evaluates each cell as its prompt would."""
import os
import pathlib

from languages.language import Interpreter, Language, Rule, Terminal

END = "\x1e"
HELPER = str(pathlib.Path(__file__).resolve().parent.parent / "bare" / "repl.cjs")


class Bare(Interpreter):
    """Runs the file .cell once for each line in the pipe .commands."""

    def __init__(self, folder):
        self.file = pathlib.Path(folder) / ".cell"
        os.mkfifo(folder + "/.commands")
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1"}
        self.terminal = Terminal(["node", "--no-warnings", HELPER], folder, environment)
        self.terminal.wait_for(END, 0)
        self.commands = os.open(folder + "/.commands", os.O_WRONLY)

    def run(self, cell):
        self.file.write_text(cell.code, encoding="utf-8")
        start = len(self.terminal.text)
        os.write(self.commands, b"\n")
        for kind, text in cell.events:
            if kind == "interrupt":
                self.terminal.wait_for(text, start)
                self.terminal.interrupt()
            else:
                self.terminal.send(text + "\n")
        end = self.terminal.wait_for(END, start).start()
        return self.terminal.text[start:end]

    def close(self):
        os.close(self.commands)
        self.terminal.close()


class JavaScript(Language):
    name = "javascript"
    program = "node"
    rules = [
        Rule("the line above an error", r"^cell-\d+\.js:\d+\n.*\n(?: *\^+\n)?"),
        Rule("that nobody caught it", r"^Uncaught (?:\(in promise\) )?"),
        Rule("what runs a cell", r"\n +at (?:async )?(?:node:|.*\(node:).*(?=\n|$)"),
    ]

    def start(self, folder):
        return Bare(folder)
