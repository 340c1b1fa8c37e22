# SPDX-License-Identifier: MIT
"""Words pip's errors for a reader who did not call pip."""
import re
import sys

from .common import packaging
from .index import Problem, find_files, held_back

COMPILER = re.compile(r"[^\s:]+:\d+:(?:\d+:)? (?:fatal )?error: ")  # a line of one that fails
TAIL = 1200  # characters of what pip said last
SHOWN_MAX = 6  # versions, tags
ADDRESS = re.compile(r" \(from (?:http://127\.0\.0\.1:\S+|file:\S+)(?: \(from [^()]*\))?\)")  # of a file, in the sandbox
EARLIER = "earlier_requests"  # a made-up package: its dependencies are requests of the session (resolve.py)


def explain(said, in_folders=False):
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for before, line in zip(["", *lines], lines)
              if line.lower().startswith("error") or before.endswith("These do not:") or COMPILER.match(line)]
    text = "\n".join(errors or lines)[-TAIL:]
    if re.search("No module named '?pip", said):
        return ("pip is not installed for this Python (%s). On Debian it is the user's to install: "
                "apt install python3-pip." % sys.executable)
    if "no such option" in said:
        return "The pip of this Python is older than 22.2, which is needed: %s -m pip install -U pip." % sys.executable
    if "ResolutionImpossible" in said:
        return explain_conflict(said)
    more = ""
    if "No matching distribution found" in said and "from versions: none" in said:
        more = ("\nThe %s no such package, or only a source that would run code to be built, which the user "
                "can allow: PTYCELL_INSTALL_BUILDS=1." % ("folders of packages have" if in_folders else "index has"))
    elif "No matching distribution found" in said:
        more = "\nThe versions that the index has stand in brackets above."
    return "pip could not install it:\n%s%s" % (text, more)


def explain_conflict(said):
    """pip's paragraph says which requirements cannot hold together."""
    _, _, told = said.partition("The conflict is caused by:")
    lines = [ADDRESS.sub("", line.strip()) for line in told.lstrip("\n").partition("\n\n")[0].splitlines()]
    lines = [line.replace("%s 1.0 depends on" % EARLIER.replace("_", "-"), "Requested:").replace("%s 1.0 depends on" % EARLIER, "Requested:")
             .replace("The user requested (constraint)", "Held by the session or a constraint:").replace("The user requested", "Requested:")
             for line in lines if line]
    return ("These packages do not go together:\n%s\nNothing was installed. Ask for other versions of them, or use another "
            "session for some." % "\n".join(dict.fromkeys(lines))[-TAIL:])


# ---- a package that pip finds no file of ----


def explain_none(said, indexes, request):
    """Why an index has no file for a requirement, from its own page; None if that does not say more than pip."""
    requirements, _, utils, _ = packaging()
    text = re.search(r"No matching distribution found for ([^\n]+)", said)
    if not text or not request["indexes"] or request["folders"]:
        return None
    try:
        requirement = requirements.Requirement(re.sub(r" \(from .*", "", text[1]))
        rows = find_files(indexes, utils.canonicalize_name(requirement.name))
    except (requirements.InvalidRequirement, Problem):
        return None
    by = [name for name in re.findall(r"\(from ([^()\n]+)\)", said) if not name.startswith(("versions: ", "-r "))]
    needed = " (needed by %s)" % by[0] if by else ""
    if rows is None:
        return "Nothing was installed. The index has no package %s%s." % (requirement.name, needed)
    files = files_by_version(rows, requirement)
    return "Nothing was installed. %s%s: %s" % (requirement, needed, why_none(files, rows, requirement, request))


def files_by_version(rows, requirement):
    """Of the versions that satisfy a requirement, the rows: {Version: [row]}."""
    _, _, utils, _ = packaging()
    found = {}
    for row in rows:
        try:
            parse = utils.parse_wheel_filename if row["file"].endswith(".whl") else utils.parse_sdist_filename
            found.setdefault(parse(row["file"])[1], []).append(row)
        except ValueError:  # no name of a package's file
            continue
    return {version: rows for version, rows in found.items() if requirement.specifier.contains(version, prereleases=True)}


def why_none(files, rows, requirement, request):
    _, _, utils, _ = packaging()
    if not files:
        known = sorted({version for version in files_by_version(rows, type(requirement)(requirement.name))}, reverse=True)
        return "the index has no such version, but %s." % ", ".join(map(str, known[:SHOWN_MAX]))
    newest = max(files)
    held = {file for _, file, _ in held_back()}
    if any(row["file"] in held for row in files[newest]):
        return why_young(newest, files[newest], request)
    wheels = [row["file"] for row in files[newest] if row["file"].endswith(".whl")]
    if not wheels:
        return ("of version %s the index has only a source, which would run code to be built. The user can allow that: "
                "PTYCELL_INSTALL_BUILDS=1." % newest)
    wants = [row["requires"] for row in files[newest] if row["requires"]]
    tags = sorted({str(tag) for file in wheels for tag in utils.parse_wheel_filename(file)[3]})
    return ("no wheel of version %s is for this Python, which is %d.%d (%s)%s." % (
        newest, *sys.version_info[:2], ", ".join(tags[:SHOWN_MAX]), ", and it wants Python %s" % wants[0] if wants else ""))


def why_young(version, rows, request):
    least = request["policy"]["minimum_age"]
    ages = [age for _, file, age in held_back() if file in {row["file"] for row in rows}]
    if None in ages:
        return ("the index does not tell when its files were uploaded (PEP 700), and python.minimum_age wants them to be %s "
                "old. The user can change it in %s." % (least, request.get("policy_path")))
    return ("version %s is %s old, and python.minimum_age wants %s. No older one satisfies the request. The user can change it "
            "in %s." % (version, age_text(min(ages)), least, request.get("policy_path")))


def age_text(seconds):
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return "%d %s" % (seconds // length, unit)
    return "%d s" % seconds
