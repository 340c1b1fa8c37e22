# SPDX-License-Identifier: MIT
"""What a run outside pytest leaves when it fails."""
import contextlib
import shutil
import sys
import tempfile


@contextlib.contextmanager
def folder(prefix, again):
    """A folder for the run. When that fails it stays, and the command that repeats the run is told."""
    path = tempfile.mkdtemp(prefix=prefix)
    try:
        yield path
    except BaseException:
        sys.stdout.write(f"again: {again}\nleft:  {path}\n")
        sys.stdout.flush()
        raise
    shutil.rmtree(path, ignore_errors=True)
