"""Make the data of config/planted.yaml: lists of words whose similarity, topic or match is known.

    python config/planted/make.py            # writes data/ beside this file; the same files every time

Ten datasets are made of English words, six of made-up words. Each text is a list of words, so its meaning
(the sum of its words' vectors) is as known as what it is scored against.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "data"
SEED = 20260
TOPICS = """
weather: storm cloud rain snow wind thunder frost fog breeze sunshine drizzle hail lightning forecast
kitchen: oven spoon flour pepper onion butter saucepan recipe garlic knife dough vinegar basil plate
music: guitar melody drum violin chorus rhythm concert piano trumpet singer harmony lyrics flute tune
garden: tulip shovel hedge compost seedling lawn rake orchard blossom weed fence sprinkler soil rosebush
harbour: anchor sail ferry captain lighthouse dock cargo sailor rudder tide seagull buoy deck vessel
office: printer meeting memo deadline keyboard invoice folder stapler colleague agenda desk manager email
  chair
sport: goalkeeper stadium referee sprint tennis racket medal coach league marathon helmet trophy penalty
  swimmer
school: teacher pupil homework chalk lesson exam classroom textbook grammar spelling timetable satchel
  essay quiz
forest: oak fern squirrel moss trail beetle pine acorn mushroom deer badger owl clearing branch
hospital: nurse surgeon bandage ward fever ambulance patient vaccine clinic pulse crutch syringe
  diagnosis needle
railway: locomotive platform ticket carriage conductor signal tunnel station passenger luggage buffet
  siding engine driver
court: judge lawyer verdict witness jury evidence trial bail sentence defendant appeal oath robe
  prosecutor
"""
"""Name of each topic and its words."""

COMMON = (
    "today slowly often green small evening neighbour quietly seven corner bright yesterday almost together "
    "heavy morning window again little distant simple usual behind narrow gentle early several lately"
)
KINDS = ("sts", "pairs", "topics", "ranking", "search")
INVENTED = {"ido": ("sts", "pairs"), "vol": ("pairs", "search"), "ina": ("search", "sts")}
"""Labels of the made-up words (languages unknown to the language identifier), and what is made of them."""

DOCUMENTS = 48

Row = Sequence[object]


def main() -> None:
    """Write all tables."""
    english = [part.split()[-14:] for part in TOPICS.replace("\n  ", " ").strip().splitlines()]
    for half, topics in (("a", english[:6]), ("b", english[6:])):
        for kind in KINDS:
            make(kind, f"eng-{half}", topics, COMMON.split())
    for language, kinds in INVENTED.items():
        for kind in kinds:
            make(kind, language, *invented(language))


def invented(language: str) -> tuple[list[list[str]], list[str]]:
    """Return six topics of 14 made-up words each, and 28 common ones."""
    rng = generator("words", language)
    consonants = rng.permutation(list("bdfghjklmnprstvz"))[:10]
    syllables = [c + v for c in consonants for v in "aeiou"]
    words: dict[str, None] = {}
    while len(words) < 6 * 14 + 28:
        words["".join(rng.choice(syllables, size=rng.integers(2, 4)))] = None
    listed = list(words)
    return [listed[14 * i : 14 * i + 14] for i in range(6)], listed[84:]


def make(kind: str, name: str, topics: list[list[str]], common: list[str]) -> None:
    """Write the tables of one dataset."""
    rng = generator(kind, name)
    words = [w for topic in topics for w in topic]
    if kind == "sts":
        rows = [(*pair(rng, words, k), round(5 * k / 8, 3)) for k in rng.permutation([*range(9)] * 6)]
        write(f"{kind}-{name}.csv", ("sentence1", "sentence2", "score"), rows)
    elif kind == "pairs":
        shared = [(k, int(k > 3)) for k in rng.permutation([2, 3, 4, 5] * 24)]
        rows = [(*pair(rng, words, k), label) for k, label in shared]
        write(f"{kind}-{name}.csv", ("sentence1", "sentence2", "label"), rows)
    elif kind == "topics":
        for table, n in (("train", 8), ("test", 16)):
            write(f"{kind}-{name}-{table}.csv", ("text", "label"), labelled(rng, topics, common, n))
    else:
        search(rng, kind, name, words, common)


def pair(rng: np.random.Generator, words: list[str], shared: int) -> tuple[str, str]:
    """Return two texts of eight words, of which so many are in both."""
    drawn = list(rng.choice(words, size=16 - shared, replace=False))
    both, first, second = drawn[:shared], drawn[shared:8], drawn[8:]
    return " ".join(rng.permutation(both + first)), " ".join(rng.permutation(both + second))


def labelled(rng: np.random.Generator, topics: list[list[str]], common: list[str], n: int) -> list[Row]:
    """Return `n` texts of each topic: five words of the topic, three common ones."""
    rows = []
    for label, topic in enumerate(topics):
        for _ in range(n):
            chosen = [*rng.choice(topic, size=5, replace=False), *rng.choice(common, size=3, replace=False)]
            rows.append((" ".join(rng.permutation(chosen)), f"topic-{label}"))
    return [rows[i] for i in rng.permutation(len(rows))]


def search(rng: np.random.Generator, kind: str, name: str, words: list[str], common: list[str]) -> None:
    """Write documents of ten words, and questions with four words of one document and two common ones."""
    documents = [list(rng.choice(words, size=10, replace=False)) for _ in range(DOCUMENTS)]
    asked = rng.choice(DOCUMENTS, size=42, replace=False)
    queries = [
        [*rng.choice(documents[i], size=4, replace=False), *rng.choice(common, size=2, replace=False)]
        for i in asked
    ]
    start = f"{kind}-{name}"
    write(f"{start}-corpus.csv", ("id", "text"), [(f"d{i}", " ".join(d)) for i, d in enumerate(documents)])
    questions = [(f"q{i}", " ".join(rng.permutation(q))) for i, q in enumerate(queries)]
    write(f"{start}-queries.csv", ("id", "text"), questions)
    qrels = [(f"q{i}", f"d{d}", 1) for i, d in enumerate(asked)]
    write(f"{start}-qrels.csv", ("query_id", "corpus_id", "score"), qrels)
    if kind == "ranking":
        candidates = [
            (f"q{i}", f"d{d}")
            for i, right in enumerate(asked)
            for d in rng.permutation([right, *rng.choice(others(right), size=11, replace=False)])
        ]
        write(f"{start}-candidates.csv", ("query_id", "corpus_id"), candidates)


def others(document: int) -> list[int]:
    """Return the numbers of all other documents."""
    return [i for i in range(DOCUMENTS) if i != document]


def generator(*place: str) -> np.random.Generator:
    """Return a random generator of its own for each dataset, so that one can change without the others."""
    return np.random.default_rng([SEED, *"/".join(place).encode()])


def write(name: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a CSV file."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / name).open("w", encoding="utf-8", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows([columns, *rows])


if __name__ == "__main__":
    main()
