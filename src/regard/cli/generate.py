"""`regard generate MODEL [PROMPT]`, `regard score MODEL FILE`: what a language model writes, and how likely text is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.classify import File, Form, ModelFolder, _cell, opened
from regard.cli.lines import read_lines
from regard.cli.options import CacheShare, CacheSize, CacheTheta, cache_of

if TYPE_CHECKING:
    from regard.tasks.generation import Generation, Scored

Prompt = Annotated[str, typer.Argument(help="What the text begins with; without it, the model begins.")]
Prompts = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A file of prompts, a line each (- is standard input): a line out for each."),
]
Temperature = Annotated[float, typer.Option(min=0, help="Below 1 what is likely becomes likelier; 0 is --greedy.")]
TopK = Annotated[int, typer.Option(min=0, metavar="K", help="Draw from the K likeliest pieces alone; 0: from all.")]
TopP = Annotated[float, typer.Option(help="Draw from the likeliest pieces that together hold this share.")]
Typical = Annotated[float, typer.Option(help="Draw from the pieces as surprising as is expected, of this share.")]
Seed = Annotated[int | None, typer.Option(metavar="S", help="The same seed, the same text; else another each time.")]
Stop = Annotated[list[str] | None, typer.Option(help="End before this text. May be repeated.")]
NoRepeat = Annotated[int, typer.Option(min=0, metavar="N", help="Write no N pieces twice in a row; 0 lets it.")]


def generate(
    model: ModelFolder,
    prompt: Prompt = "",
    prompts: Prompts = None,
    max_length: Annotated[int, typer.Option(min=1, help="Pieces that are written at most.")] = 100,
    min_length: Annotated[int, typer.Option(min=0, help="Pieces that are written at least.")] = 0,
    greedy: Annotated[bool, typer.Option("--greedy", help="The likeliest piece each time; nothing is drawn.")] = False,
    temperature: Temperature = 1.0,
    top_k: TopK = 0,
    top_p: TopP = 1.0,
    typical: Typical = 1.0,
    no_repeat: NoRepeat = 0,
    stop: Stop = None,
    seed: Seed = None,
    draws: Annotated[int, typer.Option(min=1, metavar="N", help="Texts for each prompt.")] = 1,
    form: Form = "text",
) -> None:
    """Write a text that goes on from a prompt; it is printed as it is written.

    With --prompts it is a filter: a line in, a line out (with --draws, that many). --format jsonl has the prompt, the
    text, its likelihood, and what each piece looked at in every layer.

    Example: regard generate runs/book "It was a dark and" --top-p 0.9 --seed 1
    """
    from regard.errors import UsageError
    from regard.tasks.generation import GenerateOptions

    if prompts is not None and prompt:
        raise UsageError("a prompt and a file of prompts were given.", hint="Leave one of them out.")
    options = GenerateOptions(
        max_length=max_length,
        min_length=min_length,
        greedy=greedy or temperature == 0,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        typical=typical,
        no_repeat=no_repeat,
        stop=tuple(stop or ()),
        seed=seed,
        draws=draws,
    )
    found = opened(model, "generate")
    if prompts is None and form == "text" and draws == 1:
        _stream(found, prompt, options)
        return
    for group in read_lines(prompts) if prompts is not None else [[prompt]]:
        for answers in found.generate(group, options):
            for answer in answers if isinstance(answers, list) else [answers]:
                _print(_text_json(answer) if form == "jsonl" else answer.text)


def score(
    model: ModelFolder,
    file: File = None,
    words: Annotated[
        bool, typer.Option("--words", help="Add each word and its log-likelihood, as word:-1.23.")
    ] = False,
    attention: Annotated[
        bool, typer.Option("--attention/--no-attention", help="With --format jsonl: what each piece looked at.")
    ] = True,
    form: Form = "text",
    cache: CacheSize = None,
    cache_theta: CacheTheta = None,
    cache_share: CacheShare = None,
) -> None:
    """Print how likely each line of standard input (or a file) is to a language model.

    Each line by itself: its log-likelihood (natural logarithm, the end included), a tab, its perplexity by word.
    With --cache, what a line said before counts. --format jsonl has what each piece looked at in every layer (with
    --cache, what the cache looked at), too: much more than the likelihoods, which --no-attention leaves alone.

    Example: regard score runs/book sentences.txt --words
    """
    looks_back = cache_of(cache, cache_theta, cache_share)
    found = opened(model, "generate")
    for group in read_lines(file):
        for answer in found.score(group, looks_back):
            _print(_score_json(answer, attention) if form == "jsonl" else _score_line(answer, words))


def _stream(model: Any, prompt: str, options: Any) -> None:
    """Text as it is written; what steers a terminal is not handed on."""
    for text in _pieces(model, prompt, options):
        sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.buffer.flush()
    sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()


def _pieces(model: Any, prompt: str, options: Any) -> Iterator[str]:
    from regard.chunks import one_line

    for text in chain([prompt], model.stream(prompt, options)):
        yield "\n".join(map(one_line, text.split("\n")))


def _print(line: str) -> None:
    from regard.chunks import one_line

    sys.stdout.buffer.write(f"{one_line(line)}\n".encode())
    sys.stdout.buffer.flush()


def _text_json(answer: Generation) -> str:
    from regard.chunks import one_json_line

    told: dict[str, Any] = {"prompt": answer.prompt, "text": answer.text, "continuation": answer.continuation}
    told |= {"pieces": answer.pieces, "likelihood": answer.likelihood, "ended": answer.ended}
    return one_json_line(told | _looked(answer))


def _looked(answer: Generation | Scored) -> dict[str, Any]:
    """The words, the pieces, and what each piece looked at in every layer and head; nothing where it does not look."""
    if answer.record is None:
        return {}
    seen = answer.record.target
    attention = [each.tolist() for each in answer.attention]
    return {"words": seen.words, "looked_at": seen.labels, "attention": attention}


def _score_line(answer: Scored, words: bool) -> str:
    cells = [f"{answer.likelihood:.4f}", f"{answer.perplexity:.2f}"]
    if words:
        pairs = zip(answer.words, answer.word_likelihoods, strict=True)
        cells.append(" ".join(f"{_cell(word)}:{value:.3f}" for word, value in pairs))
    return "\t".join(cells)


def _score_json(answer: Scored, attention: bool) -> str:
    from regard.chunks import one_json_line

    told: dict[str, Any] = {"text": answer.text, "likelihood": answer.likelihood, "perplexity": answer.perplexity}
    told |= {"piece_perplexity": answer.piece_perplexity, "bits_per_byte": answer.bits_per_byte}
    told |= {**(_looked(answer) if attention else {}), "words": answer.words}
    return one_json_line(told | {"word_likelihoods": answer.word_likelihoods})
