# SPDX-License-Identifier: MIT
"""JavaScript: the repl module of Node, which evaluates each cell as its prompt would."""
import os
import pathlib
import subprocess

from languages.language import Interpreter, Language, Rule, Terminal

END = "\x1e"
EXIT = "process.exit("  # in a cell that is a whole script: the bare interpreter goes with it
HELPER = str(pathlib.Path(__file__).resolve().parent.parent / "bare" / "repl.cjs")


class Bare(Interpreter):
    """Runs the file .cell once for each line in the pipe .commands."""

    def __init__(self, folder):
        self.file = pathlib.Path(folder) / ".cell"
        os.mkfifo(folder + "/.commands")
        self.environment = environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1"}
        self.terminal = Terminal(["node", "--no-warnings", HELPER], folder, environment)
        self.terminal.wait_for(END, 0)
        self.commands = os.open(folder + "/.commands", os.O_WRONLY)

    def run(self, cell):
        if EXIT in cell.code:
            self.run(type(cell)())  # of the same number
            return self.run_script(cell.code)
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

    def run_script(self, code):
        done = subprocess.run(["node", "-e", code], cwd=self.file.parent, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return with_status(done.stdout, done.returncode)

    def close(self):
        os.close(self.commands)
        self.terminal.close()


def with_status(text, status):
    return f"{text}[exit {status}]\n"


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

    def text_of(self, result):
        status = result.status.get("exit") if result.status else None
        return result.text if status is None else with_status(result.text, status)
