"""Names of persons and places in Chinese text, by family and given names and suffixes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ripple.language.names import NameLookup, NameMention
from ripple.language.word_lists import chinese_family_names, chinese_given_characters, chinese_places

__all__ = ["find_chinese", "split_chinese_place"]

_HAN = r"\u4e00-\u9fff"
_RELATION = (
    r"同事|朋友|同学|同學|上司|下属|下屬|老师|老師|领导|領導|老板|老闆|邻居|鄰居|客户|室友|队友|搭档|学生|表[姐妹哥弟]|堂[姐妹哥弟]|[姐妹哥弟弟舅叔姑姨伯爷奶妈爸]{1,2}|"
    r"妻子|丈夫|老公|老婆|男友|女友|男朋友|女朋友|儿子|女儿|兒子|女兒|孙子|孙女|侄子|侄女|外甥|医生|醫生|教练|经理|主任|网友"
)
_BEFORE_NAME = re.compile(
    rf"(?:^|[^{_HAN}]|[和跟与與及叫名是为給给找见見问問请請让讓对對向同陪约約由被把听聽比还有]|名字|姓名|{_RELATION})$"
)
_STRONG_BEFORE = re.compile(rf"(?:叫|名叫|叫做|名字是|姓名是|名为|{_RELATION})$")
_AFTER_NAME = re.compile(
    rf"$|[^{_HAN}]|是|的|在|说|說|和|跟|与|與|也|都|很|去|来|來|叫|今|昨|明|对|對|给|給|想|要|喜|爱|住|出|工作|打|做|告|问|問|谁|誰|年|比|让|讓|请|請|"
    r"会|會|有|没|沒|不|就|还|還|从|從|被|把|上|下|当|當|先生|女士|小姐|老师|老師|同学|经理|医生|教授|那|这|這|哪|两|刚|又|正|提|带|送|约|过|吗|呢|吧|啊|了|身高|体重|生日|"
    r"电话|職|职|学|喊|负责|参加|毕业"
)
_HONORIFIC = (
    r"(?:先生|女士|小姐|太太|老师|老師|经理|經理|医生|醫生|教授|主任|师傅|師傅|阿姨|叔叔|大哥|大姐|总|"
    r"總|姐|哥|叔|姨|导)"
)
_TITLED = re.compile(rf"([{_HAN}]){_HONORIFIC}(?![们們家是会会共体结])")
_CALLED = re.compile(
    rf"(?<![最很更太多大从])([小老阿])([{_HAN}])(?![{_HAN}]{{0,1}}[时時家人心板师師婆公爷奶姨妈爸孩朋])"
)
_SUFFIX = (
    r"公园|公園|广场|廣場|医院|醫院|大学|大學|中学|中學|小学|小學|学院|學院|机场|機場|火车站|火車站|高铁站|地铁站|车站|酒店|饭店|飯店|宾馆|餐厅|餐廳|餐馆|咖啡馆|"
    r"咖啡厅|咖啡店|图书馆|圖書館|博物馆|博物館|美术馆|体育馆|体育场|健身房|电影院|剧院|商场|商場|购物中心|超市|市场|花园|花園|小区|小區|大厦|大廈|大桥|景区|景區|度假村|"
    r"动物园|植物园|游乐园|书店|酒吧|茶馆|寺|庙|古镇|古城|海滩|步行街"
)
_NOT_IN_SITE = "在去到从從来來是和跟与與及的了我你妳他她它们們那这這哪某每个個什么麼有没沒要想会會叫住条條座"
_SITE_CHAR = rf"(?![{_NOT_IN_SITE}])[{_HAN}]"
_SITE = re.compile(
    rf"(?:(?<=^)|(?<=[^{_HAN}])|(?<=[在去到从從来來住逛叫是于於离離往回游过過望了观觀]))"
    rf"((?:{_SITE_CHAR}){{1,6}}?(?:{_SUFFIX}))(?![{_HAN}]?{_HONORIFIC})"
)
_STREET = re.compile(rf"(?<=[在去到住于過过沿])([{_HAN}]{{2,3}}(?:大街|大道|路|街))")
_GENERIC = re.compile(r"[家所那这這一]")
_DIVISION = "市省县縣区區州镇鎮乡鄉村岛島国國"
_MAX_PLACE = 6
_MAX_KNOWN = 4


def find_chinese(text: str, known: NameLookup) -> list[NameMention]:
    """Return persons and places of a Chinese text, in order; known names first, then the longer."""
    kept = list(_known_names(text, known))
    found = [*_places(text), *_sites(text), *_persons(text), *_titled(text)]
    for mention in sorted(found, key=lambda mention: mention.start_char - mention.end_char):
        if all(mention.end_char <= other.start_char or other.end_char <= mention.start_char for other in kept):
            kept.append(mention)
    return sorted(kept, key=lambda mention: mention.start_char)


def split_chinese_place(text: str) -> tuple[str, ...]:
    """Return the listed places that make up a written one ("江苏南京"), else the text itself."""
    parts = [mention.text for mention in _places(text)]
    return tuple(parts) if parts and sum(map(len, parts)) == len(text) else (text,)


def _known_names(text: str, known: NameLookup) -> Iterator[NameMention]:
    """Yield known participants of two to four Han characters; shorter ones are too often parts of words."""
    for run in re.finditer(rf"[{_HAN}·]{{2,}}", text):
        at = run.start()
        while at < run.end() - 1:
            for length in range(min(_MAX_KNOWN, run.end() - at), 1, -1):
                name = text[at : at + length]
                display = known(name)
                if display is not None and display.casefold() == name.casefold():
                    yield NameMention(at, at + length, name, "person")
                    at += length - 1
                    break
            at += 1


def _places(text: str) -> Iterator[NameMention]:
    listed = chinese_places()
    at = 0
    while at < len(text) - 1:
        if not "\u4e00" <= text[at] <= "\u9fff":
            at += 1
            continue
        for length in range(min(_MAX_PLACE, len(text) - at), 1, -1):
            if text[at : at + length] in listed:
                end = at + length
                if text[end : end + 1] and text[end] in _DIVISION and text[end - 1] not in _DIVISION:
                    end += 1
                yield NameMention(at, end, text[at:end], "place")
                at = end - 1
                break
        at += 1


def _sites(text: str) -> Iterator[NameMention]:
    for match in (*_SITE.finditer(text), *_STREET.finditer(text)):
        name = match.group(1)
        if _GENERIC.search(name) is None and re.fullmatch(_SUFFIX, name) is None:
            yield NameMention(match.start(1), match.end(1), name, "place")


def _persons(text: str) -> Iterator[NameMention]:
    """Yield family name and given name where the words around them allow a name."""
    families, given = chinese_family_names(), chinese_given_characters()
    at = 0
    while at < len(text) - 1:
        family = 2 if text[at : at + 2] in families else 1 if text[at] in families else 0
        length = _person_length(text, at, family, given) if family else 0
        if length:
            yield NameMention(at, at + length, text[at : at + length], "person")
        at += max(length, 1)


def _person_length(text: str, at: int, family: int, given: frozenset[str]) -> int:
    before = text[max(0, at - 4) : at]
    if _BEFORE_NAME.search(before) is None:
        return 0
    is_called = _STRONG_BEFORE.search(before) is not None
    for count in (2, 1):
        end = at + family + count
        name = text[at + family : end]
        if len(name) < count or any(char not in given for char in name) or _AFTER_NAME.match(text, end) is None:
            continue
        if count == 2 or family == 2 or is_called:
            return family + count
    return 0


def _titled(text: str) -> Iterator[NameMention]:
    """Yield 李老师, 王总 and 小王, with their title."""
    families = chinese_family_names()
    for match in _TITLED.finditer(text):
        if match.group(1) in families:
            yield NameMention(match.start(), match.end(), match.group(), "person")
    for match in _CALLED.finditer(text):
        if match.group(2) in families and _AFTER_NAME.match(text, match.end()) is not None:
            yield NameMention(match.start(), match.end(), match.group(), "person")
