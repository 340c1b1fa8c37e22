# SPDX-License-Identifier: MIT
"""What the modules of the installer share: its refusals, and the rules for names and versions."""
import os
import sys

CHANNEL = 3  # the request comes by it, and the answer goes
PROXY = "http://127.0.0.1:3128"
AUTHORITIES = "authorities.pem"  # of the user's pip configuration


class Refusal(Exception):
    """A sentence for the caller."""


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


def naming():
    """Of packaging() only what names and versions need: the parser of requirements takes longer to import than a download."""
    try:
        from pip._vendor.packaging import utils, version
    except ImportError:
        _, _, utils, version = packaging()
    return utils, version


def quote(text, limit=80):
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return "'%s'" % (text if len(text) <= limit else text[: limit - 3] + "...")


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(line + "\n" for line in lines))


def write_authorities(request):
    if "certificates" in request:
        write_lines(AUTHORITIES, [request["certificates"]])
        os.environ["REQUESTS_CA_BUNDLE"] = os.path.abspath(AUTHORITIES)
