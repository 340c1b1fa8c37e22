# SPDX-License-Identifier: MIT
"""What scripts/pack-node-driver makes of ES modules, and what it refuses."""
import os
import subprocess
import sys

import pytest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
LICENCE = "// SPDX-License-Identifier: MIT\n"
GOOD = {
    "main": "import { double } from './low.mjs';\n\nexport const zero = 0;\ndouble(21);\n",
    "low": "import { zero } from './main.mjs';\n\nexport function double(x) {\n  return `${zero} double` + 2 * x;\n}\n"
           "\nexport let count = 0;\nfunction step(x = { double: /double/ }) {\n  count += x.double;\n}\n",
}


@pytest.fixture
def pack(tmp_path):
    """Packs modules, given as name and source; the finished process and the program."""
    def run(modules):
        for name, source in modules.items():
            (tmp_path / (name + ".mjs")).write_text(LICENCE + source)
        out = tmp_path / "out/driver.cjs"
        done = subprocess.run([sys.executable, os.path.join(ROOT, "scripts/pack-node-driver"), out, tmp_path / "main.mjs"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return done, out.read_text() if out.exists() else ""

    return run


def test_the_modules_become_one_program_in_the_order_of_evaluation(pack):
    done, program = pack(GOOD)
    assert done.returncode == 0, done.stderr
    assert program.startswith(LICENCE + "'use strict';\n") and program.count("SPDX") == 1
    assert "import" not in program and "export" not in program
    assert program.index("function double") < program.index("const zero") < program.index("double(21)")


@pytest.mark.parametrize("changed, complaint", [
    ({"low": "export const double = 1;\nconst zero = 1;\n"}, "low and main both define zero"),
    ({"low": "function double() {}\n"}, "main imports double, which low does not export"),
    ({"main": "import { double } from './none.mjs';\n"}, "there is no module none"),
    ({"low": "export const double = (zero) => zero;\n"}, "low uses or hides zero of main without importing it"),
    ({"low": "export const double = () => `a ${`b ${zero}`}`;\n"}, "low uses or hides zero"),
    ({"main": "import { count, double } from './low.mjs';\nexport let zero = double(count);\ncount = 1;\n"},
     "main assigns to count, which it imports"),
    ({"main": "import { count } from './low.mjs';\nexport let zero = 0;\ncount++;\n"}, "main assigns to count"),
    ({"main": "import { double } from './low.mjs';\nexport const zero = 0; // double\n"}, "main imports double and does not"),
    ({"main": "import * as low from './low.mjs';\nexport const zero = low;\n"}, "main: imports are `import {"),
])
def test_modules_that_would_not_be_the_same_as_one_program_are_refused(pack, changed, complaint):
    done, program = pack({**GOOD, **changed})
    assert done.returncode == 1 and program == ""
    assert complaint in done.stderr and done.stderr.startswith("pack-node-driver: ") and done.stderr.count("\n") == 1
