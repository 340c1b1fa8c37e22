# SPDX-License-Identifier: MIT
"""What code writes does not run when the user's git, shell or editor looks at it."""
import subprocess

import pytest
from repositories import LAYOUTS, git, look_everywhere, needs_git, script
from steps import kept_files, paths_in

RUNS = [".envrc", ".vscode/tasks.json", ".git", ".gitconfig", ".claude/settings.json", ".Rprofile", "sub/.npmrc"]
STAYS = [".gitignore", ".gitattributes", ".github/workflows/ci.yml", "head/scan.txt", "plot.txt"]


@needs_git
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layouts_do_run_something(layout, tmp_path):
    """Else what follows would prove nothing."""
    folder = tmp_path / "made"
    folder.mkdir()
    subprocess.run(["sh", "-e", "-c", script(layout, tmp_path / "ran")], cwd=folder, check=True)
    git(folder / LAYOUTS[layout][1], "status", home=tmp_path)
    assert (tmp_path / "ran").exists()


@needs_git
@pytest.mark.parametrize("layout", LAYOUTS)
def test_S1_no_kept_folder_is_a_repository(layout, server, home):
    result = server.cell("cd output\n" + script(layout, home / "ran"), language="bash")
    assert result.state == "done" and "_HEAD" in result.text, result.text
    kept, = paths_in(home, "kept/*")
    look_everywhere(kept, home)
    assert not (home / "ran").exists()
    assert not [path for path in kept_files(home) if path.name in ("HEAD", ".git")]


def test_S1_names_that_run_something_are_kept_under_others_and_that_is_told_once(server, home):
    write = ("import pathlib\nfor name in NAMES:\n    path = pathlib.Path('output', name)\n"
             "    path.parent.mkdir(parents=True, exist_ok=True)\n    path.write_text(name)\n")
    result = server.cell(write.replace("NAMES", repr(RUNS + STAYS)))
    assert result.text.count("Saved under another name") == 1 and " as '_." in result.text
    kept, = paths_in(home, "kept/*")
    names = {str(path.relative_to(kept)): path.read_text(encoding="ascii") for path in kept_files(home)}
    altered = {"/".join("_" + part if part in (".vscode", ".claude") or part in RUNS or part == ".npmrc" else part
                        for part in name.split("/")): name for name in RUNS}
    assert names == altered | {name: name for name in STAYS}
    assert "Saved under" not in server.cell("open('output/.bashrc', 'w').write('x')").text
    assert (kept / "_.bashrc").exists() and not (kept / ".bashrc").exists()
