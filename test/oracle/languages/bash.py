# SPDX-License-Identifier: MIT
"""bash: an interactive one that sources each cell at its prompt."""
import os
import pathlib
import re

from languages.language import Interpreter, Language, Rule, Terminal

# The status, and the number of the command that comes next. A cell that leaves input behind, as an end of a line, makes
# bash come to another prompt, perhaps only while the next cell is waited for: such a one has the same number.
PROMPT = r"\x1e(\d+) (\d+)\x1f"


class Bare(Interpreter):
    def __init__(self, folder):
        self.folder, self.scripts, self.number = pathlib.Path(folder, "work"), pathlib.Path(folder), 0
        self.folder.mkdir()
        self.begin()

    def begin(self):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LC_ALL": "C.UTF-8", "TERM": "xterm-256color",
                       "PS1": "\x1e$? \\#\x1f", "PS2": "", "HISTFILE": ""}
        command = ["bash", "--norc", "--noprofile", "--noediting", "-i"]
        self.terminal = Terminal(command, self.folder, environment)
        self.command = self.terminal.wait_for(PROMPT, 0)[2]

    def run(self, cell):
        self.number += 1
        name = f"cell {self.number}"
        (self.scripts / name).write_text(cell.code, encoding="utf-8")
        start = len(self.terminal.text)
        self.terminal.send(f". '{self.scripts / name}'\n")
        for kind, text in cell.events:
            if kind == "interrupt":
                self.terminal.wait_for(text, start)
                self.terminal.interrupt()
            else:
                self.terminal.send(text + "\n")
        prompt = self.terminal.wait_for(rf"\x1e(\d+) (?!{self.command}\x1f)(\d+)\x1f", start)
        text = re.sub(PROMPT, "", self.terminal.text[start:prompt.start() if prompt else None])
        if prompt:
            self.command = prompt[2]
            return with_status(text, int(prompt[1]))
        status = self.terminal.reaped()
        self.terminal.close()
        self.begin()
        return with_status(text, status)

    def close(self):
        self.terminal.close()


def with_status(text, status):
    lines = text.rstrip("\r\n")
    return (lines + "\n" if lines else "") + (f"[exit {status}]" if status else "")


class Bash(Language):
    name = "bash"
    program = "bash"
    rules = [
        Rule("a cell has another name", r"^(bash: FOLDER/)?cell \d+(?=: line)", "CELL"),
        Rule("tracing counts the sources that a cell is in", r"^\+\+\+? (?!\.)", "+ "),
        Rule("the bare shell traces how it gets the cell", r"^\+ \. 'FOLDER/cell \d+'\n"),
        Rule("the status has a line of its own", r"\n+(?=\[exit \d+\]$)", "\n"),
        Rule("an interactive shell tells of jobs when it comes to a prompt", r"^\[\d+\][+-]? +(Done|Exit) .*\n"),
        Rule("an interactive shell says that it exits", r"^exit\n"),
    ]

    def start(self, folder):
        return Bare(folder)

    def text_of(self, result):
        status = 130 if result.state == "interrupted" else result.status.get("exit", 0)
        return with_status(result.text, status)
