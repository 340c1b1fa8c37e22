# SPDX-License-Identifier: MIT
"""Several languages in one session: names, independence, one folder."""
import pathlib
import shutil

import pytest
from client import Server
from patience import until
from steps import begin, go, listed

HERE = ["python", "bash"] + (["javascript"] if shutil.which("node") else []) + (["r"] if shutil.which("R") else [])
# Sets x to 7; shows x; never ends; ends the process with code 9.
CELLS = {
    "python": ("x = 7", "print(x)", "while True: pass", "import os; os._exit(9)"),
    "bash": ("x=7", "echo $x", "while :; do :; done", "exec sh -c 'exit 9'"),
    "javascript": ("x = 7;", "console.log(x)", "while (true) {}", "process.reallyExit(9)"),
    "r": ("x <- 7", "cat(x, '\\n', sep = '')", "repeat {}", "base::quit(status = 9)"),
}

# Goes to the folder, and removes the one that it is in.
GO = {
    "python": ("import os; os.chdir('{}')", "os.rmdir(os.getcwd())"),
    "bash": ("cd '{}'", 'rmdir "$PWD"'),
    "javascript": ("process.chdir('{}');", "require('fs').rmdirSync(process.cwd());"),
    "r": ("invisible(setwd('{}'))", "invisible(unlink(getwd(), recursive = TRUE))"),
}


# Begins, is interrupted, and goes on to its end.
CAUGHT = {
    "python": "import time\ntry:\n    print('begun', flush=True)\n    time.sleep(1000)\nexcept KeyboardInterrupt: print('on')",
    "bash": "trap : INT; echo begun; sleep 1000; trap - INT; echo on",
    "r": "tryCatch({ cat('begun\\n'); Sys.sleep(1000) }, interrupt = function(e) cat('on\\n'))",
}
# Stops itself.
STOPPED = {
    "python": "import os, signal\nprint('begun', flush=True)\nos.kill(os.getpid(), signal.SIGSTOP)\nwhile True: pass",
    "bash": "echo begun; suspend -f; while :; do :; done",
    "r": "cat('begun\\n'); tools::pskill(Sys.getpid(), tools::SIGSTOP); repeat {}",
    "javascript": "console.log('begun'); process.kill(process.pid, 'SIGSTOP'); for (;;);",
}


@pytest.fixture
def lasting(of_module):
    """The module's server, whose session stays from test to test: what a test needs in it, it sets itself."""
    server = of_module()
    yield server
    if [row["state"] for row in server.call("list_sessions").object["sessions"]] not in ([], ["idle"]):
        server.call("destroy_session", session_id="s")


@pytest.mark.parametrize("language", sorted(CAUGHT))
def test_a_deadline_that_the_code_outlives_is_told(lasting, language):
    if language not in HERE:
        pytest.skip(f"there is no {language} here")
    for timeout in (1, 10, 100):
        result = lasting.cell(CAUGHT[language], language=language, timeout=timeout)
        if "on\n" in result.text:
            break
    assert result.state == "done", result.texts
    assert f"ran into its deadline of {timeout} s and was interrupted; after that it came to an end of its own" in result.text
    assert "deadline" not in lasting.cell(CELLS[language][0], language=language).text


@pytest.mark.parametrize("language", sorted(STOPPED))
def test_an_interpreter_that_stopped_itself_is_interrupted(lasting, language):
    if language not in HERE:
        pytest.skip(f"there is no {language} here")
    lasting.cell(CELLS[language][0], language=language)
    begin(lasting, STOPPED[language], language=language)
    assert lasting.interact(action="interrupt", language=language).state == "interrupted"
    assert lasting.cell(CELLS[language][1], language=language).text == "7\n"


@pytest.mark.parametrize("language", sorted(GO))
def test_the_status_line_names_the_folder_where_it_is_another(lasting, language):
    if language not in HERE:
        pytest.skip(f"there is no {language} here")
    go, remove = GO[language]
    assert "cwd" not in lasting.cell(CELLS[language][0], language=language).status
    there = lasting.cell(go.format("/tmp"), language=language)
    assert (there.text, there.status["cwd"], there.cell["cwd"]) == ("", "/tmp", "/tmp")
    assert lasting.cell(CELLS[language][0], language=language).status["cwd"] == "/tmp"
    lasting.cell("mkdir -p '/tmp/my | \u00e9'", language="bash")
    assert lasting.cell(go.format("/tmp/my | \u00e9"), language=language).status["cwd"] == "/tmp/my _ \u00e9"
    gone = lasting.cell(remove, language=language)
    assert (gone.text, gone.state) == ("", "done")
    assert "cwd" not in lasting.cell(go.format("/mnt/data"), language=language).status


@pytest.mark.parametrize("names", [
    ["python", "py", "Python", "PYTHON3"], ["bash", "sh", "shell", "Bash", "SHELL"], ["r", "R"],
    ["javascript", "js", "node", "typescript", "ts", "JS"]],
    ids=lambda names: names[0])
def test_all_names_of_a_language_are_one_interpreter(lasting, names):
    """OI-01."""
    if names[0] not in HERE:
        pytest.skip(f"there is no {names[0]} here")
    assign, show, *_ = CELLS[names[0]]
    assert lasting.cell(assign, language=names[0]).state == "done"
    assert {lasting.cell(show, language=name).text for name in names} == {"7\n"}


def test_an_unknown_language_names_those_that_are_there(lasting):
    for name in ("cobol", " ", "zsh", "../bash", "x" * 500):
        result = lasting.call("exec_code", session_id="s", language=name, code="1")
        assert result.is_error and "must be one of python, " in result.texts[0], result.texts
        assert " bash" in result.texts[0]


def test_a_missing_language_says_how_to_get_it(home, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "bash").symlink_to("/bin/bash")
    with Server(home, env={"PATH": str(folder)}) as server:
        result = server.cell("1", language="R")
        assert result.state == "not_started" and "apt install r-base-core" in result.text
        assert "What is here: python, bash" in result.text
        unknown = server.call("exec_code", session_id="s", language="cobol", code="1")
        assert "must be one of python, bash, " in unknown.texts[0]
        assert "r (apt install r-base-core)" in unknown.texts[0]
        assert server.cell("echo fine", language="bash").text == "fine\n"
        for there in ("s", "none"):
            told = "\n".join(server.call("session_info", session_id=there).texts)
            assert "r (not installed)" in told and "bash (not" not in told


def test_each_language_of_a_session_is_described(server):
    server.cell("1")
    server.cell("true", language="sh")
    described = {row["name"]: row for row in server.call("session_info", session_id="s").object["languages"]}
    assert {"python", "bash", "r"} <= set(described)
    assert described["bash"]["state"] == "ready" and described["bash"]["version"].startswith(("4.", "5."))
    assert described["bash"]["aliases"] == ["sh", "shell"]
    assert described["r"]["state"] == ("not started" if "r" in HERE else "not installed")


def test_languages_share_folder_and_numbers(server):
    """OI-02."""
    assert server.cell("open('a.txt', 'w').write('from python')").status["cell"] == 1
    second = server.cell("cat a.txt; echo; echo word > output/b.txt; pwd", language="bash")
    assert second.status["cell"] == 2 and second.text.startswith("from python\n")
    assert [change["path"] for change in second.status["files"]] == ["output/b.txt"]
    if "r" in HERE:
        third = server.cell("writeLines('r', 'c.txt'); readLines('output/b.txt')", language="R")
        assert third.status["cell"] == 3 and third.text == '[1] "word"\n'
    assert {"a.txt", "output/b.txt"} <= set(listed(server))


@pytest.mark.parametrize("hurt", HERE)
@pytest.mark.parametrize("how", ["interrupt", "crash", "kill"])
def test_what_happens_to_one_language_leaves_the_others_alone(lasting, hurt, how):
    for name in HERE:
        assert lasting.cell(CELLS[name][0], language=name).state == "done"
    _, _, endless, crash = CELLS[hurt]
    if how == "interrupt":
        result = lasting.cell(endless, language=hurt, timeout=0.1)
        assert result.state == "timed_out"
    elif how == "kill":
        assert lasting.cell(endless, language=hurt, budget=0.1).state == "running"
        assert lasting.interact(language=hurt, action="kill").state == "died"
        assert lasting.cell("1" if hurt != "bash" else "true", language=hurt).state == "done"
    else:
        result = lasting.cell(crash, language=hurt)
        assert (result.state, result.status.get("exit")) == ("died", 9), result.texts
    for name in HERE:
        if name != hurt:
            assert lasting.cell(CELLS[name][1], language=name).text == "7\n"
    if how == "interrupt":
        assert lasting.cell(CELLS[hurt][1], language=hurt).text == "7\n"


def test_what_to_call_next_names_the_language_where_there_are_several(server):
    first = server.cell("input('a? ')")
    assert first.status["try"] == 'interact {"session_id":"s","input":"..."}'
    second = server.cell("read -p 'b? ' b", language="sh")
    assert second.status["try"] == 'interact {"session_id":"s","language":"bash","input":"..."}'
    assert server.interact(input="x").texts == ["arguments.language is needed: there is news of python, bash"]
    assert server.interact(input="x", language="sh").state == "done"
    assert server.interact(input="x").text.endswith("'x'\n")  # the only one left
    assert "No cell runs" in server.interact(action="interrupt").text


def test_a_long_output_of_a_busy_interpreter_is_searched_from_another(server):
    code = "for i in range(9000): print('line', i)\n"
    assert "with code: [l for l in open(" in server.cell(code).text
    result = server.cell(code + "input('? ')")
    assert "with bash: grep -n 'word' '/" in result.text


def test_a_hung_language_does_not_hold_up_another(server):
    hung = server.start_cell("while True: pass")
    until(lambda: [s["state"] for s in server.call("list_sessions").object["sessions"]] == ["running"])
    assert server.cell("echo meanwhile", language="bash").text == "meanwhile\n"
    server.cancel(hung)
    assert server.cell("1").state == "done"


def test_background_of_one_language_is_not_anothers(server):
    server.cell("(while [ ! -e input/go ]; do sleep 0.01; done; echo late) &", language="bash")
    go(server)
    seen = []
    until(lambda: seen.append(server.cell("true", language="bash").text) or "late" in "".join(seen))
    assert "late" not in server.cell("1").text


@pytest.mark.parametrize("name", HERE)
def test_variables_of_every_language_are_told(lasting, name):
    lasting.cell(CELLS[name][0], language=name)
    info = lasting.call("session_info", session_id="s", include=["variables"]).object
    assert "'x'" in str(info) or '"x"' in str(info), info


CO2 = pathlib.Path(__file__).resolve().parents[1] / "data/co2.csv"
CLEAN = r"""
set -euo pipefail
mkdir -p work
{ echo year,co2; tail -n +2 input/co2.csv | awk -F, '$2 != "" { print substr($1, 1, 4) "," $2 }'; } > work/weeks.csv
wc -l < work/weeks.csv
"""
MODEL = r"""
weeks <- read.csv("work/weeks.csv")
years <- aggregate(co2 ~ year, weeks, mean)
model <- lm(co2 ~ poly(year, 2), years)
years$fit <- fitted(model)
write.csv(years, "work/years.csv", row.names = FALSE)
round(summary(model)$r.squared, 3)
"""
PLOT = r"""
import matplotlib.pyplot as plt, pandas as pd
years = pd.read_csv("work/years.csv")
axes = years.plot(x="year", y=["co2", "fit"], title="CO2 at Mauna Loa")
years.to_json("work/years.json", orient="records")
import http.server, threading
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
server.RequestHandlerClass.log_message = lambda *_: None
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, file=open("work/port", "w"))
len(years)
"""
REPORT = r"""
import fs from "node:fs";
const port = fs.readFileSync("work/port", "utf8").trim();
const years = await (await fetch(`http://127.0.0.1:${port}/work/years.json`)).json();
const growth = years.at(-1).co2 - years[0].co2;
fs.writeFileSync("output/report.txt", `${years.length} years, +${growth.toFixed(1)} ppm\n`);
growth.toFixed(1)
"""
FETCH = r"""
exec 3<>"/dev/tcp/127.0.0.1/$(<work/port)"
printf 'GET /work/years.json HTTP/1.0\r\n\r\n' >&3
grep -o '"year":[0-9]*' <&3 | wc -l
"""


def test_a_pipeline_through_all_languages(server):
    """bash cleans, R models, Python plots and serves, JavaScript reads it over the session's loopback."""
    if "r" not in HERE:
        pytest.skip("there is no R here")
    server.call("upload_file", session_id="s", filename="co2.csv", content=CO2.read_text())
    assert server.cell(CLEAN, language="bash").text == "2226\n"
    assert server.cell(MODEL, language="R").text == "[1] 0.998\n"
    plot = server.cell(PLOT)
    assert plot.text.endswith("44\n") and len(plot.images) == 1
    assert server.cell(FETCH, language="bash").text == "44\n"
    languages = [row["name"] for row in server.call("session_info", session_id="s").object["languages"]]
    if "javascript" not in languages or not shutil.which("node"):
        return
    report = server.cell(REPORT, language="javascript")
    assert "55." in report.text
    assert [change["path"] for change in report.status["files"]] == ["output/report.txt"]


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
PICTURES = {
    "python": f"import base64\nfrom IPython.display import Image, SVG\ndisplay(Image(base64.b64decode('{PIXEL}')), SVG('<svg></svg>'))",
    "javascript": f"display(Buffer.from('{PIXEL}', 'base64'))\nJupyter.display({{ [Jupyter.symbol]: () => ({{ 'image/svg+xml': '<svg></svg>' }}) }})",
    "r": "plot(1)",
}


@pytest.mark.parametrize("language", sorted(PICTURES))
def test_a_figure_that_cannot_be_kept_is_told(server, language):
    """Where code has put a file in the place of output/."""
    if language not in HERE:
        pytest.skip(f"there is no {language} here")
    server.cell("rm -r output; touch output", language="bash")
    result = server.cell(PICTURES[language], language=language)
    assert result.state == "done" and len(result.images) == 1
    assert "[figure: it could not be kept in output/]" in result.text
    if language == "python":
        many = server.cell("for _ in range(6): display(Image(base64.b64decode('%s')))" % PIXEL)
        assert len(many.images) == 4 and "as files" not in many.text
    assert language == "r" or "[a drawing as SVG: it could not be kept in output/]" in result.text
