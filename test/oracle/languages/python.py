# SPDX-License-Identifier: MIT
"""Python: IPython's shell, as in a notebook, with Python's own tracebacks."""
import os
import pathlib

from languages.language import Interpreter, Language, Rule, Terminal

END = "\x1e"
HELPER = str(pathlib.Path(__file__).resolve().parent.parent / "bare" / "ipython.py")


class Bare(Interpreter):
    """Runs the file .cell once for each line that it gets."""

    def __init__(self, folder):
        self.file = pathlib.Path(folder) / ".cell"
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8", "TERM": "dumb",
                       "IPYTHONDIR": folder + "/.ipython", "MPLBACKEND": "agg", "PYTHONDONTWRITEBYTECODE": "1"}
        self.terminal = Terminal(["/usr/bin/python3", HELPER], folder, environment)
        self.terminal.wait_for(END, 0)

    def run(self, cell):
        self.file.write_text(cell.code, encoding="utf-8")
        start = len(self.terminal.text)
        self.terminal.send("\n")
        for kind, text in cell.events:
            if kind == "interrupt":
                self.terminal.wait_for(text, start)
                self.terminal.interrupt()
            else:
                self.terminal.send(text + "\n")
        end = self.terminal.wait_for(END, start).start()
        return self.terminal.text[start:end]

    def close(self):
        self.terminal.close()


class Python(Language):
    name = "python"
    program = "ipython3"
    rules = [
        Rule("a figure's place in the text", r"^\[figure[^\]]*\]\n"),
        Rule("the file of a cell in a syntax error of IPython", r'^(  File )<(cell \d+)>:(\d+)$', r'\1"<\2>", line \3'),
        Rule("what to do about a missing module", r"^The module '.*' is not installed for this interpreter\..*\n?"),
        Rule("what Python's traceback module does not suggest before 3.12", r"\. Did you mean: '[^'\n]*'\?$"),
        Rule("addresses", r"0x[0-9a-f]{6,}", "0xADDRESS"),
        Rule("times", r"^CPU time.*\n|^CPU times.*\n|^Wall time.*\n"),
    ]

    def start(self, folder):
        return Bare(folder)

    def text_of(self, result):
        shown = len(result.images)
        return result.text + (f"\n[figures {shown}]" if shown else "")
