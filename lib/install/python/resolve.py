# SPDX-License-Identifier: MIT
"""Which files satisfy the requests of a session: found and judged before one of them is downloaded."""
import json
import os
import re
import urllib.parse

from .again import seen, still
from .common import Refusal, packaging, quote, write_authorities, write_lines
from .explain import EARLIER, explain_none
from .index import Choice, held_back, problems, remote, served, thin_wheel
from .pip import PipRefusal, own_index, pip, run_pip, sources, upstreams
from .policy import judge, seconds_of
from .requests import FLAGS, alone_of, check_hashes, check_indexes, constraints_of, gather, hashes_of, holds, lines_of, of_this_python

LOCKED = "locked.json"  # the rows of the files, for "fetch"
NOTES_MAX = 8
NEWEST = "99999999"  # newer than any version
CONFLICTS_MAX = 4  # runs of pip, each with fewer versions that must stay
STAYS = re.compile(r"The user requested \(constraint\) ([A-Za-z0-9._-]+)==")
NAMED = re.compile(r"(?:Cannot install|distribution found for|,| and) ([A-Za-z0-9._-]+)(?===|[ ,\n])")  # in errors of pip
LACKS = re.compile(r"^WARNING: (\S+) (\S+) does not provide the extra '([^'\n]+)'", re.MULTILINE)


def resolve(request):
    write_authorities(request)
    if same := still(request):
        return same
    check_indexes(request)
    earlier, asked, stay = gather(request)
    judge([{"name": name} for name, _, _ in earlier + asked], request)
    choice = Choice(hashes_of(earlier + asked), seconds_of(request["policy"].get("minimum_age")))
    with own_index(request, choice, whole=request["builds"]) as request:
        try:
            found = find(request, earlier, asked, stay)
        except PipRefusal as refusal:
            raise PipRefusal(explain_none(str(refusal), upstreams(request), request) or str(refusal)) from None
        fresh = 0 if problems() else request["fresh"]()
    check_hashes(found, earlier, asked, stay)
    judge(found, request)
    check_room(found, request["bytes_max"])
    found.sort(key=lambda row: row["file"])
    write_lines(LOCKED, map(json.dumps, found))
    return {"files": [{"file": row["file"], "sha256": sha256_of(row)} for row in found], "fresh": fresh,
            "packages": [{"name": row["name"], "version": row["version"]} for row in found],
            "present": present([name for name, _, _ in earlier + asked], found),
            **seen(request), "notes": [*notes_of_problems(), *notes_of_extras(found, asked, stay), *notes_of_bounds(found, asked, request),
                                       *notes_of_age(found, request["policy"]), *notes_of_origin(found)][:NOTES_MAX]}


def find(request, earlier, asked, stay):
    """The rows that pip finds. Names without dependencies take a run of their own, as --no-deps holds for a whole run."""
    _, _, utils, _ = packaging()
    alone = alone_of(request)
    untouched = untouched_by(request, earlier, asked, stay)
    wanted = earlier + asked
    parts = [[row for row in wanted if row[0] not in alone], [row for row in wanted if row[0] in alone]]
    rows = find_part(request, parts[0], untouched, stay) if parts[0] else []
    found = {row["name"] for row in rows}
    more = find_part(request, parts[1], untouched, stay, "--no-deps") if parts[1] else []
    rows += [row for row in more if row["name"] not in found]
    found = {utils.canonicalize_name(row["name"]): row["version"] for row in rows}
    named = {name for name, _, _ in wanted}
    others = {name: version for name, version in stay.items() if request["asked"] and name not in named and name not in found}
    return rows + (find_others(request, parts[0], untouched, found, others) if others else [])


def find_others(request, wanted, untouched, found, others):
    """The rows of what the session has and nothing needs any more: as with pip, it stays as it is.

    What does not go together with `found`, which stays as it is, too, is left out, and so the session loses it.
    """
    _, _, utils, _ = packaging()
    command = command_for(request, wanted, untouched)
    for _ in range(CONFLICTS_MAX):
        write_lines("stay.txt", ["%s==%s" % row for row in found.items()])
        done, said = run_pip(*command, "-c", "limits.txt", "-c", "stay.txt", "--", *("%s==%s" % row for row in others.items()))
        if done:
            return [row for row in rows_of_report() if utils.canonicalize_name(row["name"]) not in found]
        named = set(map(utils.canonicalize_name, NAMED.findall(said)))
        if named.isdisjoint(others) or named.issuperset(others):
            break
        others = {name: version for name, version in others.items() if name not in named}
    return []


def untouched_by(request, earlier, asked, stay):
    """The names of earlier requests that --upgrade must leave as they are, and that the session has no version of."""
    named = {name for name, _, _ in asked}
    return {name for name, _, _ in earlier if "--upgrade" in request["asked"] and name not in named and name not in stay}


def find_part(request, wanted, untouched, stay, *options):
    """The rows of one run of pip, with the versions of `stay` where that is possible."""
    command = command_for(request, wanted, untouched, *options)
    write_lines("limits.txt", lines_of(constraints_of(request)))
    command += ["-c", "limits.txt"]
    said = found_with(stay, command)
    if said is None:
        said = pip(*command)
    return with_lacks(rows_of_report(), said)


def command_for(request, wanted, untouched, *options):
    """Writes the requests into a file, and returns pip's words for it."""
    write_lines("wanted.txt", [*lines_of(requirement for name, requirement, _ in wanted if name not in untouched),
                               *write_earlier(lines_of(requirement for name, requirement, _ in wanted if name in untouched))])
    return ["install", "--dry-run", "--report", "report.json", *sources(request),
            *([] if request["builds"] else ["--only-binary", ":all:"]), *(flag for flag in FLAGS if flag in request["asked"]), *options,
            "-r", "wanted.txt"]


def rows_of_report():
    with open("report.json", encoding="utf-8") as f:
        rows = [row_of_report(item) for item in json.load(f)["install"]]
    return [row for row in rows if row["name"] != EARLIER]


def with_lacks(rows, said):
    """The rows with the extras that were requested of them, and that pip warns they do not have ("lacks")."""
    _, _, utils, _ = packaging()
    lacks = {}
    for name, version, extra in LACKS.findall(said):
        lacks.setdefault((utils.canonicalize_name(name), version), {})[extra] = True
    return [{**row, "lacks": [*lacks.get((utils.canonicalize_name(row["name"]), row["version"]), ())]} for row in rows]


def write_earlier(lines):
    """Writes a package that depends on these, and returns its line: pip's --upgrade leaves dependencies as they are."""
    if not lines:
        return []
    file = "%s-1.0-py3-none-any.whl" % EARLIER
    text = "Metadata-Version: 2.1\nName: %s\nVersion: 1.0\n" % EARLIER
    with open(file, "wb") as f:
        f.write(thin_wheel(file, "".join([text, *("Requires-Dist: %s\n" % line for line in lines)]).encode()))
    return ["./" + file]


def found_with(stay, command):
    """What pip says if it finds files with these versions, or None. Those that it names in a conflict are dropped, and it runs again."""
    for _ in range(CONFLICTS_MAX):
        if not stay:
            return None
        write_lines("stay.txt", ["%s==%s" % row for row in stay.items()])
        found, said = run_pip(*command, "-c", "stay.txt")
        if found:
            return said
        freed = set(STAYS.findall(said))
        if not freed & set(stay):
            return None
        stay = {name: version for name, version in stay.items() if name not in freed}
    return None


def row_of_report(item):
    """What pip found; what the index knows of the file stands in the URL that we gave it."""
    metadata, url = item["metadata"], item["download_info"]["url"]
    if url.startswith("file:"):
        row = {"url": url, "file": os.path.basename(urllib.parse.unquote(url)), "hash": "", "size": None}
    else:
        row = remote(url)
    if not row["hash"].startswith("sha256=") and not (row.get("metadata") and row["hash"]):
        row["hash"] = hash_of(item["download_info"].get("archive_info", {}))
    return {**row, "name": metadata["name"], "version": metadata["version"], "requires": metadata.get("requires_dist", [])}


def hash_of(archive):
    """"sha256=..."; older ones of pip have only the one form."""
    for algorithm, digest in archive.get("hashes", {}).items():
        return "%s=%s" % (algorithm, digest)
    return archive.get("hash", "")


def sha256_of(row):
    return row["hash"].partition("=")[2].lower() if row["hash"].startswith("sha256=") else ""


def megabytes(count):
    return "%.1f MB" % (count / 1e6)


def check_room(found, most):
    """Refuses before the download what would not fit; an index without sizes leaves it to the download."""
    large = sorted(((row["size"], row["name"]) for row in found if isinstance(row.get("size"), int)), reverse=True)
    total = sum(size for size, _ in large)
    if total > most:
        raise Refusal("These packages are %s to download (%s), and PTYCELL_INSTALL_MAX allows %s. Nothing was downloaded. The "
                      "user can raise it." % (megabytes(total), ", ".join("%s %s" % (name, megabytes(size))
                                                                         for size, name in large[:3]), megabytes(most)))


def notes_of_problems():
    """A sentence for each failure of an index that pip got over, because it found a package elsewhere."""
    return ["%s Newer versions may be missing." % problem for problem in problems()]


def notes_of_extras(found, asked, stay):
    """A sentence for each package that has come, or is asked for, without an extra."""
    _, _, utils, _ = packaging()
    named = {name for name, _, _ in asked}
    for row in found:
        name = utils.canonicalize_name(row["name"])
        if row.get("lacks") and (name in named or stay.get(name) != row["version"]):
            yield "%s %s has no extra %s." % (row["name"], row["version"], " and no extra ".join(map(quote, row["lacks"])))


def notes_of_bounds(found, asked, request):
    """A sentence for each package that --upgrade leaves as it is, with those that newer ones may not fit."""
    _, _, utils, _ = packaging()
    have = {utils.canonicalize_name(row["name"]): row["version"] for row in request["have"]}
    named = {name for name, _, _ in asked if "--upgrade" in request["asked"]}
    for row in found:
        name = utils.canonicalize_name(row["name"])
        bounds = [text for other in found for text in bounds_of(name, other)] if name in named and have.get(name) == row["version"] else []
        if bounds:
            yield "A newer %s has to fit %s." % (row["name"], ", ".join(bounds[:3]))


def bounds_of(name, row):
    """Yields the requirements of a package that a newer version of another one may not satisfy."""
    requirements, _, utils, _ = packaging()
    for text in row["requires"]:
        try:
            one = requirements.Requirement(text)
            if utils.canonicalize_name(one.name) == name and holds(one) and not one.specifier.contains(NEWEST):
                yield "%s %s (%s%s)" % (row["name"], row["version"], one.name, one.specifier)
        except (requirements.InvalidRequirement, Refusal):
            continue  # pip has judged it


def notes_of_age(found, policy):
    """A sentence for each package of which a newer release was too young."""
    _, _, utils, version = packaging()
    held = {}
    for name, file, _ in held_back():
        found_version = re.match(r"[^-]+-([^-]+?)(-|\.tar\.gz$|\.zip$)", file)
        if found_version:
            held.setdefault(name, set()).add(found_version[1])
    for row in found:
        newer = [text for text in held.get(utils.canonicalize_name(row["name"]), ()) if is_newer(text, row["version"], version)]
        if newer:
            yield ("%s %s is not yet %s old (python.minimum_age): %s was taken."
                   % (row["name"], max(newer, key=version.Version), policy["minimum_age"], row["version"]))


def is_newer(text, than, version):
    """Whether a release would have been taken instead."""
    try:
        one, other = version.Version(text), version.Version(than)
    except version.InvalidVersion:
        return False
    return one > other and (other.is_prerelease or not one.is_prerelease)


def notes_of_origin(found):
    """A sentence for the packages that are not from the first index, of several."""
    _, _, utils, _ = packaging()
    by_place = {}
    for row in found:
        first, where = served().get(utils.canonicalize_name(row["name"]), (True, ""))
        if not first:
            by_place.setdefault(where, []).append("%s %s" % (row["name"], row["version"]))
    return ["From the index %s: %s." % (where, ", ".join(names[:20])) for where, names in by_place.items()]


def present(wanted, found):
    """What need not be installed, because this Python has it: name and version."""
    _, _, utils, _ = packaging()
    new = {utils.canonicalize_name(row["name"]) for row in found}
    rows = [{"name": name, "version": of_this_python(name)} for name in dict.fromkeys(wanted) if name not in new]
    return [row for row in rows if row["version"] is not None]
