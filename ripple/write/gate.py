"""The gate in front of extraction: turns that carry nothing to remember cost no model call.

A turn is skipped only when each of its words is known to say nothing, or when it repeats the words of the
same speaker within 24 hours. On any doubt it is kept: "yes", "great" or a thumb may answer something, so
behind a question of somebody else only greetings, thanks and farewells are skipped. The record keeps skipped
turns like all others, and they are found by their words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ripple.config import REPEAT_WINDOW
from ripple.language.common_words import STARTERS
from ripple.language.names import KnownNames, name_key
from ripple.language.sentences import clean_text, is_question
from ripple.types import Turn

__all__ = ["reason_to_skip"]

_LONGEST = 120
"""Characters of a turn above which it is not read for small talk."""
_REPEAT_WORDS = 4
"""Behind a question a shorter turn is no repeat: the same answer to another question says something else."""

_REPEAT_SLACK = 16
"""Characters by which a repeat may be longer or shorter: marks and spaces, no words."""

_NAME = re.compile(r"[A-ZÀ-Þ][^\W\d_]+")
_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+(?:'[^\W_\u3400-\u9fff]+)*")
_DRAWN_OUT = re.compile(r"([^\W\d_])\1{2,}")
_LAUGHTER = re.compile(r"(?:a?(?:ha){2,}h?|(?:he){2,}|lo+l|x+d+|哈|呵|嘿)")
_PHRASE_LONGEST = 6


def _tokens(text: str) -> list[str]:
    folded = _DRAWN_OUT.sub(r"\1", name_key(text).replace("’", "'"))
    return _TOKEN.findall(folded)


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    """Return the phrases of a list, one between commas, as their tokens."""
    return frozenset(tuple(_tokens(phrase)) for phrase in text.split(",") if phrase.strip())


_GREETINGS = _phrases(
    """
    hi, hiya, hey, hello, howdy, hi there, hey there, hello there, good morning, good afternoon, good evening,
    good night, good to see you, great to see you, nice to see you, lovely to see you, good to hear from you,
    great to hear from you, nice to hear from you, good seeing you, great seeing you, good talking to you,
    nice talking to you, great talking to you, nice chatting with you, great chatting with you, nice to meet you,
    long time no see, long time no talk, what's up, what's new, how are you, how are you doing, how are things,
    how's it going, how is it going, how have you been, how are you today,
    thanks, thank you, thank you so much, thank you very much, thanks so much, thanks a lot, thanks a bunch,
    thanks a ton, many thanks, thx, ty, cheers, appreciate it, i appreciate it, thanks again, you're welcome,
    you are welcome, you're very welcome, don't mention it,
    bye, bye bye, goodbye, good bye, see you, see ya, see you soon, see you later, see ya later, see you around,
    talk soon, talk later, talk to you soon, talk to you later, catch you later, take care,
    have a good one, have a good day, have a great day, have a nice day, have a good night, have a great night,
    have a good evening, have a good weekend, have a great weekend,
    wow, whoa, woah, oh, ah, aw, aww, yay, hm, hmm, um, uh, oops,
    你好, 您好, 嗨, 哈喽, 早上好, 早安, 下午好, 晚上好, 晚安, 谢谢, 谢谢你, 谢谢您, 多谢, 感谢, 不客气, 不用谢,
    辛苦了, 您辛苦了, 再见, 拜拜, 回头见,
    hola, buenos días, buenas tardes, buenas noches, gracias, muchas gracias, de nada, adiós, hasta luego,
    hasta pronto, bonjour, bonsoir, salut, merci, merci beaucoup, de rien, au revoir, à bientôt,
    hallo, guten morgen, guten tag, guten abend, gute nacht, danke, danke schön, vielen dank, tschüss
    """
)
"""What says nothing wherever it stands."""
_ACKNOWLEDGEMENTS = _phrases(
    """
    ok, okay, k, alright, all right, right, got it, gotcha, i see, understood, no problem, no worries, anytime,
    my pleasure, welcome, see you then, see you there, morning, later,
    good, great, nice, cool, awesome, amazing, wonderful, fantastic, perfect, lovely, sweet, excellent, brilliant,
    incredible, impressive, inspiring, beautiful, interesting, funny, sounds, good point, good job, great job,
    good luck, well done, congrats, congratulations, i'm glad to hear that, glad to hear that, glad to hear it,
    happy to hear that, sorry to hear that, i'm sorry to hear that, you got this, you rock,
    好的, 嗯, 收到, 明白, 明白了, 了解, 知道了, 早, 太好了, 真棒, 不错, 太棒了, bitte
    """
)
"""What says nothing unless it answers. Yes, no, sure, agreed and the like are not here: they always may."""
_FILLERS = _phrases(
    """
    so, and, well, too, then, all, everyone, guys, man, buddy, friend, my friend, dear, again, just, you too,
    same to you, that's, that is, that sounds, it's, very, really, how, what a, pretty, super, such a, much,
    啊, 呀, 吧, 哦, 了, 啦, 呢, 的
    """
)
_SAYS_NOTHING = _GREETINGS | _FILLERS
_SAYS_LITTLE = _SAYS_NOTHING | _ACKNOWLEDGEMENTS
_SMALL_WORDS = frozenset(word for phrase in _SAYS_LITTLE for word in phrase)
_CALLED_MAX = 4
"""Words of small talk that may be names."""


def reason_to_skip(turn: Turn, recent: Sequence[Turn] = ()) -> str | None:
    """Return why a turn needs no extraction, or None where it may carry something.

    Parameters
    ----------
    turn : Turn
    recent : sequence of Turn
        Turns before it, in order; the last one is what it may answer.

    Returns
    -------
    {"empty", "small_talk", "repeat"} or None

    Notes
    -----
    Rules only, no model; O(words of the turns given).

    Examples
    --------
    >>> reason_to_skip(Turn(1, "Hey! Good to see you!", "Ada"))
    'small_talk'
    >>> asked = Turn(1, "Will you marry me?", "Tom")
    >>> reason_to_skip(Turn(2, "Yes!", "Ada"), [asked]) is None
    True
    """
    text = clean_text(turn.text)
    if not text:
        return "empty"
    before = recent[-1] if recent else None
    is_asked = (
        before is not None
        and name_key(before.speaker or "") != name_key(turn.speaker or "")
        and is_question(clean_text(before.text))
    )
    tokens = _tokens(text)
    if len(text) <= _LONGEST and (tokens or not is_asked):
        said = _SAYS_NOTHING if is_asked else _SAYS_LITTLE
        if _is_made_of(_without_names(tokens, text, [*recent, turn]), said):
            return "small_talk"
    is_short_answer = is_asked and len(tokens) < _REPEAT_WORDS
    if tokens and not is_short_answer and any(_is_repeat(turn, earlier) for earlier in recent):
        return "repeat"
    return None


def _without_names(tokens: Sequence[str], text: str, turns: Sequence[Turn]) -> list[str]:
    """Return the tokens of a text without the words that call a speaker of the turns."""
    if sum(token not in _SMALL_WORDS for token in tokens) > _CALLED_MAX:
        return list(tokens)
    names = KnownNames({clean_text(turn.speaker) for turn in turns if turn.speaker})
    called = {
        name_key(word)
        for word in _NAME.findall(text)
        if name_key(word) not in STARTERS and names.resolve(word) is not None
    }
    return [token for token in tokens if token not in called]


def _is_made_of(tokens: Sequence[str], phrases: frozenset[tuple[str, ...]]) -> bool:
    """Whether tokens fall into phrases and laughter; the longest phrase counts at each."""
    at = 0
    while at < len(tokens):
        for length in range(min(_PHRASE_LONGEST, len(tokens) - at), 0, -1):
            if tuple(tokens[at : at + length]) in phrases:
                at += length
                break
        else:
            if _LAUGHTER.fullmatch(tokens[at]) is None:
                return False
            at += 1
    return True


def _is_repeat(turn: Turn, earlier: Turn) -> bool:
    """Whether the same speaker said the same words, within a day where both are dated."""
    if abs(len(earlier.text) - len(turn.text)) > _REPEAT_SLACK:
        return False
    if name_key(turn.speaker or "") != name_key(earlier.speaker or ""):
        return False
    if turn.said_at is None or earlier.said_at is None:
        is_near = turn.said_at is earlier.said_at
    else:
        is_near = abs(turn.said_at - earlier.said_at) <= REPEAT_WINDOW
    return is_near and _said(turn) == _said(earlier)


def _said(turn: Turn) -> str:
    """Return the words of a turn for comparison; a number, a sign inside, or a question mark tells apart."""
    return name_key(clean_text(turn.text)).rstrip(" .!…。！")
