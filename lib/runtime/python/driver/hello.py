# SPDX-License-Identifier: MIT
"""Takes the settings of a session from the server's hello."""

import _thread
import posix

from .channel import VALUES_FD
from .rules import load_rules
from .state import State


def take_hello(hello):
    State.output = hello.get("output", "")
    State.home = posix.getcwd()
    try:
        posix.set_inheritable(VALUES_FD, False)
        State.values_pipe = posix.fstat(VALUES_FD)[:3]
    except OSError:
        pass  # an interpreter that saves nothing has none
    if "stack" in hello:
        _thread.stack_size(int(hello["stack"]))
    if "rules" in hello:
        load_rules(hello.pop("checker"), hello.pop("rules"))
