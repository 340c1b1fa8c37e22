# SPDX-License-Identifier: MIT
"""What scripts/pack-driver makes of a package, and what it refuses."""
import marshal
import os
import subprocess
import sys

import pytest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
LICENCE = "# SPDX-License-Identifier: MIT\n"
GOOD = {
    "main": "import sys\n\nfrom .low import double\n\nprint(double(21), sys is not None)\n",
    "low": '"""Doubles."""\nimport sys\n\n\ndef double(x):\n    return 2 * x\n\n\ndef version():\n    return sys.version\n',
}


@pytest.fixture
def pack(tmp_path):
    """Packs modules, given as name and source; the finished process, the source and the code."""
    def run(modules):
        folder = tmp_path / "package"
        folder.mkdir()
        for name, source in modules.items():
            (folder / (name + ".py")).write_text(LICENCE + source)
        outs = [tmp_path / "out" / name for name in ("driver.py", "driver.marshal")]
        done = subprocess.run([sys.executable, os.path.join(ROOT, "scripts/pack-driver"), *outs, folder / "main.py"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return done, *(out.read_bytes() if out.exists() else b"" for out in outs)

    return run


def test_the_modules_of_a_package_run_as_one_program(pack, capsys):
    done, source, code = pack(GOOD)
    assert done.returncode == 0, done.stderr
    exec(compile(source, "packed", "exec"), {})
    exec(marshal.loads(code[12:]), {})
    assert capsys.readouterr().out == "42 True\n" * 2


def test_a_module_stands_behind_what_it_imports_and_an_import_stands_once(pack):
    source = pack(GOOD)[1].decode()
    assert source.index("def double") < source.index("print(double(21)")
    assert source.count("import sys") == 1
    assert source.count("SPDX") == 1 and "Doubles" not in source and "from ." not in source


@pytest.mark.parametrize("changed, complaint", [
    ({"low": "from .main import start\n\n\ndef double(x):\n    return start(x)\n"}, "a cycle: main -> low -> main"),
    ({"main": "from .low import double\nfrom .other import x\n", "other": "x = 1\n\n\ndef double():\n    return x\n"},
     "low and other both define double"),
    ({"main": "from .low import triple\n"}, "main imports triple, which low does not define"),
    ({"main": "from .none import x\n"}, "there is no module none"),
    ({"low": "def double(x):\n    return twice(x)\n"}, "low uses twice, which it neither defines nor imports"),
    ({"main": "from .low import double\n\nprint(version())\n"}, "main uses version, which it neither"),
    ({"main": "import double\n\nfrom .low import version\n\nprint(double, version)\n"},
     "main imports a module double, and low defines that name"),
    ({"main": "from .low import double as d\n\nd(1)\n"}, "main, line 2: imports from the package are whole names"),
    ({"main": "def late():\n    from .low import double\n    return double\n"}, "main, line 3: imports from"),
])
def test_a_package_that_would_not_be_the_same_as_one_program_is_refused(pack, changed, complaint):
    done, source, _ = pack({**GOOD, **changed})
    assert done.returncode == 1 and source == b""
    assert complaint in done.stderr and done.stderr.startswith("pack-driver: ") and done.stderr.count("\n") == 1
