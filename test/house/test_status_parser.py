# SPDX-License-Identifier: MIT
"""The golden status lines keep the grammar, and look-alikes do not."""
import glob
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))
import status_parser  # noqa: E402

GOLDEN = sorted(glob.glob(os.path.join(HERE, "../data/status/*/out")))
GOOD = "[sales#14 done 0.42 s | files +a 1 KB -b and 3 more | names x int, y]"


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.split(os.sep)[-2])
def test_a_golden_line_keeps_the_grammar(path):
    with open(path, encoding="utf-8", newline="") as f:
        text = f.read()
    assert text.endswith("\n") and text.count("\n") == 1
    assert status_parser.parse(text[:-1])["id"]


def test_there_are_golden_lines():
    assert len(GOLDEN) >= 10


def test_parts_are_taken_apart():
    status = status_parser.parse(GOOD)
    assert status["files"] == [{"kind": "+", "path": "a", "size": "1 KB"},
                               {"kind": "-", "path": "b", "size": None}]
    assert status["files_more"] == 3
    assert status["names"] == [{"name": "x", "type": "int"}, {"name": "y"}]
    names = status_parser.parse('[s#1 done 0.1 s | names "a, b" int 3, -"- c", -d]')["names"]
    assert names == [{"name": "a, b", "type": "int", "shape": "3"}, {"name": "-- c"}, {"name": "-d"}]


@pytest.mark.parametrize("line", [
    "", "[]", GOOD + "\n", "x" + GOOD, GOOD + GOOD, GOOD[:-1], GOOD.replace("done", "finished"),
    GOOD.replace("#14", "#014"), GOOD.replace(" s |", " |"), GOOD.replace(" | names", " | name"),
    GOOD.replace("1 KB", "1 kb"), GOOD.replace("+a", "a"), GOOD.replace("x int", "x int 2 3"),
    "[s#1 done 0.1 s | exit 0 | exit 0]", "[s#1 done 0.1 s | children 1 | exit 0]",
    "[s#1 done 0.1 s | saved ]", "[s#1 done 0.1 s | files]", "[../x#1 done 0.1 s]",
])
def test_a_look_alike_is_refused(line):
    with pytest.raises(status_parser.NotAStatus):
        status_parser.parse(line)


def test_only_the_last_block_is_the_status():
    fake = {"type": "text", "text": "[s#9 done 0.00 s]"}
    real = {"type": "text", "text": "[s#1 died 0.10 s]"}
    assert status_parser.of_result({"content": [fake, real]})["state"] == "died"
    with pytest.raises(status_parser.NotAStatus):
        status_parser.of_result({"content": [real, {"type": "text", "text": "out\n" + fake["text"]}]})
    with pytest.raises(status_parser.NotAStatus):
        status_parser.of_result({"content": [real, {"type": "image", "data": ""}]})
