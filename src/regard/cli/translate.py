"""`regard translate MODEL [FILE]`: a filter, one line in and one line out, on one machine or on many."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regard.cli.lines import read_lines
from regard.cli.options import ENGINE, Alpha

if TYPE_CHECKING:
    from regard.chunks import Chunk, Written
    from regard.search import Sampling
    from regard.translate.job import TranslateJob

    Turn = Callable[[Iterable[Chunk]], Iterator[Written]]

RAY = "ray"
BEAM = 5
EngineName = Annotated[
    Literal["auto", "torch", "ctranslate2", "onnx", "ray"],
    typer.Option(help=f"{ENGINE} ray: as it is, in many processes."),
]
Alignments = Annotated[
    Literal["none", "hard", "soft"],
    typer.Option(help="Add word links (hard: 0-0 1-2; soft: a matrix, with --format jsonl)."),
]
Form = Annotated[Literal["text", "jsonl"], typer.Option("--format", help="Plain lines, or one JSON object a line.")]

Sample = Annotated[
    bool, typer.Option("--sample", help="Draw outputs, --nbest of them, instead of searching for the best.")
]
Temperature = Annotated[
    float | None,
    typer.Option(min=0, help="With --sample: below 1 the likely are likelier; 0 is greedy; else 1."),
]
TopK = Annotated[
    int | None, typer.Option(min=1, help="With --sample: draw from so many of the likeliest pieces alone.")
]
TopP = Annotated[
    float | None, typer.Option(help="With --sample: draw from the likeliest pieces that together hold this share.")
]
Seed = Annotated[int | None, typer.Option(help="With --sample: the same seed draws the same for the same line.")]
Continuous = Annotated[
    bool,
    typer.Option(
        "--continuous",
        "--refill",
        help="Continuous batching: lines enter as others end, faster for long ones whose outputs may be of any length.",
    ),
]


def translate(
    model: Annotated[Path, typer.Argument(help="A model folder, a run folder, or an exported folder.")],
    file: Annotated[
        Path | None, typer.Argument(help="A text file (plain or .gz), a sentence a line. Without it, standard input.")
    ] = None,
    beam: Annotated[int | None, typer.Option(min=1, help="How many outputs are followed at once; else 5.")] = None,
    nbest: Annotated[int, typer.Option(min=1, help="How many outputs are printed for each line.")] = 1,
    alignments: Alignments = "none",
    form: Form = "text",
    max_length: Annotated[int, typer.Option(min=1, help="The most pieces an output may have.")] = 200,
    alpha: Alpha = None,
    continuous: Continuous = False,
    sample: Sample = False,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Seed = None,
    engine: EngineName = "auto",
    threads: Annotated[int | None, typer.Option(min=1, help="How many threads may compute; else all cores.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="With ray: how many processes; else one a core.")] = None,
    address: Annotated[
        str | None, typer.Option(help="With ray: a running cluster (auto finds it); else this machine's cores.")
    ] = None,
) -> None:
    """Translate standard input (or a file) to standard output, a line a sentence.

    With --alignments hard, text lines are followed by a tab and the links; with --nbest, each output is
    preceded by the number of its line and a tab. A line without text stays one.

    Example: echo "Ein Mann liest ein Buch." | regard translate runs/de-en
    """
    from regard.chunks import numbered
    from regard.errors import UsageError
    from regard.search import Options
    from regard.translate.job import TranslateJob

    if alignments == "soft" and form == "text":
        raise UsageError("soft alignments are matrices, which a line of text cannot hold.", hint="Add --format jsonl.")
    if engine != RAY and (workers or address):
        raise UsageError("--workers and --address are for a cluster.", hint="Add --engine ray, or leave them out.")
    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    sampling = _sampling(sample, nbest, drawing, beam)
    options = Options(max(beam or BEAM, nbest), nbest, max_length=max_length, alpha=alpha, sampling=sampling)
    job = TranslateJob(model, options, alignments, form, None if engine == RAY else engine, threads, (), continuous)
    out, said = sys.stdout.buffer, set[str]()
    with _across(job, workers, address) if engine == RAY else _here(job) as turn:
        for written in turn(numbered(read_lines(file))):
            _say(written.notes, said)
            out.write("".join(f"{line}\n" for line in written.lines).encode("utf-8"))
            out.flush()


def _say(notes: Iterable[str], said: set[str]) -> None:
    """Each note once: what holds for all blocks is told by each."""
    for note in notes:
        if note not in said:
            typer.echo(note, err=True)
        said.add(note)


def _sampling(wanted: bool, draws: int, given: dict[str, Any], beam: int | None) -> Sampling | None:
    """What is drawn from, if outputs are drawn at all; options that would then count for nothing are refused."""
    from regard.errors import UsageError
    from regard.search import Sampling

    asked = {name: value for name, value in given.items() if value is not None}
    if asked and not wanted:
        raise UsageError(f"--{next(iter(asked)).replace('_', '-')} is for drawn outputs.", hint="Add --sample.")
    if wanted and beam:
        raise UsageError("--beam is for searching, and --sample draws.", hint="Leave one of them out.")
    return Sampling(draws=draws, **asked) if wanted else None


@contextmanager
def _here(job: TranslateJob) -> Iterator[Turn]:
    """Blocks are translated in this process."""
    yield partial(map, job.open(partial(typer.echo, err=True)))


@contextmanager
def _across(job: TranslateJob, workers: int | None, address: str | None) -> Iterator[Turn]:
    """Blocks are spread over a cluster, for as long as it is needed."""
    from regard.cluster import connect, share, translate_chunks

    with connect(address) as nodes:
        shared = share(nodes, workers, job.threads)
        # A worker may stand in another folder than this process, and has not read the files of --parts.
        there = replace(job, model=job.model.absolute(), threads=shared.threads, parts=_own_parts())
        yield lambda blocks: translate_chunks(there, blocks, shared, partial(typer.echo, err=True))


def _own_parts() -> tuple[Path, ...]:
    """The files of --parts, as `load_file` of the registry left them."""
    loaded = [module for name, module in sys.modules.items() if name.startswith("regard_parts_")]
    return tuple(Path(module.__file__).absolute() for module in loaded if module.__file__)
