"""What attention costs: windows against everything, additive against its plain form, fused against explicit.

    python benchmarks/attention.py [--quick] [--only scope|additive|fused] [--json FILE]

Prints tables. Everything compared is measured in one run, in turn, as medians; time is given by the clock and
of the processor, because a busy machine disturbs the first more than the second. Peak memory is what PyTorch's
CPU allocator held at most above the start (see measure.py).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import torch
from measure import Cost, costs, slope, table
from torch import Tensor

from regard.attend import Attention
from regard.attend.additive import additive, plain_additive
from regard.engine.precision import bf16_gain
from regard.registry import maker
from regard.types import Prepared

ROWS, WIDTH, REACH = 4, 64, 10
SCOPES = {
    "global": maker("scope", "global"),
    "local_m": maker("scope", "local_m", reach=REACH),
    "local_p": maker("scope", "local_p", reach=REACH),
}


def look(attend: Attention, query: Tensor, prepared: Prepared, start: int) -> Tensor:
    """One look, forward alone."""
    with torch.no_grad():
        return attend(query, prepared, start=start).context


def learn(attend: Attention, query: Tensor, prepared: Prepared, start: int) -> tuple[Tensor, ...]:
    """One look and its gradient for the query and for what was prepared of the keys and values."""
    context = attend(query, prepared, start=start).context
    return torch.autograd.grad(context.sum(), (query, prepared.keys, prepared.values))


def scope_calls(length: int, queries: int) -> dict[str, Callable[[], Any]]:
    """For each scope: prepare (once a sentence), look, and look with its gradient (each step)."""
    calls: dict[str, Callable[[], Any]] = {}
    for name, scope in SCOPES.items():
        torch.manual_seed(0)
        attend = Attention(WIDTH, WIDTH, WIDTH, score=maker("score", "general"), scope=scope)
        query = torch.randn(ROWS, queries, WIDTH, requires_grad=True)
        keys, values = torch.randn(2, ROWS, length, WIDTH).unbind()
        with torch.no_grad():
            made = attend.prepare(keys, values)
            calls[f"{name}, prepare"] = torch.no_grad()(partial(attend.prepare, keys, values))
        prepared = Prepared(made.keys.requires_grad_(), values.requires_grad_(), made.mask)
        start = length // 2
        calls[f"{name}, look"] = partial(look, attend, query, prepared, start)
        calls[f"{name}, look + gradient"] = partial(learn, attend, query, prepared, start)
    return calls


def scopes(quick: bool) -> dict[str, Any]:
    """How time and memory grow with the number of keys."""
    lengths = [128, 1024] if quick else [128, 512, 2048, 8192]
    found: dict[str, Any] = {}
    for queries in (1, 64):
        rounds = (5, 1) if quick else (9, 3)
        by_length = {length: costs(scope_calls(length, queries), *rounds) for length in lengths}
        print(
            f"{ROWS} sentences, width {WIDTH}, score general, reach {REACH}, queries a look: {queries}; "
            f"microseconds of the processor (peak kB) by number of keys\n"
        )
        rows = []
        for name in by_length[lengths[0]]:
            series = [by_length[length][name] for length in lengths]
            time = slope(lengths, [one.cpu * 1e9 / ROWS for one in series])
            memory = slope(lengths, [one.peak / ROWS for one in series])
            rows.append(
                [
                    name,
                    *(f"{one.cpu * 1e6:,.0f} ({one.peak / 1e3:,.0f})" for one in series),
                    f"{time:.2f}",
                    f"{memory:.1f}",
                ]
            )
            found[f"{queries} {name}"] = {
                "lengths": lengths,
                "costs": [asdict(one) for one in series],
                "ns per key": time,
                "bytes per key": memory,
            }
        table(["", *map(str, lengths), "ns per key", "bytes per key"], rows)
    return found


def against(title: str, found: dict[str, Cost], base: str) -> None:
    """A table of costs and their ratios to one of them."""
    print(f"{title}\n")
    head = ["", "s, clock", "s, processor", "peak MB", "times faster, clock", "processor", "share of memory"]
    table(
        head,
        [
            [
                name,
                f"{one.clock:.4f}",
                f"{one.cpu:.4f}",
                f"{one.peak / 1e6:.1f}",
                f"{found[base].clock / one.clock:.2f}",
                f"{found[base].cpu / one.cpu:.2f}",
                f"{one.peak / max(1, found[base].peak):.3f}",
            ]
            for name, one in found.items()
        ],
    )


def _additive(function: Callable[..., Tensor], inputs: tuple[Tensor, ...], upstream: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad(function(*inputs), inputs, upstream)


def additives(quick: bool) -> dict[str, Any]:
    """Our additive score against the plain broadcast, forward and backward."""
    batch, length, width = (8, 50, 128) if quick else (64, 100, 512)
    torch.manual_seed(0)
    inputs = tuple(torch.randn(*shape, requires_grad=True) for shape in ((batch, length, width),) * 2 + ((width,),))
    upstream = torch.randn(batch, length, length)
    ways = {"plain broadcast": plain_additive, "regard": additive}
    calls = {name: partial(_additive, way, inputs, upstream) for name, way in ways.items()}
    found: dict[str, Any] = {}
    for threads in (1, 2):
        torch.set_num_threads(threads)
        measured = costs(calls, 5)
        against(
            f"additive, forward + backward, B={batch}, T=S={length}, D={width}, {threads} thread(s)",
            measured,
            "plain broadcast",
        )
        found[str(threads)] = {name: asdict(one) for name, one in measured.items()}
    torch.set_num_threads(1)
    return found


def _scaled(attend: Attention, path: str, query: Tensor, prepared: Prepared) -> tuple[Tensor, ...]:
    context = getattr(attend, path)(query, prepared).context
    return torch.autograd.grad(context.sum(), (query, prepared.keys, prepared.values))


def fused(quick: bool) -> dict[str, Any]:
    """PyTorch's fused kernel against the open way, forward and backward, as sequences grow: where is which faster?"""
    lengths, rows, width = ((16, 64), 256, 32) if quick else ((16, 31, 64, 100, 128, 200, 256, 512), 4096, 32)
    kinds = [torch.float32, torch.bfloat16] if bf16_gain() else [torch.float32]
    found: dict[str, Any] = {}
    for scope, kind in product(("global", "causal"), kinds):
        torch.manual_seed(0)
        attend = Attention(width, width, width, score=maker("score", "scaled_dot"), scope=maker("scope", scope))
        measured = {}
        for length in lengths:
            shape = (rows // length, 8, length, width)
            query, keys, values = (torch.randn(shape, dtype=kind, requires_grad=True) for _ in range(3))
            prepared = attend.prepare(keys, values)
            calls = {path: partial(_scaled, attend, path, query, prepared) for path in ("explicit", "fused")}
            measured[length] = costs(calls, 7)
        name = f"{scope}, {str(kind).removeprefix('torch.')}"
        found[name] = {length: {path: asdict(one) for path, one in both.items()} for length, both in measured.items()}
    print(
        f"The open way is so many times as fast as the fused kernel (processor), {rows} queries, 8 heads of {width}\n"
    )
    table(
        ["keys", *map(str, lengths)],
        [[name, *(f"{_times(both):.2f}" for both in some.values())] for name, some in found.items()],
    )
    return found


def _times(both: dict[str, dict[str, float]]) -> float:
    return both["fused"]["cpu"] / both["explicit"]["cpu"]


def main() -> None:
    """Run what was asked for."""
    benches = {"scope": scopes, "additive": additives, "fused": fused}
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", choices=benches, help="one comparison instead of all")
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that it runs, not what it shows")
    parser.add_argument("--json", type=Path, help="write all figures here")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    found = {name: benches[name](asked.quick) for name in ([asked.only] if asked.only else benches)}
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
