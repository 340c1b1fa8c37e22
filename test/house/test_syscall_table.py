# SPDX-License-Identifier: MIT
"""The numbers in lib/sandbox/restrict/seccomp_table.c are those of the kernel's headers."""
import os
import re
import subprocess

import pytest

TABLE = os.path.join(os.path.dirname(__file__), "../../lib/sandbox/restrict/seccomp_table.c")
# Of x86-64: nothing was there until 335 and 336 came in Linux 6.11 and 6.16.
GAP = range(335, 424)
# The generic table is aarch64's; its own header asks for these as well.
GENERIC = "#define __ARCH_WANT_RENAMEAT\n#define __ARCH_WANT_NEW_STAT\n#define __ARCH_WANT_SET_GET_RLIMIT\n" \
    "#define __ARCH_WANT_SYS_CLONE3\n#define __ARCH_WANT_MEMFD_SECRET\n#define __BITS_PER_LONG 64\n" \
    "#include <asm-generic/unistd.h>\n"


def numbers_of(source):
    """What a header defines, {name: number}; None when this machine has no such header."""
    done = subprocess.run(["cc", "-E", "-dM", "-"], input=source, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    if done.returncode != 0:
        return None
    macros = dict(re.findall(r"#define (__NR\w+) (\w+)$", done.stdout, re.MULTILINE))
    # One that has another form on machines of 32 bits is named by another macro: __NR3264_fcntl.
    numbers = {name: macros.get(value, value) for name, value in macros.items()}
    return {name.removeprefix("__NR_"): int(value) for name, value in numbers.items()
            if name.startswith("__NR_") and value.isdigit()}


def rules():
    with open(TABLE, encoding="utf-8") as f:
        found = re.findall(r'RULE\("(\w+)", (\w+), (\w+),', f.read())
    assert len(found) > 100
    return found


@pytest.mark.parametrize("column,source", [(1, "#include <asm/unistd_64.h>\n"), (2, GENERIC)],
                         ids=["x86_64", "aarch64"])
def test_numbers_are_the_headers(column, source):
    known = numbers_of(source)
    if known is None:
        pytest.skip("no header with this architecture's numbers")
    newest = max(known.values())
    for rule in rules():
        name, number = rule[0], rule[column]
        if name in known:
            assert number == str(known[name]), name
        else:
            # Absent, or newer than the header: those have one number everywhere, or one of x86-64's gap.
            newer = rule[1] == rule[2] and int(number) > newest if number != "NONE" else True
            assert newer or (column == 1 and rule[2] == "NONE" and int(number) in GAP), name


def test_each_call_stands_once():
    names = [rule[0] for rule in rules()]
    assert len(names) == len(set(names))
    for column in (1, 2):
        numbers = [rule[column] for rule in rules() if rule[column] != "NONE"]
        assert len(numbers) == len(set(numbers))
