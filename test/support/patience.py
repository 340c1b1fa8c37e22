# SPDX-License-Identifier: MIT
"""How long tests in Python wait, in seconds. No test waits for a time: it waits for a condition, and
these limits are reached by a hang only, however busy the machine is."""

LIMIT_S = 300  # a test
TEARDOWN_S = 60  # what a fixture then takes to end what it began
WAIT_S = 240   # one condition, one answer, one program
CALL_S = 200   # a call of a tool, where the test names no `wait`: what it then says tells what hangs
