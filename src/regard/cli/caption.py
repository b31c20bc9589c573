"""`regard caption MODEL IMAGE ...`: what a model writes of images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.classify import Form, ModelFolder, opened
from regard.cli.images import Attention, Images, answer_images
from regard.cli.options import Alpha
from regard.cli.translate import BEAM, Sample, Seed, Temperature, TopK, TopP, sampling_of

if TYPE_CHECKING:
    from regard.tasks.captioner import Caption, Captioner


def caption(
    model: ModelFolder,
    images: Images = None,
    beam: Annotated[int | None, typer.Option(min=1, help="How many captions are followed at once; else 5.")] = None,
    nbest: Annotated[int, typer.Option(min=1, help="How many captions are printed for each image.")] = 1,
    form: Form = "text",
    max_length: Annotated[int, typer.Option(min=1, help="The most pieces a caption may have.")] = 200,
    alpha: Alpha = None,
    sample: Sample = False,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Seed = None,
    save_attention: Attention = None,
) -> None:
    """Write a caption of each image: its path, a tab, the caption.

    With --nbest an image has several lines; --format jsonl has scores, words, what each word looked at (`grid`, the
    weights of all cells) and where most (`boxes`: left, top, right, bottom, from 0 to 1). An image that cannot be read
    is named on standard error, the others are captioned, and the command ends with 1.

    Example: regard caption runs/scenes photos/ --beam 5
    """
    from regard.search import Options

    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    sampling = sampling_of(sample, nbest, drawing, beam)
    options = Options(max(beam or BEAM, nbest), nbest, max_length=max_length, alpha=alpha, sampling=sampling)
    captioner: Captioner = opened(model, "caption")
    record = form == "jsonl" or save_attention is not None
    answer_images(
        images,
        lambda paths: captioner.search(paths, options, record=record),
        _json if form == "jsonl" else _line,
        save_attention,
    )


def _line(found: Caption) -> str:
    from regard.chunks import one_line

    return f"{one_line(str(found.source), columns=True)}\t{one_line(found.text, columns=True)}"


def _json(found: Caption) -> str:
    from regard.chunks import one_json_line

    told: dict[str, Any] = {"image": str(found.source), "text": found.text, "score": round(found.score, 4)}
    told |= {"likelihood": round(found.likelihood, 4), "pieces": found.pieces, "words": found.words}
    grid = found.word_grid
    if grid is not None:
        told["grid"] = [[[round(weight, 4) for weight in row] for row in cells] for cells in grid.tolist()]
        told["boxes"] = [[round(edge, 4) for edge in box] for box in found.boxes or ()]
    return one_json_line(told)
