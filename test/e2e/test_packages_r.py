# SPDX-License-Identifier: MIT
"""install_packages for R, with R's own install.packages and a repository in CRAN's form made here."""
import functools
import http.server
import io
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tarfile
import threading

import pytest
import steps
from client import WAIT_S
from steps import paths_in

if not shutil.which("R"):
    pytest.skip("there is no R here (apt install r-base-core)", allow_module_level=True)

# Of each: version, and what it imports. R builds what is loaded here; of others the repository has what it is told by.
LOADED = {"alphapkg": ("2.0", ""), "betapkg": ("1.0", "alphapkg (>= 1.5)")}
TOLD = {"tunnelpkg": ("1.0", "evilpkg"), "evilpkg": ("3.0", ""), "oldpkg": ("0.9-2", ""), "needsnew": ("1.0", "alphapkg (>= 9.0)"),
        "lackspkg": ("1.0", "nowherepkg")}
# These run code when they are installed.
SOURCES = {"sourcepkg": ("1.0", "alphapkg"), "brokenpkg": ("1.0", "")}
RAN = ('cat("built", file = "ran.txt"); built_by <- Sys.getpid(); '
       'inherited <- grep("^pipe:", Sys.readlink(c("/proc/self/fd/5", "/proc/self/fd/6")))')


def r(*arguments, cwd, env=None):
    subprocess.run(["R", "CMD", *arguments], cwd=cwd, env=env, check=True, capture_output=True, timeout=WAIT_S)


def write_source(folder, name, version, imports, code):
    (folder / "R").mkdir(parents=True)
    (folder / "DESCRIPTION").write_text(description(name, version, imports, built=""))
    used = "".join(f"import({text.split()[0]})\n" for text in [imports] if text)
    (folder / "NAMESPACE").write_text(f"{used}export(version_of)\n")
    (folder / "R" / "all.R").write_text(f'version_of <- function() "{name} {version}"\n{code}\n')


def write_tar(path, members):
    """`members`: names and texts, or names and the links that they are, in their order; names may be there twice."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in members.items() if isinstance(members, dict) else members:
            member = text if isinstance(text, tarfile.TarInfo) else tarfile.TarInfo(name)
            member.name, member.mode = name, 0o755
            member.size = 0 if member is text else len(text)
            archive.addfile(member, None if member is text else io.BytesIO(text.encode()))


def link_to(target, kind=tarfile.SYMTYPE):
    member = tarfile.TarInfo()
    member.type, member.linkname = kind, target
    return member


BUILT = "Built: R 4.2.2; ; 2026-01-01 00:00:00 UTC; unix\n"


def description(name, version="1.0", imports="", built=BUILT):
    return (f"Package: {name}\nVersion: {version}\nTitle: T\nDescription: D.\nAuthor: T\nMaintainer: T <t@t.test>\nLicense: MIT\n"
            + (f"Imports: {imports}\n" if imports else "") + built)


def write_hostile(contrib):
    write_tar(contrib / "travelpkg_1.0.tar.gz", {"travelpkg/DESCRIPTION": description("travelpkg"), "../../evil.R": "1\n"})
    write_tar(contrib / "liarpkg_1.0.tar.gz", {"liarpkg/DESCRIPTION": description("liarpkg")})
    foreign = description("foreignpkg").replace("; ;", "; sparc-sun-solaris2.10;")
    write_tar(contrib / "foreignpkg_1.0.tar.gz", {"foreignpkg/DESCRIPTION": foreign})
    write_tar(contrib / "swappedpkg_1.0.tar.gz", {"swappedpkg/DESCRIPTION": description("swappedpkg")})


CONFIGURE = "#!/bin/sh\necho CONFIGURE-RAN >&2\nexit 1\n"
# What follows a DESCRIPTION that says that it was built: with all of it unpacked R sees a source.
# What an index may say of where a file lies, each with what is told of it.
MISPLACED = {
    "climbpkg": ("File: ../../climbpkg_1.0.tar.gz", "its File of climbpkg is '../../climbpkg_1.0.tar.gz'"),
    "rootpkg": ("File: /etc/rootpkg_1.0.tar.gz", "its File of rootpkg is '/etc/rootpkg_1.0.tar.gz'"),
    "elsepkg": ("File: alphapkg_2.0.tar.gz", "its File of elsepkg is 'alphapkg_2.0.tar.gz'"),
    "uppkg": ("Path: Older/../../..", "its Path of uppkg is 'Older/../../..'"),
    "abspkg": ("Path: /etc", "its Path of abspkg is '/etc'"),
    "schemepkg": ("Path: file:///etc", "its Path of schemepkg is 'file:///etc'"),
    "brokenlinepkg": ("Path: a\n b", "its Path of brokenlinepkg is 'a b'"),
    "queerpkg": ("Version: 1.0/../../x", "its Version of queerpkg is '1.0/../../x'"),
}
TWO_FACED = {
    "dotpkg": lambda source: [("dotpkg/./DESCRIPTION", source)],
    "slashpkg": lambda source: [("slashpkg//DESCRIPTION", source)],
    "twicepkg": lambda source: [("twicepkg/DESCRIPTION", source)],
    "linkpkg": lambda source: [("linkpkg/d", link_to(".")), ("linkpkg/d/DESCRIPTION", source)],
    "hardpkg": lambda source: [("hardpkg/o", source), ("hardpkg/./DESCRIPTION", link_to("hardpkg/o", tarfile.LNKTYPE))],
    "morepkg": lambda source: [("otherpkg/DESCRIPTION", source)],
}


def write_two_faced(contrib):
    for name, more in TWO_FACED.items():
        built = description(name)
        source = built[:built.index("Built:")]
        write_tar(contrib / f"{name}_1.0.tar.gz",
                  [(f"{name}/DESCRIPTION", built), (f"{name}/configure", CONFIGURE), *more(source)])


def write_rows(contrib):
    """What write_PACKAGES would not write."""
    rows = [f"Package: {name}\n" + ("" if row.startswith("Version") else "Version: 1.0\n") + f"{row}\n" for name, (row, _) in MISPLACED.items()]
    (contrib / "Older").mkdir()
    write_tar(contrib / "Older" / "lowerpkg_7.tar.gz", {"lowerpkg/DESCRIPTION": description("lowerpkg")})
    rows.append("Package: lowerpkg\nVersion: 1.0\nPath: Older\nFile: lowerpkg_7.tar.gz\n")
    write_tar(contrib / "aheadpkg_9.0.tar.gz", {"aheadpkg/DESCRIPTION": description("aheadpkg")})
    rows.append("Package: aheadpkg\nVersion: 9.0\n")
    with (contrib / "PACKAGES").open("a") as index:
        index.write("\n" + "\n".join(rows))


# R's own, and one of other versions in a form that R before 4.4 runs code of.
INDEXES = """
tools::write_PACKAGES('.', type = 'source')
x <- read.dcf("PACKAGES"); x[, "Version"] <- "77.0"; rownames(x) <- x[, "Package"]; saveRDS(x, "others.rds")
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A folder: built packages and sources side by side, as in repositories for one system."""
    top = tmp_path_factory.mktemp("cran")
    contrib = top / "repository" / "src" / "contrib"
    contrib.mkdir(parents=True)
    library = top / "library"
    library.mkdir()
    for name, row in {**LOADED, **SOURCES}.items():
        write_source(top / name, name, *row, {"sourcepkg": RAN, "brokenpkg": 'stop("no luck")'}.get(name, ""))
    r("INSTALL", "--build", "--no-test-load", f"--library={library}", *(str(top / name) for name in LOADED), cwd=contrib,
      env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(top), "R_LIBS": str(library)})
    for path in contrib.glob("*_R_*.tar.gz"):
        path.rename(contrib / (path.name.partition("_R_")[0] + ".tar.gz"))
    for name, (version, _) in SOURCES.items():
        with tarfile.open(contrib / f"{name}_{version}.tar.gz", "w:gz") as archive:
            archive.add(top / name, name)
    for name, row in TOLD.items():
        write_tar(contrib / f"{name}_{row[0]}.tar.gz", {f"{name}/DESCRIPTION": description(name, *row)})
    write_hostile(contrib)
    write_two_faced(contrib)
    subprocess.run(["Rscript", "-e", INDEXES], cwd=contrib, check=True, capture_output=True, timeout=WAIT_S)
    (contrib / "others.rds").rename(top / "others.rds")
    # What the index tells is true, but the files are others by now.
    write_tar(contrib / "swappedpkg_1.0.tar.gz", {"swappedpkg/DESCRIPTION": description("swappedpkg") + "X: y\n"})
    for path in contrib.glob("PACKAGES.*"):
        path.unlink()
    text = (contrib / "PACKAGES").read_text()
    liar = text[text.index("Package: liarpkg"):].split("\n\n")[0]
    (contrib / "PACKAGES").write_text(text.replace(liar, "\n".join(
        line for line in liar.splitlines() if not line.startswith("MD5sum:"))))
    write_tar(contrib / "liarpkg_1.0.tar.gz", {"liarpkg/DESCRIPTION": description("evilpkg")})
    write_rows(contrib)
    return top / "repository"


@pytest.fixture(scope="module")
def served(repository):
    """Its URL; `asked` are the paths that were fetched."""
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(repository))

        def do_GET(self):
            asked.append(self.path)
            super().do_GET()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.url = f"http://localhost:{server.server_address[1]}"
    server.asked = asked
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def start(shared, served):
    return lambda *flags, repos=None, **options: shared("--r-repos", repos or served.url, *flags, **options)


install = functools.partial(steps.install, language="r")

# The installer itself, without a server: each order from its first step to the last one that it gets to.
ALONE = r"""
text <- readLines(commandArgs(TRUE)[1])
text <- text[seq_len(grep("^\tchannel <- ", text) - 1L)]
eval(parse(text = c(text, '
	for (order in readLines("orders")) {
		unlink(c("tmp", "sources", "opened", "site"), recursive = TRUE)
		for (step in c("fetch", "unpack")) {
			told <- answer(c(list(step = step), from_json(order)))
			if (!told$ok) break
		}
		cat(to_json(told), "\n", sep = "")
	}
})')))
"""


def alone(tmp_path, repos, wishes):
    """The installer's answers to these wishes, one after the other, from the one repository."""
    is_url = repos.startswith("http")
    order = {"policy": {"allow": [], "block": [], "minimum": {}}, "policy_path": "policy.json", "builds": False, "proxied": False,
             "indexes": [repos] if is_url else [], "folders": [] if is_url else [repos]}
    work = tmp_path / "alone"
    work.mkdir(exist_ok=True)
    (work / "orders").write_text("".join(json.dumps({**order, "packages": wish}) + "\n" for wish in wishes))
    (work / "alone.R").write_text(ALONE)
    source = pathlib.Path(__file__).resolve().parents[2] / "lib/install/r.R"
    # Its progress goes to descriptor 6.
    done = subprocess.run(["sh", "-c", 'exec Rscript --vanilla alone.R "$1" 6>/dev/null', "sh", str(source)], cwd=work, check=False,
                          capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def cell(server, code, session="s", **arguments):
    return server.call("exec_code", session_id=session, language="r", code=code, **arguments)


def has_no_network(server, served, session="s"):
    port = served.server_address[1]
    text = cell(server, f'suppressWarnings(tryCatch(close(socketConnection("127.0.0.1", {port}, timeout = 2)), '
                        'error = function(e) cat("no way")))', session=session).text
    return "no way" in text


def test_a_package_of_the_repository_is_there_in_the_next_cell_without_a_restart(start, served):
    server = start()
    missing = cell(server, "library(betapkg)")
    assert missing.is_error and 'language: "r" and packages: ["betapkg"]' in missing.text
    result = install(server, "betapkg")
    assert result.object["packages"] == ["alphapkg 2.0", "betapkg 1.0"], result.texts
    assert "betapkg 1.0" in cell(server, "library(betapkg); version_of()").text
    assert "alphapkg 2.0" in cell(server, "alphapkg::version_of()").text
    assert has_no_network(server, served)
    rows = {row["name"]: row for row in
            server.call("session_info", session_id="s", include=["packages"]).object["installed"]}
    assert (rows["betapkg"]["version"], rows["betapkg"]["language"]) == ("1.0", "r")
    assert rows["betapkg"]["from"] in served.url and rows["alphapkg"]["file"] == "alphapkg_2.0.tar.gz"


def test_a_second_session_gets_it_from_the_cache_and_nobody_writes_there(start, served):
    server = start()
    install(server, "betapkg")
    asked = len(served.asked)
    assert install(server, "betapkg", session="t").object["cached"] and len(served.asked) == asked
    assert "alphapkg 2.0" in cell(server, "alphapkg::version_of()", session="t").text
    text = cell(server, 'folder <- find.package("alphapkg"); unlink(folder, recursive = TRUE); '
                        'cat(file.exists(file.path(folder, "DESCRIPTION")), file.create(file.path(folder, "x")))').text
    assert "TRUE FALSE" in text


def test_install_packages_in_a_cell_leads_to_the_same_place_and_says_so(start, served):
    server = start()
    for n, code in enumerate(('install.packages("betapkg")', 'utils::install.packages(c("betapkg"), quiet = TRUE)',
                              'install.packages("betapkg", repos = "https://cran.invalid")')):
        text = cell(server, f"{code}\nlibrary(betapkg); version_of()", session=f"s{n}").text
        assert "Asking ptycell to install betapkg" in text and "Installed: alphapkg 2.0, betapkg 1.0" in text, text
        assert '"betapkg 1.0"' in text
    refused = cell(server, 'install.packages("nowherepkg")', session="s0")
    assert refused.is_error and "no package 'nowherepkg'" in refused.text
    assert "[1] 2" in cell(server, "1 + 1", session="s0").text and has_no_network(server, served, session="s0")


def test_dependencies_of_a_cell_are_there_when_it_runs(start):
    server = start()
    assert "betapkg 1.0" in cell(server, "betapkg::version_of()", dependencies=["betapkg"]).text
    assert "3.0" in cell(server, 'packageVersion("evilpkg")', dependencies=["evilpkg (>= 2.5)"]).text
    assert "betapkg 1.0" in cell(server, "betapkg::version_of()").text


def test_a_package_that_is_needed_and_blocked_refuses_all_before_it_is_fetched(start, served):
    server = start(policy={"r": {"block": ["evil*"]}})
    served.asked.clear()
    result = install(server, "tunnelpkg", "alphapkg")
    assert result.is_error
    assert "evilpkg (needed by tunnelpkg) is on the block list (r.block has 'evil*')" in result.texts[0], result.texts
    assert not any(path.endswith(".tar.gz") for path in served.asked)
    assert cell(server, "library(alphapkg)").is_error
    assert "r.block" in cell(server, 'install.packages("evilpkg")').text


def test_versions_below_the_minimum_and_names_off_the_allow_list_are_refused(start):
    server = start(policy={"r": {"minimum": {"oldpkg": "0.9.3"}}})
    result = install(server, "oldpkg")
    assert result.is_error and "version 0.9-2" in result.texts[0] and "r.minimum" in result.texts[0]
    server = start(policy={"r": {"minimum": {"oldpkg": "0.9.2", "OLDPKG": "9"}}})
    assert install(server, "oldpkg").object["packages"] == ["oldpkg 0.9-2"]
    server = start(policy={"r": {"allow": ["betapkg"]}})
    assert "alphapkg (needed by betapkg) is not on the allow list" in install(server, "betapkg").texts[0]


def test_a_source_runs_no_code_unless_that_is_allowed(start):
    """Also one that is nothing but R: what stands at its top level runs when it is installed."""
    result = install(start(), "sourcepkg")
    assert result.is_error and "PTYCELL_INSTALL_BUILDS=1" in result.texts[0] and "runs its code" in result.texts[0]


HOSTILE = {"travelpkg": "its file '../../evil.R' would lie outside", "liarpkg": "calls itself otherwise inside",
           "foreignpkg": "was built for another system", "swappedpkg": "is not the one that the repository's index tells of"}


def test_files_that_are_not_what_they_say_are_refused(start, shared, served, tmp_path):
    for name, answer in zip(HOSTILE, alone(tmp_path, served.url, [[name] for name in HOSTILE]), strict=True):
        assert not answer["ok"] and HOSTILE[name] in answer["text"], (name, answer)
    assert not paths_in(tmp_path, "**/evil.R")
    result = install(start(), "travelpkg")
    assert result.is_error and HOSTILE["travelpkg"] in result.texts[0], result.texts
    assert not paths_in(shared.home, "**/evil.R")


def test_an_archive_is_judged_by_what_comes_out_of_it(start, served, tmp_path):
    """68: no second name of a file, and no link, makes a source of what was judged as built."""
    for name, answer in zip(TWO_FACED, alone(tmp_path, served.url, [[name] for name in TWO_FACED]), strict=True):
        assert not answer["ok"] and "was not installed: its file" in answer["text"], (name, answer)
    result = install(start(), "dotpkg")
    assert result.is_error and "was not installed: its file" in result.texts[0], result.texts


def test_an_index_that_leads_out_of_its_repository_is_refused(start, served, repository, tmp_path):
    """Nothing it says becomes a path or a URL but plain names below the repository."""
    served.asked.clear()
    for repos in (served.url, str(repository)):
        wishes = [*([name, "alphapkg"] for name in MISPLACED), ["lowerpkg"]]
        *answers, lower = alone(tmp_path, repos, wishes)
        for (name, (_, why)), answer in zip(MISPLACED.items(), answers, strict=True):
            assert not answer["ok"] and why in answer["text"], (name, answer)
        assert lower["ok"] and lower["packages"][0]["version"] == "1.0", lower
    server = start()
    result = install(server, "climbpkg", "alphapkg")
    assert result.is_error and MISPLACED["climbpkg"][1] in result.texts[0], result.texts
    assert {path for path in served.asked if path.endswith(".tar.gz")} == {"/src/contrib/Older/lowerpkg_7.tar.gz"}
    assert install(server, "lowerpkg").object["packages"] == ["lowerpkg 1.0"]


def test_a_policy_of_later_holds_for_what_the_cache_has(start):
    """Also where only the file itself says what it is."""
    assert install(start(), "aheadpkg").object["packages"] == ["aheadpkg 1.0"]
    result = install(start(policy={"r": {"minimum": {"aheadpkg": "5.0"}}}), "aheadpkg", session="t")
    assert result.is_error and "aheadpkg is version 1.0, and the least" in result.texts[0], result.texts


def test_no_index_is_read_that_could_run_code(servers, served, repository):
    """CVE-2024-27322: R before 4.4 runs what an .rds file promises. This one says other things than the text does."""
    index = repository / "src" / "contrib" / "PACKAGES.rds"
    shutil.copy(repository.parent / "others.rds", index)
    try:
        for n, repos in enumerate((served.url, str(repository))):
            served.asked.clear()
            result = install(servers("--r-repos", repos), "alphapkg", session=f"s{n}")
            assert result.object["packages"] == ["alphapkg 2.0"], result.texts
            assert not any(path.endswith(".rds") for path in served.asked)
    finally:
        index.unlink()


def test_what_was_built_here_is_for_that_session_alone(servers, served, home):
    server = servers("--r-repos", served.url, "--install-builds")
    assert install(server, "sourcepkg").object["packages"] == ["alphapkg 2.0", "sourcepkg 1.0"]
    assert "sourcepkg 1.0" in cell(server, "sourcepkg::version_of()").text
    assert "TRUE" in cell(server, "sourcepkg:::built_by != Sys.getpid()").text  # it ran while it was installed
    assert "[1] 0" in cell(server, "length(sourcepkg:::inherited)").text  # it cannot answer for the installer
    assert not install(server, "sourcepkg", session="t").object["cached"]
    assert not paths_in(home, "cache/packages/sets/*/files/sourcepkg")
    broken = install(server, "brokenpkg", session="u")
    assert broken.is_error and "no luck" in broken.texts[0]


def test_a_folder_needs_no_network(start, repository):
    for n, repos in enumerate((str(repository), f"file://{repository}")):
        server = start(repos=repos)
        assert install(server, "alphapkg", session=f"s{n}").object["packages"] == ["alphapkg 2.0"]
    off = install(start(repos="off"), "alphapkg")
    assert off.is_error and "PTYCELL_R_REPOS=off" in off.texts[0]


NOT_THERE = {"alphapkg (>= 3)": "has version 2.0", "needsnew": "alphapkg (>= 9.0) is wanted by needsnew, and the repository has version 2.0",
             "lackspkg": "no package 'nowherepkg', which is needed by lackspkg", "./x": "path", "x.tar.gz": "path",
             "alphapkg==1.0": "no package; write", "https://evil.test/x": "URL", "--repos=x": "option",
             "a b": "no package", "alphapkg (>= 1); q()": "no package", "github::x/y": "URL"}


@pytest.mark.parametrize("name", ["alphapkg", "nowherepkg"])
def test_a_password_of_a_repository_stands_nowhere(servers, served, home, name):
    """R itself names the URL with it for each file that does not come."""
    server = servers("--r-repos", served.url.replace("//", "//robot:s3cr3t@") + "/older", "--audit", str(home / "audit"))
    result = install(server, name)
    assert result.is_error and f"There is no index of the repository {served.url}/older" in result.texts[0], result.texts
    refused = install(servers("--r-repos", "http://robot:s3cr3t@cran.test"), name)
    assert refused.is_error and "http://cran.test is not https: its password would be readable" in refused.texts[0], refused.texts
    kept = [path for path in paths_in(home, "**/*") if path.is_file() and b"s3cr3t" in path.read_bytes()]
    assert "s3cr3t" not in str(result.raw) + str(refused.raw) and not kept


def test_what_the_server_brought_is_not_said_to_be_removed(start):
    server = start()
    text = cell(server, 'install.packages("betapkg"); remove.packages("betapkg")').text
    assert "betapkg came from the server, and stays while this session lives" in text and "Removing" not in text, text
    assert "alphapkg, betapkg came from the server, and stay while" in cell(server, 'remove.packages(c("alphapkg", "betapkg"))').text


def test_what_cannot_be_had_is_said(start, served, tmp_path):
    for text, answer in zip(NOT_THERE, alone(tmp_path, served.url, [[text] for text in NOT_THERE]), strict=True):
        assert not answer["ok"] and NOT_THERE[text] in answer["text"], (text, answer)
    server = start()
    result = install(server, "lackspkg")
    assert result.is_error and NOT_THERE["lackspkg"] in result.texts[0], result.texts
    assert install(server, "stats", "utils (>= 3.0)").object["present"][0].startswith("stats ")


LOCAL = """
dir.create("alphapkg/R", recursive = TRUE)
writeLines(c("Package: alphapkg", "Version: 0.1", "Title: T", "Description: D.", "License: MIT", "Author: T", "Maintainer: T <t@t.test>"), "alphapkg/DESCRIPTION")
writeLines("export(own)", "alphapkg/NAMESPACE")
writeLines("own <- function() 'my own'", "alphapkg/R/own.R")
install.packages("./alphapkg", repos = NULL, type = "source")
library(alphapkg)
own()
"""


def test_a_local_path_is_installed_in_the_session_itself_and_told_where_it_is_older(start):
    server = start()
    text = cell(server, LOCAL).text
    assert "Asking ptycell" not in text and "my own" in text
    assert "alphapkg is loaded already in version 0.1" in install(server, "alphapkg").object["imported"]
    assert "loaded already" in cell(server, 'install.packages("alphapkg")').text


INSTALLER = """
dir.create("%(name)s/R", recursive = TRUE)
writeLines(c("Package: %(name)s", "Version: 0.1", "Title: T", "Description: D.", "License: MIT", "Author: T", "Maintainer: T <t@t.test>"), "%(name)s/DESCRIPTION")
writeLines("exportPattern('.')", "%(name)s/NAMESPACE")
writeLines("install <- install_version <- install_cran <- install_github <- function(...) stop('the network')", "%(name)s/R/own.R")
install.packages("./%(name)s", repos = NULL, type = "source")
"""


def in_shell(server, code):
    return server.call("exec_code", session_id="s", language="bash", code=code).text


@pytest.mark.parametrize("command", ["Rscript -e '%s'", "R --no-save -q -e '%s'", "echo '%s' > x.R; Rscript x.R", "echo '%s' > x.R; R CMD BATCH x.R; cat x.Rout", "R_DEFAULT_PACKAGES=NULL Rscript -e 'utils::%s'"])
def test_an_r_that_a_shell_starts_gets_packages_from_the_server(start, command):
    server = start()
    text = in_shell(server, command % 'install.packages("betapkg", repos = "https://cran.invalid"); betapkg::version_of()')
    assert "Asking ptycell to install betapkg." in text and "Installed: alphapkg 2.0, betapkg 1.0" in text and '"betapkg 1.0"' in text, text
    assert "betapkg 1.0" in cell(server, "betapkg::version_of()").text


@pytest.mark.parametrize("none", ["character(0)", "NULL", "setdiff('utils', rownames(installed.packages()))"])
def test_an_installation_of_nothing_does_nothing(start, none):
    server = start()
    code = f"install.packages({none}); cat('goes on')"
    assert cell(server, code).text.startswith("goes on")
    assert in_shell(server, f'Rscript -e "{code}"; echo " $?"').startswith("goes on 0\n")


def test_a_library_that_is_named_is_said_to_be_left_alone(start):
    server = start()
    code = "install.packages('alphapkg', lib = 'mine'); cat(alphapkg::version_of(), 'lies elsewhere')"
    for text in (cell(server, code).text, in_shell(server, f'Rscript -e "{code}" 2>&1')):
        assert "lib is not used: what the server brings is in " in text and "alphapkg 2.0 lies elsewhere" in text, text
    assert "lib is not used" not in cell(server, "install.packages('alphapkg', lib = .libPaths()[1])").text


def test_what_an_r_of_a_shell_cannot_have_is_an_error_of_its_own(start):
    text = in_shell(start(), "Rscript -e 'install.packages(c(\"nowherepkg\", \"a\\\"b\"))'; echo status $?; Rscript -e 'install.packages(\"nowherepkg\")'; echo status $?; ls .cache/ask")
    assert text.count("Error: ") == 2 and text.count("status 1") == 2 and "no package 'nowherepkg'" in text and ".request" not in text, text


def test_r_cmd_install_puts_a_package_of_the_session_where_each_r_finds_it(start):
    server = start()
    cell(server, LOCAL.partition("install.packages")[0])
    text = in_shell(server, "R CMD build alphapkg >/dev/null; R CMD INSTALL alphapkg_0.1.tar.gz 2>&1; echo status $?; Rscript -e 'alphapkg::own()'")
    assert "status 0" in text and "my own" in text, text
    assert "my own" in cell(server, "alphapkg::own()").text
    text = in_shell(server, "Rscript -e 'install.packages(\"alphapkg_0.1.tar.gz\", repos = NULL)' 2>&1; echo status $?")
    assert "status 0" in text and "DONE (alphapkg)" in text, text


def test_an_r_of_a_shell_removes_packages_of_the_session_alone(start):
    server = start()
    cell(server, LOCAL.partition("library(")[0])
    text = in_shell(server, "Rscript -e 'install.packages(\"betapkg\"); remove.packages(\"betapkg\")' 2>&1; echo status $?")
    assert "betapkg came from the server, and stays while this session lives" in text and "status 1" in text, text
    text = in_shell(server, "ls .cache/packages-r; Rscript -e 'remove.packages(\"alphapkg\", .libPaths()[2])'; ls .cache/packages-r | wc -l")
    assert text.startswith("alphapkg") and "\n0\n" in text, text


def test_the_start_of_an_r_makes_no_folder(start):
    assert ".cache" not in cell(start(), "list.files(all.files = TRUE)").text


PROFILE = pathlib.Path(__file__).parents[2] / "lib/runtime/programs/profile.R"


@pytest.fixture
def asking(tmp_path):
    """Returns an R that asks for a package, and the path of its pipes without its end. The test is the server."""
    for folder in ("ask/data", "bell"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(PROFILE, tmp_path / "ask")
    os.mkfifo(tmp_path / "bell/pipe")
    bell = os.open(tmp_path / "bell/pipe", os.O_RDWR)
    process = subprocess.Popen(["Rscript", "-e", "install.packages('alpha'); cat('went on')"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env={**os.environ, "R_PROFILE": str(tmp_path / "ask/profile.R")}, start_new_session=True)
    yield process, tmp_path / "ask/data/.cache/ask" / os.read(bell, 17).decode().strip()
    os.close(bell)


@pytest.mark.parametrize("lines, said", [((b"\n", b""), "the server is not reached"), ((b'{"ok": false, "text": "no more"}\n', b""), "Error: no more"),
                                         ((b"\n", b'{"ok": true'), "the server is not reached"), ((b"\n", b'{"ok": true, "text": "It came."}\n'), "It came.\nwent on")])
def test_an_r_of_a_shell_ends_when_the_server_ends_its_request(asking, lines, said):
    process, name = asking
    with open(f"{name}.answer", "wb", buffering=0) as told, open(f"{name}.request", "rb", buffering=0) as asks:
        told.write(lines[0])
        if lines[0] == b"\n":
            assert b'"packages": ["alpha"]' in asks.readline()
        told.write(lines[1])
    assert said in process.communicate(timeout=WAIT_S)[0] and not list(name.parent.iterdir())


def test_an_r_that_is_interrupted_leaves_no_pipes(asking):
    process, name = asking
    assert len(list(name.parent.iterdir())) == 2
    os.killpg(process.pid, signal.SIGINT)
    assert "the installation was interrupted" in process.communicate(timeout=WAIT_S)[0] and not list(name.parent.iterdir())


def test_an_error_in_the_site_profile_of_the_machine_ends_only_that(tmp_path):
    home = pathlib.Path(subprocess.run(["R", "RHOME"], capture_output=True, text=True, check=True).stdout.strip())
    for folder, source in (("R", home), ("R/etc", home / "etc"), ("ask/data", None)):
        (tmp_path / folder).mkdir(parents=True)
        for path in source.iterdir() if source else ():
            if path.name not in ("etc", "Rprofile.site"):
                (tmp_path / folder / path.name).symlink_to(path)
    (tmp_path / "R/etc/Rprofile.site").write_text("stop('of the site')")
    shutil.copy(PROFILE, tmp_path / "ask")
    done = subprocess.run([home / "bin/exec/R", "--no-echo", "--no-save", "-e", "cat(environmentName(environment(utils::install.packages)))"],
                          capture_output=True, text=True, check=False, timeout=WAIT_S,
                          env={**os.environ, "R_HOME": str(tmp_path / "R"), "R_PROFILE": str(tmp_path / "ask/profile.R"), "LD_LIBRARY_PATH": str(home / "lib")})
    assert "of the site" in done.stderr and done.stdout == "" and done.returncode == 0, done


def test_packages_that_install_others_lead_to_the_server(start):
    server = start()
    for name in ("remotes", "BiocManager"):
        assert f"'{name}' is not needed here: install.packages" in cell(server, f"{name}::install('alphapkg')").text
        cell(server, INSTALLER % {"name": name})
    assert "Installed: alphapkg 2.0" in cell(server, 'remotes::install_version("alphapkg", version = "2.0", upgrade = "never")').text
    assert "Installed: betapkg 1.0" in cell(server, 'BiocManager::install("betapkg", ask = FALSE)').text
    assert "There already: alphapkg 2.0" in cell(server, 'library(remotes); install_version("alphapkg", ">= 1.0"); install_cran("alphapkg")').text
    assert "1.0" in cell(server, 'remotes::install_version("alphapkg", "1.0")').text
    assert "by name: install.packages" in cell(server, 'remotes::install_github("a/b")').text


def test_waiting_for_packages_can_be_interrupted(servers):
    """The repository takes the connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = servers("--r-repos", f"http://localhost:{silent.getsockname()[1]}")
        cell(server, "kept <- 5")
        result = cell(server, 'install.packages("alphapkg")', timeout=2)
        assert result.state == "timed_out"
        assert "[1] 5" in cell(server, "kept").text
        result = server.call("exec_code", session_id="s", language="bash", code="Rscript -e 'install.packages(\"alphapkg\")'", timeout=2)
        assert "the installation was interrupted" in result.text, result.text
