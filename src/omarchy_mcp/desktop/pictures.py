"""Pictures made fit to be handed on: looked through whole, no larger than asked for, bounded in bytes.

Nothing is written anywhere.  Takes processor time: called in a thread.
"""

import io
from dataclasses import dataclass

from PIL import Image, UnidentifiedImageError

FORMATS = ("PNG", "PPM", "JPEG")
MOST_PIXELS = 36_000_000
"""Of a picture that is read at all: one of the largest monitor; each takes three bytes of our memory."""
MOST_BYTES = 1_500_000
"""Of a picture that is handed on: a third of what the strictest model takes, and half as much again when encoded."""
QUALITIES = (85, 70, 50)
FLAT = 2
"""Shades by which the pixels of a picture of one colour may differ."""

Image.MAX_IMAGE_PIXELS = None  # the size is looked at below, before anything is decoded


class BadPictureError(Exception):
    """It is no picture, or not a whole one; the message says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture to hand on, and the size it had; `flat` says its one colour, if it has but one."""

    data: bytes
    mime: str
    width: int
    height: int
    original: tuple[int, int]
    flat: str


def fit(data: bytes, longest: int) -> Picture:
    """Make a picture fit: neither side longer than that.

    Raises:
        BadPictureError: it cannot be read whole.
    """
    image = _read(data)
    original, flat = image.size, _flat(image)
    image.thumbnail((longest, longest), Image.Resampling.LANCZOS, reducing_gap=2.0)
    while True:
        encoded, mime = _encode(image)
        if len(encoded) <= MOST_BYTES or max(image.size) <= 64:
            return Picture(
                data=encoded, mime=mime, width=image.width, height=image.height, original=original, flat=flat
            )
        image = image.resize((max(image.width * 3 // 4, 1), max(image.height * 3 // 4, 1)), Image.Resampling.LANCZOS)


def legible(data: bytes) -> tuple[bytes, str]:
    """The same picture as text recognition takes it, and its one colour, if it has but one.

    Raises:
        BadPictureError: it cannot be read whole.
    """
    image = _read(data)
    held = io.BytesIO()
    image.convert("L").save(held, "PNG", compress_level=1)
    return held.getvalue(), _flat(image)


def _read(data: bytes) -> Image.Image:
    if not data:
        raise BadPictureError("there was nothing in it")
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
        if image.width * image.height > MOST_PIXELS:
            raise BadPictureError(f"it has {image.width}x{image.height} pixels, which is too large to be looked at")
        image.load()
        return image if image.mode == "RGB" else image.convert("RGB")
    except UnidentifiedImageError as error:
        raise BadPictureError("it is not a picture") from error
    except (OSError, ValueError, SyntaxError, EOFError, IndexError) as error:
        raise BadPictureError("it is broken, or only a part of it came") from error


def _flat(image: Image.Image) -> str:
    """Its one colour in a word, "" for a picture of several."""
    bands = [band.getextrema() for band in image.split()]
    lows, highs = [int(str(low)) for low, _ in bands], [int(str(high)) for _, high in bands]
    if any(high - low > FLAT for low, high in zip(lows, highs, strict=True)):
        return ""
    return "black" if max(highs) <= FLAT else "of one colour"


def _encode(image: Image.Image) -> tuple[bytes, str]:
    """As it is, or with losses where that would be too many bytes."""
    held = io.BytesIO()
    image.save(held, "PNG", compress_level=6)
    if held.tell() <= MOST_BYTES:
        return held.getvalue(), "image/png"
    for quality in QUALITIES:
        held = io.BytesIO()
        image.save(held, "JPEG", quality=quality)
        if held.tell() <= MOST_BYTES:
            break
    return held.getvalue(), "image/jpeg"
