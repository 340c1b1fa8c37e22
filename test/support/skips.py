#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""skips.py REPORT: fails when a CTest report holds a skipped test that test/README.md does not excuse."""
import fnmatch
import os
import re
import sys
import xml.etree.ElementTree

README = os.path.join(os.path.dirname(__file__), "..", "README.md")
HEADING = "## Skips that MUST_RUN accepts"


def excused():
    """The patterns of the README's list: lines "- `pattern`: why" below HEADING."""
    with open(README, encoding="utf-8") as f:
        section = f.read().partition(HEADING + "\n")[2].partition("\n## ")[0]
    return re.findall(r"^- `([^`]+)`: \S", section, re.MULTILINE)


def is_excused(name):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in excused())


def main():
    tests = xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase")
    skipped = [t.get("name") for t in tests if t.find("skipped") is not None]
    bad = [name for name in skipped if not is_excused(name)]
    for name in bad:
        print(f"MUST_RUN: {name} was skipped and test/README.md does not excuse it")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
