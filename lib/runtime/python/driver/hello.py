# SPDX-License-Identifier: MIT
"""Takes the settings of a session from the server's hello."""

import _thread

from .rules import load_rules
from .state import State


def take_hello(hello):
    State.output = hello.get("output", "")
    if "stack" in hello:
        _thread.stack_size(int(hello["stack"]))
    if "rules" in hello:
        load_rules(hello.pop("checker"), hello.pop("rules"))
