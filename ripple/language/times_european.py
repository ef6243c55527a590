"""Spanish, French and German temporal expressions in their common forms: one grammar, three vocabularies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

from ripple.language import calendar
from ripple.language.calendar import Span
from ripple.language.numerals import CARDINALS
from ripple.language.time_pieces import (
    FUTURE,
    PAST,
    Clock,
    Context,
    Found,
    Joints,
    Language,
    Rule,
    running,
    shift,
    since,
    until,
    yearless,
)
from ripple.language.word_lists import words

__all__ = ["FRENCH", "GERMAN", "SPANISH"]


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """The words of one language; patterns are without groups, lists in calendar order.

    ``last`` and ``next`` hold what stands before and what stands behind a unit or weekday.
    """

    days: dict[str, int]
    months: str
    weekdays: str
    units: dict[str, str]
    numbers: str
    last: tuple[str, str]
    next: tuple[str, str]
    this: str
    ago: str
    ahead: str
    lasting: str
    few: str
    vague: str
    in_month: str
    before_month: str
    before_year: str
    since: str
    until: str
    parts: dict[str, tuple[int, int]]
    nights: dict[str, int]
    never_day: str
    future: str
    past: str
    triggers: str
    unit_words: str
    relative_words: str
    count_words: str


_UNITS_ES = {
    "d[ií]as?": "day",
    "semanas?": "week",
    "fin(?:es)? de semana": "weekend",
    "mes(?:es)?": "month",
    "años?": "year",
}
_UNITS_FR = {
    "jours?": "day",
    "semaines?": "week",
    "week-?ends?": "weekend",
    "mois": "month",
    "ans?|ann[ée]es?": "year",
}
_UNITS_DE = {
    "tag(?:en|e)?": "day",
    "wochen?": "week",
    "wochenenden?": "weekend",
    "monat(?:en|e|s)?": "month",
    "jahr(?:en|es|e)?": "year",
}

_SPANISH = _Vocabulary(
    days={"anteayer": -2, "antier": -2, "ayer": -1, "hoy": 0, "pasado mañana": 2, "mañana": 1},
    months="enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    weekdays="lunes martes mi[ée]rcoles jueves viernes s[áa]bado domingo",
    units=_UNITS_ES | {"horas?": "hour", "minutos?": "minute"},
    numbers="un|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce",
    last=("pasad[oa]|[úu]ltim[oa]", "pasad[oa]"),
    next=("pr[óo]xim[oa]", "pr[óo]xim[oa]|que viene"),
    this="est[ea]",
    ago="hace",
    ahead="en|dentro de",
    lasting="desde hace|llevo|lleva|llevamos|llevan",
    few="unos|unas|algunos|algunas|varios|varias|pocos|pocas|muchos|muchas",
    vague="recientemente|[úu]ltimamente|hace poco|hace (?:mucho )?tiempo|estos d[íi]as|el otro d[íi]a",
    in_month="en|desde|hasta|durante|de",
    before_month=" de ",
    before_year=" del? | ",
    since="desde(?: el| la)?",
    until="hasta(?: el| la)?",
    parts={"por la mañana": (6, 12), "por la tarde": (12, 19), "por la noche": (19, 24)},
    nights={"anoche": -1, "esta noche": 0},
    never_day=r"(?:la|esta|cada) $",
    future=r"voy|vas|va|vamos|van|iré|irá|será|quiero|próxim[oa]|viene|habrá",
    past=r"fui|fue|fuimos|fueron|estuve|estuvo|era|tuve|tuvo|hice|hizo|pasad[oa]|vi|compré|\w+(?:ó|aron|ieron|amos)",
    triggers="ayer anteayer antier hoy mañana anoche noche tarde",
    unit_words="día dia días dias semana semanas mes meses año años hora horas minuto minutos",
    relative_words=("pasado pasada último última ultimo ultima próximo próxima proximo proxima viene este esta"),
    count_words="hace en dentro desde llevo lleva llevamos llevan",
)
_FRENCH = _Vocabulary(
    days={"avant-hier": -2, "hier": -1, "aujourd'hui": 0, "après-demain": 2, "demain": 1},
    months="janvier f[ée]vrier mars avril mai juin juillet ao[ûu]t septembre octobre novembre d[ée]cembre",
    weekdays="lundi mardi mercredi jeudi vendredi samedi dimanche",
    units=_UNITS_FR | {"heures?": "hour", "minutes?": "minute"},
    numbers="un|une|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze",
    last=("(?!)", "derni(?:er|[èe]re)|pass[ée]e?"),
    next=("(?!)", "prochaine?"),
    this="ce|cet|cette",
    ago="il y a",
    ahead="dans",
    lasting="depuis",
    few="quelques|plusieurs",
    vague="r[ée]cemment|derni[èe]rement|il y a longtemps|ces derniers temps|l'autre jour",
    in_month="en|depuis|jusqu'en|fin|d[ée]but|mi",
    before_month=" ",
    before_year=" ",
    since="depuis(?: le| la)?",
    until="jusqu'(?:au|en|à)",
    parts={"matin": (6, 12), "après-midi": (12, 18), "soir": (18, 24), "dans la nuit": (20, 24)},
    nights={"ce soir": 0, "cette nuit": 0},
    never_day=r"(?!)",
    future=r"vais|va|allons|irai|ira|sera|serons|prochaine?|veux|aurai",
    past=(
        r"suis all[ée]e?|étais?|était|avons|avait|passée?|derni(?:er|[èe]re)|ai \w+[éiu]s?|a \w+[éiu]|"
        r"est \w+[éiu]e?"
    ),
    triggers="hier avant aujourd demain après soir matin nuit midi",
    unit_words=("jour jours semaine semaines week mois an ans année années annee annees heure heures minute minutes"),
    relative_words="dernier dernière derniere passé passée prochain prochaine ce cet cette",
    count_words="il dans depuis",
)
_GERMAN = _Vocabulary(
    days={"vorgestern": -2, "gestern": -1, "heute": 0, "übermorgen": 2, "morgen": 1},
    months="januar februar märz april mai juni juli august september oktober november dezember",
    weekdays="montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag",
    units=_UNITS_DE | {"stunden?": "hour", "minuten?": "minute"},
    numbers="ein|eine|einem|einer|einen|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf",
    last=("letzte[nrsm]?|vorige[nrsm]?|vergangene[nrsm]?", "(?!)"),
    next=("nächste[nrsm]?|kommende[nrsm]?", "(?!)"),
    this="diese[nrsm]?",
    ago="vor",
    ahead="in",
    lasting="seit",
    few="einigen|einem paar|ein paar|paar|mehreren|vielen|wenigen",
    vague="neulich|k[üu]rzlich|vor kurzem|vor langer zeit|letztens|in letzter zeit",
    in_month="im|seit|bis|ende|anfang|mitte|vom",
    before_month=r"\.? ?",
    before_year=" ",
    since="seit(?: dem| der)?",
    until="bis(?: zum)?",
    parts={
        "vormittag": (6, 12),
        "früh": (6, 12),
        "nachmittag": (12, 18),
        "abend": (18, 24),
        "nacht": (20, 24),
    },
    nights={"heute nacht": 0, "letzte nacht": -1, "heute abend": 0},
    never_day=r"(?:am|guten|jeden|der|den|diesen) $",
    future=r"werde|wird|werden|wollen|will|nächste[nrsm]?|kommende[nrsm]?|möchte|soll",
    past=r"war|waren|hatte|hatten|habe|haben|hat|bin|ist|ging|gingen|letzte[nrsm]?|wurde|kam",
    triggers="gestern vorgestern heute morgen übermorgen nacht abend vormittag nachmittag früh",
    unit_words=(
        "tag tage tagen woche wochen wochenende monat monate monaten jahr jahre jahren stunde stunden minute minuten"
    ),
    relative_words=(
        "letzte letzten letzter letztes letztem vorige vorigen voriges vergangene vergangenen "
        "vergangenes nächste nächsten nächster nächstes nächstem kommende kommenden kommendes diese "
        "diesen dieser dieses diesem"
    ),
    count_words="vor in seit",
)
_VAGUE_WORDS = words(
    "recientemente últimamente ultimamente poco tiempo estos otro récemment recemment dernièrement longtemps "
    "derniers jour neulich kürzlich kurzem langer letztens letzter"
)
_GERMAN_WORDS = re.compile(r"\b(?:ich|ist|der|die|das|und|wir|nicht|bin|war|gibt|sind|ein|eine|mit|von)\b")


def _day(vocabulary: _Vocabulary, match: re.Match[str], context: Context) -> Found | None:
    word = match.group()
    before = context.text[max(0, match.start() - 8) : match.start()]
    if re.search(vocabulary.never_day, before) is not None:
        return None
    if word == "hier" and _GERMAN_WORDS.search(context.text) is not None:
        return None  # German "here"
    return Found(calendar.day(context.today() + timedelta(days=vocabulary.days[word])), "day")


def _night(vocabulary: _Vocabulary, match: re.Match[str], context: Context) -> Found:
    there = context.today() + timedelta(days=vocabulary.nights[match.group()])
    return Found(calendar.part_of_day(there, 20 * 3600, 24 * 3600 - 1), "part")


def _part(vocabulary: _Vocabulary, match: re.Match[str], context: Context) -> Found:
    first, last = vocabulary.parts[match.group()]
    return Found(None, "part", clock=Clock(first * 3600, last * 3600 - 1), is_weak=True)


def _index(listed: str, word: str) -> int:
    return next(number for number, pattern in enumerate(listed.split()) if re.fullmatch(pattern, word) is not None)


def _unit(vocabulary: _Vocabulary, word: str) -> str:
    return next(unit for pattern, unit in vocabulary.units.items() if re.fullmatch(pattern, word) is not None)


def _step(match: re.Match[str]) -> int | None:
    groups = match.groupdict()
    for names, step in ((("last", "last2"), -1), (("next", "next2"), 1), (("this",), 0)):
        if any(groups.get(name) is not None for name in names):
            return step
    return None


def _weekday(vocabulary: _Vocabulary, match: re.Match[str], context: Context) -> Found | None:
    number = _index(vocabulary.weekdays, match["weekday"])
    step = _step(match)
    today = context.today()
    if step is None:
        direction = PAST if context.tense(match.start(), match.end()) == PAST else FUTURE
        return Found(calendar.day(calendar.weekday_near(today, number, direction)), "day", weekday=number)
    return Found(calendar.day(calendar.weekday_near(today, number, step)), "day")


def _relative(vocabulary: _Vocabulary, match: re.Match[str], context: Context) -> Found | None:
    unit, step, now = _unit(vocabulary, match["unit"]), _step(match), context.now()
    if step is None or unit in ("day", "hour", "minute"):
        return None
    if unit in ("week", "weekend"):
        build = calendar.week if unit == "week" else calendar.weekend
        return Found(build(now.date() + timedelta(weeks=step)), unit)
    if unit == "month":
        there = calendar.shift_months(now.date(), step)
        return Found(calendar.month(there.year, there.month), "month")
    return Found(calendar.year(now.year + step), "year")


def _counted(vocabulary: _Vocabulary, match: re.Match[str], context: Context) -> Found:
    if match["number"] is None:
        return Found(None, "vague")
    count = float(match["number"]) if match["number"].isdecimal() else CARDINALS[match["number"]]
    unit = _unit(vocabulary, match["unit"])
    if match["lasting"] is not None or match["still"] is not None:
        return running(context.now(), unit, count)
    return shift(context.now(), unit, count if match["ahead"] is not None else -count)


def _whole_month(number: int, year: int) -> Span:
    return calendar.month(year, number)


def _month_day(number: int, day: int, year: int) -> Span:
    return calendar.day(date(year, number, day))


def _month(vocabulary: _Vocabulary, match: re.Match[str], context: Context) -> Found:
    number = _index(vocabulary.months, match["month"])
    if match["day"] is not None:
        in_year, grain = partial(_month_day, number + 1, int(match["day"])), "day"
    else:
        in_year, grain = partial(_whole_month, number + 1), "month"
    if match["year"] is not None:
        return Found(in_year(int(match["year"])), grain)
    is_weak = match["day"] is None and match["lead"] is None
    return yearless(in_year, match, context, grain, is_weak=is_weak)


def _year(match: re.Match[str], context: Context) -> Found:
    return Found(calendar.year(int(match["year"])), "year", is_weak=match["lead"] is None)


def _vague(match: re.Match[str], context: Context) -> Found:
    return Found(None, "vague")


def _since(match: re.Match[str], found: Found, context: Context) -> Found | None:
    return since(found, context) if found.is_date else None


def _until(match: re.Match[str], found: Found, context: Context) -> Found | None:
    return until(found, context) if found.is_date else None


def _stems(listed: str) -> frozenset[str]:
    """Return the plain spellings of a list of patterns, as trigger words."""
    spelled = set()
    for pattern in listed.replace("|", " ").split():
        plain = re.sub(r"\[(.)(.)\]", r"\1", pattern)
        spelled |= {plain, re.sub(r"\[(.)(.)\]", r"\2", pattern)}
    return frozenset(spelled)


def _grammar(vocabulary: _Vocabulary) -> Language:
    """Return the grammar that a vocabulary makes."""
    v = vocabulary
    days = "|".join(sorted(v.days, key=len, reverse=True))
    unit = f"(?P<unit>{'|'.join(v.units)})"
    weekday = f"(?P<weekday>{'|'.join(v.weekdays.split())})"
    month = f"(?P<month>{'|'.join(v.months.split())})"
    before = rf"(?:(?:(?P<last>{v.last[0]})|(?P<next>{v.next[0]})|(?P<this>{v.this})) )?"
    behind = rf"(?: (?:(?P<last2>{v.last[1]})|(?P<next2>{v.next[1]}))\b)?"
    number = rf"(?:(?P<number>\d{{1,3}}|{v.numbers})|(?:{v.few}))"
    article = r"(?:(?:el|la|le|l'|am|en el|al) ?)?"
    month_words, unit_words = _stems(v.months), words(v.unit_words)
    now_words = words(v.triggers)
    rules = (
        Rule(now_words, rf"(?<![\w-])(?:{days})(?![\w-])", partial(_day, v), "day"),
        Rule(now_words, rf"\b(?:{'|'.join(v.nights)})\b", partial(_night, v), "part"),
        Rule(now_words, rf"\b(?:{'|'.join(v.parts)})\b", partial(_part, v), "part"),
        Rule(_stems(v.weekdays), rf"\b{article}{before}{weekday}\b{behind}", partial(_weekday, v), "day"),
        Rule(
            unit_words,
            rf"\b{article}{before}{unit}\b{behind}",
            partial(_relative, v),
            "week",
            words(v.relative_words),
        ),
        Rule(
            unit_words,
            rf"\b(?:(?P<lasting>{v.lasting})|(?P<ahead>{v.ahead})|{v.ago}) {number} {unit}\b"
            rf"(?P<still> que\b)?",
            partial(_counted, v),
            "day",
            words(v.count_words),
        ),
        Rule(
            month_words,
            rf"\b(?:(?P<lead>{v.in_month}) )?(?:(?P<day>\d{{1,2}})(?:er|º)?{v.before_month})?{month}\b"
            rf"(?:(?:{v.before_year})(?P<year>\d{{4}})\b)?",
            partial(_month, v),
            "month",
        ),
        Rule(_VAGUE_WORDS, rf"\b(?:{v.vague})\b", _vague, "vague"),
        Rule(
            frozenset("#"),
            rf"\b(?:(?P<lead>{v.in_month}|en|im jahr|in) )?(?P<year>(?:19|20)\d\d)\b(?![-/.:]\d)",
            _year,
            "year",
        ),
    )
    return Language(
        rules=rules,
        joints=Joints(
            clock_gap=r"[ ,]*(?:à|a las?|um|am|por la|de la)?[ ]*",
            date_gap=r"[ ,]*(?:de|del|des)?[ ,]*",
            range_gap=r" ?(?:-|–|bis|au|à|al?|hasta(?: el)?) ?",
            and_gap=r" (?:y|et|und) ",
            and_prefix=r"\b(?:entre(?: el)?|zwischen) $",
            range_prefix=r"\b(?:del?|du|von|vom|desde)(?: el| le)? $",
            range_suffix=r"(?!)",
            prefixes=((rf"\b(?:{v.since}) $", _since), (rf"\b(?:{v.until}) $", _until)),
        ),
        tense_cues=rf"(?P<future>\b(?:{v.future})\b)|(?P<past>\b(?:{v.past})\b)",
    )


SPANISH = _grammar(_SPANISH)
FRENCH = _grammar(_FRENCH)
GERMAN = _grammar(_GERMAN)
