# SPDX-License-Identifier: MIT
"""The tools that the tests stand on."""
import os
import re
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "../.."))
SUPPORT = os.path.join(HERE, "../support")
BUILD = os.environ["PTYCELL_BUILD"]
sys.path.insert(0, SUPPORT)
import skips  # noqa: E402

CALL = "import ctypes, sys; l = ctypes.CDLL(None, use_errno=True); " \
       "r = l.syscall({nr}, 1000, 1001, 0); print(r, ctypes.get_errno())"
CLOSE_RANGE = 436


def deny(denied, *command):
    return subprocess.run([os.path.join(BUILD, "test/deny_syscalls"), denied, "--", *command],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("denied, answer", [
    ("openat2", "0 0"), ("close_range", "-1 38"), ("openat2,close_range=1", "-1 1"),
])
def test_a_denied_call_fails_and_others_do_not(denied, answer):
    done = deny(denied, "/usr/bin/python3", "-c", CALL.format(nr=CLOSE_RANGE))
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.stdout.strip() == answer


def test_a_call_that_the_table_does_not_know_is_refused():
    done = deny("open_everything", "true")
    assert done.returncode == 2 and "open_everything" in done.stderr


SKIPPING = "import pytest\ndef test_skips():\n    pytest.skip('no moon')\n"
PASSING = "def test_passes():\n    pass\n"


def run_pytest(tmp_path, text, must_run):
    path = tmp_path / "test_sample.py"
    path.write_text(text)
    (tmp_path / "tmp").mkdir()
    env = dict(os.environ, MUST_RUN=must_run, TMPDIR=str(tmp_path / "tmp"))
    done = subprocess.run([os.path.join(SUPPORT, "pytest"), str(path)], stdout=subprocess.PIPE, text=True, env=env)
    return done.returncode, done.stdout


@pytest.mark.parametrize("text, must_run, status", [
    (SKIPPING, "0", 77), (SKIPPING + PASSING, "0", 0), (SKIPPING + PASSING, "1", 1), (PASSING, "1", 0),
    ("import pytest\npytest.skip('no sun', allow_module_level=True)\n", "1", 2),
])
def test_a_skip_is_a_failure_when_it_must_run(tmp_path, text, must_run, status):
    returned, out = run_pytest(tmp_path, text, must_run)
    assert returned == status, out
    assert text == PASSING or "no moon" in out or "no sun" in out


def test_a_test_ends_at_its_limit(tmp_path):
    status, out = run_pytest(tmp_path, "import pytest, select\n@pytest.mark.limit(2)\n"
                             "def test_hangs():\n    select.select([], [], [], 1000)\n", "0")
    assert status == 1 and "took longer than" in out


@pytest.mark.parametrize("fails", [True, False])
def test_a_failed_test_leaves_its_folder_and_tells_how_to_repeat_it(tmp_path, fails):
    text = f"def test_writes(tmp_path):\n    (tmp_path / 'f').write_text('x')\n    assert {not fails}\n"
    _, out = run_pytest(tmp_path, text, "0")
    left = list((tmp_path / "tmp").rglob("f"))
    assert len(left) == fails
    assert not fails or f"left:  {left[0].parent}\n" in out
    if fails:
        (command,) = re.findall("^again: (.*)$", out, re.M)
        again = subprocess.run(["sh", "-c", command], cwd=os.path.join(HERE, "../.."), stdout=subprocess.PIPE, text=True)
        assert again.returncode == 1 and "1 failed" in again.stdout


def test_a_failed_run_tells_how_to_repeat_each_test(tmp_path):
    (tmp_path / "CTestTestfile.cmake").write_text("add_test(unit.bad false)\nadd_test(unit.good true)\n")
    name = os.path.relpath(tmp_path, os.path.join(ROOT, "build"))
    done = subprocess.run([os.path.join(ROOT, "scripts/run-tests"), name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "MUST_RUN": "0", "UNSTEADY_MAX": "0"})
    assert done.returncode != 0
    assert re.findall("^again: (.*)$", done.stdout, re.M) == [f"scripts/run-tests {name} -R '^unit.bad$'"]


@pytest.mark.parametrize("bad, unsteady_max, succeeds", [("", 1, True), ("", 0, False), ("add_test(unit.bad false)", 2, False),
                                                          ("add_test(unit.bad false)", 1, False)])
def test_a_test_that_passes_when_it_runs_again_is_called_unsteady(tmp_path, bad, unsteady_max, succeeds):
    (tmp_path / "once").write_text(f"#!/bin/sh\ntest -e '{tmp_path}/ran' || {{ touch '{tmp_path}/ran'; false; }}\n")
    (tmp_path / "once").chmod(0o755)
    (tmp_path / "CTestTestfile.cmake").write_text(f"add_test(unit.once {tmp_path}/once)\n{bad}\n")
    name = os.path.relpath(tmp_path, os.path.join(ROOT, "build"))
    done = subprocess.run([os.path.join(ROOT, "scripts/run-tests"), name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "MUST_RUN": "0", "UNSTEADY_MAX": str(unsteady_max)})
    assert (done.returncode == 0) == succeeds, done.stdout
    assert re.findall("^unsteady: (\\S+)", done.stdout, re.M) == (["unit.once"] if succeeds else [])


def test_the_readme_excuses_by_pattern(tmp_path, monkeypatch):
    readme = tmp_path / "README.md"
    readme.write_text(f"{skips.HEADING}\n\n- `e2e.test_ssh*`: no server here\n- `bare`\n\n## Next\n\n- `late`: no\n")
    monkeypatch.setattr(skips, "README", str(readme))
    assert skips.excused() == ["e2e.test_ssh*"]
    assert skips.is_excused("e2e.test_ssh_localhost") and not skips.is_excused("late")


def test_the_readme_still_has_the_list():
    with open(skips.README, encoding="utf-8") as f:
        assert skips.HEADING + "\n" in f.read()


@pytest.mark.parametrize("inner, status", [("", 0), ("<skipped/>", 1), ("<failure/>", 0)])
def test_a_report_with_a_skipped_test_is_refused(tmp_path, inner, status):
    report = tmp_path / "tests.xml"
    report.write_text(f'<testsuite><testcase name="unit.x">{inner}</testcase></testsuite>')
    done = subprocess.run([os.path.join(SUPPORT, "skips.py"), str(report)], stdout=subprocess.PIPE, text=True)
    assert done.returncode == status and ("unit.x" in done.stdout) == bool(status)
