#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py [--fixed] [--show] [-k WORD] [LANGUAGE...]: runs the cases of cells/LANGUAGE in ptycell and in the bare
interpreter and compares what they say (README.md). Exits 0 when all agree, 1 when not, 77 when nothing could run."""
import argparse
import dataclasses
import difflib
import importlib
import os
import pathlib
import signal
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from client import Server  # noqa: E402
from languages.language import LIMIT_S, SENTENCES, Cell  # noqa: E402

LANGUAGES = {"bash": "Bash", "javascript": "JavaScript", "python": "Python", "r": "R"}  # the class in languages/NAME.py
SKIPPED_EXIT = 77
CALL_S = 45  # a call answers after this, and the cell goes on


@dataclasses.dataclass
class Case:
    name: str
    place: str
    cells: list = dataclasses.field(default_factory=lambda: [Cell()])
    whole: bool = False   # not in the fixed part
    fresh: bool = False   # in interpreters of its own
    differs: str = ""     # why, when that is wanted
    answer: str = ""      # ptycell's, then


def read_cases(path):
    """The cases of a file; ValueError when a line is not understood."""
    cases, lines = [], []

    def take_lines():
        text = "\n".join(lines)
        lines.clear()
        if cases and cases[-1].differs:
            cases[-1].answer = text + "\n"
        elif cases and text:
            cases[-1].cells[-1].code += text

    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("::: "):
            lines.append(line)
            continue
        take_lines()
        word, _, rest = line[4:].partition(" ")
        place = f"{path.parent.name}/{path.name}:{number}"
        if word == "case" and rest:
            cases.append(Case(rest, place))
        elif not cases:
            raise ValueError(f"{place}: a file begins with ::: case")
        elif word == "cell":
            cases[-1].cells.append(Cell())
        elif word in ("input", "interrupt"):
            cases[-1].cells[-1].events.append((word, rest))
        elif word in ("whole", "fresh"):
            setattr(cases[-1], word, True)
        elif word == "differs" and rest:
            cases[-1].differs = rest
        else:
            raise ValueError(f"{place}: not understood: {line}")
    take_lines()
    return cases


def all_cases(language):
    return [case for path in sorted((HERE / "cells" / language).glob("*.txt")) for case in read_cases(path)]


def joined(texts):
    parts = [texts[0]]
    for number, text in enumerate(texts[1:], 2):
        parts += [f"--- cell {number}\n", text]
    return "".join(part if part.endswith("\n") or not part else part + "\n" for part in parts)


class Ours:
    """A session of ptycell."""
    count = 0

    def __init__(self, server, language):
        Ours.count += 1
        self.server, self.language, self.name = server, language, f"oracle-{Ours.count}"
        end = time.monotonic() + 2 * LIMIT_S  # a busy machine may need more than one try
        while self.run(Cell()).startswith("The cell was not run") and time.monotonic() < end:
            pass

    def run(self, cell):
        """The text of a cell, with its events delivered."""
        # A cell that is interrupted is only started: its answer would come with its end.
        started = any(kind == "interrupt" for kind, _ in cell.events)
        result = self.server.cell(cell.code, self.name, language=self.language.name, wait=2 * LIMIT_S,
                                  budget=0 if started else CALL_S)
        texts = ["" if started else self.take(result)]
        for kind, word in cell.events:
            if kind == "input" and result.state != "waiting_for_input":
                return "".join(texts) + f"[{result.state}, and not waiting for input]\n"
            if kind == "input":
                texts[-1] = texts[-1].rstrip() + " "  # a prompt's blank may be cut off
                result = self.interact(input=word)
                texts.append(self.take(result).removeprefix(word + "\n"))  # ptycell shows what is typed
                continue
            if started:
                texts.append(self.take(self.interact(action="wait", until=word)))
                started = False
            result = self.interact(action="interrupt")
            texts.append(self.take(result))
        while result.state == "running":
            result = self.interact(action="wait")
            texts.append(self.take(result))
        return "".join(texts)

    def take(self, result):
        text = self.language.text_of(result)
        for sentence in SENTENCES:
            text = sentence.apply(text)
        return text

    def interact(self, **arguments):
        return self.server.interact(self.name, language=self.language.name, budget=CALL_S, **arguments)

    def folder(self):
        return self.server.call("session_info", session_id=self.name).object["workdir"]

    def close(self):
        self.server.call("destroy_session", session_id=self.name)


class Theirs:
    """The bare interpreter in a folder of its own."""

    def __init__(self, language):
        self.place = tempfile.TemporaryDirectory(prefix="oracle-")
        self.interpreter = language.start(self.place.name)
        self.run = self.interpreter.run
        self.run(Cell())  # as on our side: cells are counted

    def folder(self):
        return self.place.name

    def close(self):
        self.interpreter.close()
        self.place.cleanup()


def text_of(language, side, case):
    texts = [side.run(cell) for cell in case.cells]
    return joined([language.normalise(text, side.folder()) for text in texts])


# ---- comparing ----

def difference(bare, ours):
    return "".join(difflib.unified_diff(bare.splitlines(True), ours.splitlines(True), "the interpreter", "ptycell", n=9))


def judge(case, bare, ours):
    """What is wrong with the case, or an empty text."""
    if not case.differs:
        return difference(bare, ours) if bare != ours else ""
    if bare == ours:
        return "the texts are equal: the case needs no ::: differs any more\n" + ours
    if ours.strip() != case.answer.strip():
        return f"a wanted difference ({case.differs}), but ptycell answers something else:\n" + "".join(
            difflib.unified_diff(case.answer.splitlines(True), ours.splitlines(True), "written", "ptycell", n=9))
    return ""


def run_cases(server, language, cases, options):
    """The number of cells, and of cases that failed."""
    failed, cells, sides = 0, 0, []
    try:
        for case in cases:
            if case.fresh or not sides:
                close_all(sides)
                sides = [Theirs(language), Ours(server, language)]
            bare, ours = (text_of(language, side, case) for side in sides)
            wrong = judge(case, bare, ours)
            failed += bool(wrong)
            cells += len(case.cells)
            if wrong or options.show:
                print(f"\n==== {case.place}: {case.name}\n{wrong or ours}", end="", flush=True)
    finally:
        close_all(sides)
    return cells, failed


def close_all(sides):
    for side in sides:
        side.close()


def run_language(server, name, options):
    """The number of cells that ran, and of cases that failed."""
    language = getattr(importlib.import_module(f"languages.{name}"), LANGUAGES[name])()
    if not language.is_here():
        print(f"skipped: there is no {language.program} here")
        return 0, 0
    start = time.monotonic()
    cases = [case for case in all_cases(name) if options.k in case.name and not (options.fixed and case.whole)]
    cells, failed = run_cases(server, language, cases, options)
    print(f"{name}: {cells} cells, {failed} cases differ, {time.monotonic() - start:.0f} s")
    return cells, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixed", action="store_true", help="the part that is in the suite")
    parser.add_argument("--show", action="store_true", help="print every case")
    parser.add_argument("-k", default="", metavar="WORD", help="cases whose name holds it")
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help=" ".join(LANGUAGES))
    options = parser.parse_args()
    unknown = [name for name in options.languages if name not in LANGUAGES]
    if unknown:
        parser.error(f"no cases for {unknown[0]}; there are {' '.join(LANGUAGES)}")
    os.environ.setdefault("PTYCELL_BUILD", "build/dev")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, the bare interpreters would ignore it, too
    with tempfile.TemporaryDirectory(prefix="oracle-home-") as home, Server(pathlib.Path(home)) as server:
        counts = [run_language(server, name, options) for name in options.languages or LANGUAGES]
    if not any(ran for ran, _ in counts):
        return SKIPPED_EXIT
    return 1 if any(failed for _, failed in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
