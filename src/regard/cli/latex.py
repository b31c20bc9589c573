"""`regard latex MODEL IMAGE ...`: the LaTeX that a model reads in images of formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.classify import Form, ModelFolder, opened
from regard.cli.images import Attention, Images, answer_images
from regard.cli.options import Alpha
from regard.cli.translate import BEAM, Sample, Seed, Temperature, TopK, TopP, sampling_of

if TYPE_CHECKING:
    from regard.tasks.formula_reader import Formula, FormulaReader


def latex(
    model: ModelFolder,
    images: Images = None,
    beam: Annotated[int | None, typer.Option(min=1, help="How many formulas are followed at once; else 5.")] = None,
    nbest: Annotated[int, typer.Option(min=1, help="How many formulas are printed for each image.")] = 1,
    form: Form = "text",
    max_length: Annotated[int, typer.Option(min=1, help="The most tokens a formula may have.")] = 200,
    alpha: Alpha = None,
    redraw: Annotated[
        bool,
        typer.Option("--redraw", help="Draw the beam's formulas again; the one that looks like the image is best."),
    ] = False,
    sample: Sample = False,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Seed = None,
    save_attention: Attention = None,
) -> None:
    """Write the LaTeX of each image of a formula: its path, a tab, the formula.

    With --nbest an image has several lines; --format jsonl has scores, tokens, whether the formula can be drawn, what
    each token looked at, and the box of it in the image's pixels. An image that cannot be read is named on standard
    error, the others are read, and the command ends with 1. With --redraw every formula of the beam is drawn, without
    TeX, and laid over the image: small signs that the model confuses look different to the pixel.

    Example: regard latex runs/formulas scans/ --beam 5
    """
    from regard.errors import UsageError
    from regard.search import Options

    if redraw and sample:
        raise UsageError("--redraw chooses among the formulas of a beam, and --sample has none.", hint="Leave out one.")
    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    sampling = sampling_of(sample, nbest, drawing, beam)
    options = Options(max(beam or BEAM, nbest), nbest, max_length=max_length, alpha=alpha, sampling=sampling)
    reader: FormulaReader = opened(model, "latex")
    record = form == "jsonl" or save_attention is not None
    answer_images(
        images,
        lambda paths: reader.search(paths, options, record=record, redraw=redraw),
        _json if form == "jsonl" else _line,
        save_attention,
    )


def _line(found: Formula) -> str:
    from regard.chunks import one_line

    return f"{one_line(str(found.source), columns=True)}\t{found.latex}"


def _json(found: Formula) -> str:
    from regard.chunks import one_json_line

    told: dict[str, Any] = {"image": str(found.source), "latex": found.latex, "tokens": found.words}
    told |= {"score": round(found.score, 4), "likelihood": round(found.likelihood, 4), "drawable": found.is_drawable}
    grid, boxes = found.word_grid, found.boxes
    if grid is not None and boxes is not None:
        told["boxes"] = [[round(edge, 1) for edge in box] for box in boxes]
        told["grid"] = [[[round(weight, 4) for weight in row] for row in cells] for cells in grid.tolist()]
    return one_json_line(told)
