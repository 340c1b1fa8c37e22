# SPDX-License-Identifier: MIT
"""Shows IPython's Audio: the sound is saved into the output folder, and a short one is sent, too."""

from .images import save_output
from .limits import SOUND_BYTES
from .mime import SOUNDS
from .state import State

def sound_forms(value):
    """Returns the forms of an Audio object: a note with the file's name, and the sound."""
    data = getattr(value, "data", None)
    mime = kind_of_sound(data) if isinstance(data, bytes) else None
    if mime is None:
        return {"text/plain": "[a sound that is not shown: only WAV, MP3, Ogg and FLAC data is]"}
    State.cell.sounds += 1
    name = save_output(data, SOUNDS[mime], State.cell.sounds, "sound")
    note = "[sound: output/%s]" % name if name else "[a sound: it could not be kept in output/]"
    forms = {"text/plain": note}
    if len(data) <= SOUND_BYTES:
        forms[mime] = data
    return forms


def kind_of_sound(data):
    """Returns the MIME type that the first bytes tell, or None."""
    if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        return "audio/wav"
    if data[:3] == b"ID3" or (data[:1] == b"\xff" and data[1:2] in (b"\xfb", b"\xf3", b"\xf2")):
        return "audio/mpeg"
    return {b"OggS": "audio/ogg", b"fLaC": "audio/flac"}.get(data[:4])
