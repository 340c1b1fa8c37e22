# SPDX-License-Identifier: MIT
"""The installers' own rules, without a server: requirements and policies as each ecosystem reads them."""
import base64
import importlib.util
import json
import marshal
import os
import pathlib
import shutil
import subprocess
import sys
import zlib

import pytest
from client import Server

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = [json.loads(line) for line in (ROOT / "test/data/packages/requirements.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def installer(tmp_path_factory):
    """All of its modules in one namespace, as in the binary."""
    packed = tmp_path_factory.mktemp("installer") / "installer.py"
    subprocess.run([ROOT / "scripts/pack-driver", packed, packed.with_suffix(".marshal"), ROOT / "lib/install/python/main.py"],
                   check=True)
    spec = importlib.util.spec_from_file_location("installer", packed)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        module.packaging()
    except module.Refusal as refusal:
        pytest.skip(str(refusal))
    return module


def test_the_table_is_as_long_as_it_should_be():
    assert len(GOLDEN) >= 150 and len({row[0] for row in GOLDEN}) == len(GOLDEN)


@pytest.mark.parametrize("magic, runs", [(importlib.util.MAGIC_NUMBER, "compiled"), (b"xxxx", "source"), (None, "source")])
def test_a_program_runs_from_its_source_where_its_compiled_form_is_for_another_python(magic, runs):
    compiled = (magic or b"") + bytes(8) + marshal.dumps(compile("import sys; print('compiled', *sys.argv)", "x", "exec"))
    packed = base64.b64encode(zlib.compress(compiled)).decode() if magic else "no base64"
    done = subprocess.run([sys.executable, "-I", "-c", (ROOT / "lib/install/stub.py").read_text(), "import sys; print('source', *sys.argv)", packed],
                          capture_output=True, text=True, check=True)
    assert done.stdout == f"{runs} -c\n"


@pytest.mark.parametrize("changed, line", [({}, None), ({"builds": True}, None), ({"folders": ["/wheels"]}, None), ({"policy": {"minimum_age": "7d"}}, None),
                                           ({}, "null")])
def test_a_result_of_pip_holds_only_where_the_pages_decide(installer, tmp_path, monkeypatch, changed, line):
    monkeypatch.chdir(tmp_path)
    installer.note(installer.PAGES, json.dumps(["http://localhost/simple/alpha/", "digest", ""]))
    if line:
        installer.note(installer.PAGES, line)
    seen = installer.seen({"builds": False, "folders": [], "policy": {}, **changed})
    assert bool(seen) == (not changed and not line)
    installer.note(installer.PROBLEMS, "The index localhost:80 answers 500.")
    assert not installer.seen({"builds": False, "folders": [], "policy": {}})


def test_a_result_of_pip_holds_no_longer_when_a_package_of_this_python_goes(installer, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    before = installer.python_now()
    assert installer.python_now() == before
    (tmp_path / "new.dist-info").mkdir()
    os.utime(tmp_path, (1, 1))  # whatever the clock of the disk is
    assert installer.python_now() != before


def test_modules_are_compiled_whatever_processes_there_may_be(installer, tmp_path, monkeypatch):
    """On a machine with many processors, and with a limit that lets no further process start."""
    forks, fork = [], os.fork

    def limited():
        forks.append(None)
        if len(forks) > most:
            raise BlockingIOError
        return fork()

    monkeypatch.setattr(os, "fork", limited)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64))
    for most in (100, 2, 0):
        forks.clear()
        folder = tmp_path / str(most)
        folder.mkdir()
        for n in range(20):
            (folder / f"m{n}.py").write_text(f"x = {n}")
        (folder / "old.py").write_text("print 'of another Python'")
        installer.compile_modules(folder)
        assert len(list(folder.glob("__pycache__/m*.pyc"))) == 20 and len(forks) == installer.COMPILERS_MAX


@pytest.mark.parametrize("text, kind, expected", GOLDEN, ids=[row[0] or "empty" for row in GOLDEN])
def test_a_requirement_means_what_python_s_packaging_says(installer, text, kind, expected):
    """CA-26, CA-28, CA-29: the table, and the library itself, which is not pip's own copy of it."""
    found, requirement, _ = installer.parse(text)
    assert found == kind
    library = pytest.importorskip("packaging.requirements")
    plain = (text.partition(" --hash=")[0] if kind == "requirement" else text).strip()
    if kind == "requirement":
        other = library.Requirement(plain)
        told = library.Requirement(expected)
        for one in (other, told):
            assert (requirement.name, set(requirement.extras), str(requirement.specifier), str(requirement.marker)) == \
                   (one.name, set(one.extras), str(one.specifier), str(one.marker))
    elif kind == "invalid":
        with pytest.raises(library.InvalidRequirement):
            other = library.Requirement(plain)
            if any(type(s).__name__ == "LegacySpecifier" for s in other.specifier):
                raise library.InvalidRequirement(plain)


@pytest.mark.parametrize("text, why", {
    "numpy; rm -rf ~": "no requirement", "--index-url=http://evil.test alpha": "option", "-r http://evil.test/x": "option",
    "-e ./x": "option", "git+https://evil.test/x": "URL", "alpha @ http://evil.test/a.whl": "URL",
    "http://evil.test/a-1-py3-none-any.whl": "URL", "./alpha": "path", "/etc": "path", "alpha-1.0.tar.gz": "path",
    "'alpha'": "no requirement", "": "empty"}.items())
def test_what_is_no_requirement_is_named(installer, text, why):
    """CA-12, CA-26."""
    with pytest.raises(installer.Refusal, match=why):
        installer.parse_all(["alpha", text])


POLICY = {"allow": [], "block": ["Cx_Freeze", "google-cloud*", "crypto"], "minimum": {"Pillow": "9.0.0", "num.py": "1.22.2"}}


@pytest.mark.parametrize("name, version, rule", [
    ("cx-freeze", "1", "block"), ("CX.FREEZE", "1", "block"), ("google_cloud", "1", "block"),
    ("Google.Cloud.Storage", "1", "block"), ("googlecloud", "1", None), ("google-clouds", "1", "block"),
    ("crypto", "1", "block"), ("cryptography", "1", None), ("pycrypto", "1", None),
    ("pillow", "8.4.0", "minimum"), ("pillow", "9.0.0", None), ("pillow", "9.0.0rc1", "minimum"),
    ("pillow", "9.0.0.post1", None), ("pillow", "9.0.0+local", None), ("pillow", "10", None), ("pillow", "1!0", None),
    ("pillow", "nonsense", "minimum"), ("NUM-PY", "1.22.1", "minimum"), ("num_py", "1.22.10", None),
])
def test_names_and_versions_are_compared_by_python_s_rules(installer, name, version, rule):
    """CA-26: google-cloud-storage, google_cloud, cx_Freeze; CA-28."""
    why = installer.verdict(name, version, POLICY)
    assert (why and why[0]) == rule


def test_an_allow_list_is_compared_in_the_same_way(installer):
    policy = {"allow": ["Scikit_Learn"], "block": [], "minimum": {}}
    assert installer.verdict("scikit.learn", "1", policy) is None
    assert installer.verdict("scikit", "1", policy)[0] == "allow"


def test_names_in_a_wheel_that_lead_out_are_refused(installer):
    for name in ("../x", "a/../../x", "/x", "a\\b", "a/..", "x\0y"):
        with pytest.raises(installer.Refusal):
            installer.check_names("w.whl", ["ok.py", name])
    installer.check_names("w.whl", ["a/b.py", "a/..b/c", "...", "a.dist-info/METADATA"])


NODE = """
const fs = require('fs');
const source = fs.readFileSync(process.argv[1], 'utf8').replace(/answer\\(readOrder.*;\\n$/, '');
const rows = new Function('require', 'process', source + '; return { parse, verdict, compare, answered };')(require, process);
const told = JSON.parse(process.argv[2]).map(([what, ...args]) => {
  try { return rows[what](...args); } catch (error) { return error.message; }
});
console.log(JSON.stringify(told));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="no node here")
def test_javascript_has_its_own_rules():
    policy = {"allow": [], "block": ["Left-Pad", "@evil/*"], "minimum": {"lodash": "4.17.21"}}
    cases = [
        (["compare", "1.0.0", "1.0.0"], 0), (["compare", "1.0.0-rc.1", "1.0.0"], -1), (["compare", "1.0.0-rc.10", "1.0.0-rc.9"], 1),
        (["compare", "1.10.0", "1.9.9"], 1), (["compare", "1.0.0+a", "1.0.0+b"], 0), (["compare", "1.0.0-1", "1.0.0-a"], -1),
        (["verdict", {"name": "left-pad", "version": "1.0.0"}, policy], "block"),
        (["verdict", {"name": "@evil/x", "version": "1.0.0"}, policy], "block"),
        (["verdict", {"name": "left-pads", "version": "1.0.0"}, policy], None),
        (["verdict", {"name": "LODASH", "version": "4.17.20"}, policy], "minimum"),
        (["verdict", {"name": "JSONStream", "version": "1.0.0"}, {**policy, "allow": ["jsonstream"]}], "allow"),
        (["verdict", {"name": "JSONStream", "version": "1.0.0"}, {**policy, "allow": ["JSON*"]}], None),
        (["verdict", {"name": "lodash", "version": "4.17.21"}, policy], None),
        (["parse", "lodash"], "lodash"), (["parse", "JSONStream@^1"], "JSONStream@^1"), (["parse", "@types/node@>=18 <20"], "@types/node@>=18 <20"),
        (["parse", "lodash@latest"], "lodash@latest"), (["parse", "--registry=x"], "option"), (["parse", "-g"], "option"),
        (["parse", "git+https://x/y"], "come from the registry only, by name"), (["parse", "../x"], "path or a URL"), (["parse", "user/repo"], "path or a URL"), (["parse", "./x"], "path or a URL"),
        (["parse", "x@npm:y@1.0.0"], "Request 'y@1.0.0', and require it by that package's own name"), (["parse", "x@npm:http://y"], "path or a URL"), (["parse", "https://x/y.tgz"], "path or a URL"), (["parse", "x.tgz"], "path or a URL"),
        (["answered", "npm error 403 403 Forbidden - ptycell: '10.0.0.1:4873' leads to this machine or its networks: a private address; the user can"],
         "leads to this machine or its networks. The user allows that with PTYCELL_ALLOW_PRIVATE_HOSTS=1, or corrects registry="),
        (["parse", "x; rm -rf /"], "path or a URL"), (["parse", "x y"], "no package"), (["parse", "$(id)"], "no package"),
    ]
    done = subprocess.run(["node", "-e", NODE, str(ROOT / "lib/install/node.cjs"), json.dumps([case for case, _ in cases])],
                          capture_output=True, text=True, check=True)
    for (case, expected), told in zip(cases, json.loads(done.stdout)):
        if isinstance(expected, int):
            assert (told > 0) - (told < 0) == expected, case
        elif case[0] == "verdict":
            assert (told and told[0]) == expected, case
        else:
            assert expected in (told["spec"] if isinstance(told, dict) else told), case


AGES = """
const fs = require('fs');
let held = 0, most = 0;
const packument = async (name) => {
  most = Math.max(most, ++held);
  await new Promise(setImmediate);
  held--;
  return { time: name === 'p7' || name === 'p30' ? {} : { '1.0.0': '2020-01-01T00:00:00Z' } };
};
const source = fs.readFileSync(process.argv[1], 'utf8').replace(/answer\\(readOrder.*;\\n$/, '')
  .replace(/function ofNpm[^]*?\\n}/, 'function ofNpm() { return { packument }; }');
const judge = new Function('require', 'process', 'packument', source + '; return judgeAges;')(require, process, packument);
fs.writeFileSync('authorities.pem', '');
const rows = [...Array(50).keys()].map((n) => ({ name: `p${n}`, version: '1.0.0', requires: {} }));
judge(rows, new Map(), { policy: { minimum_age: '7d' }, policy_path: 'policy', options: {}, indexes: [] })
  .catch((error) => console.log(JSON.stringify([most, held, error.message])));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="no node here")
def test_few_pages_of_npm_are_held_at_once(tmp_path):
    """A page may have many megabytes, and a tree hundreds of packages."""
    done = subprocess.run(["node", "-e", AGES, str(ROOT / "lib/install/node.cjs")], capture_output=True, text=True, check=True, cwd=tmp_path)
    most, held, text = json.loads(done.stdout)
    assert (most, held) == (8, 0) and "when p7 1.0.0 was published" in text, text


def test_the_example_policy_is_legal_and_names_no_part_of_python(installer, tmp_path):
    example = ROOT / "lib/policy/codebox-ai.json"
    policy = json.loads(example.read_text())["python"]
    assert not set(policy["block"]) & set(sys.stdlib_module_names)
    with Server(tmp_path, "--policy", str(example)) as server:
        assert not server.call("list_sessions").is_error
    for name in ("google-cloud-storage", "google_cloud", "cx_Freeze", "Paramiko"):
        assert installer.verdict(name, "1", {"allow": [], **policy})[0] == "block", name
