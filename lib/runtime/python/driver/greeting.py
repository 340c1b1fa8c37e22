# SPDX-License-Identifier: MIT
"""Answers the server's hello.

`main` imports this module first, so READY is sent before the rest of the driver is defined: the
server prepares the first cell meanwhile.
"""

import _signal
import posix
import sys

from .channel import channel

PROTOCOL = "1"


early = []  # signals that came before on_sigint() was defined


def note_early(signum, frame):
    early.append(signum)


def greet():
    """Answers the server's hello with READY. Returns the parts of the hello."""
    frame = channel.peek_frame()
    kind, _, hello = frame
    if kind != "hello":
        posix._exit(1)
    channel.drop_frame(frame)
    # From now on the server may interrupt; on_sigint() is not defined yet.
    _signal.signal(_signal.SIGINT, note_early)
    channel.send(
        b"ready",
        0,
        [
            ("proto", PROTOCOL),
            ("nonce", hello.get("nonce", "")),
            ("language", "python"),
            ("version", sys.version.partition(" ")[0]),
            ("executable", sys.executable or ""),
            ("pid", str(posix.getpid())),
        ],
    )
    return hello


HELLO = greet()
