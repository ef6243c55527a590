import gzip
import json
from datetime import UTC, datetime

import pytest

from ripple.errors import InvalidInputError
from ripple.evaluation.loaders import (
    load_locomo,
    load_longmemeval,
    load_messages,
    load_passages,
    parse_time,
    read_documents,
    resolve_path,
)

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_10_date_time": "12:05 am on 3 June, 2023",
            "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "Later."}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                {
                    "speaker": "Ada",
                    "dia_id": "D2:1",
                    "text": "Look!",
                    "blip_caption": "a red kite",
                    "query": "zeppelin",
                },
                {"speaker": "Ben", "dia_id": "D2:2", "text": "", "blip_caption": "a boat"},
            ],
            "session_11_date_time": "12:05 am on 4 June, 2023",
        },
        "qa": [
            {"question": "What?", "answer": 2022, "evidence": ["D2:1"], "category": 1},
            {"question": "Both?", "answer": "x", "evidence": ["D2:1; D10:01", "D2:1"], "category": 2},
            {"question": "Odd?", "answer": "x", "evidence": ["D", "D:2:2", "D9:9"], "category": 3},
            {"question": "None?", "answer": "x", "evidence": [], "category": 4},
            {"question": "Never?", "adversarial_answer": "x", "evidence": ["D2:2"], "category": 5},
        ],
    }
]


def write(path, documents):
    is_lines = ".jsonl" in path.name
    text = "\n".join(json.dumps(document) for document in documents) if is_lines else json.dumps(documents)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:05 am on 3 June, 2023", datetime(2023, 6, 3, 0, 5, tzinfo=UTC)),
        ("12:30 pm on 3 June, 2023", datetime(2023, 6, 3, 12, 30, tzinfo=UTC)),
        ("2023/05/20 (Sat) 02:21", datetime(2023, 5, 20, 2, 21, tzinfo=UTC)),
        ("2023-03-10T17:06:00", datetime(2023, 3, 10, 17, 6, tzinfo=UTC)),
        ("2024年04月01日 周一 08:30", datetime(2024, 4, 1, 8, 30, tzinfo=UTC)),
        ("March-15-2024", datetime(2024, 3, 15, tzinfo=UTC)),
        ("2023-02-30", None),
        ("March-32-2024", None),
        ("1:56 pm on 8 Mai, 2023", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_published_date_forms_are_read(text, expected):
    assert parse_time(text) == expected


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.json.gz", "a.jsonl.gz"])
def test_locomo_is_read_in_session_order_from_every_ending(tmp_path, name):
    dataset = load_locomo(write(tmp_path / name, LOCOMO))
    (conversation,) = dataset.conversations
    assert [message["id"] for message in conversation.messages] == ["D2:1", "D2:2", "D10:1"]
    assert conversation.messages[0] == {
        "content": "Look! [shares a photo: a red kite]",
        "id": "D2:1",
        "speaker": "Ada",
        "session": "session_2",
        "timestamp": "2023-05-08T13:56:00+00:00",
    }
    assert conversation.messages[1]["content"] == "[shares a photo: a boat]"


def test_image_search_words_of_the_annotators_are_never_read(tmp_path):
    assert "zeppelin" not in repr(load_locomo(write(tmp_path / "a.json", LOCOMO)))


def test_malformed_locomo_evidence_is_mended_and_counted(tmp_path):
    dataset = load_locomo(write(tmp_path / "a.json", LOCOMO))
    assert [question.gold for question in dataset.questions] == [
        ("D2:1",),
        ("D2:1", "D10:1"),
        ("D2:2",),
        (),
        ("D2:2",),
    ]
    assert dataset.repairs == {"mended_evidence": 2, "unusable_evidence": 2}
    assert [question.answerable for question in dataset.questions] == [True] * 4 + [False]
    assert [question.question_id for question in dataset.questions][:2] == ["conv-1/0", "conv-1/1"]


def test_longmemeval_published_and_reduced_forms_agree(tmp_path):
    turns = [
        {"role": "user", "content": "My degree is in law.", "has_answer": True},
        {"role": "assistant", "content": "Nice."},
    ]
    published = {
        "question_id": "q1",
        "question_type": "single",
        "question": "Which degree?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "answer": 3,
        "haystack_session_ids": ["s1", "s1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
        "haystack_sessions": [turns, turns[1:]],
    }
    reduced = {
        "id": "q1",
        "type": "single",
        "question": "Which degree?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "sessions": [
            {"id": "s1", "date": "2023/05/20 (Sat) 02:21", "turns": turns},
            {"id": "s1", "date": "2023/05/21 (Sun) 02:21", "turns": turns[1:]},
        ],
    }
    one = load_longmemeval(write(tmp_path / "a.json", [published]))
    other = load_longmemeval(write(tmp_path / "a.json", [reduced]))
    assert one == other
    assert [message["id"] for message in one.conversations[0].messages] == ["s1:0", "s1:1", "s1#2:0"]
    assert one.questions[0].gold == ("s1:0",)
    assert one.questions[0].asked_at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    assert "has_answer" not in repr(one.conversations)


def test_longmemeval_abstention_is_unanswerable(tmp_path):
    instance = {"id": "q1_abs", "question": "?", "sessions": []}
    assert not load_longmemeval(write(tmp_path / "a.json", [instance])).questions[0].answerable


def test_passages_are_sessions_of_their_own(tmp_path):
    corpus = write(
        tmp_path / "c.jsonl",
        [{"id": "p1", "title": "Oslo", "text": "A city."}, {"id": 2, "title": "", "text": "B."}],
    )
    questions = write(tmp_path / "q.jsonl", [{"id": "q", "question": "Where?", "gold": ["p1", "p9", 2]}])
    dataset = load_passages(corpus, questions)
    assert dataset.conversations[0].messages == (
        {"content": "Oslo\nA city.", "id": "p1", "session": "p1"},
        {"content": "B.", "id": "2", "session": "2"},
    )
    assert dataset.questions[0].gold == ("p1", "2")
    assert dataset.repairs == {"unusable_evidence": 1}


def test_beam_batches_are_sessions_with_the_time_of_their_first_message(tmp_path):
    messages = write(
        tmp_path / "m.jsonl",
        [
            {"chat": "1", "id": 0, "batch": 1, "role": "user", "text": "Hi", "time": "March-15-2024"},
            {"chat": "1", "id": 1, "batch": 1, "role": "assistant", "text": "Hello"},
            {"chat": "2", "id": 0, "batch": 1, "role": "user", "text": "Hey"},
        ],
    )
    questions = write(
        tmp_path / "q.jsonl",
        [
            {"id": "a", "chat": "1", "type": "abstention", "question": "?", "evidence": []},
            {"id": "b", "chat": "1", "type": "recall", "question": "?", "evidence": [1]},
        ],
    )
    dataset = load_messages(messages, questions)
    assert [conversation.name for conversation in dataset.conversations] == ["1", "2"]
    assert dataset.conversations[0].messages[1] == {
        "content": "Hello",
        "id": "1",
        "role": "assistant",
        "session": "batch_1",
        "timestamp": "2024-03-15T00:00:00+00:00",
    }
    assert "timestamp" not in dataset.conversations[1].messages[0]
    assert [question.answerable for question in dataset.questions] == [False, True]
    assert dataset.questions[1].gold == ("1",)


def test_memdaily_keeps_place_as_metadata_and_the_question_time(tmp_path):
    messages = write(
        tmp_path / "m.jsonl",
        [
            {
                "traj": "t/0",
                "mid": 3,
                "text": "我参加论坛。",
                "time": "2024年04月01日 周一 08:30",
                "place": "上海",
            }
        ],
    )
    questions = write(
        tmp_path / "q.jsonl",
        [
            {
                "traj": "t/0",
                "qid": 0,
                "type": "simple",
                "question": "什么？",
                "time": "2024年04月04日 周四 07:42",
                "evidence": [3],
            }
        ],
    )
    dataset = load_messages(messages, questions)
    assert dataset.conversations[0].messages[0]["metadata"] == {"place": "上海"}
    assert dataset.questions[0].question_id == "t/0/0"
    assert dataset.questions[0].asked_at == datetime(2024, 4, 4, 7, 42, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", b"[]"),
        ("a.json", b"[1, "),
        ("a.jsonl", b'{"a": 1}\n{"a"'),
        ("a.json", b"\xff\xfe"),
        ("a.json.gz", b"no gzip"),
        ("a.json.gz", gzip.compress(b"[1, 2, 3]" * 50)[:-12]),
        ("a.json", b"[" * 100_000),
    ],
)
def test_damaged_files_give_a_typed_error(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=name.replace(".", r"\.")):
        list(read_documents(path))


def test_a_file_of_another_kind_is_refused_by_name(tmp_path):
    path = write(tmp_path / "a.json", [{"text": "hello"}])
    with pytest.raises(InvalidInputError, match="'conversation'"):
        load_locomo(path)
    with pytest.raises(InvalidInputError, match="'question_id'"):
        load_longmemeval(path)


def test_relative_paths_are_looked_up_under_the_data_folder(tmp_path):
    write(tmp_path / "a.json", [])
    assert resolve_path("a.json", tmp_path) == tmp_path / "a.json"
    assert resolve_path(tmp_path / "a.json") == tmp_path / "a.json"
    with pytest.raises(InvalidInputError, match="RIPPLE_DATA"):
        resolve_path("b.json", tmp_path)
