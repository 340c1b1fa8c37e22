# SPDX-License-Identifier: MIT
"""test/data/rpc/CASE: in.jsonl is piped into ptycell, out.jsonl is what comes back.

In out.jsonl each line has sorted keys, and what differs from run to run is replaced: the version,
the folder of the run, seconds.
"""
import json
import os
import re
import subprocess

import pytest

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/rpc")
PTYCELL = os.path.abspath(os.path.join(os.environ["PTYCELL_BUILD"], "ptycell"))

pytestmark = pytest.mark.skipif(not os.path.exists(PTYCELL), reason="this build has no ptycell")


def answers(case, home):
    env = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8"}
    with open(os.path.join(CASES, case, "in.jsonl"), "rb") as requests:
        done = subprocess.run([PTYCELL], stdin=requests, stdout=subprocess.PIPE, check=True, env=env)
    return done.stdout.decode()


def normalised(text, home, version):
    lines = [json.dumps(json.loads(line), sort_keys=True, ensure_ascii=False) for line in text.splitlines()]
    text = "".join(line + "\n" for line in lines)
    text = text.replace(home, "$HOME").replace(f'"version": "{version}"', '"version": "$VERSION"')
    return re.sub(r"\b\d+\.\d+ s\b", "$SECONDS s", text)


@pytest.fixture(scope="module")
def version():
    done = subprocess.run([PTYCELL, "--version"], stdout=subprocess.PIPE, check=True, text=True)
    return done.stdout.split()[1]


@pytest.mark.parametrize("case", sorted(os.listdir(CASES)))
def test_the_answers_are_those_that_are_expected(case, tmp_path, version, request):
    text = normalised(answers(case, str(tmp_path)), str(tmp_path), version)
    path = os.path.join(CASES, case, "out.jsonl")
    if request.config.getoption("--update"):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    assert os.path.exists(path), f"no {path}: write it with --update, and read it"
    with open(path, encoding="utf-8") as f:
        assert text.splitlines() == f.read().splitlines()
