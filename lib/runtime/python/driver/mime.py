# SPDX-License-Identifier: MIT
"""Everything a value can be shown as, by MIME type.

Modules that know a class (figures, libraries) add a row to FORMS. All other objects are asked by
IPython's `_repr_*_` methods.
"""

from .cut import bounded
from .errors import error_line
from .first_rows import is_frame
from .images import FORMATS, PICTURES, image_parts, save_output
from .kinds import is_a, is_pandas, loaded_class, type_name
from .limits import FORMS_MAX, NAMED_MAX, PICTURE_MAX, SOUND_BYTES, TEXT_LIMIT
from .own import own
from .pages import text_of_html
from .state import State
from .streams import print_note
from .text import PLAIN_CONTAINERS, SCALARS, object_text, plain_text

REPR_METHODS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_latex_", "text/latex"),
    ("_repr_json_", "application/json"),
)
SOUNDS = {"audio/wav": "wav", "audio/mpeg": "mp3", "audio/ogg": "ogg", "audio/flac": "flac"}
MIME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789./+-")
NO_ATTRIBUTE = "_ptycell_no_object_has_this_attribute_"


def bundle_parts(value):
    """Returns all forms of a value as parts of a frame; text/plain is always among them."""
    kind = type(value)
    if kind in SCALARS or kind in PLAIN_CONTAINERS or kind is bytearray:
        return [("text/plain", plain_text(value))]
    bundle = rich_forms(value)
    if "text/plain" not in bundle:
        bundle["text/plain"] = object_text(value)
    if is_default_repr(str(bundle["text/plain"])):
        bundle["text/plain"] = text_of_markup(bundle) or bundle["text/plain"]
    return parts_of(bundle)


def is_default_repr(text):
    """Returns whether text is like `<IPython.core.display.HTML object>`, which says nothing."""
    return text.startswith("<") and text.endswith(">") and " object" in text and "\n" not in text


def text_of_markup(bundle):
    """Returns the text of the first form that has one, or None."""
    for mime in ("text/markdown", "text/latex"):
        if mime in bundle:
            return str(bundle[mime])
    if "text/html" in bundle:
        return page_text(str(bundle["text/html"]))
    if "application/json" in bundle:
        return json_text(bundle["application/json"])
    return drawing_text(bundle["image/svg+xml"]) if "image/svg+xml" in bundle else None


def drawing_text(svg):
    data = svg if isinstance(svg, bytes) else str(svg).encode("utf-8", "replace")
    State.cell.images += 1
    name = save_output(data, "svg")
    return "[drawing: output/%s]" % name if name else "[a drawing as SVG: it could not be kept in output/]"


def page_text(page):
    """Returns the words of a page. Saves a page that needs a browser into the output folder."""
    text = text_of_html(page)
    if own("re").search(r"<(?:script|iframe|video|audio|canvas|img)\b", page, own("re").I):
        State.cell.images += 1
        name = save_output(page.encode("utf-8", "replace"), "html")
        text += "\n[page: output/%s]" % name if name else "\n[a page: it could not be kept in output/]"
    return text.lstrip("\n")


def rich_forms(value):
    if is_a(value, type) or answers_to_anything(value):
        return {}
    if is_pandas(type(value)) or is_frame(value):
        return {}  # the table as text is a third of the size of its HTML
    special = special_forms(value)
    if special is not None:
        return special
    bundle = mimebundle_of(value)
    for method, mime in REPR_METHODS:
        if mime not in bundle:
            data = call_repr(value, method)
            if data is not None:
                bundle[mime] = data
    return bundle


# Rows (module, class, function from a value to its forms). The modules that know a class add
# theirs.
FORMS = []


def special_forms(value):
    for module, name, forms in FORMS:
        kind = loaded_class(module, name)
        if kind is not None and is_a(value, kind):
            return forms(value)
    return None


def answers_to_anything(value):
    """Returns whether value has every attribute, as a mock does: its forms are worthless."""
    try:
        return getattr(value, NO_ATTRIBUTE, None) is not None
    except Exception:
        return True


def mimebundle_of(value):
    data = call_repr(value, "_repr_mimebundle_", include=None, exclude=None)
    if not isinstance(data, dict):
        return {}
    return {str(mime).lower(): item for mime, item in data.items() if item is not None}


def call_repr(value, method, **arguments):
    try:
        function = getattr(value, method, None)
        if function is None:
            return None
        data = function(**arguments)
    except NotImplementedError:
        return None
    except Exception as error:
        note_failure(value, method, error_line(error))
        return None
    # The method may return a pair of data and metadata.
    return data[0] if isinstance(data, tuple) and data else data


def note_failure(value, method, line):
    """Says why an object cannot be shown, once where several of its methods fail alike."""
    failure = type_name(type(value)), line
    if State.cell.failure != failure:
        print_note("[%s of %s failed: %s]" % (method, *failure))
    State.cell.failure = failure


def parts_of(bundle):
    """Returns a bundle of forms as parts of a frame, within the limits.

    Raises ValueError beyond.
    """
    parts = []
    forms = 0
    for mime, data in bundle.items():
        if not mime or len(mime) > 64 or not MIME_CHARACTERS.issuperset(mime):
            continue
        if mime in FORMATS:
            parts.extend(image_parts(data))
        elif mime == "text/plain":
            parts.append((mime, str(data)))
        elif mime in SOUNDS and isinstance(data, bytes) and len(data) <= SOUND_BYTES:
            parts.append((mime, data))
        elif forms < FORMS_MAX:
            forms += 1
            data = data if isinstance(data, (str, bytes)) else json_text(data)
            parts.append((mime, data if len(data) <= NAMED_MAX else b""))
    size = sum(len(data) for mime, data in parts if mime in PICTURES)
    limit = NAMED_MAX if size > 0 else TEXT_LIMIT
    parts = [(mime, bounded(data, limit) if mime == "text/plain" else data) for mime, data in parts]
    refuse_large(size, parts)
    return parts


def refuse_large(size, parts):
    if size <= PICTURE_MAX:
        return
    name = dict(parts).get("file")
    saved = "; it is saved as output/%s" % name if name else ""
    raise ValueError("a picture of %d bytes is too large to be shown: at most %d are%s" % (size, PICTURE_MAX, saved))


def json_text(data):
    json = own("json")

    try:
        return json.dumps(data, default=repr)
    except (TypeError, ValueError):
        return json.dumps(repr(data))
