# SPDX-License-Identifier: MIT
"""Scales images for the model and saves them whole into the output folder.

PIL is imported only for an image that is too large or not a PNG.
"""

import _io
import posix

from .errors import error_line
from .limits import IMAGES_PER_CELL, IMAGE_BYTES, IMAGE_SIDE, PHOTO_BYTES, PHOTO_FACTOR
from .own import own
from .state import State
from .streams import print_note

PICTURES = ("image/png", "image/jpeg")  # other formats are converted to one of these
FORMATS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
STARTS = {b"\x89PNG": "image/png", b"\xff\xd8": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}


def image_parts(data):
    """Returns the parts for an encoded image: scaled for the model, and the name of the whole file.

    The first bytes decide its format, whatever MIME type the object claims.
    """
    if isinstance(data, str):
        binascii = own("binascii")

        try:
            data = binascii.a2b_base64(data)
        except ValueError:
            return []
    data = bytes(data)
    mime = next((kind for start, kind in STARTS.items() if data.startswith(start)), None)
    if mime is None:
        return []
    cell = State.cell
    cell.images += 1
    name = cell.saved_as or save_output(data, FORMATS[mime])
    cell.saved_as = None
    if cell.images > IMAGES_PER_CELL:
        cell.images_left_out += 1
        cell.images_lost += name is None
        return []
    small = shrink(mime, data)
    if small[0] not in PICTURES:
        print_note("[a picture that PIL does not read: %s]" % ("output/" + name if name else "it could not be kept in output/"))
        return []
    return [small] + ([("file", name)] if name else [])


def shrink(mime, data):
    """Returns (mime, data) with no side above IMAGE_SIDE. An animation becomes its first picture.

    Without PIL the image stays as it is.
    """
    side = max(png_size(data)) if mime == "image/png" else 0
    if mime == "image/png" and side <= IMAGE_SIDE and len(data) <= PHOTO_BYTES:
        return mime, data
    try:
        from PIL import Image
        image = Image.open(_io.BytesIO(data))
        if mime in PICTURES and max(image.size) <= IMAGE_SIDE and len(data) <= IMAGE_BYTES:
            return fitting_form(image, data) if mime == "image/png" else (mime, data)
        return encode_image(image)
    except Exception:
        return mime, data


def png_size(data):
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def encode_image(image):
    """Returns a PIL image as (mime, data), scaled."""
    if max(image.size) > IMAGE_SIDE:
        image = scaled(image)
    return fitting_form(image, png_bytes(image))


def fitting_form(image, png):
    """Returns (mime, data): JPEG for a photograph, and for a large picture if that is smaller.

    Drawings with few colours and sharp edges are small as PNG and large as JPEG.
    """
    if len(png) > PHOTO_BYTES and not has_transparency(image):
        jpeg = saved_bytes(in_8_bits(image).convert("RGB"), "jpeg", quality=85)
        if len(jpeg) * (1 if len(png) > IMAGE_BYTES else PHOTO_FACTOR) < len(png):
            return "image/jpeg", jpeg
    return "image/png", png


def scaled(image):
    factor = IMAGE_SIDE / max(image.size)
    size = [max(1, round(side * factor)) for side in image.size]
    image = in_8_bits(image)
    if image.mode not in ("L", "RGB", "RGBA", "LA"):
        image = image.convert("RGBA" if has_transparency(image) else "RGB")
    # reducing_gap makes huge images cheap at no visible loss
    return image.resize(size, 1, reducing_gap=3.0)


def in_8_bits(image):
    """Returns a picture of 16-bit greys with greys of 8 bits, and any other as it is.

    convert() alone clips greys above 255.
    """
    if not image.mode.startswith("I"):
        return image
    return image.convert("I").point(lambda grey: grey * (1 / 256) + 0).convert("L")


def has_transparency(image):
    if image.mode == "P":
        return "transparency" in image.info
    return image.mode in ("RGBA", "LA", "PA") and image.getchannel("A").getextrema()[0] < 255


def png_bytes(image):
    if image.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16"):
        image = in_8_bits(image).convert("RGB")
    return saved_bytes(image, "png", compress_level=1)


def saved_bytes(image, form, **options):
    buffer = _io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def pil_forms(image):
    try:
        data = png_bytes(image)
    except Exception as error:
        print_note("[the image cannot be shown: %s]" % error_line(error))
        return {}
    return {"image/png": data}


def remove(path):
    try:
        posix.unlink(path)
    except OSError:
        pass


def save_output(data, extension, number=None, kind="figure"):
    """Saves data into the output folder. Returns its name there, or None if that failed."""
    if not State.output:
        return None
    name = "cell-%d-%s-%d.%s" % (State.cell.ident, kind, number or State.cell.images, extension)
    temporary = "%s/.%s.part" % (State.output, name)
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        posix.rename(temporary, "%s/%s" % (State.output, name))
    except OSError:
        remove(temporary)
        return None
    return name


def output_name(path):
    """Returns the name of a file that lies in output/ itself and is not hidden, or None."""
    os = own("os")

    if not isinstance(path, (str, os.PathLike)) or not State.output:
        return None
    folder, name = os.path.split(os.path.realpath(path))
    return None if folder != os.path.realpath(State.output) or name[0] == "." else name
