# SPDX-License-Identifier: MIT
"""Projects and files of the session: built and installed here. What they need comes by the server."""
import json
import os
import re
import sys

from .bring import bring_all
from .build import asked_by_backends, build_requires
from .common import FOR, PACKAGES, PROJECT, Refusal, extras_of, files_folder, name_of, place_of, project_of, say
from .editable import link_editables, unlink_editables
from .files import drop_replaced, ours
from .machine import call_pip
from .server import ask
from .words import TARGETS, Wanted


def install_files(wanted):
    """Builds and installs here. What that needs comes by the server; so does what the packages need, but for --no-deps."""
    if "--dry-run" not in wanted.wishes:
        return build_and_install(wanted, None)
    brought, before = [], versions_in([PACKAGES])
    try:
        return build_and_install(wanted, brought)
    finally:
        if brought:
            take_away(brought, before)


def build_and_install(wanted, brought):
    """A dry run passes a list, which gets the names of what was brought for the build; else it is None."""
    paths = [path for path in wanted.files if path != "-e"]
    status = bring_missing([text for path in paths for text in build_requires(path)], brought)
    if status == 0:
        status = bring_missing(asked_by_backends(wanted.files), brought)
    if status == 0:
        status = bring_with_needs(wanted)
    if status != 0:
        return status
    if brought is not None:
        return call_pip("install", "--dry-run", *wanted.files, *of_session([]))
    unlink_editables(paths)
    before = ours()
    status = call_pip("install", *wanted.files, *of_session([]))
    if status == 0:
        drop_replaced(before)
        report(paths, before)
    if status == 0 and "-e" in wanted.files:
        link_editables(files_folder())
    return status


def report(paths, before):
    """The server notes it for the user (PTYCELL_AUDIT). The installation is complete without that."""
    made = [own.made for own in before]
    try:
        answer = ask("report", paths, installed=["%s %s" % (own.name, own.version) for own in ours() if own.made not in made],
                     files=["%s  %s" % (digest_of(path), os.path.basename(path)) for path in map(project_of, paths) if os.path.isfile(path)])
        problem = None if answer["ok"] else answer["text"]
    except (Refusal, OSError) as error:
        problem = str(error)
    if problem:
        say("WARNING: It is installed, and the server does not know of it: %s" % problem, sys.stderr)


def digest_of(path):
    import hashlib

    seen = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            seen.update(chunk)
    return seen.hexdigest()


def bring_with_needs(wanted):
    """Brings what is named, and what the packages in the files need: as with pip, --upgrade is not for that."""
    owners, needs = ([], []) if wanted.alone else needs_of(wanted.files)
    status = 0
    if wanted.names and "--upgrade" in wanted.wishes:
        status, wanted.names = bring_all(wanted), []
    wanted.wishes = [wish for wish in wanted.wishes if wish != "--upgrade"]
    wanted.names += needs
    if status == 0 and not wanted.names and "--dry-run" not in wanted.wishes:
        drop_needs(owners)
    wanted.wishes += [PROJECT % owner for owner in owners]
    return bring_all(wanted) if status == 0 and wanted.names else status


def drop_needs(owners):
    """Drops what these projects asked for."""
    if not owners:
        return
    answer = ask("uninstall", [PROJECT % owner for owner in owners])
    if answer.get("code") != "not_found":  # they asked for nothing
        say(answer["text"], sys.stdout if answer["ok"] else sys.stderr)


def of_session(words):
    """pip's options for what lies in the session, in a folder on Python's path: Python's own is not writable."""
    more = ["--upgrade", "--use-pep517", "--no-deps", "--no-index", "--no-build-isolation"]
    if any(word.partition("=")[0] in TARGETS for word in words):
        return more
    return [*more, "--target", files_folder()]


def needs_of(files):
    """The names of the packages in these files, and their requirements that nothing in the session's own files satisfies."""
    import tempfile

    with tempfile.NamedTemporaryFile() as report:
        status = call_pip("install", "-q", "--dry-run", "--use-pep517", "--ignore-installed", "--no-deps", "--no-index", "--no-build-isolation",
                          "--report", report.name, *files)
        if status != 0:
            raise Refusal("It was not installed: pip could not read what it needs.")
        items = json.load(report)["install"]
    own = {name_of(item["metadata"]["name"]): item for item in items}
    extras = {project_of(path): extras_of(path) for path in files}
    needs = [(text, name) for name, item in own.items() for text in needed(item["metadata"].get("requires_dist", []), extras.get(place_of(item), []))]
    missing = {*missing_of(text for text, _ in needs)}
    return [*own], [text + FOR + name for text, name in needs if text in missing and name_of(text) not in own]


def needed(texts, extras):
    """The requirements that hold here, without their markers."""
    from pip._vendor.packaging.requirements import Requirement

    for text in texts:
        one = Requirement(text)
        if one.marker is not None and not any(one.marker.evaluate({"extra": extra}) for extra in ["", *extras]):
            continue
        if one.url:
            say("WARNING: %s is not asked for: %s leads elsewhere than to the index." % (one.name, one.url), sys.stderr)
            continue
        yield "%s%s%s" % (one.name, "[%s]" % ",".join(sorted(one.extras)) if one.extras else "", one.specifier)


def missing_of(texts):
    """Those that neither Python nor the session's own files satisfy. What the server brought is its own to know."""
    from pip._vendor.packaging.requirements import Requirement

    have = versions_in([files_folder(), *sys.path])
    for text in texts:
        one = Requirement(text)
        version = have.get(name_of(one.name))
        if one.marker is not None and not one.marker.evaluate({"extra": ""}):
            continue
        if version is None or one.extras or not one.specifier.contains(version, prereleases=True):
            yield text


def packages_in(folders):
    """The packages by name; the first one of a name counts, as it does for imports."""
    from importlib import metadata

    found = {}
    for one in metadata.distributions(path=folders):
        found.setdefault(name_of(one.metadata["Name"] or ""), one)
    return found


def versions_in(folders):
    return {name: found.version for name, found in packages_in(folders).items()}


def is_there(text, have):
    """Whether the packages satisfy a requirement, with what its extras need."""
    from pip._vendor.packaging.requirements import Requirement

    one = Requirement(text)
    found = have.get(name_of(one.name))
    if found is None or not one.specifier.contains(found.version, prereleases=True):
        return False
    more = [need for need in map(Requirement, found.requires or []) if need.marker is not None and not need.marker.evaluate({"extra": ""})]
    return all(is_there(str(need), have) for extra in one.extras for need in more
               if need.marker.evaluate({"extra": extra}) and name_of(need.name) != name_of(one.name))


def bring_missing(texts, brought):
    """Brings what builds the projects. A dry run replaces nothing that the session has: it could not give that back."""
    wanted = Wanted()
    have = packages_in([files_folder(), PACKAGES, *sys.path])
    wanted.names = [text for text in dict.fromkeys(needed(missing_of(texts), [])) if not is_there(text, have)]
    if brought is not None:
        have = versions_in([PACKAGES])
        refuse_replacing(wanted.names, have)
        wanted.constraints = ["%s==%s" % row for row in have.items()]
        brought += [name_of(text) for text in wanted.names]
    return bring_all(wanted) if wanted.names else 0


def refuse_replacing(texts, have):
    for text in texts:
        if name_of(text) in have:
            raise Refusal("The project needs %s to be built, in the place of %s. A dry run replaces no package of the session; pip install "
                          "without --dry-run does." % (text, have[name_of(text)]))


def take_away(names, before):
    """Drops the requests of a dry run. The server then drops whatever no request needs, also of what was there before."""
    answer = ask("uninstall", names)
    if answer["ok"]:
        now = versions_in([PACKAGES])
        lost = ["%s %s" % row for row in before.items() if row[0] not in now]
        say("The dry run took away again what the build needed. %s%s" % (
            answer["text"], " The session had %s, which no request of it needs: pip install NAME brings it back." % ", ".join(lost) if lost else ""))
    elif answer.get("code") != "not_found":  # nothing was brought
        say(answer["text"], sys.stderr)
