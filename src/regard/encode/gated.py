"""Two encoders of one source: the backbone makes the memory, a smaller one says what is worth a look (Xue 2019)."""

from __future__ import annotations

from dataclasses import replace

from torch import nn

from regard.errors import ShapeError
from regard.registry import Maker, maker, part
from regard.types import Grid, Memory, Padded


@part("encode", "gated")
class GatedEncoder(nn.Module):
    """The memory of one encoder, with gates: the log odds w . h' + b of an auxiliary encoder's states h'.

    Both read the embedded source, so that what opens a gate is not what is then looked at. The choice 'gated' with
    gates = "memory" draws the gates.

    Settings:
        encode: the backbone, whose memory is handed on.
        auxiliary_encode: the encoder that judges every position; a smaller one.
    """

    def __init__(
        self,
        width: int,
        *,
        encode: Maker = maker("encode", "recurrent", cell="lstm", direction="both"),
        auxiliary_encode: Maker = maker("encode", "recurrent", cell="lstm", direction="both", hidden=32),
    ) -> None:
        super().__init__()
        self.encode, self.auxiliary = encode(width), auxiliary_encode(width)
        self.judge = nn.Linear(self.auxiliary.widths.values, 1)
        nn.init.ones_(self.judge.bias)  # begin with most gates open: learning starts as soft attention
        self.sees_images = getattr(self.encode, "sees_images", False)
        self.widths = replace(self.encode.widths, gates=True)

    def forward(self, source: Padded | Grid) -> Memory:
        """Read the source with both."""
        memory, judged = self.encode(source), self.auxiliary(source)
        if judged.mask.shape != memory.mask.shape:
            raise ShapeError(
                f"the auxiliary encoder must judge the positions of the backbone: it has {judged.mask.shape[1]}, "
                f"and the backbone {memory.mask.shape[1]}.",
                hint="Give both encoders the same number of layers that shrink the source.",
            )
        return replace(memory, gates=self.judge(judged.values).squeeze(-1))
