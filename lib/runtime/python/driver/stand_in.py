# SPDX-License-Identifier: MIT
"""Stands for IPython where it is not installed.

A notebook begins with its imports. An installed IPython comes first: this finder is the last one of
sys.meta_path, and a package that is installed later replaces it.
"""

import sys

from .display import DisplayHandle, clear_output, display, publish_display_data
from .kinds import DRIVER_FILE
from .state import State


def for_cells(others):
    """Returns get_ipython() for cells and for IPython's decorators; libraries get `others`.

    A library calls it to find out where it runs, and a session is no Jupyter kernel.
    """

    def get_ipython():
        if sys._getframe(1).f_globals.get("__name__") in ("__main__", "IPython.core.magic"):
            return State.shell
        return others()

    return get_ipython


def no_ipython():
    raise NameError("name 'get_ipython' is not defined")


# The names of IPython.display that notebooks import.
STAND_IN = """\
class DisplayObject:
    _mime = "text/plain"
    def __init__(self, data=None, url=None, filename=None, metadata=None, **options):
        if filename is None and url is None and isinstance(data, str) and self._from_file(data):
            data, filename = None, data
        if filename is not None:
            with open(filename, self._mode) as file:
                data = file.read()
        if data is None and url is not None:
            raise ValueError("a session shows data and files, not what lies at an URL")
        self.data, self.filename, self.metadata = data, filename, metadata
    _mode = "r"
    def _from_file(self, data):
        return False
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self._mime: self.data}

def _of(name, mime):
    return type(name, (DisplayObject,), {"_mime": mime, "__module__": "IPython.display"})

HTML = _of("HTML", "text/html")
Markdown = _of("Markdown", "text/markdown")
Latex = _of("Latex", "text/latex")
JSON = _of("JSON", "application/json")
SVG = _of("SVG", "image/svg+xml")
Javascript = _of("Javascript", "application/javascript")
Pretty = TextDisplayObject = _of("Pretty", "text/plain")
SVG._from_file = lambda self, data: not data.lstrip().startswith("<")

class Math(Latex):
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/latex": "$\\\\displaystyle %s$" % self.data.strip("$")}

class Code(DisplayObject):
    def __init__(self, data=None, url=None, filename=None, language=None):
        super().__init__(data, url, filename)
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": self.data}

class Image(DisplayObject):
    _mode = "rb"
    def _from_file(self, data):
        return True
    def _repr_mimebundle_(self, include=None, exclude=None):
        kinds = {b"\\xff\\xd8": "image/jpeg", b"GI": "image/gif", b"RI": "image/webp"}
        return {kinds.get(bytes(self.data[:2]), "image/png"): self.data}

class Audio(DisplayObject):
    _mode = "rb"
    def __init__(self, data=None, filename=None, url=None, embed=None, rate=None, autoplay=False,
                 normalize=True, **options):
        if data is None and filename is None and url is None:
            raise ValueError("No audio data found. Expecting filename, url, or data.")
        super().__init__(data, url, filename)
        if not isinstance(self.data, bytes):
            if rate is None:
                raise ValueError("rate must be specified when data is a numpy array or list of audio samples.")
            self.data = _wav(self.data, rate, normalize)
    def _from_file(self, data):
        if "://" in data:
            raise ValueError("a session shows data and files, not what lies at an URL")
        return True

def _wav(samples, rate, normalize):
    import array, struct, sys
    rows = samples.tolist() if hasattr(samples, "tolist") else list(samples)
    channels = rows if rows and isinstance(rows[0], (list, tuple)) else [rows]
    values = [value for moment in zip(*channels) for value in moment]
    peak = max(map(abs, values), default=0) if normalize else 1
    if not normalize and max(map(abs, values), default=0) > 1:
        raise ValueError("Audio data must be between -1 and 1 when normalize=False.")
    pcm = array.array("h", [int(value / (peak or 1) * 32767) for value in values])
    if sys.byteorder == "big":
        pcm.byteswap()
    width = 2 * len(channels)
    head = struct.pack("<4sIHHIIHH4sI", b"fmt ", 16, 1, len(channels), int(rate), int(rate) * width, width, 16,
                       b"data", 2 * len(pcm))
    return struct.pack("<4sI4s", b"RIFF", 4 + len(head) + 2 * len(pcm), b"WAVE") + head + pcm.tobytes()

class FileLink:
    def __init__(self, path, *_, **__):
        self.path = path
    def __repr__(self):
        return str(self.path)

def display_html(*objects, raw=False, **options):
    display(*([{"text/html": item} for item in objects] if raw else objects), raw=raw)
def display_markdown(*objects, raw=False, **options):
    display(*([{"text/markdown": item} for item in objects] if raw else objects), raw=raw)
def display_pretty(*objects, raw=False, **options):
    display(*([{"text/plain": item} for item in objects] if raw else objects), raw=raw)
def update_display(item, *, display_id=None, **options):
    display(item, **options)
"""


class StandIn:
    """The finder of the stand-in, and its loader."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in ("IPython", "IPython.display", "IPython.core", "IPython.core.display",
                        "IPython.core.interactiveshell"):
            return None
        from _frozen_importlib import ModuleSpec

        return ModuleSpec(name, StandIn, is_package=name in ("IPython", "IPython.core"))

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        names = module.__dict__
        names["display"] = display
        if names["__name__"] in ("IPython", "IPython.core"):
            names["get_ipython"] = for_cells(lambda: None)
            return
        if names["__name__"] == "IPython.core.interactiveshell":
            names["InteractiveShell"] = type(State.shell)
            return
        names.update(clear_output=clear_output, publish_display_data=publish_display_data, DisplayHandle=DisplayHandle)
        exec(compile(STAND_IN, DRIVER_FILE, "exec", 0, True), names)


def forget_stand_in():
    """Removes the stand-in from sys.modules: IPython may have been installed."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "IPython"]:
        if getattr(sys.modules[name], "__loader__", None) is StandIn:
            del sys.modules[name]
