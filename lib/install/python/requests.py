# SPDX-License-Identifier: MIT
"""What a session asks for: requests as they are written, and what of the earlier ones holds."""
import re

from .common import Refusal, packaging, quote
from .index import split_login, split_pattern

FLAGS = ("--upgrade", "--pre", "--dry-run")  # of pip; they hold for the installation that names them
CONSTRAINT = "--constraint="  # so does this, with one line of a file of constraints
EXTRA = "--extra-index-url="  # so does this; an index of the user's is asked anyway
PROJECT = "--project="  # so does this: the server has dropped what the project asked for before

HASHES = re.compile(r"(?:\s+--hash=(sha256|sha384|sha512):([0-9a-fA-F]{64,128}))+\s*$")
# Behind a request, and kept with it: the index that is asked for its package, that it comes without what it needs, and the project
# of the session that asks for it.
OPTION = re.compile(r"\s+--(?:index-url=(\S+)|(no-deps)|for=[A-Za-z0-9._-]+)\s*$")
SCHEME = re.compile(r"^(?:[A-Za-z][A-Za-z0-9]*\+)?[A-Za-z][A-Za-z0-9.]*://|^(?:git|hg|svn|bzr)\+|^file:")


def split_hashes(text):
    """The requirement, and its --hash options as pip's requirement files have them."""
    found = HASHES.search(text)
    if not found:
        return text, []
    return text[: found.start()], re.findall(r"--hash=\S+", found[0])


def split_options(text):
    """The request; the index that stands behind it, or None; whether it comes alone."""
    index, alone = None, False
    while found := OPTION.search(text):
        text, index, alone = text[: found.start()], index or found[1], alone or found[2] is not None
    return text, index, alone


def base_of(url):
    """The URL as Upstreams has it."""
    return split_login(split_pattern(url)[1])[0].rstrip("/") + "/"


def check_index(option, url, request):
    """An index is used if the user has set it, with its whole URL."""
    if base_of(url) in map(base_of, request["indexes"]):
        return
    shown = split_login(url)[0]
    torch = "pytorch" in shown
    usual = " The usual index has torch, too, with all it needs." if torch else ""
    raise Refusal("%s %s was not used: where packages come from is the user's to set. For this index: PTYCELL_PIP_INDEX='%s%s', "
                  "behind the indexes that are there.%s Without %s the user's indexes are asked."
                  % (option, shown, "torch*@" if torch else "", shown, usual, option))


def indexes_of(request):
    """Of a name, the index that was asked for with it: {NAME: URL}. The last one holds, as long as the user has it set."""
    found = {}
    for text in request["packages"]:
        text, url, _ = split_options(text)
        if url is not None and base_of(url) in map(base_of, request["indexes"]):
            found.update({name: base_of(url) for name, _, _ in parse_all([text])})
    return found


def alone_of(request):
    """The names that come without what they need: the last request for a name decides."""
    found = {}
    for text in request["packages"]:
        if not is_option(text):
            found.update({name: split_options(text)[2] for name, _, _ in parse_all([text])})
    return {name for name, alone in found.items() if alone}


def check_indexes(request):
    for text in request["asked"]:
        _, url, _ = split_options(text)
        if url is not None:
            check_index("--index-url", url, request)
        if text.startswith(EXTRA):
            check_index(EXTRA[:-1], text[len(EXTRA):], request)


def is_path(text):
    return (text in (".", "..") or text.startswith(("./", "../", "/", "~", ".\\"))
            or re.fullmatch(r"[^\s;@]+\.(?:whl|zip|tar\.gz|tgz|tar\.bz2)", text) is not None)


def parse(text):
    """(kind, requirement, hashes): kind is "requirement", or what it is instead and why it is refused."""
    requirements, _, _, _ = packaging()
    text, hashes = split_hashes(split_options(text.strip())[0])
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
    "option": "is an option, and of those only --upgrade, --pre, --dry-run and --constraint=REQUIREMENT are taken here; where packages come from is the user's to set "
              "(PTYCELL_PIP_INDEX), and of the indexes that are set one is chosen behind a package: NAME --index-url=URL",
    "path": "is a path; what lies in the session is installed by a cell: %pip install PATH",
    "url": "is a URL; packages come from the configured index only, by name",
    "invalid": "is no requirement; write NAME, NAME==VERSION, NAME[EXTRA]>=VERSION",
}


def parse_all(texts):
    """Rows of name, requirement and hashes."""
    _, _, utils, _ = packaging()
    rows = []
    for text in texts:
        kind, requirement, hashes = parse(text)
        if kind != "requirement":
            raise Refusal("%s %s." % (quote(text), WHY[kind]))
        rows.append((utils.canonicalize_name(requirement.name), requirement, hashes))
    return rows


def satisfies(version, requirement):
    try:
        return requirement.specifier.contains(version, prereleases=True)
    except ValueError:  # newer versions of packaging accept no version of an old form
        return False


def of_this_python(name):
    """The version that this Python itself has of a package, or None."""
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def is_option(text):
    return text in FLAGS or text.startswith((CONSTRAINT, EXTRA, PROJECT))


def constraints_of(request):
    """The requirements that constrain this installation without asking for a package."""
    return [requirement for _, requirement, _ in parse_all(text[len(CONSTRAINT):] for text in request["asked"]
                                                          if text.startswith(CONSTRAINT))]


def lines_of(wanted):
    """The lines of a file for pip, of the requirements whose markers hold here.

    A line has no marker: pip finds options in a line before it finds quotes, so a text in quotes could bring some.
    """
    return ["%s%s%s" % (one.name, "[%s]" % ",".join(sorted(one.extras)) if one.extras else "", one.specifier)
            for one in wanted if holds(one)]


def holds(requirement):
    try:
        return requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    except ValueError:  # '"a" ~= "b"' and the like are no comparison
        raise Refusal("%s %s." % (quote(str(requirement)), WHY["invalid"])) from None


def gather(request):
    """What pip is asked for: all requests of the session, and the versions that stay as they are.

    As with pip, what the session or this Python has stays if it satisfies the new request. If it does not, the
    new request counts, and of earlier ones for the same package only the extras.
    """
    _, _, utils, _ = packaging()
    asked = parse_all(text for text in request["asked"] if not is_option(text))
    earlier = parse_all(text for text in request["packages"] if text not in request["asked"])
    have = {utils.canonicalize_name(row["name"]): row["version"] for row in request["have"]}
    if not asked and request["asked"]:  # nothing is asked for when a request is dropped
        raise Refusal("%s names no package." % " ".join(request["asked"]))
    there = {name: have.get(name) or of_this_python(name) for name, _, _ in earlier + asked}
    changed = {name for name, requirement, _ in asked if holds(requirement)
               and ("--upgrade" in request["asked"] or there[name] is None or not satisfies(there[name], requirement))}
    rows = []
    for name, requirement, hashes in earlier:
        if name in changed or there[name] is not None and not satisfies(there[name], requirement):
            requirement.specifier, hashes = type(requirement.specifier)(""), []
        if name not in changed or requirement.extras:
            rows.append((name, requirement, hashes))
    stay = {name: version for name, version in have.items() if name not in changed}
    return rows, asked, stay


def hashes_of(rows):
    """Of a name, the hashes that were asked for: {NAME: ["sha256:..."]}."""
    known = {}
    for name, _, hashes in rows:
        if hashes:
            known.setdefault(name, []).extend(text.partition("--hash=")[2].lower() for text in hashes)
    return known


def check_hashes(found, earlier, asked, stay):
    """A request with hashes needs them for all that it brings; what was hashed stays checked."""
    _, _, utils, _ = packaging()
    known = hashes_of(earlier + asked)
    strict = any(hashes for _, _, hashes in asked)
    for row in found:
        name = utils.canonicalize_name(row["name"])
        if known.get(name) and row["hash"].replace("=", ":", 1).lower() not in known[name]:
            raise Refusal("The file of %s %s that the index has does not have the hash that was asked for. Nothing was "
                          "installed." % (row["name"], row["version"]))
        if strict and name not in stay and not known.get(name):
            raise Refusal("%s %s has no --hash. A request with hashes needs one for each package that it brings, also "
                          "for those that are needed by others: %s==%s --hash=%s."
                          % (row["name"], row["version"], row["name"], row["version"], row["hash"].replace("=", ":", 1)))
