"""Random changes of inputs, as careless programs, damaged disks and people with bad intentions make them."""

import random
from collections.abc import Callable, Iterator, Sequence

SHORT = 1 << 10
LONGEST = 1 << 14
LONG = 0.02  # share of the inputs that may grow beyond SHORT: much costs time and seldom says more
FROM_POOL = 0.5
MOST_KEPT = 200
REPLACED = 0.05
# What has a meaning somewhere, or is at the end of some range
TOKENS = tuple(
    text.encode("utf-8", "surrogatepass")
    for text in (
        *("", " ", "\t", "\n", "\r\n", "\n\n", "\0", "_", "-", "|", ":", ";", ",", ".", "..", "#", "=", "%", "&", "*"),
        *("0", "-1", "1", "999999999", "9" * 20, "9" * 5000, "1e999", "-1e999", "nan", "inf", "Infinity", "٣", "²"),
        *("[", "]", "{", "}", "(", ")", "<", ">", "/>", "</", "[[", "{{", '"', "'", "\\", "\\u", '"\\ud800"', "\\x00"),
        *("null", "true", "[]", "{}", '""', "e", "é", "\u0301", "ß", "İ", "Σ", "\u2028", "\x85", "\ufeff", "\ufffd"),
        *("\U0001f600", "\ud800", "漢", "ش", "–", "…", "“", "”", "&#0;", "&#x110000;", "&#" + "9" * 5000 + ";", "&lt;"),
        *("<!DOCTYPE a>", "<![CDATA[", "<!--", "<?xml", 'encoding="utf-7"', "B-", "I-", "-DOCSTART-", "SpaceAfter=No"),
        *("[0..100]", "[-100..100]", "|LOWER[0]", "@tagging", "%x[0,0]", "1-2", "1.1", "00:00:01,000 --> 00:00:02,000"),
        *("and", "vol.", "pp. 1-2", "1999", "doi:10.1000/x", "Smith, J.", "{\\", "<v ", "♪", "[x", "->", "not has A"),
    )
)


class Inputs(Iterator[bytes]):
    """Seeds, and then changed ones without end, the same for the same seed of chance.

    Those that a parser takes are changed further (`keep`): what is refused at its first line leads nowhere.
    """

    def __init__(self, seeds: Sequence[bytes], seed: int | str) -> None:
        self._seeds, self._kept, self._number = seeds, list[bytes](), 0
        self._longest = max(SHORT, *map(len, seeds))
        self._chance = random.Random(seed)

    def __next__(self) -> bytes:
        self._number += 1
        if self._number <= len(self._seeds):
            return self._seeds[self._number - 1]
        from_pool = self._kept and self._chance.random() < FROM_POOL
        return mutate(self._chance.choice(self._kept if from_pool else self._seeds), self._seeds, self._chance)

    def keep(self, data: bytes) -> None:
        """Change this one further."""
        if len(data) > self._longest:
            return
        if len(self._kept) < MOST_KEPT:
            self._kept.append(data)
        elif self._chance.random() < REPLACED:
            self._kept[self._chance.randrange(MOST_KEPT)] = data


def mutate(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """Return an input with some random changes. others: inputs that pieces are taken from."""
    longest = max(len(data), LONGEST if chance.random() < LONG else SHORT)
    for _ in range(chance.choice((1, 1, 1, 1, 2, 3, 6))):
        data = chance.choice(CHANGES)(data, others, chance)[:longest]
    return data


Change = Callable[[bytes, Sequence[bytes], random.Random], bytes]


def _flip(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    if not data:
        return data
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << chance.randrange(8))]) + data[place + 1 :]


def _insert(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    place = chance.randint(0, len(data))
    return data[:place] + chance.choice(TOKENS) + data[place:]


def _replace(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    low, high = _range(data, chance)
    return data[:low] + chance.choice(TOKENS) + data[high:]


def _delete(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    low, high = _range(data, chance)
    return data[:low] + data[high:]


def _repeat(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    low, high = _range(data, chance)
    return data[:high] + data[low:high] * chance.choice((1, 2, 10, 100, 1000)) + data[high:]


def _move(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    low, high = _range(data, chance)
    rest = data[:low] + data[high:]
    place = chance.randint(0, len(rest))
    return rest[:place] + data[low:high] + rest[place:]


def _splice(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    other = chance.choice(others) if others else b""
    low, high = _range(other, chance)
    place = chance.randint(0, len(data))
    return data[:place] + other[low:high] + data[place:]


def _line(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    place = chance.randrange(len(lines))
    match chance.randrange(3):
        case 0:
            del lines[place]
        case 1:
            lines.insert(chance.randint(0, len(lines)), lines[place])
        case _:
            fields = lines[place].split(b"\t")
            fields[chance.randrange(len(fields))] = chance.choice(TOKENS)
            lines[place] = b"\t".join(fields)
    return b"\n".join(lines)


def _cut(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    return data[: chance.randint(0, len(data))]


def _range(data: bytes, chance: random.Random) -> tuple[int, int]:
    low = chance.randint(0, len(data))
    return low, min(len(data), low + chance.choice((1, 1, 2, 4, 8, 32, 128)))


CHANGES: tuple[Change, ...] = (_flip, _insert, _replace, _replace, _delete, _repeat, _move, _splice, _line, _line, _cut)
