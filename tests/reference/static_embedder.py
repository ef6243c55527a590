"""NumPy twin of the static embedder: reads the file, splits by unicodedata, sums the rows."""

from __future__ import annotations

import struct
import unicodedata
import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

CJK = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
WHITE_SPACE = set("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000")
WHITE_SPACE |= {chr(code) for code in range(0x2000, 0x200B)}
WORD_CODES_MAX = 100


@dataclass(frozen=True)
class StaticModel:
    name: str
    pieces: tuple[str, ...]
    scales: npt.NDArray[np.float32]
    values: npt.NDArray[np.int8]

    @cached_property
    def ids(self) -> dict[str, int]:
        return {piece: i for i, piece in enumerate(self.pieces)}

    def dump(self) -> bytes:
        """Return the bytes of the model's file."""
        vocabulary = b"".join(bytes([len(p.encode())]) + p.encode() for p in self.pieces)
        name = self.name.encode()
        sizes = (1, self.values.shape[1], len(self.pieces), len(vocabulary), len(name))
        body = struct.pack("<8s5I", b"RPLSTEMB", *sizes) + name + vocabulary
        body += self.scales.astype("<f4").tobytes() + self.values.tobytes()
        return body + struct.pack("<I", zlib.crc32(body))


def read_model(data: bytes) -> StaticModel:
    magic, version, dimension, count, vocabulary_bytes, name_bytes = struct.unpack_from("<8s5I", data)
    assert (magic, version) == (b"RPLSTEMB", 1)
    at = 28 + name_bytes
    name = data[28:at].decode()
    end = at + vocabulary_bytes
    pieces = []
    while at < end:
        pieces.append(data[at + 1 : at + 1 + data[at]].decode())
        at += 1 + data[at]
    scales = np.frombuffer(data, "<f4", count, end)
    values = np.frombuffer(data, np.int8, count * dimension, end + 4 * count).reshape(count, dimension)
    assert zlib.crc32(data[:-4]) == struct.unpack("<I", data[-4:])[0]
    return StaticModel(name, tuple(pieces), scales, values)


def split_words(text: str) -> list[str]:
    spaced = []
    for char in text:
        if char in WHITE_SPACE:
            spaced.append(" ")
        elif char != "\ufffd" and unicodedata.category(char)[0] != "C":
            is_ideograph = any(first <= ord(char) <= last for first, last in CJK)
            spaced.append(f" {char} " if is_ideograph else char)
    out = []
    for char in unicodedata.normalize("NFD", "".join(spaced)):
        if unicodedata.category(char) == "Mn":
            continue
        for lower in char.lower():
            if unicodedata.category(lower)[0] in "PS":
                out.append(f" {lower} ")
            elif unicodedata.category(lower) != "Mn":
                out.append(lower)
    return "".join(out).split(" ")


def split_pieces(word: str, ids: dict[str, int]) -> list[int]:
    found: list[int] = []
    at = 0
    while at < len(word) <= WORD_CODES_MAX:
        for end in range(len(word), at, -1):
            piece = word[at:end] if at == 0 else "##" + word[at:end]
            if piece in ids:
                found.append(ids[piece])
                at = end
                break
        else:
            return []
    return found


def embed(model: StaticModel, texts: list[str]) -> npt.NDArray[np.float32]:
    out = np.full((len(texts), model.values.shape[1]), np.nan, dtype=np.float32)
    for line, text in enumerate(texts):
        known = [i for word in split_words(text) for i in split_pieces(word, model.ids)]
        rows = model.values[known].astype(np.float64) * model.scales[known].astype(np.float64)[:, None]
        total = rows.sum(axis=0)
        norm = np.linalg.norm(total)
        if known and norm > 1e-12:
            out[line] = total / norm
    return out
