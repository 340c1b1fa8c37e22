# SPDX-License-Identifier: MIT
"""Results of cells in a storage: links in answers, in list_artifacts, and what is said of it all."""
import contextlib
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from client import BUILD, Server
from outside import PROC, pids
from patience import until
from steps import session_folders
from storages import AZURITE_KEY, S3, Azurite, Trouble, azure_error, get

LINK = re.compile(r"^(output/\S+): (http\S+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def azurite(tmp_path_factory):
    with Azurite(tmp_path_factory.mktemp("azurite")) as running:
        yield running


@pytest.fixture(scope="module")
def s3(tmp_path_factory):
    with S3(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(params=["azurite", "s3"])
def storage(request):
    return request.getfixturevalue(request.param)


def links(result):
    """Path to URL of what an answer offers."""
    return dict(LINK.findall("\n".join(result.texts)))


def told(server, code, is_enough, session="s"):
    """What a cell's answer tells, and the next ones until it is enough: an answer waits five seconds at most."""
    texts = ["\n".join(server.cell(code, session).texts)]
    until(lambda: is_enough("\n".join(texts)) or texts.append("\n".join(server.cell("1", session).texts)))
    return "\n".join(texts)


def offered(server, code, *paths, session="s"):
    """Path to URL of what a cell's answer offers, and the next ones until all of `paths` are among that."""
    return dict(LINK.findall(told(server, code, lambda text: set(paths) <= set(dict(LINK.findall(text))), session)))


def listed(server, pattern="output/**", session="s"):
    answer = server.call("list_artifacts", session_id=session, pattern=pattern)
    return {artifact["path"]: artifact for artifact in answer.object["artifacts"]}


def write(name, content):
    return f"import pathlib; p = pathlib.Path({name!r}); p.parent.mkdir(exist_ok=True); n = p.write_text({content!r})"


def helpers_of(server):
    """Process ids of its ptycell-fetch."""
    found = []
    for pid in pids():
        try:
            name, _, rest = (PROC / f"{pid}/stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if name == "ptycell-fetch" and int(rest.split()[1]) == server.process.pid:
            found.append(pid)
    return found


# ---- links ----

def test_a_cell_s_results_come_as_links_that_give_them(storage, home):
    with Server(home, env=storage.environment()) as server:
        text = told(server, write("output/a.csv", "1,2\n"), LINK.search)
        ((_, url),) = LINK.findall(text)
        status, headers, content = get(url)
        assert (status, content) == (200, b"1,2\n")
        assert "a.csv" in headers["Content-Disposition"] and "text/csv" in headers["Content-Type"]
        assert re.search(r"/s-[0-9a-f]{8}/a\.csv\?", url)
        assert re.search(r"good until 20\d\d-\d\d-\d\d \d\d:\d\d UTC:", text)
        assert links(server.cell("1")) == {}


def test_cb_17_cb_18_only_new_and_changed_files_go_and_deep_ones_too(azurite, home):
    with Server(home, env=azurite.environment()) as server:
        first = offered(server, write("output/sub/x.txt", "one") + "\n" + write("output/top.csv", "a"),
                        "output/sub/x.txt", "output/top.csv")
        assert set(first) == {"output/sub/x.txt", "output/top.csv"}
        second = offered(server, write("output/top.csv", "b"), "output/top.csv")
        assert set(second) == {"output/top.csv"}
        assert get(first["output/top.csv"])[2] == b"b"


def test_cb_20_cb_21_nothing_but_output_goes(azurite, home):
    with Server(home, env=azurite.environment("only-output")) as server:
        server.call("upload_file", session_id="s", filename="in.txt", content="private")
        result = server.cell(write("input/more.txt", "x") + "\n" + write("note.txt", "x"))
        assert links(result) == {}
        assert server.call("session_info", session_id="s", config={}).object["storage"]["files"] == 0


def test_cb_22_cb_23_links_of_the_file_system_are_not_followed(azurite, home):
    with Server(home, env=azurite.environment()) as server:
        result = server.cell("import os; os.symlink('/etc/passwd', 'output/p'); os.symlink('gone', 'output/q')")
        assert result.state == "done" and links(result) == {}


def test_cb_24_the_same_name_in_two_folders_is_two_files(azurite, home):
    with Server(home, env=azurite.environment()) as server:
        found = offered(server, write("output/a/p.txt", "A") + "\n" + write("output/b/p.txt", "B"),
                        "output/a/p.txt", "output/b/p.txt")
        assert get(found["output/a/p.txt"])[2] == b"A"
        assert get(found["output/b/p.txt"])[2] == b"B"


def test_cb_25_any_name_makes_a_link_that_works(azurite, home):
    names = ["output/sp ace.txt", "output/ha#sh.txt", "output/wh?t.txt", "output/ünï.txt", "output/100%.txt"]
    with Server(home, env=azurite.environment()) as server:
        server.cell("\n".join(write(name, name) for name in names))
        found = until(lambda: (all("sas_url" in (now := listed(server))[name] for name in names)) and now)
        for name in names:
            assert get(found[name]["sas_url"])[2] == name.encode()


def test_names_that_differ_in_what_no_storage_takes_are_two_files(storage, home):
    names = [b"M\xfcller.csv", b"M\xf6ller.csv", b"a\\b.csv", b"a_b.csv"]
    with Server(home, env=storage.environment()) as server:
        server.cell(f"for name in {names!r}: n = open(b'output/' + name, 'wb').write(repr(name).encode())")

        def urls():
            artifacts = server.call("list_artifacts", session_id="s").object["artifacts"]
            return [artifact["sas_url"] for artifact in artifacts if "sas_url" in artifact]

        until(lambda: len(urls()) == len(names))
        assert {get(url)[2] for url in urls()} == {repr(name).encode() for name in names}


def test_list_artifacts_tells_links_and_until_when(azurite, home):
    with Server(home, env={**azurite.environment(), "BLOB_SAS_EXPIRY_HOURS": "2"}) as server:
        offered(server, write("output/a.txt", "x") + "\n" + write("b.txt", "y"), "output/a.txt")
        found = listed(server, "**")
        expires = datetime.datetime.strptime(found["output/a.txt"]["sas_expires"], "%Y-%m-%dT%H:%M:%SZ")
        left = expires - datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        assert datetime.timedelta(hours=1, minutes=58) < left <= datetime.timedelta(hours=2)
        assert get(found["output/a.txt"]["sas_url"])[2] == b"x"
        assert "sas_url" not in found["b.txt"]


def test_a_session_may_shorten_its_links(azurite, home):
    with Server(home, env=azurite.environment()) as server:
        config = {"blob_sas_expiry_hours": 1}
        info = server.call("session_info", session_id="s", config=config).object
        assert info["effective_config"]["blob_sas_expiry_hours"] == 1
        assert info["storage"]["link_hours"] == 1


HELPER = """#!{python}
import json, os, sys
order = json.loads(sys.stdin.buffer.readline())
if order["do"] == "store":
    order["link_seconds"] = 4
r, w = os.pipe()
os.write(w, json.dumps(order).encode() + b"\\n")
os.dup2(r, 0)
os.execv({fetch!r}, [{fetch!r}])
"""


@pytest.fixture
def short(tmp_path):
    """The programs, but that what is uploaded gets links of a few seconds, which no setting allows."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("ptycell-launcher", "ptycell-files", "ptycell-proxy"):
        (folder / name).symlink_to((BUILD / name).resolve())
    shutil.copy(BUILD / "ptycell", folder)
    helper = folder / "ptycell-fetch"
    helper.write_text(HELPER.format(python=sys.executable, fetch=str((BUILD / "ptycell-fetch").resolve())))
    helper.chmod(0o755)
    return [str(folder / "ptycell")]


def test_a_dead_link_is_never_given_but_a_fresh_one(storage, home, short):
    with Server(home, command=short, env=storage.environment()) as server:
        (old,) = offered(server, write("output/a.csv", "x"), "output/a.csv").values()
        until(lambda: get(old)[0] == 403, every=0.2)
        fresh = listed(server)["output/a.csv"]["sas_url"]
        assert fresh != old and get(fresh)[::2] == (200, b"x")
        assert listed(server)["output/a.csv"]["sas_url"] == fresh


def test_json_results_have_fresh_links_too(azurite, home, short):
    with Server(home, "--results=json", command=short, env=azurite.environment()) as server:
        answers = [json.loads(server.cell(write("output/a.txt", "x")).texts[0])]
        until(lambda: answers[-1].get("links") or answers.append(json.loads(server.cell("1").texts[0])))
        until(lambda: get(answers[-1]["links"][0]["sas_url"])[0] == 403, every=0.2)
        later = json.loads(server.cell("1").texts[0])
        assert get(later["all_artifacts"][0]["sas_url"])[2] == b"x"


def test_what_later_cells_write_through_a_mapping_goes_though_nothing_is_kept(azurite, home):
    if "tmpfs" in subprocess.run(["stat", "-f", "-c", "%T", home], capture_output=True, text=True, check=True).stdout:
        pytest.skip("a memory file system does not show writes through mappings")
    with Server(home, env={**azurite.environment(), "PTYCELL_KEEP": "off"}) as server:
        code = "import mmap\nf = open('output/m', 'w+b'); n = f.truncate(400_000); m = mmap.mmap(f.fileno(), 0)"
        for word in ("one", "two", "six"):
            url = offered(server, f"{code}\nm[:3] = b'{word}'", "output/m")["output/m"]
            assert get(url)[2][:3] == word.encode()
            code = ""


def test_many_links_are_cut_and_the_rest_is_listed(azurite, home):
    with Server(home, env=azurite.environment()) as server:
        more = re.compile(r"(\d+) more: list_artifacts has them\.")
        text = told(server, "for i in range(30): open(f'output/{i:02}.txt', 'w').write(str(i))",
                    lambda text: len(LINK.findall(text)) + sum(map(int, more.findall(text))) == 30)
        assert 12 <= len(LINK.findall(text)) < 30 and more.search(text)
        assert get(listed(server)["output/29.txt"]["sas_url"])[2] == b"29"


def test_json_results_have_links_too(azurite, home):
    with Server(home, "--results=json", env=azurite.environment()) as server:
        answer = json.loads(server.cell(write("output/a.txt", "x")).texts[0])
        assert get(answer["new_artifacts"][0]["sas_url"])[2] == b"x"
        assert answer["links"][0]["path"] == "output/a.txt"
        assert answer["links"][0]["sas_url"] == answer["new_artifacts"][0]["sas_url"]


def test_cb_27_figures_go_as_pictures(azurite, home):
    with Server(home, env=azurite.environment()) as server:
        ((_, url),) = LINK.findall(told(server, "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()", LINK.search))
        status, headers, content = get(url)
        assert (status, headers["Content-Type"], content[:4]) == (200, "image/png", b"\x89PNG")
        assert headers["Content-Disposition"].startswith("inline;")


def test_a_link_never_gives_what_another_session_of_the_id_wrote(storage, home, tmp_path):
    with Server(home, env=storage.environment()) as server, Server(tmp_path, env=storage.environment()) as other:
        (old,) = offered(server, write("output/a.txt", "OLD"), "output/a.txt").values()
        server.call("destroy_session", session_id="s")
        (new,) = offered(server, write("output/a.txt", "NEW"), "output/a.txt").values()
        (others,) = offered(other, write("output/a.txt", "OTHER"), "output/a.txt").values()
        assert [get(url)[2] for url in (old, new, others)] == [b"OLD", b"NEW", b"OTHER"]


# ---- waiting ----

def test_an_answer_waits_five_seconds_at_most_and_late_links_come_later(home):
    trouble = Trouble(azure_error(201, "None"))
    trouble.open.clear()
    with trouble.site, Server(home, env=trouble.environment()) as server:
        slow = server.cell(write("output/a.txt", "x"))
        assert slow.state == "done" and links(slow) == {}
        assert "'output/a.txt' is still on the way to the storage: a later answer has the links." in slow.texts[-2]
        other = server.cell("2")  # nobody waits for another's links
        assert links(other) == {}
        trouble.open.set()
        until(lambda: "sas_url" in listed(server)["output/a.txt"])
        late = server.cell("3")
        assert set(links(late)) == {"output/a.txt"}
        assert links(server.cell("4")) == {}


def test_the_next_cell_runs_while_links_are_waited_for(home):
    trouble = Trouble(azure_error(201, "None"))
    trouble.open.clear()
    with trouble.site, Server(home, env=trouble.environment()) as server:
        waiting = server.start_cell(write("output/a.txt", "x"))
        until(lambda: trouble.site.paths)
        second = server.cell("open('output/a.txt').read()")
        assert second.text == "'x'\n"
        trouble.open.set()
        waiting.get()


# ---- trouble ----

def test_cb_28_one_failed_upload_never_fails_the_cell_and_the_next_goes_well(home):
    trouble = Trouble(azure_error(409, "BlobArchived"), azure_error(201, "None"))
    with trouble.site, Server(home, env=trouble.environment()) as server:
        problem = "'output/a.txt' was not uploaded: the storage answered 409 BlobArchived."
        text = told(server, write("output/a.txt", "x"), lambda text: problem in text)
        assert "[s#1 done " in text
        assert "sas_url" not in listed(server)["output/a.txt"]
        assert set(offered(server, write("output/a.txt", "y"), "output/a.txt")) == {"output/a.txt"}


def test_a_wrong_key_is_one_sentence_for_many_files(azurite, home):
    env = {**azurite.environment(), "AZURE_BLOB_CONNECTION_STRING": azurite.connection("c2VjcmV0")}
    with Server(home, env=env) as server:
        problem = re.compile(r"'output/0.txt' and 8 more were not uploaded: the storage refuses it \(403 ")
        text = told(server, "for i in range(9): open(f'output/{i}.txt', 'w').write('x')", problem.search)
        assert "[s#1 done " in text and "c2VjcmV0" not in text


def test_cb_26_a_connection_string_without_a_key_uploads_and_says_why_no_link(home):
    trouble = Trouble(azure_error(201, "None"))
    env = {"AZURE_BLOB_CONNECTION_STRING":
           f"BlobEndpoint={trouble.site.url('/acct')};SharedAccessSignature=sv=1&sig=c2Vj"}
    with trouble.site, Server(home, env=env) as server:
        problem = "uploaded, but there are no links: AZURE_BLOB_CONNECTION_STRING has no AccountKey"
        told(server, write("output/a.txt", "x"), lambda text: problem in text)
        assert "no links" not in told(server, write("output/b.txt", "x"), lambda _: len(trouble.site.paths) == 2)


def test_size_is_capped(azurite, home):
    env = {**azurite.environment(), "PTYCELL_KEEP_MAX": "1M"}
    with Server(home, env=env) as server:
        text = told(server, "open('output/a', 'w').write('x'); open('output/b', 'w').write('x' * 2**20)",
                    lambda text: "would lie in the storage (PTYCELL_KEEP_MAX)" in text)
        assert len(LINK.findall(text)) == 1


def test_a_storage_that_is_set_wrong_is_every_tool_s_answer(home):
    with Server(home, env={"AZURE_BLOB_CONNECTION_STRING": "AccountName=a;AccountKey=s3cret!"}) as server:
        result = server.call("session_info", session_id="s")
        assert result.is_error and "AccountKey is not Base64" in result.texts[0]
        assert "s3cret" not in result.texts[0]


# ---- what is said, and what is not ----

def test_session_info_says_what_storage_is_on(storage, home):
    with Server(home, env=storage.environment()) as server:
        offered(server, write("output/a.txt", "four"), "output/a.txt")
        info = server.call("session_info", session_id="s", config={}).object["storage"]
        kind = "azure" if isinstance(storage, Azurite) else "s3"
        assert (info["kind"], info["files"], info["bytes"]) == (kind, 1, 4)
        assert re.fullmatch("s-[0-9a-f]{8}/", info["prefix"])
        assert info["container" if kind == "azure" else "bucket"] == "box"
        assert info["endpoint"].startswith(storage.endpoint)


def test_without_a_storage_session_info_says_so(server):
    assert server.call("session_info", session_id="s", config={}).object["storage"] is None


def test_destroying_a_session_says_what_stays_elsewhere(azurite, home):
    with Server(home, env=azurite.environment()) as server:
        (url,) = offered(server, write("output/a.txt", "x"), "output/a.txt").values()
        message = server.call("destroy_session", session_id="s").object["message"]
        assert re.search("1 file stays in the storage's container 'box', below s-[0-9a-f]{8}/", message)
        assert get(url)[2] == b"x"


def test_an_upload_outlives_its_session(home):
    trouble = Trouble(azure_error(201, "None"))
    trouble.open.clear()
    with trouble.site, Server(home, env=trouble.environment()) as server:
        server.cell(write("output/a.txt", "x"))
        until(lambda: trouble.site.paths)
        said = server.call("destroy_session", session_id="s").object["message"]
        assert re.search("; 'output/a.txt' is still on the way to the storage, below s-[0-9a-f]{8}/, as long as", said)
        assert helpers_of(server)
        trouble.open.set()
        until(lambda: not helpers_of(server) and not session_folders(home))


def test_no_upload_outlives_the_server(home):
    trouble = Trouble(azure_error(201, "None"))
    trouble.open.clear()
    with trouble.site, Server(home, env=trouble.environment()) as server:
        server.cell(write("output/a.txt", "x"))
        (helper,) = until(lambda: helpers_of(server))
        server.close()
        until(lambda: not (PROC / f"{helper}").exists())
        trouble.open.set()
    assert "uploads: the server ends while 'output/a.txt' is on the way to the storage" in server.stderr.decode()


def test_requests_from_a_file_wait_for_their_links(home, tmp_path):
    trouble = Trouble(azure_error(201, "None"))
    trouble.open.clear()
    cells = [("s", write("output/a.txt", "x")), ("t", "import time; time.sleep(6)")]  # longer than others wait
    calls = [("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
             *(("tools/call", {"name": "exec_code", "arguments": {"session_id": session, "code": code}})
               for session, code in cells)]
    lines = [json.dumps({"jsonrpc": "2.0", "id": index, "method": method, "params": params})
             for index, (method, params) in enumerate(calls)]
    (tmp_path / "requests").write_text("\n".join(lines) + "\n")
    env = {**os.environ, **trouble.environment(), "PTYCELL_HOME": str(home)}
    with trouble.site, open(tmp_path / "requests", "rb") as requests, \
            subprocess.Popen([BUILD / "ptycell"], stdin=requests, stdout=subprocess.PIPE, env=env) as server:
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        assert [answer["id"] for answer in answers] == [0, 2], answers
        trouble.open.set()
        last = json.loads(server.stdout.readline())
    assert LINK.search("\n".join(block.get("text", "") for block in last["result"]["content"]))


def test_what_lay_in_a_container_that_is_made_anew_goes_up_again(home):
    trouble = Trouble(azure_error(201, "None"))
    with trouble.site, Server(home, env=trouble.environment()) as server:
        (old,) = offered(server, write("output/a.txt", "x"), "output/a.txt").values()
        offered(server, write("output/c.txt", "x"), "output/c.txt", session="t")
        trouble.container = azure_error(201, "None")
        trouble.answers = [azure_error(404, "ContainerNotFound"), azure_error(201, "None")]
        offered(server, write("output/b.txt", "x"), "output/b.txt")
        trouble.site.paths.clear()
        offered(server, "1", "output/a.txt")
        assert [path.rpartition("/")[2] for path in trouble.site.paths] == ["a.txt"] and "/a.txt?" in old
        assert "sas_url" not in listed(server, session="t")["output/c.txt"]
        assert list(offered(server, "1", "output/c.txt", session="t")) == ["output/c.txt"]


def test_what_could_not_go_up_goes_with_a_later_cell(home):
    trouble = Trouble(azure_error(403, "AuthenticationFailed"))
    with trouble.site, Server(home, env=trouble.environment()) as server:
        told(server, write("output/a.txt", "x"), lambda text: "'output/a.txt' was not uploaded" in text)
        again = "\n".join(server.cell("1").texts)
        assert "was not uploaded" not in again  # that was told
        trouble.answers = [azure_error(201, "None")]
        assert set(offered(server, "2", "output/a.txt")) == {"output/a.txt"}


def test_no_secret_is_in_argv_environment_log_or_a_session_s_sight(home):
    trouble = Trouble(azure_error(403, "AuthenticationFailed"))
    trouble.open.clear()
    env = {**trouble.environment(), "PTYCELL_LOG": "debug", "PTYCELL_AUDIT": str(home / "audit")}
    with trouble.site, Server(home, env=env) as server:
        answer = server.cell("import os, glob\nopen('output/a.txt', 'w').write('x')\nprint(dict(os.environ))\n"
                             "for p in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):\n"
                             "    try: print(open(p).read())\n    except OSError: pass")
        (helper,) = until(lambda: helpers_of(server))
        seen = (PROC / f"{helper}/cmdline").read_bytes()
        with contextlib.suppress(PermissionError):  # what nobody but root reads holds for all
            seen += (PROC / f"{helper}/environ").read_bytes()
        trouble.open.set()
        texts = ["\n".join(answer.texts)]
        until(lambda: texts.append("\n".join(server.cell("1").texts)) or "refuses it (403" in texts[-1])
        server.close()
        said = "".join(texts) + server.stderr.decode() + (home / "audit").read_text()
    for secret in ("c2VjcmV0", "secret"):
        assert secret not in said
        assert secret.encode() not in seen
    assert AZURITE_KEY not in said
    assert os.environ.get("AZURE_BLOB_CONNECTION_STRING") is None
