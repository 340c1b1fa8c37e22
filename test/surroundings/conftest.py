# SPDX-License-Identifier: MIT
"""The tests here use the client and the machines of the end-to-end tests."""
import pathlib
import sys

E2E = pathlib.Path(__file__).resolve().parents[1] / "e2e"
sys.path[:0] = [str(E2E), str(E2E.parent / "support")]
