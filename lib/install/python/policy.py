# SPDX-License-Identifier: MIT
"""The user's policy for packages, by Python's rules for names and versions."""
import re

from .common import Refusal, packaging, quote

UNITS = {"h": 3600, "d": 86400, "w": 7 * 86400}


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


def seconds_of(text):
    """Of "7d", "12h" or "2w", which the server has checked; 0 for none."""
    found = re.fullmatch(r"(\d+)([hdw])", text or "")
    return int(found[1]) * UNITS[found[2]] if found else 0
