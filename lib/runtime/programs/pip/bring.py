# SPDX-License-Identifier: MIT
"""Has the server bring what the words ask for."""
import sys

from .common import FOR, PACKAGES_MAX, name_of, say
from .server import ask

IGNORED = {"--no-binary": "the server takes wheels where there are some",
          "--upgrade-strategy": "only packages that are named are upgraded, and others where that is needed"}


def bring_all(wanted):
    for option in dict.fromkeys(wanted.ignored):
        say("WARNING: %s is not used: %s." % (option, IGNORED[option.partition(" ")[0]]), sys.stderr)
    wishes = list(dict.fromkeys(wanted.wishes))
    return bring(wanted, [*wishes, *constraints(wanted, PACKAGES_MAX - len(wanted.names) - len(wishes))])


def bring(wanted, options):
    parts = [text.partition(FOR) for text in wanted.names]
    say("Asking ptycell to install %s." % " ".join(text for text, _, _ in parts))
    more = (" --no-deps" if wanted.alone else "") + (" --index-url=%s" % wanted.index if wanted.index else "")
    answer = ask("install", [*(text + more + sign + owner for text, sign, owner in parts), *options])
    say(answer["text"], sys.stdout if answer["ok"] else sys.stderr)
    return 0 if answer["ok"] else 1


def constraints(wanted, room):
    """The options for the server, first those for packages that are asked for; says if there are more than it takes."""
    named = {name_of(text) for text in wanted.names}
    found = sorted(dict.fromkeys(wanted.constraints), key=lambda text: name_of(text) not in named)
    room = max(room, 0)
    if len(found) > room:
        say("WARNING: %d of %d constraints are not used: the server takes %d entries at once. Constraints for packages that "
            "are named come first." % (len(found) - room, len(found), PACKAGES_MAX), sys.stderr)
    return ["--constraint=%s" % text for text in found[:room]]
