"""Products in eight bits: matrices of whole numbers with a scale a row, times rows that are scaled as they come.

Each row is divided by its own largest number, so that what happens to it depends on no other row: a sentence comes out
the same, to the last bit, whatever sentences share its batch. The sums are whole numbers and exact; what is lost is
lost in the rounding of the two sides.

Letters: V outputs, G inputs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from threading import Lock
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.errors import ModelError
from regard.model import Model
from regard.predict.words import Apart, Readout

LARGEST = 127  # of a matrix's whole numbers
WORTH = 2**18  # numbers of a matrix from which on eight bits save more than the scaling of rows costs
TINY = 1e-30  # what a row of zeros is divided by
ENGINE = "fbgemm"  # of PyTorch's; its others call oneDNN, which kills the process where a machine announces too much
KERNEL = "linear_with_input_q_dq_qweight_dq_output_fp32"
_packing = Lock()


def rounded(matrix: Float[Tensor, "V G"]) -> tuple[Int[Tensor, "V G"], Float[Tensor, " V"]]:
    """A matrix as whole numbers of eight bits, and the scale of each row. Done again, it changes nothing more."""
    scales = (matrix.abs().amax(1) / LARGEST).clamp(min=TINY)
    return (matrix / scales.unsqueeze(1)).round().clamp(-LARGEST, LARGEST).to(torch.int8), scales


def restored(numbers: Int[Tensor, "V G"], scales: Float[Tensor, " V"]) -> Float[Tensor, "V G"]:
    """The matrix that the whole numbers stand for."""
    return numbers * scales.unsqueeze(1)


class EightBits(nn.Module):
    """x W + b in the place of an `nn.Linear`, or of a vocabulary product.

    To pack a matrix with its scales takes PyTorch as long as many products with it; one that is `brief`, for a batch
    alone, is packed without, and multiplies by them afterwards.
    """

    def __init__(
        self,
        numbers: Int[Tensor, "V G"],
        scales: Float[Tensor, " V"],
        bias: Float[Tensor, " V"] | None,
        *,
        brief: bool = False,
    ) -> None:
        super().__init__()
        self.numbers, self.scales, self.bias, self.brief = numbers, scales, bias, brief
        self.out_features, self.in_features = numbers.shape
        self.packed = _packed(numbers, None if brief else scales)
        self.kernel, self.steps = kernel(), steps()

    @classmethod
    def of(cls, matrix: Float[Tensor, "V G"], bias: Float[Tensor, " V"] | None) -> EightBits:
        """The nearest there is to a matrix."""
        return cls(*rounded(matrix.detach()), None if bias is None else bias.detach())

    @cached_property
    def weight(self) -> Float[Tensor, "V G"]:
        """The matrix itself, for whoever multiplies with it by another way."""
        return restored(self.numbers, self.scales)

    def forward(self, rows: Float[Tensor, "*B G"]) -> Float[Tensor, "*B V"]:
        """The product."""
        largest = rows.abs().amax(-1, keepdim=True).clamp_(min=TINY)
        found = self.kernel(rows / largest, 1 / self.steps, self.steps + 1, self.packed)
        if self.brief:
            found.mul_(self.scales)
        return found.mul_(largest) if self.bias is None else torch.addcmul(self.bias, found, largest, out=found)

    def narrow(self, pieces: Int[Tensor, " U"]) -> EightBits:
        """Some of the outputs, in the order they are given."""
        bias = None if self.bias is None else self.bias[pieces]
        return EightBits(self.numbers[pieces], self.scales[pieces], bias, brief=True)


def in_eight_bits(model: Model) -> Model:
    """The model with its large products in eight bits: those of every `nn.Linear`, and the vocabulary's.

    Recurrent encoders, which run once a sentence and not once a piece, stay as they are. It can be used, not trained.
    """
    model.requires_grad_(False)
    readout, made = getattr(model.predict, "readout", None), {}
    if isinstance(readout, Readout) and _worth_it(readout.product()[0]):
        table, bias = readout.product()
        made[id(table)] = score = EightBits.of(table, bias)
        model.predict.readout = Apart(readout, score)
    for owner in list(model.modules()):
        for name, child in owner.named_children():
            if type(child) is nn.Linear and _worth_it(child.weight):
                setattr(owner, name, made.get(id(child.weight)) or EightBits.of(child.weight, child.bias))
    return model


def _worth_it(matrix: Tensor) -> bool:
    return matrix.numel() >= WORTH


@cache
def kernel() -> Any:
    """PyTorch's product of rows with a packed matrix, or why there is none."""
    if ENGINE not in torch.backends.quantized.supported_engines or not hasattr(torch.ops.quantized, KERNEL):
        raise ModelError(
            f"this PyTorch ({torch.__version__}) has no products in eight bits for this machine ({ENGINE}).",
            hint="Export with --quantization float32 or bfloat16, or --to ctranslate2 or onnx.",
        )
    return getattr(torch.ops.quantized, KERNEL)


@cache
def steps() -> int:
    """Into how many steps the numbers of a row up to its largest are rounded.

    Without VNNI the processor adds two products in sixteen bits, which overflow unless one side has seven.
    """
    able = getattr(torch.cpu, "_is_vnni_supported", lambda: False)()
    return LARGEST if able else LARGEST // 2


def _packed(numbers: Int[Tensor, "V G"], scales: Float[Tensor, " V"] | None) -> Any:
    """The matrix in the order in which the kernel reads it, times the scales of its rows if they are given."""
    kernel()
    with _packing, _by_our_engine():
        with warnings.catch_warnings():
            # PyTorch announces that its tensors of eight bits will go; the kernel has nothing in their place yet.
            warnings.simplefilter("ignore", UserWarning)
            if scales is None:
                tensor = torch._make_per_tensor_quantized_tensor(numbers, 1.0, 0)
            else:
                zeros = torch.zeros(len(scales), dtype=torch.long)
                tensor = torch._make_per_channel_quantized_tensor(numbers, scales.double(), zeros, 0)
        return torch.ops.quantized.linear_prepack(tensor, None)


@contextmanager
def _by_our_engine() -> Iterator[None]:
    """Inside, PyTorch packs as our kernel reads. It is one choice for the whole process: hold `_packing` meanwhile."""
    before, torch.backends.quantized.engine = torch.backends.quantized.engine, ENGINE
    try:
        yield
    finally:
        torch.backends.quantized.engine = before
