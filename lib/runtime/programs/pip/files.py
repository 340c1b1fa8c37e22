# SPDX-License-Identifier: MIT
"""The folder of packages from the session's own files."""
import json
import os
import re

from .common import files_folder, name_of, place_of, say
from .editable import remove, unlink_editables


class Own:
    """A package that lies in the folder of those from the session's files."""

    def __init__(self, found):
        self.name, self.version = found.metadata["Name"] or "", found.version
        self.folder = str(found._path)
        self.made = (os.stat(self.folder).st_mtime, os.stat(self.folder).st_ino)
        self.files = {self.path_of(str(file)) for file in found.files or []}
        text = found.read_text("direct_url.json")
        self.source = place_of({"download_info": json.loads(text)}) if text else None

    @staticmethod
    def path_of(file):
        """Programs are in `bin`, of which pip's record says `../../bin`."""
        return os.path.normpath(os.path.join(files_folder(), re.sub(r"^(\.\./)+", "", file)))

    def take_away(self, kept):
        """Removes its files but for those of `kept`, and folders that have none any more."""
        folders = set()
        for path in self.files - kept:
            above = os.path.dirname(path)
            if os.path.realpath(above) == above and above.startswith(files_folder()):  # a link leads to the user's files
                remove(path)
                while above != files_folder():
                    folders.add(above)
                    above = os.path.dirname(above)
        for path in sorted(folders, key=len, reverse=True):
            if os.path.isdir(path) and set(os.listdir(path)) <= {"__pycache__"}:
                remove(path)


def ours():
    from importlib import metadata

    return [Own(found) for found in metadata.distributions(path=[files_folder()])]


def drop_replaced(before):
    """pip installs into a folder without removing what an earlier version of the same package has there."""
    newest = {}
    for own in sorted(ours(), key=lambda own: own.made):
        newest[name_of(own.name)] = own
    for own in before:
        now = newest[name_of(own.name)]
        if (now.folder, now.made) != (own.folder, own.made):
            own.take_away(now.files)


def uninstall_ours(names):
    """Uninstalls projects and files of the session; returns their names, and those of other packages."""
    found = [own for own in ours() if name_of(own.name) in map(name_of, names)]
    for own in found:
        if own.source is not None:
            unlink_editables([own.source])
        own.take_away(set())
        say("Successfully uninstalled %s-%s" % (own.name, own.version))
    gone = [name_of(own.name) for own in found]
    return gone, [name for name in names if name_of(name) not in gone]
