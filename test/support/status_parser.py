# SPDX-License-Identifier: MIT
"""A strict parser of the status line (lib/text/status_line.h) for tests.

The status of a result is its last content block and nothing else: `of_result()` never looks at
the other blocks, so that a program which prints a status line gains nothing.
"""
import json
import re

STATES = ("done", "raised", "waiting_for_input", "running", "interrupted", "timed_out", "died",
          "not_started")
WORD = r"[^\s|\[\]#,]+"
PHRASE = r"[^|\n]+"
SIZE = r"(?:0|[1-9][0-9]*)(?:\.[0-9])? (?:B|KB|MB|GB|TB)"
COUNT = r"(?:0|[1-9][0-9]*)"
MORE = rf"(?: and (?P<more>{COUNT}) more)?"
FILE = rf'(?:"(?:[^"\\|\n]|\\.)*"(?:\.\.\.)?|{WORD})'
CHANGE = rf"\+{FILE} {SIZE}|[~-]{FILE}"
NAME = rf"-?{FILE}(?: {WORD}){{0,2}}"

HEAD = re.compile(rf"(?P<id>[A-Za-z0-9][A-Za-z0-9._-]{{0,63}})#(?P<cell>{COUNT}) "
                  rf"(?P<state>{'|'.join(STATES)}) (?P<seconds>[0-9]+(?:\.[0-9]{{1,2}})?) s")
PARTS = {
    "exit": re.compile(r"exit (?P<value>-?[0-9]+)"),
    "files": re.compile(rf"files(?P<value>(?: (?:{CHANGE})){{1,12}}?){MORE}"),
    "names": re.compile(rf"names (?P<value>{NAME}(?:, {NAME}){{0,11}}?){MORE}"),
    "cwd": re.compile(rf"cwd (?P<value>{PHRASE})"),
    "output": re.compile(rf"output (?P<shown>{COUNT}) of (?P<total>{COUNT}) chars"
                         rf"(?:, (?:all|start) in (?P<path>{PHRASE}))?"),
    "background": re.compile(rf"background (?P<value>{COUNT}) chars"),
    "children": re.compile(rf"children (?P<value>{COUNT})"),
    "unconfined": re.compile(r"(?P<value>unconfined)"),
    "saved": re.compile(rf"saved (?P<value>{PHRASE})"),
    "saving": re.compile(rf"saving (?P<value>{PHRASE})"),
    "try": re.compile(rf"try (?P<value>{PHRASE})"),
}
NUMBERS = ("exit", "background", "children")


class NotAStatus(ValueError):
    """The text breaks the grammar."""


def _change(text):
    kind, path, size = text[0], text[1:], None
    if kind == "+":
        path, size = re.fullmatch(rf"({FILE}) ({SIZE})", path).groups()
    if path.startswith('"') and path.endswith('"'):
        path = json.loads(path)
    return {"kind": kind, "path": path, "size": size}


def _name(text):
    """A name that is gone begins with "-"."""
    gone, name, rest = re.fullmatch(rf"(-?)({FILE})((?: {WORD}){{0,2}})", text).groups()
    if name.startswith('"') and name.endswith('"'):
        name = json.loads(name)
    return dict(zip(("name", "type", "shape"), [gone + name, *rest.split()]))


def _part(kind, match):
    if kind == "output":
        return {"shown": int(match["shown"]), "total": int(match["total"]), "path": match["path"]}
    if kind == "files":
        return [_change(m.group()) for m in re.finditer(CHANGE, match["value"])]
    if kind == "names":
        return [_name(m.group()) for m in re.finditer(NAME, match["value"])]
    return int(match["value"]) if kind in NUMBERS else match["value"]


def parse(line):
    """The parts of a status line as a dict; parts that are missing are not in it."""
    if not (line.startswith("[") and line.endswith("]")):
        raise NotAStatus(f"no brackets: {line!r}")
    head, *parts = line[1:-1].split(" | ")
    found = HEAD.fullmatch(head)
    if not found:
        raise NotAStatus(f"the head is {head!r}")
    status = {"id": found["id"], "cell": int(found["cell"]), "state": found["state"],
              "seconds": float(found["seconds"])}
    order = list(PARTS)
    for part in parts:
        kind = part.split(" ", 1)[0]
        if kind not in order:
            raise NotAStatus(f"{part!r} is unknown, repeated or in the wrong place")
        del order[:order.index(kind) + 1]
        found = PARTS[kind].fullmatch(part)
        if not found:
            raise NotAStatus(f"the part {part!r}")
        status[kind] = _part(kind, found)
        if found.groupdict().get("more"):
            status[kind + "_more"] = int(found["more"])
    return status


def of_result(result):
    """The status of a tools/call result: its last content block, one line of text."""
    content = result["content"]
    last = content[-1] if content else {}
    if last.get("type") != "text":
        raise NotAStatus(f"the last block is {last.get('type')!r}")
    return parse(last["text"])
