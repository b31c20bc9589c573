"""Short versions of the proofs (docs/proofs.md): what the longer trainings show must show here too, in seconds."""

import sys
from functools import cache
from pathlib import Path

import pytest
import torch

from regard.data.batches import InMemory
from regard.data.builtin import examples
from regard.data.pairs import pair_batches
from regard.data.tokenizer import train_pair
from regard.learn.loop import fit
from regard.learn.loss import sequence_loss
from regard.recipe import resolve

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import reversal

TINY = ("embed.width=32", "encode.hidden=64", "predict.hidden=64", "predict.embed.width=32")


pytestmark = pytest.mark.usefixtures("one_thread", "unchecked")


def nll(name, recipe, steps, *settings, size=1500, **languages):
    """How much a held-out piece of a built-in corpus surprises a tiny model after a few updates, in nats."""
    torch.manual_seed(0)
    pairs = [
        list(examples(name, split=split, size=count, **languages)) for split, count in (("train", size), ("val", 200))
    ]
    sides = [[getattr(pair, side) for pair in pairs[0]] for side in ("source", "target")]
    tokenizers = train_pair(*sides, size=800)
    model = resolve(recipe, (*TINY, *settings)).build(*map(len, tokenizers))
    model.train()
    fit(model, pair_batches(InMemory(pairs[0]), *tokenizers, tokens=1024, seed=0).forever(), steps=steps, rate=5e-3)
    total, count = 0.0, 0
    with torch.no_grad():
        for batch in pair_batches(InMemory(pairs[1]), *tokenizers, shuffle=False):
            loss = sequence_loss(model, batch)
            total, count = total + float(loss.nll) * loss.count, count + loss.count
    return total / count


@cache
def toy_loss(recipe, *settings, copies, steps, lengths=(3, 10)):
    """The mean loss of the last updates on the toy task: write a sequence backwards, or copy it."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = resolve(recipe, (*reversal.SMALL, *settings)).build(reversal.SIZE, reversal.SIZE)
    optimiser = torch.optim.Adam(model.parameters(), lr=reversal.RATE)
    losses = []
    for _ in range(steps):
        drawn = torch.randint(lengths[0], lengths[1] + 1, (reversal.BATCH,), generator=generator)
        loss = reversal.loss(model, reversal.draw(drawn, generator, copies))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), reversal.CLIP)
        optimiser.step()
        losses.append(float(loss.detach()))
    return sum(losses[-20:]) / 20


def test_attention_reads_dates_that_a_fixed_vector_does_not():
    nothing = ("attend=none", "predict.part=plain", "predict.cell=gru", "predict.bridge=project", *TINY[2:])
    looking = nll("dates", "rnnsearch-characters", 200)
    blind = nll("dates", "rnnsearch-characters", 200, *nothing)
    assert looking < 0.7 * blind


def test_attention_translates_phrases_better_than_a_fixed_vector():
    looking = nll("phrasebook", "rnnsearch-small", 120, source="en", target="fr")
    blind = nll("phrasebook", "seq2seq", 120, "encode.layers=1", "predict.layers=1", source="en", target="fr")
    assert looking < blind - 0.3


def test_a_window_that_walks_along_copies_and_cannot_reverse():
    local = (*reversal.ONE_GRU, "attend.scope=local_m", "attend.scope.reach=1")
    copied = toy_loss("luong", *local, copies=True, steps=200)
    reversed_ = toy_loss("luong", *local, copies=False, steps=200)
    assert copied < 0.5 * reversed_


def test_a_window_that_is_placed_reverses_what_one_that_walks_cannot():
    walks, placed = (
        toy_loss("luong", *reversal.ONE_GRU, f"attend.scope={scope}", "attend.scope.reach=1", copies=False, steps=200)
        for scope in ("local_m", "local_p")
    )
    assert placed < walks - 0.3


def test_reading_the_source_backwards_helps_a_fixed_vector():
    one = ("encode.layers=1", "encode.dropout=0.0", "predict.layers=1", "encode.cell=lstm")
    backwards, forwards = (
        toy_loss("seq2seq", *one, f"encode.direction={way}", copies=True, steps=250) for way in ("backward", "forward")
    )
    assert backwards < 0.9 * forwards


def test_skips_let_four_layers_learn():
    deep = ("encode.cell=lstm", "encode.direction=bottom", "attend.score.hidden=32", "encode.dropout=0.0")
    with_skips, without = (
        toy_loss("gnmt", *deep, f"encode.residual={skips}", f"predict.residual={skips}", copies=True, steps=120)
        for skips in ("true", "false")
    )
    assert with_skips < without


@pytest.mark.parametrize("recipe", ["lstmn-shallow", "lstmn-deep"])
def test_two_lstmns_learn_to_copy(recipe):
    """Short lines, in seconds; without a look at the source the same decoder has a loss of 0.3 by then."""
    sizes = [f"{each}=32" for each in ("embed.width", "predict.embed.width")]
    sizes += [f"{each}=48" for each in ("encode.hidden", "predict.hidden")]
    sizes += [f"{each}=0" for each in ("embed.dropout", "predict.embed.dropout", "predict.dropout")]
    torch.manual_seed(0)
    drawn = torch.Generator().manual_seed(0)
    built = resolve(recipe, sizes).build(reversal.SIZE, reversal.SIZE)
    optimiser, losses = torch.optim.Adam(built.parameters(), lr=0.01), []
    for _ in range(200):
        lengths = torch.randint(3, 7, (64,), generator=drawn)
        loss = reversal.loss(built, reversal.draw(lengths, drawn, copies=True))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(built.parameters(), 1.0)
        optimiser.step()
        losses.append(float(loss.detach()))
    assert sum(losses[-10:]) / 10 < 0.15
