"""Small folders as Hugging Face writes them, with weights drawn at random and vocabularies learnt from a few lines."""

import json

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

LINES = [
    "The quick brown fox jumps over the lazy dog, and then it sleeps.",
    "A child plays in the garden while the old man reads 1,234 pages.",
    "Où est la gare ? Elle est fermée depuis l'été dernier.",
    "Übermut tut selten gut, sagt man öfter.",
    "日本語の文章はスペースなしで書かれます。",
    "اللغة العربية تكتب من اليمين إلى اليسار.",
] * 4
SEEN = [*LINES[:6], "An unseen sentence, with été and words: foxes!", "  two  spaces ", "x"]
BASE = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def wordpiece(folder, lowercase=True):
    """vocab.txt, as BERT has it: the special pieces not where ours stand."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    lines = [line.lower() if lowercase else line for line in LINES]
    made.train_from_iterator(
        lines, trainers.WordPieceTrainer(vocab_size=300, special_tokens=SPECIAL, show_progress=False)
    )
    pieces = sorted(made.get_vocab(), key=made.get_vocab().get)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    told = {"do_lower_case": lowercase, "tokenizer_class": "BertTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(told))
    return len(pieces)


def byte_level(folder, special, kind):
    """vocab.json and merges.txt."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(LINES, trainer)
    made.model.save(str(folder))
    told = {"tokenizer_class": kind}
    if "<mask>" in special:  # it takes the space before it away, as RoBERTa's own does
        plain = {"rstrip": False, "normalized": False, "single_word": False, "special": True}
        told["mask_token"] = {"__type": "AddedToken", "content": "<mask>", "lstrip": True, **plain}
    (folder / "tokenizer_config.json").write_text(json.dumps(told))
    return made.get_vocab_size()


def spiece(folder, sentencepiece):
    """spiece.model."""
    text = folder / "text"
    text.write_text("\n".join(LINES), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "spiece"), vocab_size=160, model_type="unigram", pad_id=0, unk_id=1,
        bos_id=-1, eos_id=-1, control_symbols=["[CLS]", "[SEP]", "[MASK]"], hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    for name in ("text", "spiece.vocab"):
        (folder / name).unlink()
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "AlbertTokenizer"}))
    made = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spiece.model"))
    return made.get_piece_size()


def drawn(model):
    """With weights large enough that a wrong one is seen."""
    torch.manual_seed(3)
    for weight in model.parameters():
        weight.data.normal_(0, 0.2) if weight.dim() > 1 else weight.data.add_(torch.randn_like(weight) * 0.1)
    return model.eval()


def _transformers():
    return pytest.importorskip("transformers", reason="parity is measured where transformers is installed")


def vocabulary(folder, family):
    if family == "bert":
        return wordpiece(folder)
    if family == "albert":
        return spiece(folder, pytest.importorskip("sentencepiece", reason="writes the vocabulary of ALBERT"))
    if family == "roberta":
        return byte_level(folder, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"], "RobertaTokenizer")
    return byte_level(folder, ["<|endoftext|>"], "GPT2Tokenizer")


def made(folder, architecture, **settings):
    """A folder as Hugging Face writes it, and the model in it."""
    folder.mkdir(exist_ok=True)
    family = next(each for each in ("roberta", "albert", "bert", "gpt2") if architecture.lower().startswith(each))
    size = vocabulary(folder, family)
    named = {"bert": "Bert", "roberta": "Roberta", "albert": "Albert", "gpt2": "GPT2"}[family]
    if family == "roberta":
        settings = {"max_position_embeddings": 50, "type_vocab_size": 1, "pad_token_id": 1, **settings}
    config = getattr(_transformers(), f"{named}Config")(
        vocab_size=size, attn_implementation="eager", **{"max_position_embeddings": 48, **settings}
    )
    model = drawn(getattr(_transformers(), architecture)(config))
    model.save_pretrained(folder)
    return model


def theirs_tokenizer(folder):
    return _transformers().AutoTokenizer.from_pretrained(folder)
