# SPDX-License-Identifier: MIT
"""Tells what matplotlib's calls return from values.

`plt.plot(x)` and `ax.set_title(t)` return the objects that they drew. Beside the figure their repr
says nothing.
"""

import sys

from .kinds import is_a, is_pandas, loaded_class, module_of, root_of
from .state import State

ARTIST_MEMBERS = 100  # of a container that are looked at
ARTIST_DEPTH = 3
DRAWN_MODULES = ("matplotlib.contour", "matplotlib.colorbar", "matplotlib.animation")  # their objects are no artists


def shown_by_figure(value):
    """Returns whether the value consists of drawn objects and the cell shows a figure."""
    artist = loaded_class("matplotlib.artist", "Artist")
    if artist is None or is_a(value, loaded_class("matplotlib.figure", "FigureBase") or ()):
        return False
    try:
        return bool(State.cell.figures or has_open_figure()) and is_made_of(value, artist, ARTIST_DEPTH)
    except Exception:  # a container of the session's own kind
        return False


def has_open_figure():
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    return helpers is not None and bool(helpers.Gcf.figs)


def is_made_of(value, artist, depth):
    if is_a(value, artist) or module_of(type(value)) in DRAWN_MODULES:
        return True
    members = members_of(value)
    if not members or depth == 0:
        return False
    drawn = [is_made_of(item, artist, depth - 1) for item in members]
    return any(drawn) and all(found or stands_beside(item, value) for found, item in zip(drawn, members))


def stands_beside(item, container):
    """Returns whether matplotlib returns such an item beside what it drew."""
    if is_a(item, (list, tuple)) and not item:
        return True
    if is_a(container, tuple):  # hist() returns counts and edges before its bars
        return len(container) == 3 and is_array_data(item)
    return is_a(container, list) and (item is None or is_limits(item))  # as Axes.set() does


def members_of(value):
    kind = type(value)
    if kind is dict:
        return list(value.values())[:ARTIST_MEMBERS]
    if is_a(value, (tuple, list)) or kind is set:
        return list(value)[:ARTIST_MEMBERS]
    if root_of(kind) == "numpy" and getattr(value, "dtype", None) == object:
        return list(value.flat[:ARTIST_MEMBERS])
    if is_pandas(kind) and getattr(value, "dtype", None) == object:
        return list(value.values[:ARTIST_MEMBERS])
    return []


def is_array_data(value):
    return root_of(type(value)) == "numpy" or (is_a(value, list) and all(root_of(type(v)) == "numpy" for v in value))


def is_limits(value):
    return is_a(value, (tuple, list)) and all(is_a(item, (int, float)) or root_of(type(item)) == "numpy" for item in value)
