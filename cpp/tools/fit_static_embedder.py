"""Fit the static embedder: ``ripple/data/static-en-1.bin``.

One vector a WordPiece token; a text's vector is the normalised sum of its tokens' vectors. The vectors are
distilled from all-MiniLM-L6-v2 (Apache-2.0, see build_minilm_onnx.py) and then fitted, so that the cosines
between texts become those of the teacher:

1. start: the teacher's own vector of each token, centred, PCA, weighted by the rank of its frequency (SIF),
   mean row norm 1;
2. teacher vectors of short texts whose licences allow it: Ubuntu IRC logs and Taskmaster-4 (CC BY 4.0) and
   the glosses and examples of WordNet (WordNet licence); a share of them with a name as the speaker or the
   subject, which the teacher does not see;
3. listwise KL between the softmax (temperature .08) of the teacher's and the student's cosines inside
   batches, the diagonal masked; Adam on the rows that a batch touches;
4. int8, one scale a row, in the container that static_embedder.hpp describes.

    python cpp/tools/fit_static_embedder.py UTTERANCES MINILM_DIRECTORY WORK_DIRECTORY OUTPUT

UTTERANCES: gzipped TSV without header: source, conversation, speaker, time, text. The teacher's vectors are
kept in WORK_DIRECTORY and taken up again. About 20 minutes on one core. Needs numpy, scipy, onnxruntime,
tokenizers. Never built or shipped with the package.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import struct
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse
from tokenizers import Tokenizer

from ripple.models.embedders import MiniLMEmbedder

Floats = npt.NDArray[np.float32]

SEED = 20260423
VOCABULARY = 30_522
DIMENSION = 256
SIF = 3e-4
TEMPERATURE = 0.08
BATCH = 1024
EPOCHS = 4
LEARNING_RATE = 2e-3
LAST_LEARNING_RATE = 1e-5
TEXTS = {"ubuntu_irc": 40_000, "taskmaster4": 10_000, "gloss": 30_000, "example": 40_000}
NAMED_SHARE = 0.3
TEACHER_CHUNK = 4096

# Common given names that are hardly words of another meaning in lower case.
NAMES = (
    "Aaron Abby Abigail Adam Adrian Aisha Alan Albert Alejandro Alex Alexander Alexandra Alexis Alfred "
    "Alice Alicia Alina Alison Allison Alvin Amanda Amber Amelia Amina Amir Amy Ana Andre Andrea Andrew "
    "Andy Angela Angelo Anita Ann Anna Anne Annie Anthony Antonio Anya Arjun Arthur Ashley Audrey Ava "
    "Barbara Beatrice Becky Ben Benjamin Bernard Beth Betty Bob Bobby Brad Brandon Brenda Brian Bruce "
    "Calvin Cameron Camille Carl Carla Carlos Carmen Carol Caroline Carolyn Carrie Catherine Cecilia "
    "Cesar Charles Charlie Charlotte Chen Chloe Chris Christian Christina Christine Christopher Cindy "
    "Claire Clara Claudia Clayton Colin Connie Connor Craig Cristina Curtis Cynthia Daisuke Daniel "
    "Daniela Danny Dave David Deborah Debra Denise Dennis Derek Diana Diane Diego Dmitri Dominic Donald "
    "Donna Doris Dorothy Doug Douglas Duncan Dylan Eddie Edgar Edith Eduardo Edward Edwin Eileen Elaine "
    "Eleanor Elena Eli Elias Elijah Elizabeth Ella Ellen Emily Emma Enrique Eric Erica Erik Erin Esther "
    "Ethan Eugene Eva Evan Evelyn Fatima Felipe Felix Fernando Fiona Florence Francesca Francis Francisco "
    "Fred Frederick Gabriel Gabriela Gary Gavin Geoffrey George Gerald Gina Giovanni Gloria Gordon Greg "
    "Gregory Greta Gustavo Hannah Hans Harold Harriet Harry Harvey Hassan Heather Hector Heidi Helen "
    "Helena Henry Herbert Hiroshi Howard Hugh Hugo Ian Ibrahim Ingrid Irene Isaac Isabel Isabella Ivan "
    "Jacob Jacqueline Jake James Jamie Jane Janet Janice Jared Jason Javier Jeff Jeffrey Jennifer Jenny "
    "Jeremy Jerome Jerry Jesse Jessica Jill Jim Jimmy Joan Joanna Joanne Joe Joel Johanna John Johnny Jon "
    "Jonas Jonathan Jorge Jose Joseph Joshua Josie Juan Juanita Judith Judy Julia Julian Juliana Julie "
    "Juliet Julio Justin Kamal Karen Karim Karl Kate Katherine Kathleen Kathryn Kathy Katie Katrina Keith "
    "Kelly Ken Kenji Kenneth Kevin Kim Kimberly Kofi Kristen Kristin Kurt Kyle Lakshmi Larry Lars Laura "
    "Lauren Lawrence Leah Lee Leila Lena Leo Leon Leonard Leslie Liam Linda Lisa Liu Lloyd Logan Lorenzo "
    "Louis Louise Luca Lucas Lucia Lucy Luis Luke Lydia Lynn Madeleine Maggie Malcolm Manuel Marco Marcus "
    "Margaret Maria Marie Marilyn Mario Marion Marsha Marta Martha Martin Martina Mary Mateo Matt Matthew "
    "Maureen Maurice Max Maya Megan Mehmet Mei Melanie Melissa Melvin Mia Michael Michelle Miguel Mike "
    "Mildred Mina Miranda Miriam Mitchell Mohammed Molly Monica Monique Nadia Nancy Naomi Natalia Natalie "
    "Natasha Nate Nathan Nathaniel Neil Nicholas Nick Nicolas Nicole Nigel Nikolai Nina Noah Noel Nora "
    "Norman Olga Oliver Olivia Omar Oscar Owen Pablo Pamela Patricia Patrick Paul Paula Pauline Pedro "
    "Peggy Penelope Peter Petra Phil Philip Phillip Phoebe Phyllis Priya Rachel Rafael Rahul Raj Ralph "
    "Ramon Randy Raymond Rebecca Renee Ricardo Richard Rick Ricky Rita Robert Roberta Roberto Robin "
    "Rodrigo Roger Roland Ronald Ronnie Rosa Rosemary Rosie Ross Roy Russell Ruth Ryan Sabrina Sally Sam "
    "Samantha Samira Samuel Sandra Sanjay Sara Sarah Scott Sean Sebastian Sergei Sergio Seth Shannon "
    "Sharon Shaun Sheila Shirley Sidney Simon Sofia Sonia Sophia Sophie Stacy Stanley Stefan Stella "
    "Stephanie Stephen Steve Steven Stuart Susan Suzanne Sylvia Takeshi Tamara Tanya Tara Tatiana Ted "
    "Teresa Terry Theodore Theresa Thomas Tim Timothy Tina Todd Tom Tommy Tony Tracy Trevor Tyler Ursula "
    "Valentina Valerie Vanessa Vera Vernon Veronica Vicky Victor Victoria Vikram Vincent Virginia Vivian "
    "Walter Wanda Wei Wendy Wesley William Xavier Yasmin Yolanda Yuki Yusuf Yvonne Zachary Zoe"
)


def read_texts(path: Path) -> tuple[list[str], list[str]]:
    """Return what teacher and student read: a seeded sample of each allowed source, shuffled."""
    rng = random.Random(SEED)
    names = NAMES.split()
    pools: dict[str, list[str]] = {kind: [] for kind in TEXTS}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            source, _, _, _, text = line.rstrip("\n").split("\t", 4)
            if source == "wordnet":
                pools["gloss"].append(re.sub(r';?\s*"[^"]*"', "", text))
                pools["example"] += re.findall(r'"([^"]*)"', text)
            elif source in pools:
                # The nick that a line of a chat room is addressed to says nothing of its content.
                pools[source].append(re.sub(r"^\S{1,20}[:,]\s+", "", text))
    pairs: list[tuple[str, str]] = []
    for kind, count in TEXTS.items():
        pool = [" ".join(text.split())[:400] for text in pools[kind]]
        pool = [text for text in pool if len(text) >= 12]
        for text in rng.sample(pool, min(count, len(pool))):
            pairs.append((text, text if kind == "gloss" else with_name(text, names, rng)))
    rng.shuffle(pairs)
    return [read for read, _ in pairs], [written for _, written in pairs]


def with_name(text: str, names: list[str], rng: random.Random) -> str:
    """Return a share of the texts with a name: as the subject where a pronoun stands, else as the speaker.

    The teacher reads the text without it. So a name gets little weight: those of a memory stand in very many
    of its texts, and who is meant is found by cues.
    """
    if rng.random() >= NAMED_SHARE:
        return text
    name = rng.choice(names)
    subject = re.match(r"(?:she|he)\s", text, re.IGNORECASE)
    return f"{name} {text[subject.end() :]}" if subject else f"{name}: {text}"


def teach(texts: Sequence[str], teacher: MiniLMEmbedder, cache: Path) -> Floats:
    """Return the teacher's unit vectors of the texts; each finished chunk is kept in the cache directory."""
    cache.mkdir(parents=True, exist_ok=True)
    chunks = []
    for start in range(0, len(texts), TEACHER_CHUNK):
        chunk = list(texts[start : start + TEACHER_CHUNK])
        key = zlib.crc32("\n".join(chunk).encode())
        file = cache / f"{start:07d}-{key:08x}.npy"
        if not file.exists():
            began = time.perf_counter()
            np.save(file, teacher.embed(chunk))
            rate = len(chunk) / (time.perf_counter() - began)
            print(f"teacher: {start + len(chunk)} of {len(texts)} texts, {rate:.0f}/s", flush=True)
        chunks.append(np.load(file))
    return np.concatenate(chunks)


def start_rows(tokens: Sequence[str], vectors: Floats) -> Floats:
    """Return the start: centred teacher vectors of the tokens, PCA, weighted by rank, mean row norm 1."""
    rows = vectors.astype(np.float64)
    rows -= rows.mean(axis=0)
    _, axes = np.linalg.eigh(rows.T @ rows)
    rows = rows @ axes[:, ::-1][:, :DIMENSION]
    # The vocabulary lists single characters, then words by falling frequency.
    first_word = tokens.index("the")
    ranks = np.arange(len(tokens))
    ranks[first_word:] -= first_word
    shares = 1.0 / (ranks + 2.7)
    shares /= shares.sum()
    rows *= (SIF / (SIF + shares))[:, None]
    rows /= np.linalg.norm(rows, axis=1).mean()
    return rows.astype(np.float32)


def bag(tokenizer: Tokenizer, texts: Sequence[str], row_of: npt.NDArray[np.int64]) -> sparse.csr_matrix:
    """Return the counts of the kept tokens, a row a text; tokens without a row are left out."""
    indices: list[int] = []
    indptr = [0]
    for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False):
        rows = row_of[encoding.ids] if encoding.ids else np.empty(0, dtype=np.int64)
        indices += rows[rows >= 0].tolist()
        indptr.append(len(indices))
    shape = (len(texts), int(row_of.max()) + 1)
    matrix = sparse.csr_matrix((np.ones(len(indices), dtype=np.float32), indices, indptr), shape=shape)
    matrix.sum_duplicates()
    return matrix


def softmax_off_diagonal(vectors: Floats) -> Floats:
    """Return the softmax over each row of cosines, the diagonal left out."""
    scores = vectors @ vectors.T
    scores /= TEMPERATURE
    np.fill_diagonal(scores, -np.inf)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def fit(rows: Floats, bags: sparse.csr_matrix, taught: Floats) -> None:
    """Fit the rows in place."""
    rng = np.random.default_rng(SEED)
    keep = np.flatnonzero(np.diff(bags.indptr) > 0)
    first, second = np.zeros_like(rows), np.zeros_like(rows)
    steps = EPOCHS * (len(keep) // BATCH)
    step = 0
    for epoch in range(EPOCHS):
        order = rng.permutation(keep)
        losses = []
        for start in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[start : start + BATCH]
            touched, loss, gradient = batch_gradient(rows, bags[batch], taught[batch])
            step += 1
            progress = (step - 1) / max(steps - 1, 1)
            rate = LAST_LEARNING_RATE + (LEARNING_RATE - LAST_LEARNING_RATE) * (1.0 - progress)
            first[touched] = 0.9 * first[touched] + 0.1 * gradient
            second[touched] = 0.999 * second[touched] + 0.001 * gradient**2
            scale = rate * np.sqrt(1.0 - 0.999**step) / (1.0 - 0.9**step)
            rows[touched] -= scale * first[touched] / (np.sqrt(second[touched]) + 1e-10)
            losses.append(loss)
        print(f"fit: epoch {epoch + 1}, loss {np.mean(losses):.4f}", flush=True)


def batch_gradient(
    rows: Floats, bags: sparse.csr_matrix, taught: Floats
) -> tuple[npt.NDArray[np.int64], float, Floats]:
    """Return the touched rows, the loss and its gradient to these rows."""
    touched, columns = np.unique(bags.indices, return_inverse=True)
    counts = sparse.csr_matrix((bags.data, columns, bags.indptr), shape=(bags.shape[0], len(touched)))
    sums = counts @ rows[touched]
    norms = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    units = sums / norms
    student, teacher = softmax_off_diagonal(units), softmax_off_diagonal(taught)
    loss = float(np.sum(teacher * (np.log(teacher + 1e-12) - np.log(student + 1e-12))) / len(taught))
    slope = (student - teacher) / (len(taught) * TEMPERATURE)
    to_units = (slope + slope.T) @ units
    to_sums = (to_units - units * np.sum(units * to_units, axis=1, keepdims=True)) / norms
    return touched, loss, counts.T @ to_sums


def pack(tokens: Sequence[str], rows: Floats, name: str) -> bytes:
    """Return the file: see static_embedder.hpp."""
    scales = np.maximum(np.abs(rows).max(axis=1) / 127.0, 1e-12).astype("<f4")
    values = np.rint(rows / scales[:, None]).clip(-127, 127).astype(np.int8)
    vocabulary = b"".join(bytes([len(token.encode())]) + token.encode() for token in tokens)
    label = name.encode()
    header = struct.pack("<8sIIIII", b"RPLSTEMB", 1, DIMENSION, len(tokens), len(vocabulary), len(label))
    body = header + label + vocabulary + scales.tobytes() + values.tobytes()
    return body + struct.pack("<I", zlib.crc32(body))


def main() -> None:
    """Make the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for argument in ("utterances", "minilm", "work", "output"):
        parser.add_argument(argument, type=Path)
    options = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(options.minilm / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    ids = [i for i in range(VOCABULARY) if not re.fullmatch(r"\[[A-Zunsed0-9]+\]", tokenizer.id_to_token(i))]
    tokens = [tokenizer.id_to_token(i) for i in ids]
    row_of = np.full(VOCABULARY, -1, dtype=np.int64)
    row_of[ids] = np.arange(len(ids))
    teacher = MiniLMEmbedder(options.minilm)
    begin, end = (tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
    rows = start_rows(tokens, teacher.embed_ids([[begin, i, end] for i in ids]))
    read, written = read_texts(options.utterances)
    taught = teach(read, teacher, options.work)
    fit(rows, bag(tokenizer, written, row_of), taught)
    options.output.write_bytes(pack(tokens, rows, options.output.stem))


if __name__ == "__main__":
    main()
