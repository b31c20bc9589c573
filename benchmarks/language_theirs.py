"""The side of `transformers` in `language.py`, with the attention that is fastest there (see worker.py)."""

from __future__ import annotations

from typing import Any

import torch
from language_setting import DROPOUT, SEEN, SMALL, asked, config, pieces
from torch import Tensor
from torch.nn import functional as F
from transformers import BertForMaskedLM, GPT2LMHeadModel
from worker import Job, Round, serve

MODELS: dict[str, Any] = {"bert": BertForMaskedLM, "gpt2": GPT2LMHeadModel}
ATTENTION = "sdpa"
END = 0


def train(job: Job) -> tuple[dict[str, Any], Round]:
    """Its model and its loss in a plain loop, with the fused AdamW and the clipping of its own trainer."""
    torch.manual_seed(0)
    family = job["family"]
    drops = ("resid_pdrop", "embd_pdrop", "attn_pdrop", "hidden_dropout_prob", "attention_probs_dropout_prob")
    made = config(family, vocab_size=job["vocabulary"], **SMALL[family], **dict.fromkeys(drops, DROPOUT))
    model = MODELS[family](made).train()
    model.set_attn_implementation(job.get("attention", ATTENTION))
    chosen = pieces(job, job["vocabulary"])
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    def loss(ids: Tensor) -> Tensor:
        if family == "bert":
            wanted = ids.masked_fill(~asked(ids), SEEN)
            return model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=wanted).loss
        wanted = ids[:, 1:].contiguous()
        return model(input_ids=ids[:, :-1], labels=wanted, shift_labels=wanted, use_cache=False).loss

    def work() -> dict[str, Any]:
        for ids in chosen:
            with torch.autocast("cpu", torch.bfloat16, enabled=job["bf16"]):
                found = loss(ids)
            found.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()
        return {"done": job["pieces"] * len(chosen)}

    return {"parameters": sum(each.numel() for each in model.parameters())}, work


def opened(job: Job) -> Any:
    """The model of a folder."""
    return MODELS[job["family"]].from_pretrained(job["theirs"], attn_implementation=ATTENTION).eval()


def read(job: Job) -> tuple[dict[str, Any], Round]:
    """The scores of all pieces at all positions."""
    model = opened(job)
    ids = pieces(job, model.config.vocab_size)[0]
    mask = torch.ones_like(ids)

    def work() -> dict[str, Any]:
        with torch.no_grad():
            for _ in range(job["repeat"]):
                found = model(input_ids=ids, attention_mask=mask).logits
        return {"done": job["repeat"] * ids.numel(), "found": found[-1, -1, :8].tolist()}

    return {}, work


def write(job: Job) -> tuple[dict[str, Any], Round]:
    """Its greedy generation, with its cache; a text begins with the piece that ends one, as with us."""
    model = opened(job)
    ids = F.pad(pieces(job, model.config.vocab_size)[0], (1, 0), value=END)
    exact = {"min_new_tokens": job["new"], "max_new_tokens": job["new"], "do_sample": False, "pad_token_id": END}

    def work() -> dict[str, Any]:
        with torch.no_grad():
            found = model.generate(ids, attention_mask=torch.ones_like(ids), use_cache=True, **exact)
        return {"done": job["new"] * len(ids), "found": found[:, ids.shape[1] :].tolist()}

    return {}, work


def prepare(job: Job) -> tuple[dict[str, Any], Round]:
    """Ready for the work that the job names."""
    torch.set_num_threads(job["threads"])
    return {"train": train, "read": read, "write": write}[job["work"]](job)


if __name__ == "__main__":
    serve(prepare, "transformers", "torch")
