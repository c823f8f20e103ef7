"""Builds what the reader is trained on: token ids of (claim, excerpt of the passage) with labels, in `pairs.npz`.

    python prepare_reader.py --data DATA --tokenizer FILE --out DIR

Labels: 0 supported, 1 contradicted, 2 not mentioned, 3 not supported (the source does not tell which of the two).
One row in --hold documents is kept out, for calibration and for choosing between runs (`held.npz`).
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import derive
import derive_records
import numpy as np
import rows as reading
from assay_embedded.excerpt import excerpt
from assay_embedded.features import Passage
from assay_embedded.sentences import sentences
from tokenizers import Tokenizer

SUPPORTED, CONTRADICTED, NOT_MENTIONED, UNSUPPORTED = range(4)
NAMED = {
    "contradiction": CONTRADICTED, "refutes": CONTRADICTED, "refute": CONTRADICTED, "neutral": NOT_MENTIONED,
    "irrelevant": NOT_MENTIONED, "conclusion of another abstract": NOT_MENTIONED,
}  # fmt: skip
# rows of a source in one round, at most, for each of supported and not supported
CAPS = {
    "mnli": 2000, "fever-nli": 2700, "snli": 1000, "conjnli": 900, "true/paws": 1400, "ambient": 350,
    "fever_symmetric": 660, "true/dialfact": 1400, "fib_xsum": 900, "infotabs": 2500,
}  # fmt: skip
NLI = set(CAPS) - {"true/dialfact", "fib_xsum", "infotabs"}
RECORDS = ("data2text_quintd", "tables_open")
STRUCTURED = ("quintd", "infotabs", "scitab")  # sources whose passages are records
SEVERAL = ("bump", "summedits", "fib_xsum", "attributionbench", "true/dialfact", "true/q2", "faithdial_audit")
# what of the derived pairs each kind is, as far as its rule applies
SHARE = {
    "number": 0.13, "name": 0.15, "exchange": 0.06, "negate": 0.06, "opposite": 0.07, "wrong passage": 0.07,
    "without support": 0.09, "among": 0.13, "copied": 0.14, "copied, changed": 0.12, "joined": 0.07,
    "joined, strange": 0.07,
}  # fmt: skip
KINDS = [kind for kind in SHARE if not kind.startswith("joined")]  # two statements in one did not pay (README.md)
BUDGETS = (60, 100, 130, 130, 150)  # words of the excerpt, one drawn for each row: a reader for all lengths
WINDOW = 256


@dataclass(frozen=True, slots=True)
class Pair:
    passage: str
    claim: str
    label: int
    source: str


def detokenised(text: str) -> str:
    """FEVER and others come with spaces around punctuation."""
    for old, new in (("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("``", '"'), ("''", '"')):
        text = text.replace(old, new)
    text = re.sub(r"\s+([.,;:!?%\])])", r"\1", text)
    return re.sub(r"\s+", " ", re.sub(r"([(\[])\s+", r"\1", text)).strip()


def labelled(data: Path, without: tuple[str, ...] = ()) -> list[Pair]:
    """Every open row, by its own label, but those of sources whose names begin with one of `without`."""
    out = []
    for name in ("groundedness_open", "nli_open", "qa_derived", *RECORDS, "factcg_cg2c_doc"):
        for row in reading.lines(data / "train" / f"{name}.jsonl.gz"):
            if row["label"] not in (0, 1) or not row["premise"] or not row["hypothesis"]:
                continue
            if row["source"].startswith(without):
                continue
            claim, passage = row["hypothesis"], row["premise"]
            if name == "qa_derived":
                claim = claim.replace("question: ", "", 1).replace(" answer: ", " ", 1)
            if reading.group(row["source"]) in ("fever-nli", "true/paws"):
                claim, passage = detokenised(claim), detokenised(passage)
            label = SUPPORTED if row["label"] == 1 else NAMED.get(row["label_text"], UNSUPPORTED)
            if len(claim.split()) <= 110:
                out.append(Pair(passage, claim, label, reading.group(row["source"])))
    return out


def by_sentence(pairs: Iterable[Pair]) -> list[Pair]:
    """Sentences: all of a right answer are supported; the one in which a wrong one differs from right ones is not."""
    right: dict[str, set[str]] = defaultdict(set)
    found = [pair for pair in pairs if pair.source in SEVERAL]
    cut = {pair.claim: [pair.claim[a:b] for a, b in sentences(pair.claim)] for pair in found}
    for pair in found:
        if pair.label == SUPPORTED:
            right[pair.passage].update(cut[pair.claim])
    out: dict[tuple[str, str], Pair] = {}
    for pair in found:
        parts = cut[pair.claim]
        if len(parts) < 2:
            continue
        odd = [part for part in parts if part not in right[pair.passage]]
        if pair.label != SUPPORTED and len(odd) == 1 and len(odd[0].split()) > 3:
            out[pair.passage, odd[0]] = replace(pair, claim=odd[0])
        if pair.label == SUPPORTED:
            out |= {(pair.passage, part): replace(pair, claim=part) for part in parts if len(part.split()) > 3}
    return list(out.values())


def even(pairs: Iterable[Pair], rng: random.Random, nli: float = 1.0) -> list[Pair]:
    """One round: at most CAPS of a source and side, and no side of a source more than 1.6 times the other.

    `nli` multiplies the caps of the NLI sets.
    """
    cells: dict[tuple[str, bool], list[Pair]] = defaultdict(list)
    for pair in pairs:
        cells[pair.source, pair.label == SUPPORTED].append(pair)
    out: list[Pair] = []
    for source in sorted({source for source, _ in cells}):
        sides = [cells[source, side] for side in (True, False)]
        least = min(len(side) for side in sides)
        for side in sides:
            rng.shuffle(side)
            cap = round(CAPS.get(source, 1200) * (nli if source in NLI else 1))
            out += side[: min(cap, int(1.6 * least) + 1)]
    return out


def derived(pairs: list[Pair], count: int, rng: random.Random, kinds: Sequence[str]) -> list[Pair]:
    """`count` pairs of these kinds, made by rule from supported claims and from passages."""
    right = [
        p for p in pairs if p.label == SUPPORTED and len(p.claim.split()) >= 5 and p.source not in ("snli", "ambient")
    ]
    strange = sorted({name for p in rng.sample(right, 3000) for name in derive.names(p.claim)})
    passages = sorted({p.passage for p in pairs if 25 <= len(p.passage.split()) <= 2000})
    short = [text for text in passages if len(text.split()) <= 160]
    out: list[Pair] = []
    made: Counter[str] = Counter()
    share = {kind: SHARE[kind] for kind in kinds}
    while len(out) < count:
        kind = min(share, key=lambda k: made[k] / share[k])
        pair = rng.choice(right)
        made[kind] += 1
        new = one(kind, pair, passages, short, strange, rng)
        if new is None or (new.claim == pair.claim and new.passage == pair.passage):
            made[kind] -= 1
            share[kind] *= 0.9995  # what rarely applies gives way
            continue
        out.append(replace(new, source=f"derived/{kind}"))
    print("derived", dict(made))
    return out


def changed(claim: str, passage: str, strange: list[str], rng: random.Random) -> str | None:
    """The claim with one detail changed, by the first rule that applies, in random order."""
    rules = [
        lambda: derive.swap_number(claim, passage, rng), lambda: derive.swap_name(claim, passage, strange, rng),
        lambda: derive.opposite(claim, rng), lambda: derive.exchange_names(claim, rng),
    ]  # fmt: skip
    rng.shuffle(rules)
    return next((new for rule in rules if (new := rule()) is not None), None)


def one(
    kind: str, pair: Pair, passages: list[str], short: list[str], strange: list[str], rng: random.Random
) -> Pair | None:
    """One pair of a kind, or None where the rule does not apply."""
    passage, claim = pair.passage, pair.claim
    if kind == "number":
        new = derive.swap_number(claim, passage, rng)
    elif kind == "name":
        new = derive.swap_name(claim, passage, strange, rng)
    elif kind == "exchange":
        new = derive.exchange_names(claim, rng)
    elif kind == "negate":
        new = derive.negate(claim, rng)
    elif kind == "opposite":
        new = derive.opposite(claim, rng)
    elif kind == "wrong passage":
        near = nearest(claim, passages, rng)
        return Pair(near, claim, NOT_MENTIONED, "") if near != passage and derive.shared(claim, near) < 0.7 else None
    elif kind == "without support":
        rest = derive.without_support(passage, claim)
        return Pair(rest, claim, NOT_MENTIONED, "") if rest else None
    elif kind.startswith("joined"):
        return two_in_one(pair, kind == "joined", passages, rng)
    elif kind == "among":
        return replace(pair, passage=derive.among(passage, rng.sample(short, rng.randint(1, 4)), rng))
    else:  # one to three sentences of a passage: all as they are, or one of them changed
        passage = rng.choice(passages)
        parts = derive.copied(passage, rng.choice((1, 1, 2, 3)), rng)
        if not parts or kind == "copied":
            return Pair(passage, " ".join(parts), SUPPORTED, "") if parts else None
        at = rng.randrange(len(parts))
        other = changed(parts[at], passage, strange, rng)
        if other is None:
            return None
        new = " ".join([*parts[:at], other, *parts[at + 1 :]])
    if new is None or new == claim or new in passage:
        return None
    return Pair(passage, new, CONTRADICTED, "")


def nearest(text: str, passages: list[str], rng: random.Random) -> str:
    """Of 60 passages the one with most of the text's words."""
    return max(rng.sample(passages, 60), key=lambda other: derive.shared(text, other))


def two_in_one(pair: Pair, same: bool, passages: list[str], rng: random.Random) -> Pair | None:
    """A supported claim and a sentence in one: of the `same` passage, or else of another, which is not mentioned."""
    passage, claim = pair.passage, pair.claim
    parts = derive.copied(passage if same else nearest(claim, passages, rng), 1, rng)
    if not parts or len(claim.split()) > 40 or derive.shared(parts[0], claim) > 0.5:
        return None
    if not same and derive.shared(parts[0], passage) > 0.6:
        return None
    return Pair(passage, derive.joined(claim, parts[0], rng), SUPPORTED if same else NOT_MENTIONED, "")


def special(tokenizer: Tokenizer) -> tuple[int, int]:
    """The tokens before the first text and after each: [CLS] and [SEP], or <s> and </s>."""
    for names in (("[CLS]", "[SEP]"), ("<s>", "</s>")):
        begin, end = map(tokenizer.token_to_id, names)
        if begin is not None and end is not None:
            return begin, end
    raise ValueError("the tokenizer has neither [CLS] and [SEP] nor <s> and </s>")


def tokenizer_of(file: Path) -> Tokenizer:
    """The tokenizer in a file, which neither cuts nor pads."""
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def encoded(pairs: list[Pair], tokenizer: Tokenizer, rng: random.Random, attacked: float) -> dict[str, np.ndarray]:
    """The pairs as token ids, each with an excerpt; `attacked`: the share that gets an instruction."""
    texts = []
    for pair in pairs:
        passage = Passage(pair.passage)
        text, claim = passage.read(excerpt(passage, pair.claim, rng.choice(BUDGETS))), pair.claim
        if rng.random() < attacked:
            if rng.random() < 0.5:
                text = derive.instruct(text, rng)
            else:
                claim = derive.instruct(claim, rng)
        texts.append((claim, text))
    return packed(texts, [pair.label for pair in pairs], [pair.source for pair in pairs], tokenizer)


def packed(
    texts: Iterable[tuple[str, str]], labels: Sequence[int], sources: Sequence[str], tokenizer: Tokenizer
) -> dict[str, np.ndarray]:
    """Token ids of (claim, passage) end to end, with where each row starts, how long its claim is, and its label."""
    ids: list[int] = []
    starts, firsts = [0], []
    begin, end = special(tokenizer)
    for claim, text in texts:
        first = [begin, *tokenizer.encode(claim, add_special_tokens=False).ids[:150], end]
        second = tokenizer.encode(text, add_special_tokens=False).ids[: WINDOW - len(first) - 1]
        ids += [*first, *second, end]
        starts.append(len(ids))
        firsts.append(len(first))
    return {
        "ids": np.array(ids, np.uint16 if tokenizer.get_vocab_size() < 1 << 16 else np.uint32),
        "starts": np.array(starts, np.int64),
        "firsts": np.array(firsts, np.int16),
        "labels": np.array(labels, np.int8),
        "sources": np.array(sources),
    }


def held_out(pair: Pair, one_in: int) -> bool:
    return int(hashlib.sha256(pair.passage.encode()).hexdigest(), 16) % one_in == 0


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--tokenizer", type=Path, required=True)
    ask.add_argument("--out", type=Path, required=True)
    ask.add_argument("--rounds", type=int, default=2, help="how often the groundedness rows are gone through")
    ask.add_argument("--nli", type=float, default=1.0, help="factor on the number of pairs from NLI sets")
    ask.add_argument("--derived", type=int, default=16000)
    ask.add_argument("--records", type=int, default=0, help="pairs made by rule from records")
    ask.add_argument("--kinds", nargs="+", choices=SHARE, default=KINDS, help="of derived pairs")
    ask.add_argument("--hold", type=int, default=20)
    ask.add_argument("--without", nargs="*", default=[], help="beginnings of the names of sources to leave out")
    ask.add_argument("--attacked", type=float, default=0.05, help="share of rows that get an instruction")
    ask.add_argument("--most", type=int, help="of all pairs so many, drawn at random: the same mix for a short run")
    ask.add_argument("--seed", type=int, default=23)
    given = ask.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(given.seed)
    tokenizer = tokenizer_of(given.tokenizer)
    everything = labelled(given.data, tuple(given.without))
    sentence = by_sentence(everything)
    held = [pair for pair in everything if held_out(pair, given.hold)]
    pairs = [pair for pair in everything if not held_out(pair, given.hold)]
    split = [replace(pair, source=pair.source + ", sentence") for pair in sentence if not held_out(pair, given.hold)]
    rounds: list[Pair] = []
    for turn in range(given.rounds):
        chosen = even(pairs + split, rng, given.nli)
        rounds += [pair for pair in chosen if turn < 1 or pair.source not in NLI]
    rounds += derived([p for p in pairs + split if p.source not in STRUCTURED], given.derived, rng, given.kinds)
    objects = sorted({pair.passage for pair in pairs if pair.source == "infotabs"})
    rounds += [Pair(*one, f"derived/record, {kind}") for kind, one in derive_records.made(given.records, objects, rng)]
    rng.shuffle(rounds)
    rounds = rounds[: given.most]
    for name, which in (("pairs", rounds), ("held", even(held, rng))):
        found = encoded(which, tokenizer, rng, given.attacked if name == "pairs" else 0.0)
        np.savez(given.out / f"{name}.npz", **found)
        sizes = np.diff(found["starts"])
        print(name, len(which), "pairs,", round(float(sizes.mean())), "tokens on average")
        for key, number in sorted(Counter((pair.source, pair.label) for pair in which).items()):
            print("  ", *key, number)


if __name__ == "__main__":
    main()
