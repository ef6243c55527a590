"""Evaluation files as they are published, read into a `Dataset`.

Every reader takes ``.json`` (one document), ``.jsonl`` (one document a line) and either of them gzipped.
Dates that a file gives without a zone are taken as UTC. What is malformed and can be mended without a guess
is mended and counted in ``Dataset.repairs``; a file that is not what it should be raises `InvalidInputError`.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from ripple.errors import InvalidInputError
from ripple.evaluation.datasets import Conversation, Dataset, Question

__all__ = [
    "load_locomo",
    "load_longmemeval",
    "load_messages",
    "load_passages",
    "parse_time",
    "read_documents",
    "resolve_path",
]

Files = ParamSpec("Files")

_UNANSWERABLE = "5"  # LoCoMo's adversarial category
_TURN_ID = re.compile(r"D:?(\d+):(\d+)")
_SESSION_KEY = re.compile(r"session_(\d+)")
_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
# One pattern a published form; strptime would read month names in the locale of the process.
_TIME_FORMS = (
    re.compile(
        r"(?P<hour>\d{1,2}):(?P<minute>\d\d) (?P<half>[ap]m) on "
        r"(?P<day>\d{1,2}) (?P<month>[a-z]+),? (?P<year>\d{4})"
    ),
    re.compile(r"(?P<year>\d{4})[/-](?P<month>\d\d)[/-](?P<day>\d\d) \([a-z]{3}\) (?P<hour>\d\d):(?P<minute>\d\d)"),
    re.compile(
        r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
        r"(?:[t ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d))?)?z?"
    ),
    re.compile(r"(?P<year>\d{4})年(?P<month>\d\d)月(?P<day>\d\d)日(?: 周.)?(?: (?P<hour>\d\d):(?P<minute>\d\d))?"),
    re.compile(r"(?P<month>[a-z]+)-(?P<day>\d{1,2})-(?P<year>\d{4})"),
)


def parse_time(text: str) -> datetime | None:
    """Return the aware datetime that a file's date says, in UTC; None when it is in no known form.

    Parameters
    ----------
    text : str
        For example ``"1:56 pm on 8 May, 2023"``, ``"2023/05/20 (Sat) 02:21"``, ``"2023-03-10T17:06:00"``,
        ``"2024年04月01日 周一 08:30"`` or ``"March-15-2024"``.
    """
    for form in _TIME_FORMS:
        found = form.fullmatch(text.strip().lower())
        if found is None:
            continue
        parts = found.groupdict()
        month = parts["month"]
        if month.isalpha() and month not in _MONTHS:
            return None
        hour = int(parts.get("hour") or 0)
        if parts.get("half"):
            hour = hour % 12 + (12 if parts["half"] == "pm" else 0)
        try:
            return datetime(
                int(parts["year"]),
                _MONTHS.index(month) + 1 if month.isalpha() else int(month),
                int(parts["day"]),
                hour,
                int(parts.get("minute") or 0),
                int(parts.get("second") or 0),
                tzinfo=UTC,
            )
        except ValueError:
            return None
    return None


def resolve_path(path: str | Path, data_root: str | Path | None = None) -> Path:
    """Return the existing file: ``path`` itself, or the one under ``data_root`` when ``path`` is relative.

    Raises
    ------
    InvalidInputError
        When neither exists.
    """
    given = Path(path)
    places = [given]
    if data_root is not None and not given.is_absolute():
        places.append(Path(data_root) / given)
    for place in places:
        if place.is_file():
            return place
    raise InvalidInputError(f"{given} is not a file; give its path, or set RIPPLE_DATA to the folder it is in")


def read_documents(path: Path) -> Generator[Any, None, None]:
    """Yield the documents of a ``.json`` or ``.jsonl`` file, gzipped or not; a JSON list gives its items.

    Raises
    ------
    InvalidInputError
        When the file is not UTF-8, not JSON, or a damaged archive. Names the file and the line.
    """
    name = path.name.removesuffix(".gz")
    if not name.endswith((".json", ".jsonl")):
        raise InvalidInputError(f"{path.name} has an unknown ending; want .json, .jsonl, or either with .gz")
    try:
        if name.endswith(".jsonl"):
            yield from _lines(path)
        else:
            with _open(path) as file:
                document = json.load(file)
            yield from document if isinstance(document, list) else [document]
    except InvalidInputError:
        raise
    except (ValueError, EOFError, gzip.BadGzipFile, zlib.error, RecursionError) as error:
        raise InvalidInputError(f"{path.name} cannot be read as JSON: {error}") from error


def _open(path: Path) -> Any:
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def _lines(path: Path) -> Iterator[Any]:
    with _open(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise InvalidInputError(f"{path.name}, line {number}, is not JSON: {error}") from error


def _field(document: Any, key: str, path: Path) -> Any:
    if not isinstance(document, Mapping) or key not in document:
        raise InvalidInputError(f"{path.name} holds a document without {key!r}; is it the right kind of file?")
    return document[key]


def _as_published(load: Callable[Files, Dataset]) -> Callable[Files, Dataset]:
    """Let a loader raise InvalidInputError also for values of other types than the published files have."""

    @wraps(load)
    def checked(*paths: Files.args, **named: Files.kwargs) -> Dataset:
        try:
            return load(*paths, **named)
        except InvalidInputError:
            raise
        except (TypeError, ValueError, AttributeError, LookupError) as error:
            names = " and ".join(str(getattr(path, "name", path)) for path in (*paths, *named.values()))
            raise InvalidInputError(f"{names} is not as the set is published: {error}") from error

    return checked


def _message(content: str, message_id: str, **rest: Any) -> dict[str, Any]:
    return {"content": content, "id": message_id, **{key: value for key, value in rest.items() if value}}


def _timestamp(text: Any, repairs: Counter[str]) -> str | None:
    """Return the ISO form of a file's date; one that is there and cannot be read is counted."""
    if text is None:
        return None
    time = parse_time(str(text))
    if time is None:
        repairs["unread_times"] += 1
        return None
    return time.isoformat()


@_as_published
def load_locomo(path: Path) -> Dataset:
    """Return the conversations and questions of a LoCoMo file in its original format.

    Notes
    -----
    ``dia_id`` is the message id. An image is part of what was said: its ``blip_caption`` is joined to the
    text. The annotators' image search (``query``) is not read. Evidence such as ``"D8:6; D9:17"`` is split;
    what names no turn of the conversation is left out and counted.
    """
    conversations: list[Conversation] = []
    questions: list[Question] = []
    repairs: Counter[str] = Counter()
    for number, sample in enumerate(read_documents(path)):
        conversation = _field(sample, "conversation", path)
        name = str(sample.get("sample_id", f"conversation-{number}"))
        messages = tuple(_locomo_messages(conversation, path, repairs))
        conversations.append(Conversation(name, messages))
        known = {message["id"] for message in messages}
        for index, item in enumerate(_field(sample, "qa", path)):
            category = str(_field(item, "category", path))
            questions.append(
                Question(
                    question_id=f"{name}/{index}",
                    conversation=name,
                    text=str(_field(item, "question", path)),
                    category=category,
                    gold=_locomo_gold(item.get("evidence"), known, repairs),
                    answerable=category != _UNANSWERABLE,
                    answer="" if category == _UNANSWERABLE else str(item.get("answer", "")),
                )
            )
    return Dataset(path.name, "locomo", tuple(conversations), tuple(questions), dict(+repairs))


def _locomo_messages(conversation: Mapping[str, Any], path: Path, repairs: Counter[str]) -> Iterator[dict[str, Any]]:
    found = (_SESSION_KEY.fullmatch(key) for key in conversation)
    for number in sorted(int(match[1]) for match in found if match):
        session = f"session_{number}"
        timestamp = _timestamp(_field(conversation, f"{session}_date_time", path), repairs)
        for turn in conversation[session] or ():
            caption = turn.get("blip_caption")
            parts = [turn.get("text") or "", f"[shares a photo: {caption}]" if caption else ""]
            yield _message(
                " ".join(part for part in parts if part),
                str(_field(turn, "dia_id", path)),
                speaker=turn.get("speaker"),
                session=session,
                timestamp=timestamp,
            )


def _locomo_gold(evidence: Any, known: set[str], repairs: Counter[str]) -> tuple[str, ...]:
    gold: list[str] = []
    for cited in map(str, evidence if isinstance(evidence, list) else [evidence or ""]):
        found = [f"D{int(session)}:{int(turn)}" for session, turn in _TURN_ID.findall(cited)]
        usable = [turn_id for turn_id in found if turn_id in known]
        repairs["mended_evidence"] += bool(usable) and usable != [cited]
        repairs["unusable_evidence"] += len(found) - len(usable) or int(not found)
        gold += usable
    return tuple(dict.fromkeys(gold))


@_as_published
def load_longmemeval(path: Path) -> Dataset:
    """Return a conversation and a question for each LongMemEval instance, published or reduced form.

    Notes
    -----
    Gold are the turns marked ``has_answer``; an instance whose marks are missing has no usable evidence.
    Questions whose id ends in ``_abs`` are unanswerable. Message ids are ``<session>:<turn counted from 0>``.
    """
    conversations: list[Conversation] = []
    questions: list[Question] = []
    repairs: Counter[str] = Counter()
    for instance in read_documents(path):
        name = str(instance["id"] if "id" in instance else _field(instance, "question_id", path))
        messages: list[dict[str, Any]] = []
        gold: list[str] = []
        seen: Counter[str] = Counter()
        for session_id, date, turns in _longmemeval_sessions(instance, path):
            seen[session_id] += 1
            session = session_id if seen[session_id] == 1 else f"{session_id}#{seen[session_id]}"
            timestamp = _timestamp(date, repairs)
            for index, turn in enumerate(turns):
                message_id = f"{session}:{index}"
                messages.append(
                    _message(
                        str(_field(turn, "content", path)),
                        message_id,
                        role=turn.get("role"),
                        session=session,
                        timestamp=timestamp,
                    )
                )
                if turn.get("has_answer"):
                    gold.append(message_id)
        conversations.append(Conversation(name, tuple(messages)))
        questions.append(
            Question(
                question_id=name,
                conversation=name,
                text=str(_field(instance, "question", path)),
                category=str(instance.get("question_type", instance.get("type", "question"))),
                gold=tuple(gold),
                answerable=not name.endswith("_abs"),
                asked_at=parse_time(str(instance.get("question_date", ""))),
            )
        )
    return Dataset(path.name, "longmemeval", tuple(conversations), tuple(questions), dict(+repairs))


def _longmemeval_sessions(instance: Mapping[str, Any], path: Path) -> Iterator[tuple[str, Any, Any]]:
    if "sessions" in instance:
        for session in instance["sessions"]:
            yield str(_field(session, "id", path)), session.get("date"), _field(session, "turns", path)
        return
    ids, dates, sessions = (_field(instance, f"haystack_{key}", path) for key in ("session_ids", "dates", "sessions"))
    if not len(ids) == len(dates) == len(sessions):
        raise InvalidInputError(f"{path.name}: an instance has haystack lists of different lengths")
    yield from zip(map(str, ids), dates, sessions, strict=True)


@_as_published
def load_passages(corpus: Path, questions: Path) -> Dataset:
    """Return a passage corpus as one conversation, each passage its own session, with its questions.

    Notes
    -----
    Corpus documents hold ``id, title, text``, questions ``id, question, gold`` and perhaps ``type``. A
    message is the title, a line break and the text.
    """
    messages = tuple(
        _message(
            "\n".join(part for part in (passage.get("title"), str(_field(passage, "text", corpus))) if part),
            str(_field(passage, "id", corpus)),
            session=str(passage["id"]),
        )
        for passage in read_documents(corpus)
    )
    known = {message["id"] for message in messages}
    repairs: Counter[str] = Counter()
    asked = tuple(
        Question(
            question_id=str(_field(item, "id", questions)),
            conversation="passages",
            text=str(_field(item, "question", questions)),
            category=str(item.get("type", "question")),
            gold=_known_gold(_field(item, "gold", questions), known, repairs),
        )
        for item in read_documents(questions)
    )
    return Dataset(corpus.name, "passages", (Conversation("passages", messages),), asked, dict(+repairs))


def _known_gold(cited: Sequence[Any], known: set[str], repairs: Counter[str]) -> tuple[str, ...]:
    ids = [str(item) for item in cited]
    repairs["unusable_evidence"] += sum(item not in known for item in ids)
    return tuple(dict.fromkeys(item for item in ids if item in known))


@_as_published
def load_messages(messages: Path, questions: Path) -> Dataset:
    """Return chats whose messages and questions are in two files, as BEAM and MemDaily are given here.

    Notes
    -----
    BEAM: ``chat, id, batch, role, text, time``; a batch is a session and the time of its first message counts
    for all of it. MemDaily: ``traj, mid, text, time, place``; the place of writing is kept as metadata. A
    question of the type ``abstention`` is unanswerable.
    """
    chats: dict[str, list[dict[str, Any]]] = {}
    batch_times: dict[tuple[str, str], str | None] = {}
    repairs: Counter[str] = Counter()
    for item in read_documents(messages):
        is_beam = "chat" in item
        chat = str(_field(item, "chat" if is_beam else "traj", messages))
        timestamp = _timestamp(item.get("time"), repairs)
        session = f"batch_{item['batch']}" if "batch" in item else ""
        if session:
            timestamp = batch_times.setdefault((chat, session), timestamp)
        chats.setdefault(chat, []).append(
            _message(
                str(_field(item, "text", messages)),
                str(_field(item, "id" if is_beam else "mid", messages)),
                role=item.get("role"),
                session=session,
                timestamp=timestamp,
                metadata={"place": item["place"]} if item.get("place") else None,
            )
        )
    known = {chat: {message["id"] for message in said} for chat, said in chats.items()}
    asked = []
    for number, item in enumerate(read_documents(questions)):
        chat = str(_field(item, "chat" if "chat" in item else "traj", questions))
        category = str(item.get("type", "question"))
        asked.append(
            Question(
                question_id=str(item.get("id", f"{chat}/{item.get('qid', number)}")),
                conversation=chat,
                text=str(_field(item, "question", questions)),
                category=category,
                gold=_known_gold(item.get("evidence") or (), known.get(chat, set()), repairs),
                answerable=category != "abstention",
                asked_at=parse_time(str(item.get("time", ""))),
            )
        )
    conversations = tuple(Conversation(chat, tuple(said)) for chat, said in chats.items())
    return Dataset(messages.name, "messages", conversations, tuple(asked), dict(+repairs))
