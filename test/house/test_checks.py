# SPDX-License-Identifier: MIT
"""What the checks of scripts/ catch, each on a small tree of its own."""
import os
import subprocess

import pytest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
LICENCE = "/* SPDX-License-Identifier: MIT */\n"


@pytest.fixture
def tree(tmp_path):
    """A tree of two layers and a program, with nothing wrong in it."""
    write(tmp_path, "lib/CMakeLists.txt", "# SPDX-License-Identifier: MIT\n"
          "add_module(low)\nadd_module(json DEPENDS low LIBS x)\nadd_module(high DEPENDS low json)\n")
    write(tmp_path, "cmd/CMakeLists.txt", "# SPDX-License-Identifier: MIT\nadd_program(small one LAYERS json)\n")
    write(tmp_path, "lib/low/low.h", LICENCE)
    write(tmp_path, "lib/high/high.c", LICENCE + '#include <unistd.h>\n#include "low/low.h"\n')
    write(tmp_path, "cmd/one/main.c", LICENCE + '#include "low/low.h"\n#include "main.h"\n')
    write(tmp_path, "README.md", "# A tree\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def write(root, path, text):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def check(name, root):
    done = subprocess.run([os.path.join(ROOT, "scripts", name), str(root)], stdout=subprocess.PIPE, text=True)
    assert (done.returncode != 0) == bool(done.stdout), done.stdout
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", ["check-help", "check-layers", "check-size", "check-source"])
def test_a_good_tree_passes(tree, name):
    assert check(name, tree) == []


@pytest.mark.parametrize("path, line, complaint", [
    ("lib/low/low.c", '#include "high/high.h"', "low may not include high"),
    ("lib/low/low.c", '#include "low.h"', 'write "low/low.h", from lib/'),
    ("lib/low/low.c", "#include <jansson.h>", "<jansson.h> belongs to"),
    ("lib/low/low.c", "#include <unistr.h>", "<unistr.h> belongs to redact, text"),
    ("lib/high/high.c", "\tjson_dumps(value, 0);", "only the json layer parses and dumps"),
    ("cmd/one/main.c", '#include "high/high.h"', "one may not include high"),
    ("lib/stray/stray.c", "", "knows no layer stray"),
])
def test_a_stray_include_is_named(tree, path, line, complaint):
    write(tree, path, LICENCE + line + "\n")
    problems = check("check-layers", tree)
    assert len(problems) == 1 and problems[0].startswith(path + ":") and complaint in problems[0]


SETTINGS = "| `PTYCELL_KEEP` | `--keep` | x |\n| | `--unconfined` | x |\n"
LINKED = "[settings](cmd/server/help/settings.md)\n"


@pytest.mark.parametrize("path, text, complaint", [
    ("README.md", LINKED + "`PTYCELL_KEEP`, `--keep`, `PTYCELL_SQL_SHOP` and `ptycell doctor --unconfined`\n", None),
    ("README.md", LINKED + "x\n" * 150, "151 lines"),
    ("README.md", LINKED + "x" * 8192, "8232 bytes"),
    ("README.md", "x\n", "no link to the topic settings"),
    ("cmd/server/help/settings.md", SETTINGS + "[a](b.md)\n", "a dead link: b.md"),
    ("cmd/server/help/settings.md", SETTINGS + "# A `b` c\n[a](#a-b-c) [b](#c)\n", "has no heading #c"),
    ("cmd/server/help/settings.md", SETTINGS + "    [a](b.md) `[a](b.md)`\n", None),
    ("cmd/server/help/settings.md", SETTINGS + "PTYCELL_KEPT\n", "no setting PTYCELL_KEPT"),
    ("cmd/server/help/settings.md", SETTINGS + "`--kept`\n", "no flag --kept"),
    ("cmd/server/help/settings.md", SETTINGS + "ptycell config vscode --kept\n", "no flag --kept"),
    ("lib/low/low.h", LICENCE + "/* ptycell help setings */\n", "no topic setings"),
])
def test_what_the_pages_of_the_help_name_is_there(tree, path, text, complaint):
    write(tree, "README.md", LINKED)
    write(tree, "cmd/server/help/settings.md", SETTINGS)
    write(tree, path, text)
    problems = check("check-help", tree)
    assert len(problems) == (complaint is not None)
    assert complaint is None or complaint in problems[0]


@pytest.mark.parametrize("rows, complaints", [
    ("| `low` | | x |\n| `json` | `low` | x |\n| `high` | `low` `json` | x |\n", []),
    ("| `low` | | x |\n| `json` | | x |\n| `high` | `low` `json` | x |\n", ["the row of json differs"]),
    ("| `low` | | x |\n| `json` | `low` | x |\n| `old` | | x |\n", ["the row of high differs", "the row of old differs"]),
    ("| `json` | `low` | x |\n| `low` | | x |\n| `high` | `low` `json` | x |\n", ["stand in another order"]),
])
def test_the_table_of_layers_is_that_of_the_build(tree, rows, complaints):
    write(tree, "lib/README.md", f"<!-- layers -->\n| layer | depends on | what |\n|---|---|---|\n{rows}<!-- /layers -->\n")
    problems = check("check-layers", tree)
    assert len(problems) == len(complaints)
    assert all(complaint in problem for complaint, problem in zip(complaints, problems))


@pytest.mark.parametrize("path, text, left_out", [
    ("lib/low/README.md", "| module | x |\n|---|---|\n| `a`, `part_*` | x |\n| `in/c` | x |\n", []),
    ("lib/low/README.md", "| module | x |\n|---|---|\n| `a.c` `part_b.py` `low/in/c` `a/c` | x |\n", ["in/c.c"]),
    ("lib/low/README.md", "1. x\n\n   | x | modules |\n   |---|---|\n   | x | `in` `c` |\n", ["a.c", "part_b.py"]),
    ("lib/low/README.md", "| module | x |\n|---|---|\n| `a` `*` `part_*` | x |\n", ["in/c.c"]),
    ("lib/low/README.md", "| room | the modules |\n|---|---|\n| `in` | x |\n", []),
    ("lib/low/in/README.md", "| module | x |\n|---|---|\n| `a` | x |\n", ["c.c"]),
])
def test_a_table_of_modules_names_all(tree, path, text, left_out):
    for name in ("a.c", "part_b.py", "in/c.c"):
        write(tree, f"lib/low/{name}", LICENCE)
    write(tree, "lib/low/README.md", "# Low\n\n| module | x |\n|---|---|\n| `a` `part_b` | x |\n")
    write(tree, path, text)
    assert check("check-layers", tree) == [f"{path}: its table does not name {name}" for name in left_out]


def test_a_name_that_the_code_has_not_is_found(tree):
    write(tree, "lib/low/a.c", LICENCE + "int low_count;\n")
    write(tree, "lib/low/README.md", "# Low\n\n`low_count`, `struct low_list` and low_thing; see `low/test_NAME.c`.\n")
    assert check("check-layers", tree) == ["lib/low/README.md: nothing is named low_list"]


def test_a_layer_depends_only_on_those_above_it(tree):
    write(tree, "lib/CMakeLists.txt", "add_module(low DEPENDS high)\nadd_module(high DEPENDS low json)\n"
          "add_module(json)\n")
    assert check("check-layers", tree)[:2] == [
        "lib/CMakeLists.txt: low depends on high, which is not above it",
        "lib/CMakeLists.txt: high depends on json, which is not above it"]


@pytest.mark.parametrize("path, line, complaint", [
    ("lib/low/upper/a.c", '#include "low/under/b.h"', None),
    ("lib/low/upper/a.c", '#include "low/low.h"', None),
    ("lib/low/under/b.c", '#include "low/upper/a.h"', "low/under may not include low/upper"),
    ("lib/low/low.h", '#include "low/under/b.h"', "a file at the top of low may not include a room"),
    ("lib/low/attic/c.c", "", "knows no room attic of low"),
    ("lib/high/high.c", '#include "low/upper/a.h"', None),
])
def test_a_room_includes_only_those_before_it(tree, path, line, complaint):
    write(tree, "lib/CMakeLists.txt", "# SPDX-License-Identifier: MIT\n"
          "add_module(low ROOMS under upper LIBS x)\nadd_module(json DEPENDS low)\nadd_module(high DEPENDS low)\n")
    write(tree, path, LICENCE + line + "\n")
    problems = check("check-layers", tree)
    assert len(problems) == (complaint is not None)
    assert all(problem.startswith(path + ":") and complaint in problem for problem in problems)


@pytest.mark.parametrize("length, found", [(60, 0), (61, 1)])
def test_a_body_has_at_most_60_lines(tree, length, found):
    write(tree, "lib/low/low.c", LICENCE + "int low(void)\n{\n" + "\tlow();\n" * length + "}\n")
    assert len(check("check-size", tree)) == found


@pytest.mark.parametrize("length, found", [(600, 0), (601, 1)])
def test_a_file_has_at_most_600_lines(tree, length, found):
    write(tree, "test/long.c", LICENCE + "\n" * (length - 1))
    assert len(check("check-size", tree)) == found


@pytest.mark.parametrize("path, length, found", [
    ("lib/README.md", 150, 0), ("lib/README.md", 151, 1), ("lib/low/README.md", 80, 0), ("lib/low/README.md", 81, 1),
    ("cmd/one/README.md", 81, 1), ("test/README.md", 300, 0),
])
def test_a_page_on_the_code_has_a_maximum(tree, path, length, found):
    write(tree, path, "x\n" * length)
    assert len(check("check-size", tree)) == found


@pytest.mark.parametrize("text, complaint", [
    ("int main(void) { return system(0); }", "system() is banned"),
    ("/* one\n * two */ int n = atoi (s);", "atoi() is banned"),
    ("/* " + "TO" + "DO: later */", "do it or make it an issue"),
    ('char *s = "https://registry.' + 'npmjs.org";', "does not belong in the tree"),
])
def test_what_does_not_belong_in_a_source_is_named(tree, text, complaint):
    write(tree, "lib/low/low.c", LICENCE + text + "\n")
    problems = check("check-source", tree)
    assert len(problems) == 1 and complaint in problems[0]


@pytest.mark.parametrize("text", [
    "/* never strcpy() */", 'say("strcpy(a, b)");', "ops->signal(1);", "ops.system(1);", "my_strcpy(a, b);",
    "char quote = '\"'; /* \" */ int a; /* atoi(\"1\") */",
])
def test_a_banned_name_that_is_no_call_passes(tree, text):
    write(tree, "lib/low/low.c", LICENCE + text + "\n")
    assert check("check-source", tree) == []


def test_a_file_that_names_a_language_is_listed(tree):
    write(tree, "lib/runtime/README.md", "`low/low.c` `low/gone.c`\n\n| module | `low/other.c` |\n")
    write(tree, "lib/low/low.c", LICENCE + 'const char *listed = "python";\n')
    write(tree, "lib/low/other.c", LICENCE + '/* "r" */\nconst char *other = "bash";\n')
    write(tree, "lib/low/comment.c", LICENCE + '/* "r" */\n')
    problems = check("check-source", tree)
    assert problems == ["lib/runtime/README.md: lib/low/gone.c does not exist",
                        "lib/low/other.c: names a language; read its row, or list the file in lib/runtime/README.md"]


@pytest.mark.parametrize("path", ["lib/low/low.c", "scripts/tool", "test/e2e/test_x.py", "lib/CMakeLists.txt"])
def test_a_source_without_its_licence_line_is_named(tree, path):
    write(tree, path, "int x;\n")
    problems = check("check-source", tree)
    assert len(problems) == 1 and problems[0].startswith(path + ":1:")


def test_a_test_that_hides_another_is_named(tree):
    licence = "# SPDX-License-Identifier: MIT\n"
    write(tree, "test/e2e/test_x.py", licence + "def test_a(): pass\ndef test_b(): pass\ndef test_a(): pass\n")
    assert check("check-source", tree) == ["test/e2e/test_x.py:4: test_a() hides the one above"]


def compile_object(tmp_path, source, text):
    """build/.../lib/CMakeFiles/lib_LAYER.dir/SOURCE.o, as CMake would."""
    path = tmp_path / f"lib/CMakeFiles/lib_{source.split('/')[0]}.dir/{source}.o"
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-xc", "-", "-c", "-w", "-o", str(path)], input=text, text=True, check=True)


def test_an_exported_name_tells_its_file(tmp_path):
    compile_object(tmp_path, "base/buf.c", "int buf_a(void){return 1;} int base_b; static int c; int buff_d = (int)sizeof(c);")
    assert check("check-names", tmp_path) == ["lib/base/buf.c: buff_d does not start with buf_ or base_"]


def test_what_a_build_holds_of_a_source_that_is_gone_is_not_checked(tmp_path):
    compile_object(tmp_path, "base/no_such_file.c", "int stray;")
    assert check("check-names", tmp_path) == []


@pytest.mark.parametrize("path, text, problem", [
    ("lib/low/low.c", "int x;", "no opening paragraph below the licence"),
    ("lib/low/low.h", "/* What it is. */", "'What ...' begins a sentence: name the subject"),
    ("lib/low/low.h", "/* Reports what somebody wrote. */", "'somebody': the actor's name"),
    ("lib/low/low.h", "/* " + "It reads a word. " * 3 + "It reads " + "and reads " * 20 + "a word. */",
     "a sentence of 44 words (at most 35)"),
    ("lib/low/README.md", "Who reads this?", "'Who ...' begins a sentence: name the subject"),
])
def test_a_text_that_is_hard_to_read_is_found(tree, path, text, problem):
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    write(tree, path, (LICENCE if path.endswith((".c", ".h")) else "") + text + "\n")
    found = subprocess.run([os.path.join(ROOT, "scripts/check-prose"), path], cwd=tree, stdout=subprocess.PIPE, text=True, check=False)
    line = 1 if path.endswith((".c", ".md")) else 2
    assert (found.returncode, found.stdout) == (1, f"{path}:{line}: {problem}\n")


def test_a_text_below_a_command_and_a_table_is_read_too(tree):
    write(tree, "lib/low/README.md", "It reads.\n\n    Who types this\n\n| Who | it |\n\n```\nWho\n```\n\nWho reads this?\n")
    found = subprocess.run([os.path.join(ROOT, "scripts/check-prose"), "lib/low/README.md"], cwd=tree, stdout=subprocess.PIPE, text=True, check=False)
    assert found.stdout == "lib/low/README.md:11: 'Who ...' begins a sentence: name the subject\n"


@pytest.mark.parametrize("text", [
    'const char *c = "/* What somebody told */";', "/* Reads the descriptor \"told\". */",
    "/* Returns the name.\n * Ownership stays. */"])
def test_plain_text_and_strings_pass(tree, text):
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    write(tree, "lib/low/low.h", LICENCE + text + "\n")
    found = subprocess.run([os.path.join(ROOT, "scripts/check-prose"), "lib/low/low.h"], cwd=tree, stdout=subprocess.PIPE, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")
