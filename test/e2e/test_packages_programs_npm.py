# SPDX-License-Identifier: MIT
"""npm and its like as programs: wherever code starts them, they lead to what install_packages does."""
import base64
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from registries import Registry, package
from steps import bash

SOURCE = Path(__file__).parents[2] / "lib/runtime/programs/npm.cjs"

pytestmark = pytest.mark.skipif(shutil.which("npm") is None or shutil.which("node") is None, reason="no npm here")


@pytest.fixture(scope="module")
def registry():
    registry = Registry(package("alpha", "1.0.0"), package("alpha", "2.0.0"), package("beta", "1.0.0", dependencies={"alpha": ">=1"}),
                        package("tool", "1.0.0", {"cli.js": "#!/usr/bin/env node\nconsole.log('tool says', ...process.argv.slice(2))\n"},
                                bin={"tool": "cli.js"}),
                        package("native", "1.0.0", {"run.sh": "#!/bin/sh\n# it's a script\necho script says \"$@\"; exit 3\n", "lost.sh": "#!/no/such/program\n"},
                                bin={"native": "run.sh", "lost": "lost.sh"}))
    yield registry
    registry.close()


@pytest.fixture
def start(shared, registry):
    return lambda *flags, **options: shared(*flags, env={"npm_config_registry": registry.url}, **options)


@pytest.mark.parametrize("line", ["npm i alpha # the newest", "x=$(npm install 'alpha' --save); echo \"$x\"", "yarn add alpha && true",
                                  "pnpm add -D alpha; true", "echo '{\"dependencies\": {\"alpha\": \">=2\"}}' > package.json; npm install"])
def test_a_shell_that_starts_npm_gets_the_package(start, line):
    text = bash(start(), f"{line}\nnode -p \"require('alpha') + ' works'\"").text
    assert "Asking ptycell to install alpha" in text and "2.0.0 works" in text, text


def test_javascript_and_python_that_start_npm_get_the_package(start):
    server = start()
    code = "console.log(require('child_process').execSync('npm i alpha').toString()); require('alpha')"
    assert "'2.0.0'" in server.call("exec_code", session_id="s", language="javascript", code=code).text
    text = server.call("exec_code", session_id="t", language="python", code="import subprocess\nsubprocess.run(['npm', 'i', 'alpha'])").text
    assert "Installed: alpha 2.0.0" in text


@pytest.mark.parametrize("code, said", [
    ("npm i alpha # the newest\nrequire('alpha')", "'2.0.0'"), ("!npm install alpha && echo fine\nrequire('alpha')", "'2.0.0'"),
    ("npx -y tool a", "tool says a"), ("// first\n%pnpm add alpha\nyarn add tool\nrequire('alpha')", "'2.0.0'"),
    ("npm ls", "(empty)"), ("npm i\n1", "no package.json")])
def test_a_line_at_a_cell_s_head_is_the_shell_s(start, code, said):
    text = start().call("exec_code", session_id="s", language="javascript", code=code).text
    assert said in text, text


def test_names_of_these_programs_are_javascript_elsewhere(start):
    text = start().call("exec_code", session_id="s", language="javascript", code="const npx = 3, npm = 1\nnpx -npm").text
    assert text == "2\n"


@pytest.mark.parametrize("line", ["npm --prefix app install", "npm install --prefix=app", "npm -C app i", "yarn --cwd app install", "pnpm --dir=app install"])
def test_the_project_is_that_of_the_folder_that_is_named(start, line):
    text = bash(start(), f"mkdir app; echo '{{\"dependencies\": {{\"tool\": \"1\"}}}}' > app/package.json; echo '{{\"dependencies\": {{\"alpha\": \"1\"}}}}' > package.json; {line}").text
    assert "Installed: tool 1.0.0. " in text, text


@pytest.mark.parametrize("line, said", [
    ("npm install --registry=http://10.0.0.1/", "10.0.0.1/ is not used"), ("npm i alpha --registry http://10.0.0.1/", "10.0.0.1/ is not used"),
    ("npm_config_registry=http://10.0.0.1/ npm i", "10.0.0.1/ is not used"), ("echo '{' > package-lock.json; npm install", "package-lock.json cannot be read"),
    ("echo null > package.json; npm i", "package.json has no object"), ("npm --prefix nowhere i", "nowhere is no folder of a project: ENOENT"),
    ("sed -i 's/^{/{\"workspaces\": [],/' package.json; npm i", "Workspaces are not looked at"),
    ("sed -i 's/^{/{\"overrides\": {\"beta\": \"1\"},/' package.json; npm i", "Overrides are not used")])
def test_what_does_not_hold_of_words_and_files_is_told(start, line, said):
    text = bash(start(), f"echo '{{\"dependencies\": {{\"alpha\": \"2\"}}}}' > package.json; {line}").text
    assert said in text and "at Object" not in text, text


def test_peers_of_the_project_come_and_files_of_windows_are_read(start):
    text = bash(start(), "printf '\\xef\\xbb\\xbf{\"peerDependencies\": {\"alpha\": \"1\", \"beta\": \"1\"}, \"peerDependenciesMeta\": {\"beta\": {\"optional\": true}}}' > package.json; npm install").text
    assert "Installed: alpha 1.0.0. " in text, text


def test_packages_for_development_stay_out_of_production(start):
    text = bash(start(), "echo '{\"dependencies\": {\"alpha\": \"1\"}, \"devDependencies\": {\"tool\": \"1\"}}' > package.json; NODE_ENV=production npm i; npm i --only=prod; NODE_ENV=production npm i --include=dev").text
    assert text.count("Installed: alpha 1.0.0. ") == 1 and "There already: alpha 1.0.0." in text and "Installed: tool 1.0.0. " in text, text


MANIFEST = '{\n    "name": "own",\n    "private": true,\n    "devDependencies": {\n        "tool": "^1.0.0"\n    },\n    "dependencies": {\n        "beta": "^1.0.0"\n    },\n    "license": "MIT"\n}\n'


@pytest.mark.parametrize("line", ["i alpha", "install -D alpha@1", "i alpha@1.0.0", "i -E alpha@1", "i alpha@~1.0.0", "i --save-optional 'alpha@>=1' tool",
                                  "i --no-save alpha", "i -g alpha", "i --save-peer alpha@1.x native", "i tool", "i -P tool", "i -D beta alpha", "uninstall beta",
                                  "rm tool beta", "uninstall --no-save beta"])
@pytest.mark.parametrize("kept", [str, lambda text: text.replace("    ", "\t").replace("\n", "\r\n")])
def test_package_json_gets_what_npm_writes(start, registry, tmp_path, line, kept):
    """Beside npm itself, which has the same registry."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "package.json").write_bytes(kept(MANIFEST).encode())
    subprocess.run(f"npm {line} --ignore-scripts --no-audit --no-fund --no-package-lock", shell=True, cwd=project, check=True, capture_output=True,
                   env={**os.environ, "npm_config_registry": registry.url, "npm_config_prefix": str(tmp_path / "global"), "npm_config_cache": str(tmp_path / "cache")})
    server = start()
    told = bash(server, f"mkdir -p project/below; cd project; echo {base64.b64encode(kept(MANIFEST).encode()).decode()} | base64 -d > package.json; npm i >/dev/null; cd below; npm {line}").text
    found = bash(server, "cat ../package.json | base64 -w 0; cd ~").text
    assert base64.b64decode(found) == (project / "package.json").read_bytes(), (told, base64.b64decode(found))


def test_package_json_is_written_where_there_is_one(start):
    server = start()
    assert "Written" not in bash(server, "npm i alpha; ls").text
    text = bash(server, "echo '{}' > package.json; yarn add alpha; pnpm add -D tool; cat package.json; npm uninstall alpha; cat package.json; yarn global add beta").text
    assert "Written to package.json: alpha ^2.0.0.\n" in text and '"devDependencies": {\n    "tool": "^1.0.0"\n  }' in text, text
    assert "Taken out of package.json: alpha.\n" in text and text.count("Written") == 2, text


@pytest.mark.parametrize("line, said", [
    ("npm update", "npm update is not offered here: npm install NAME@latest takes"), ("npm outdated", "npm outdated is not offered here"),
    ("npm audit", "npm audit is not offered here"), ("npm audit fix", "npm audit is not offered here"), ("npm prune", "npm prune is not offered here"),
    ("yarn upgrade", "yarn upgrade is not offered here"), ("npm view alpha", "npm view is not offered here: the session has no network")])
def test_what_would_look_at_no_package_says_what_there_is(start, line, said):
    text = bash(start(), f"npm init -y > /dev/null; npm i alpha@1; {line}; echo status $?").text
    assert said in text and text.endswith("status 1\n"), text


def test_what_came_is_listed_for_programs(start):
    text = bash(start(), "npm i alpha@1 > /dev/null; npm ls --json; npm ls --parseable").text
    assert text.startswith('{\n  "dependencies": {\n    "alpha": {\n      "version": "1.0.0"') and text.endswith("/node_modules/alpha\n"), text


def test_what_came_is_listed_and_taken_away(start):
    server = start()
    bash(server, "npm i beta")
    text = bash(server, "npm ls").text
    assert "alpha@2.0.0" in text and "beta@1.0.0" in text
    assert "Uninstalled: alpha 2.0.0, beta 1.0.0" in bash(server, "npm uninstall beta").text
    assert "(empty)" in bash(server, "npm ls").text
    assert "status 1" in bash(server, "npm rm beta; echo status $?").text


def test_a_tool_is_brought_and_run(start):
    server = start()
    text = bash(server, "npx -y tool a 'b c'; echo $?").text
    assert "Installed: tool 1.0.0" in text and "tool says a b c\n0" in text
    assert bash(server, "npx tool again").text == "tool says again\n"
    assert "has no program" in bash(server, "npx alpha").text
    assert bash(server, "npx -y native 2> told; cat told > /dev/null").text == "script says\n"


def test_a_tool_that_is_no_javascript_is_run_by_what_it_names(start):
    server = start()
    assert "script says a b c\n3" in bash(server, "npx -y native a 'b c'; echo $?").text
    text = bash(server, "npx -p native lost; echo $?").text
    assert "lost.sh could not be started" in text and "ENOENT" in text and text.endswith("1\n"), text


@pytest.mark.parametrize("line", ["npm i -g tool && tool a", "echo '{\"dependencies\": {\"tool\": \"1\"}, \"scripts\": {\"say\": \"tool a\"}}' > package.json; npm i && npm run say",
                                  "npm i tool; node -e \"require('child_process').execSync('tool a', {stdio: 'inherit'})\""])
def test_a_program_of_a_package_that_came_is_on_the_path(start, line):
    assert "tool says a\n" in bash(start(), line).text


@pytest.mark.parametrize("line, words", [("npm exec tool -- --a", "--a"), ("npm exec -- tool --a -- b", "--a -- b"), ("npx tool -- --a", "-- --a")])
def test_a_tool_gets_the_words_that_npm_gives_it(start, line, words):
    assert f"tool says {words}\n" in bash(start(), line).text


def test_what_leads_elsewhere_does_not_cross(start, registry):
    server = start()
    text = bash(server, "echo '{\"dependencies\": {\"alpha\": \"^1.0.0\", \"x\": \"git+ssh://a/b\", \"y\": \"npm:alpha@1\"}}' > package.json; npm i").text
    assert "x is not asked for" in text and "y is not asked for: 'npm:alpha@1' gives a package another name, which is not supported; run npm install alpha@1" in text and "Installed: alpha 1.0.0" in text
    asked = len(registry.asked)
    assert "Request 'alpha@1.0.0', and require it by that package's own name" in bash(server, "npm i y@npm:alpha@1.0.0").text
    for line in ("npm i http://10.0.0.1/x.tgz", "npm i evil/repo", "npm i --registry=http://10.0.0.1/ alpha@a:b"):
        assert "status 1" in bash(server, f"{line}; echo status $?").text, line
    assert len(registry.asked) == asked


def test_what_the_session_has_stays(start):
    server = start()
    bash(server, "npm i alpha@1")
    assert "alpha 1.0.0" in bash(server, "npm i alpha").text
    assert "Installed: beta 1.0.0. " in bash(server, "npm i beta").text
    assert "alpha 2.0.0" in bash(server, "npm i alpha@2").text


def test_what_fits_package_json_stays(start, registry, monkeypatch):
    server = start()
    monkeypatch.setattr(registry, "packages", (*registry.packages, package("alpha", "1.5.0")))
    text = bash(server, "echo '{}' > package.json; npm i alpha@1.0.0; cat package.json; npm i; npm ls").text
    assert '"alpha": "^1.0.0"' in text and "There already: alpha 1.0.0" in text and "alpha@1.0.0" in text and "--kept" not in text, text
    assert "alpha@2.0.0" in bash(server, "sed -i 's/.1.0.0/^2.0.0/' package.json; npm i; npm ls").text
    assert "(empty)" in bash(server, "npm uninstall alpha; npm ls").text


def test_uninstall_changes_no_version_of_what_stays(start, registry, monkeypatch):
    server = start()
    bash(server, "npm i alpha@^1.0.0 beta")
    monkeypatch.setattr(registry, "packages", (*registry.packages, package("alpha", "1.5.0")))
    assert "Uninstalled: beta 1.0.0" in bash(server, "npm uninstall beta").text
    assert "alpha 1.0.0" in bash(server, "npm i alpha").text


def test_npm_s_own_commands_are_npm_s(start):
    text = bash(start(), "npm --version; npm run nothing 2>&1 | head -1").text
    assert text[0].isdigit() and "Asking" not in text


def answered(tmp_path, answer, *words):
    """Runs npm with these words in an empty folder with this server's answer to its request. Returns its status and output."""
    for folder in ("ask/data", "bell"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(SOURCE, tmp_path / "ask")
    os.mkfifo(tmp_path / "bell/pipe")
    bell = os.open(tmp_path / "bell/pipe", os.O_RDWR)
    npm = subprocess.Popen(["node", tmp_path / "ask/npm.cjs", "npm", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path)
    name = tmp_path / "ask/data/.cache/ask" / os.read(bell, 17).decode().strip()
    with open(f"{name}.answer", "wb", buffering=0) as told, open(f"{name}.request", "rb", buffering=0) as asks:
        told.write(b"\n")
        assert b'"packages":["alpha"]' in asks.readline()
        told.write(answer)
    os.close(bell)
    return npm.communicate(timeout=60)[0], npm.returncode


@pytest.mark.parametrize("answer, said", [(b"", "The server ended the request without an answer."), (b'{"ok": true', "The server ended the request without an answer."),
                                          (b'{"ok": false, "text": "no such package"}\n', "no such package")])
def test_npm_ends_when_the_server_ends_its_request(tmp_path, answer, said):
    text, status = answered(tmp_path, answer, "i", "alpha")
    assert said in text and status == 1


@pytest.mark.parametrize("code, goes", [(None, True), ("not_found", True), ("refused", False), ("canceled", False)])
def test_package_json_loses_what_is_not_there_any_more(tmp_path, code, goes):
    (tmp_path / "package.json").write_text('{"dependencies": {"alpha": "1"}}')
    answer = {"ok": code is None, "text": "said", **({"code": code} if code else {})}
    text, status = answered(tmp_path, json.dumps(answer).encode() + b"\n", "uninstall", "alpha")
    assert ("Taken out of package.json: alpha." in text) == goes and ("alpha" not in (tmp_path / "package.json").read_text()) == goes, text
    assert status == (code is not None)
