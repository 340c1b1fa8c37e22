# SPDX-License-Identifier: MIT
"""Reports to the server how far downloads are."""
import json
import os
import threading
import time

from .common import CHANNEL

TOLD_S = 0.2  # between two lines


class Progress:
    """Reports the largest of the downloads that are not done yet."""

    def __init__(self):
        self.lock, self.told, self.files = threading.Lock(), -TOLD_S, {}

    def received(self, row, count, total):
        with self.lock:
            one = self.files.setdefault(row["file"], {"name": row["file"].partition("-")[0], "done": 0, "total": row.get("size") or total or 0})
            one["done"] += count
            if time.monotonic() >= self.told + TOLD_S:
                self.tell()

    def tell(self):
        rest = [one for one in self.files.values() if one["done"] < one["total"] or not one["total"]]
        if rest:
            line = json.dumps({"progress": max(rest, key=lambda one: one["total"])})
            os.write(CHANNEL, line.encode() + b"\n")
            self.told = time.monotonic()
