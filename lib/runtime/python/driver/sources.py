# SPDX-License-Identifier: MIT
"""The lines of every cell, for tracebacks, warnings, pdb and inspect."""

from _collections import deque

from .limits import LEAF_CELLS


class Sources:
    """The lines of every cell.

    They go to `linecache` with mtime None, so `checkcache` leaves them alone. linecache is
    expensive to import: an import hook fills it once session code imports it. A later traceback can
    hardly name a cell that defines nothing, so only the last ones of those are kept.
    """

    def __init__(self):
        self.text = {}
        self.linecaches = []  # modules
        self.leaves = deque()
        self.stopped = {}  # cell that raised -> line of the statement that did, or 0 if none has run
        self.owner = {}  # top-level class or function name -> cell that defined it

    def remember(self, name, source):
        self.text[name] = source
        for linecache in self.linecaches:
            self.fill(linecache, name)

    def note_failure(self, name, error):
        """Notes in which statement of the cell an exception was raised: the later ones have not run."""
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if code.co_filename == name and code.co_name == "<module>":
                self.stopped[name] = trace.tb_lineno
                return
            trace = trace.tb_next

    def has_begun(self, name, first):
        """Returns whether the statement that begins in this line has been run, if only in part."""
        return name not in self.stopped or first <= self.stopped[name]

    def has_ended(self, name, last):
        """Returns whether the statement that ends in this line has been run whole."""
        return name not in self.stopped or last < self.stopped[name]

    def lines(self, name):
        return [line + "\n" for line in self.text[name].split("\n")]

    def fill(self, linecache, name):
        lines = self.lines(name)
        linecache.cache[name] = (len(self.text[name]) + 1, None, lines, name)

    def fill_all(self, linecache):
        self.linecaches.append(linecache)
        for name in list(self.text):
            self.fill(linecache, name)

    def note_leaf(self, name):
        self.leaves.append(name)
        if len(self.leaves) > LEAF_CELLS:
            self.drop(self.leaves.popleft())

    def drop(self, name):
        self.text.pop(name, None)
        self.stopped.pop(name, None)
        for linecache in self.linecaches:
            linecache.cache.pop(name, None)


sources = Sources()
