# SPDX-License-Identifier: MIT
"""Installs Python packages, in a sandbox of its own: one request on descriptor 3, one answer.

"where" tells what pip takes for its index when nobody names one; it has no network. Then two steps, each in a sandbox that is new. "fetch" has the network of the indexes: pip resolves, the
policy is applied to what it found, and the files are downloaded to wheels/. "unpack" has none: the
policy is applied to the files themselves, and pip unpacks them to site/. No code of a package runs
in either, unless builds are allowed, and then only in "fetch": the verdict of "unpack" is of a
process that no package's code was ever near.
"""
import contextlib
import hashlib
import importlib
import json
import os
import re
import runpy
import shutil
import sys
import traceback
import zipfile

CHANNEL = 3
ORDER_MAX = 4 << 20
TAIL = 1200  # characters of what pip said last
PROXY = "http://127.0.0.1:3128"
AUTHORITIES = "authorities.pem"  # of the person's own pip configuration


class Refusal(Exception):
    """A sentence for whoever asked."""


def packaging():
    """The rules for names, versions and requirements: pip's own copy, or the library."""
    try:
        from pip._vendor.packaging import requirements, specifiers, utils, version
    except ImportError:
        try:
            from packaging import requirements, specifiers, utils, version
        except ImportError:
            raise Refusal("pip is not installed for this Python (%s). On Debian it is the user's to install: "
                          "apt install python3-pip." % sys.executable) from None
    return requirements, specifiers, utils, version


# ---- what was asked for ----

HASHES = re.compile(r"(?:\s+--hash=(sha256|sha384|sha512):([0-9a-fA-F]{64,128}))+\s*$")
SCHEME = re.compile(r"^(?:[A-Za-z][A-Za-z0-9]*\+)?[A-Za-z][A-Za-z0-9.]*://|^(?:git|hg|svn|bzr)\+|^file:")


def split_hashes(text):
    """The requirement, and its --hash options as pip's requirement files have them."""
    found = HASHES.search(text)
    if not found:
        return text, []
    return text[: found.start()], re.findall(r"--hash=\S+", found[0])


def is_path(text):
    return (text in (".", "..") or text.startswith(("./", "../", "/", "~", ".\\"))
            or re.fullmatch(r"[^\s;@]+\.(?:whl|zip|tar\.gz|tgz|tar\.bz2)", text) is not None)


def parse(text):
    """(kind, requirement, hashes): kind is "requirement", or what it is instead and why it is refused."""
    requirements, _, _, _ = packaging()
    text, hashes = split_hashes(text.strip())
    if not text:
        return "empty", None, []
    if text.startswith("-"):
        return "option", None, []
    if SCHEME.match(text):
        return "url", None, []
    if is_path(text):
        return "path", None, []
    try:
        requirement = requirements.Requirement(text)
    except requirements.InvalidRequirement:
        return "invalid", None, []
    # Older ones of packaging take anything for a version.
    if any(type(s).__name__ == "LegacySpecifier" for s in requirement.specifier):
        return "invalid", None, []
    return ("url" if requirement.url else "requirement"), requirement, hashes


WHY = {
    "empty": "is empty",
    "option": "is an option, and none is taken here; where packages come from is the user's to set (PTYCELL_PIP_INDEX)",
    "path": "is a path; what lies in the session is installed by a cell: %pip install PATH",
    "url": "is a URL; packages come from the configured index only, by name",
    "invalid": "is no requirement; write NAME, NAME==VERSION, NAME[EXTRA]>=VERSION",
}


def quote(text, limit=80):
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return "'%s'" % (text if len(text) <= limit else text[: limit - 3] + "...")


def parse_all(texts):
    """Later ones of the same name replace earlier ones."""
    _, _, utils, _ = packaging()
    wanted = {}
    for text in texts:
        kind, requirement, hashes = parse(text)
        if kind != "requirement":
            raise Refusal("%s %s." % (quote(text), WHY[kind]))
        wanted[utils.canonicalize_name(requirement.name)] = (requirement, hashes)
    return wanted


# ---- the policy ----


def matches(name, entries):
    """The entry that means `name`, or None; both in the ecosystem's normal form."""
    _, _, utils, _ = packaging()
    for entry in entries:
        prefix = entry[:-1] if entry.endswith("*") else None
        if prefix is not None and (name + "-").startswith(utils.canonicalize_name(prefix)):
            return entry
        if prefix is None and utils.canonicalize_name(entry) == name:
            return entry
    return None


def minimum_of(name, policy):
    _, _, utils, _ = packaging()
    for entry, least in policy["minimum"].items():
        if utils.canonicalize_name(entry) == name:
            return least
    return None


def is_older(text, least):
    _, _, _, version = packaging()
    try:
        return version.Version(text) < version.Version(least)
    except version.InvalidVersion:
        return True


def verdict(name, text, policy):
    """None, or (rule, what is wrong with it); `text` is its version, or None when it is not known yet."""
    _, _, utils, _ = packaging()
    name = utils.canonicalize_name(name)
    entry = matches(name, policy["block"])
    if entry is not None:
        return "block", "is on the block list (python.block has %s)" % quote(entry)
    if policy["allow"] and matches(name, policy["allow"]) is None:
        return "allow", "is not on the allow list (python.allow)"
    least = minimum_of(name, policy)
    if text is not None and least is not None and is_older(text, least):
        return "minimum", "is version %s, and the least that may be installed is %s (python.minimum)" % (text, least)
    return None


def how_to_allow(rule, name, path):
    if rule == "minimum" and path is None:
        return ("Ask for a newer one. The user can allow it: a file for PTYCELL_POLICY whose python.minimum "
                "does not name %s." % name)
    change = {"block": "take it from python.block", "allow": "add it to python.allow",
              "minimum": "change python.minimum"}[rule]
    return "The user can allow it: %s in %s, then start ptycell again." % (change, path)


def judge(found, request):
    """Applies the policy to all that would be installed: rows of name, version, requires."""
    for row in found:
        why = verdict(row["name"], row.get("version"), request["policy"])
        if why is None:
            continue
        needed = [other["name"] for other in found if row["name"] != other["name"] and requires(other, row["name"])]
        by = " (needed by %s)" % ", ".join(needed[:3]) if needed else ""
        raise Refusal("Refused by the policy: %s%s %s. Nothing was installed. %s"
                      % (row["name"], by, why[1], how_to_allow(why[0], row["name"], request.get("policy_path"))))


def requires(row, name):
    requirements, _, utils, _ = packaging()
    for text in row.get("requires", ()):
        try:
            if utils.canonicalize_name(requirements.Requirement(text).name) == utils.canonicalize_name(name):
                return True
        except requirements.InvalidRequirement:
            continue
    return False


# ---- pip ----


def enter_environment():
    """Leaves pip, and what it starts, those variables that are of use to them."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": os.getcwd(), "TMPDIR": os.path.abspath("tmp"),
                   "LC_ALL": "C.UTF-8", "PIP_CONFIG_FILE": os.devnull}
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        if os.path.exists(AUTHORITIES):
            environment[name] = os.path.abspath(AUTHORITIES)
        elif name in os.environ:
            environment[name] = os.environ[name]
    os.environ.clear()
    os.environ.update(environment)


def import_pip():
    """Imports what takes pip longest, once for all its runs; a pip that has it elsewhere does so itself."""
    with contextlib.suppress(ImportError):
        importlib.import_module("pip._internal.cli.main")
        importlib.import_module("pip._internal.commands.install")


def become_pip(arguments, output):
    """Makes a fork what `python -m pip` is; its exit status stays."""
    os.close(CHANNEL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.argv = ["pip", *arguments]
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


def run_pip(*arguments):
    """Runs pip in a process of its own: whether it worked, and what it said."""
    enter_environment()
    import_pip()
    output, inside = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            become_pip(["--isolated", "--no-input", "--no-color", "--disable-pip-version-check",
                        "--cache-dir", os.path.abspath("cache"), *arguments], inside)
        except SystemExit as end:
            status = int(bool(end.code))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    os.close(inside)
    with open(output, "rb") as said:
        text = said.read().decode("utf-8", "replace")
    return os.waitpid(child, 0)[1] == 0, text


def pip(*arguments):
    """Its complaints become a Refusal."""
    ok, said = run_pip(*arguments)
    if not ok:
        raise Refusal(explain(said, "--no-index" in arguments))
    return said


def explain(said, in_folders=False):
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    text = "\n".join(errors or lines)[-TAIL:]
    if re.search("No module named '?pip", said):
        return ("pip is not installed for this Python (%s). On Debian it is the user's to install: "
                "apt install python3-pip." % sys.executable)
    if "no such option" in said:
        return "The pip of this Python is older than 22.2, which is needed: %s -m pip install -U pip." % sys.executable
    more = ""
    if "403" in said or "Tunnel connection failed" in said or "ProxyError" in said:
        more = ("\nThe installer reaches only the configured index (PTYCELL_PIP_INDEX); hosts that it leads to "
                "besides go into PTYCELL_INSTALL_HOSTS.")
    elif "is not a trusted or secure host" in said:
        more = ("\nThe index is not https. The user can allow that: trusted-host in pip.conf, or PIP_TRUSTED_HOST.")
    elif "No matching distribution found" in said and "from versions: none" in said:
        more = ("\nThe %s no such package, or only a source that would run code to be built, which the user "
                "can allow: PTYCELL_INSTALL_BUILDS=1." % ("folders have" if in_folders else "index has"))
    elif "No matching distribution found" in said:
        more = "\nThe versions that the index has stand in brackets above."
    return "pip could not install it:\n%s%s" % (text, more)


def sources(request):
    """pip's options for where packages come from."""
    options = []
    if request["indexes"]:
        options += ["--index-url", request["indexes"][0]]
        for url in request["indexes"][1:]:
            options += ["--extra-index-url", url]
    else:
        options.append("--no-index")
    for folder in request["folders"]:
        options += ["--find-links", folder]
    for host in request["trusted"]:
        options += ["--trusted-host", host]
    if request["proxied"]:
        options += ["--proxy", PROXY]
    return options


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(line + "\n" for line in lines))


def where(_):
    """pip's own index, and where that has its files."""
    packaging()
    try:
        from pip._internal.models.index import PyPI as index
    except ImportError:
        raise Refusal("this pip does not tell its index; the user can name one: PTYCELL_PIP_INDEX.") from None
    return {"url": index.simple_url, "hosts": [index.file_storage_domain]}


def write_authorities(request):
    if "certificates" in request:
        write_lines(AUTHORITIES, [request["certificates"]])


def fetch(request):
    write_authorities(request)
    wanted = parse_all(request["packages"])
    judge([{"name": name} for name in wanted], request)
    write_lines("wanted.txt", [" ".join([str(r), *hashes]) for r, hashes in wanted.values()])
    only = [] if request["builds"] else ["--only-binary", ":all:"]
    pip("install", "--dry-run", "--quiet", "--report", "report.json", *only, *sources(request), "-r", "wanted.txt")
    with open("report.json", encoding="utf-8") as f:
        found = [row_of_report(item) for item in json.load(f)["install"]]
    judge(found, request)
    if found:
        write_lines("locked.txt", [lock(row) for row in found])
        # What was judged is what is taken: by its URL and hash, and nothing else.
        pip("wheel" if request["builds"] else "download", "--quiet", "--no-deps", "--progress-bar", "off", *only,
            *sources(request), "--wheel-dir" if request["builds"] else "--dest", "wheels", "-r", "locked.txt")
    return {"files": wheels(), "present": present(wanted, found)}


UNREACHED = re.compile(r"Retrying \(.*|Could not fetch URL (?!.*\b404\b).*")


def check(request):
    """Whether pip works and its indexes answer, for the person; an index need not have what is asked for."""
    packaging()
    write_authorities(request)
    tool = "pip %s" % pip("--version").split()[1]
    _, said = run_pip("index", "versions", "-vv", "--retries", "1", "--timeout", "15", *sources(request), "pip")
    failed = UNREACHED.findall(said)
    if failed:
        raise Refusal(explain("ERROR: " + failed[-1]).replace("could not install it", "does not get through", 1))
    return {"tool": tool}


def row_of_report(item):
    metadata = item["metadata"]
    return {"name": metadata["name"], "version": metadata["version"], "requires": metadata.get("requires_dist", []),
            "url": item["download_info"]["url"], "hash": hash_of(item["download_info"].get("archive_info", {}))}


def hash_of(archive):
    """"sha256=..."; older ones of pip have only the one form."""
    for algorithm, digest in archive.get("hashes", {}).items():
        return "%s=%s" % (algorithm, digest)
    return archive.get("hash", "")


def lock(row):
    algorithm, _, digest = row["hash"].partition("=")
    return "%s @ %s%s" % (row["name"], row["url"], " --hash=%s:%s" % (algorithm, digest) if digest else "")


def present(wanted, found):
    """What need not be installed, because this Python has it: name and version."""
    from importlib import metadata

    _, _, utils, _ = packaging()
    new = {utils.canonicalize_name(row["name"]) for row in found}
    rows = []
    for name in wanted:
        try:
            if name not in new:
                rows.append({"name": name, "version": metadata.version(name)})
        except metadata.PackageNotFoundError:
            continue
    return rows


def wheels():
    """The files that are there, in the order of their names."""
    rows = []
    for name in sorted(os.listdir("wheels")) if os.path.isdir("wheels") else []:
        with open(os.path.join("wheels", name), "rb") as f:
            digest = hashlib.sha256(f.read()).hexdigest()
        rows.append({"file": name, "sha256": digest})
    return rows


# ---- unpacking ----


def look_into(row):
    """Name, version and requirements of a wheel as its own metadata has them; none of its code runs."""
    from email.parser import BytesHeaderParser

    _, _, utils, version = packaging()
    path = os.path.join("wheels", row["file"])
    try:
        name, told, _, _ = utils.parse_wheel_filename(row["file"])
        with zipfile.ZipFile(path) as wheel:
            check_names(row["file"], wheel.namelist())
            inside = [n for n in wheel.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", n)]
            metadata = BytesHeaderParser().parsebytes(wheel.read(inside[0])) if len(inside) == 1 else {}
        if utils.canonicalize_name(metadata["Name"]) != name or version.Version(metadata["Version"]) != told:
            raise ValueError("it calls itself otherwise inside")
    except Refusal:
        raise
    except Exception as error:
        raise Refusal("%s is no wheel that can be used: %s." % (quote(row["file"]), error)) from None
    return {"name": metadata["Name"], "version": metadata["Version"], "requires": metadata.get_all("Requires-Dist", []),
            "file": row["file"], "sha256": row["sha256"]}


def check_names(file, names):
    for name in names:
        if name.startswith("/") or "\\" in name or "\0" in name or ".." in name.split("/"):
            raise Refusal("%s was not installed: its file %s would lie outside of the packages folder."
                          % (quote(file), quote(name)))


def unpack(request):
    rows = [look_into(row) for row in wheels()]
    judge(rows, request)
    write_lines("locked.txt", ["%s @ file://%s --hash=sha256:%s"
                               % (row["name"], os.path.abspath(os.path.join("wheels", row["file"])), row["sha256"])
                               for row in rows])
    shutil.rmtree("site", ignore_errors=True)  # a build's, which came before
    os.makedirs("site")
    if rows:
        pip("install", "--quiet", "--no-deps", "--no-index", "--require-hashes", "--no-warn-script-location",
            "--target", "site", "-r", "locked.txt")
        drop_python_s_own()
    return {"files": [{"file": row["file"], "sha256": row["sha256"]} for row in rows],
            "packages": [{"name": row["name"], "version": row["version"], "file": row["file"],
                          "modules": modules(row)} for row in rows]}


def drop_python_s_own():
    """Old copies of modules that Python has itself: the folder comes before Python's own on the path."""
    for name in getattr(sys, "stdlib_module_names", ()):
        shutil.rmtree(os.path.join("site", name), ignore_errors=True)
        if os.path.exists(os.path.join("site", name + ".py")):
            os.remove(os.path.join("site", name + ".py"))


def modules(row):
    """The top-level names that it brings."""
    tops = set()
    with zipfile.ZipFile(os.path.join("wheels", row["file"])) as wheel:
        for name in wheel.namelist():
            top = name.split("/")[0].split(".")[0]
            if top.isidentifier() and (name.endswith((".py", ".so")) or name.count("/") == 0):
                tops.add(top)
    return sorted(tops)[:20]


def read_request():
    data = b""
    while not data.endswith(b"\n") and len(data) < ORDER_MAX:
        chunk = os.read(CHANNEL, 65536)
        if not chunk:
            break
        data += chunk
    return json.loads(data)


def answer(request):
    for folder in ("tmp", "cache"):
        os.makedirs(folder, exist_ok=True)
    try:
        steps = {"where": where, "fetch": fetch, "unpack": unpack, "check": check}
        return {"ok": True, **steps[request["step"]](request)}
    except Refusal as refusal:
        return {"ok": False, "text": str(refusal)}
    finally:
        shutil.rmtree("tmp", ignore_errors=True)


def main():
    os.set_inheritable(CHANNEL, False)
    line = json.dumps(answer(read_request())).encode() + b"\n"
    while line:
        line = line[os.write(CHANNEL, line):]


if __name__ == "__main__":
    main()
