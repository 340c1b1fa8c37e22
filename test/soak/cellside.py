# SPDX-License-Identifier: MIT
"""What the soak's cells call. soak.py sends this text as the first cell of each session, and
imports it too: both sides make the same output from a cell's number and size."""
import os
import subprocess
import sys
import threading
import time

FILLS = ("abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNO", "aäö→€xyz" * 6, "." * 4000)


def pattern(cell, size):
    """`size` characters that name the cell and their place; some cells have few or no newlines."""
    fill = FILLS[(cell >> 3) % 16 % 3] if cell % 16 else "-" * 9
    lines = []
    have = 0
    while have < size:
        line = f"{cell}:{len(lines)}:{fill}\n"
        lines.append(line)
        have += len(line)
    text = "".join(lines)[:size]
    return text.replace("\n", "/") if cell % 16 == 0 else text


class Mark:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"<mark {self.name}>"


def write_whole(text):
    data = text.encode()
    while data:
        data = data[os.write(1, data):]


def write_pieces(text):
    data = text.encode()
    for at in range(0, len(data), 977):
        piece = data[at:at + 977]
        while piece:
            piece = piece[os.write(1, piece):]


def print_lines(text):
    for line in text.splitlines(True):
        print(line, end="")


def both_streams(text):
    for i, line in enumerate(text.splitlines(True)):
        (sys.stdout, sys.stderr)[i % 2].write(line)
        (sys.stdout, sys.stderr)[i % 2].flush()


def child(text):
    subprocess.run(["/bin/cat"], input=text.encode(), check=True)


def thread(text):
    writer = threading.Thread(target=sys.stdout.write, args=(text,))
    writer.start()
    writer.join()


WAYS = {"one": lambda text: sys.stdout.write(text), "lines": print_lines, "os": write_whole,
        "pieces": write_pieces, "both": both_streams, "child": child, "thread": thread}


class Count:
    cells = 0
    last = -1


def begin(cell):
    if cell <= Count.last:
        print(f"cell {cell} runs after cell {Count.last}")
    Count.last = cell
    Count.cells += 1


def soak(cell, size, way):
    begin(cell)
    WAYS[way](pattern(cell, size))
    sys.stdout.flush()


def soak_display(cell, size, pieces):
    """Output and display() in turns."""
    begin(cell)
    text = pattern(cell, size)
    step = size // pieces + 1
    for i in range(pieces):
        sys.stdout.write(text[i * step:(i + 1) * step])
        display(Mark(f"{cell}.{i}"))  # noqa: F821  # pylint: disable=undefined-variable


def spin(seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
