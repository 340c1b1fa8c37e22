# SPDX-License-Identifier: MIT
"""Runs the kept notebook of a session again with jupyter nbconvert, and compares what its cells gave."""
import base64
import json
import os
import re
import shutil
import subprocess

import pytest
from client import Server
from patience import CALL_S

JUPYTER = "/usr/bin/jupyter"  # Debian's, whose kernel runs the Python that sessions run


def skip_without_jupyter():
    # Without nbconvert, nbclient or the kernel there is nothing that runs a notebook.
    if not shutil.which("jupyter-nbconvert", path="/usr/bin") or subprocess.run(
            ["/usr/bin/python3", "-c", "import nbclient, ipykernel"], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("there is no jupyter nbconvert with Python's kernel here")


def convert(folder, *arguments):
    """nbconvert in a folder with notebook.ipynb. The kernel has the variables that a user's shell would have."""
    env = {"HOME": str(folder), "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
           **{name: value for name, value in os.environ.items() if name.startswith("PIP_")}}
    done = subprocess.run([JUPYTER, "nbconvert", *arguments, "notebook.ipynb"], cwd=folder, capture_output=True,
                          text=True, timeout=CALL_S, check=False, env=env)
    assert done.returncode == 0, done.stderr[-3000:]


def run_again(kept, folder):
    """(recorded notebook, executed notebook, working folder) of a copy of a kept folder."""
    shutil.copytree(kept, folder)
    convert(folder, "--execute", "--to", "notebook", "--output", "again.ipynb")
    return (json.loads((folder / "notebook.ipynb").read_text()), json.loads((folder / "again.ipynb").read_text()),
            folder / "work")


# ---- what a cell gave ----

def outcome(cell, work):
    """(text, values, errors, figures) of a cell that ran."""
    text, values, errors, figures = "", [], [], []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            text += "".join(output["text"])
        elif output["output_type"] == "error":
            errors.append((output["ename"], output["evalue"]))
        elif "image/png" in output["data"]:
            figures.append(base64.b64decode("".join(output["data"]["image/png"]))[:4] == b"\x89PNG")
        elif output["output_type"] == "display_data":  # what is displayed is text in its place
            text += "".join(output["data"]["text/plain"]) + "\n"
        else:
            values.append("".join(output["data"]["text/plain"]))
    return {"text": place(text, work), "values": [place(value, work) for value in values],
            "errors": [(name, place(said, work)) for name, said in errors], "figures": figures}


def place(text, work):
    """The working folder: the session has it at /mnt/data, a copy lies anywhere."""
    return text.replace(str(work), "/mnt/data")


# ---- named normalisations: what may differ, and why ----

def line_ends(result):
    """IPython's `!command` shows the terminal's line ends, a screen has none; nor blanks before them."""
    return {**result, "text": re.sub(r"[ \t]*\r*\n", "\n", result["text"]).rstrip()}


def figure_notes(result):
    """ptycell marks the place of a figure in the text; Jupyter shows the figure alone."""
    return {**result, "text": re.sub(r"\[figure(?: \d+|: output/[^\]\n]*)\]\n?", "", result["text"]).rstrip()}


def images_beyond(result):
    """ptycell says which figures an answer does not show; Jupyter shows all."""
    return {**result, "text": re.sub(r"\[images beyond [^\]\n]*\]\n?", "", result["text"]).rstrip()}


def figure_values(result):
    """A figure as a cell's value has its text beside it in Jupyter, which ptycell leaves out."""
    return {**result, "values": [v for v in result["values"] if not re.match(r"<Figure size .*>$", v)]}


def device_notes(result):
    """ptycell says where plots are drawn that it does not show; R says nothing."""
    return {**result, "text": re.sub(r"\[Plots are drawn on device [^\]\n]*\]\n?", "", result["text"]).rstrip()}


def addresses(result):
    """Objects lie elsewhere in each process."""
    return json.loads(re.sub(r"\b0x[0-9a-f]{6,}", "0x", json.dumps(result)))


def layout(result):
    """IPython breaks a long value into other lines than ptycell, which fills 100 columns, and leaves words out of
    those that an object has by itself."""
    values = [re.sub(r"^<function (?:__main__\.)?(\w+)(?: at 0x|\(.*\))>$", r"<function \1>", value) for value in result["values"]]
    return {**result, "values": [re.sub(r"\s+", "", re.sub(r" object at ", " at ", value)) for value in values]}


def durations(result):
    """Nothing takes the same time twice; %time and %timeit of IPython say it in other words."""
    text = re.sub(r"(?m)^(CPU times?|Wall time|\d.* per loop|.*loops? each).*\n?", "", result["text"])
    return {**result, "text": text.rstrip()}


def echoes(result):
    """Blanks at a prompt, which a terminal keeps and a look at it does not show."""
    return {**result, "text": re.sub(r"[ \n]+", " ", result["text"]).replace("? ", "?").replace(": ", ":")}


def typed_to_programs(result):
    """A program that Python runs shows nothing of what it is given in Jupyter: it has no terminal of its own."""
    return {**result, "text": re.sub(r"(?m)^[BC\n]+$", "", result["text"]).strip()}


def breaks(result):
    """A `break` outside of a loop ends a loop of ours, and is no fault."""
    return {**result, "text": re.sub(r".*only meaningful in a `for'.*", "", result["text"]).rstrip()}


def program_errors(result):
    """IPython writes the whole code of a %%bash cell into its error."""
    return {**result, "errors": [(name, re.sub(r"Command .* returned", "Command returned", said, flags=re.S))
                                 for name, said in result["errors"]]}


def error_places(result):
    """The place in the code that a syntax error names is the session's cell; elsewhere it is a file or a shell."""
    text = re.sub(r"(?m)^(cell \d+|bash): (line \d+: )?", "", result["text"])
    return {**result, "text": re.sub(r"(?m)\n`.*'$", "", text),
            "errors": [(name, re.sub(r"\s+", " ", re.sub(r"(<cell \d+>|\S*\.cell\.r|<?[\w-]*ipython-input[^ ,]*>?|cell \d+|\d+\.py)", "CELL", said)).strip())
                       for name, said in result["errors"]]}


def installers(result):
    """What an installer says is its own; the session's answer says which packages there are."""
    return {**result, "text": re.sub(r"(?m)^(Installed: |There already: |Requirement already|Successfully |Collecting |Looking in |Processing ).*\n?", "",
                                     result["text"]).rstrip()}


EVERYWHERE = (line_ends, figure_notes, figure_values, addresses, layout, program_errors, error_places)


def differences(recorded, executed, work, *also):
    """[(cell, recorded, now)] of the cells that were run again and gave something else."""
    found = []
    skipped = 0
    for before, now in zip(recorded["cells"], executed["cells"], strict=True):
        assert before["id"] == now["id"]
        if before["cell_type"] != "code" or not before["id"].startswith("cell-"):
            continue
        if "skip-execution" in before["metadata"].get("tags", []):
            skipped += 1
            continue
        then, again = outcome(before, work), outcome(now, work)
        for change in (*EVERYWHERE, *also):
            then, again = change(then), change(again)
        if json.loads(json.dumps(then)) != json.loads(json.dumps(again)):
            found.append((before["source"], then, again))
    return found


def results(folder, aside=()):
    """{path: bytes} of the results in a folder, but what ptycell or Jupyter put there."""
    ours = ("notebook.ipynb", "report.html", "again.ipynb", *aside)
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name not in ours and not re.match(r"(work|input|files|\.)", str(path.relative_to(folder)))
            and not re.match(r"cell-\d+-figure-\d+\.png$", path.name)}


# ---- the whole ----

def record(home, steps, *flags, **popen):
    """The kept folder of a session with these steps."""
    with Server(home, *flags, **popen) as server:
        for step in steps:
            if isinstance(step[1], str):
                server.cell(step[1], language=step[0], **({"timeout": step[2]} if len(step) > 2 else {}))
            else:
                server.call(step[0], session_id="s", **step[1])
    (kept,) = (home / "kept").glob("*-s-*")
    return kept


def assert_same(kept, folder, *also):
    recorded, executed, work = run_again(kept, folder)
    assert differences(recorded, executed, work, *also) == []
    assert results(work / "output") == results(kept)
