"""Our encoders and those of `transformers`, with the same weights: the same states, to the fifth place."""

import pytest
import torch

from regard.recipe import resolve
from regard.types import Segmented

transformers = pytest.importorskip("transformers", reason="parity is measured where transformers is installed")

SIZE, LENGTHS = 97, (13, 7)


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(11)


def batch():
    mask = torch.arange(13) < torch.tensor(LENGTHS)[:, None]
    ids = torch.randint(4, SIZE, mask.shape) * mask
    return Segmented(ids, mask, (torch.arange(13) > 4).long().expand_as(ids) * mask)


def copied(ours, theirs, weight):
    """A linear layer, a norm or a table, with the numbers of another."""
    getattr(ours, weight).data.copy_(getattr(theirs, weight).data)


def take(ours, theirs):
    for weight in ("weight", "bias"):
        if getattr(ours, weight, None) is not None:
            copied(ours, theirs, weight)


def take_embedding(embed, theirs, first=0):
    take(embed.table, theirs.word_embeddings)
    embed.position.table.data.copy_(theirs.position_embeddings.weight.data[first : first + len(embed.position.table)])
    take(embed.norm, theirs.LayerNorm)
    if embed.segment is not None:
        take(embed.segment, theirs.token_type_embeddings)


def take_layer(layer, query, key, value, rest):
    asks = (layer.attend.of_query, layer.attend.of_key, layer.attend.of_value)
    for ours, theirs in zip(asks, (query, key, value), strict=True):
        take(ours, theirs)
    parts = (layer.attend.join, layer.around_attend.norm, layer.feed.widen, layer.feed.narrow, layer.around_feed.norm)
    for ours, theirs in zip(parts, rest, strict=True):
        take(ours, theirs)


def take_bert(model, theirs, first=0):
    """All that a BertModel or a RobertaModel has."""
    take_embedding(model.embed, theirs.embeddings, first)
    for ours, layer in zip(model.encode.layers, theirs.encoder.layer, strict=True):
        look = layer.attention.self
        rest = (layer.attention.output.dense, layer.attention.output.LayerNorm)
        rest += (layer.intermediate.dense, layer.output.dense, layer.output.LayerNorm)
        take_layer(ours, look.query, look.key, look.value, rest)


def assert_same(ours, theirs, mask):
    assert torch.allclose(ours.values[mask], theirs.last_hidden_state[mask], atol=1e-5)
    if getattr(theirs, "pooler_output", None) is not None:
        assert torch.allclose(ours.summary, theirs.pooler_output, atol=1e-5)


def test_bert():
    config = transformers.BertConfig(
        vocab_size=SIZE, hidden_size=128, num_hidden_layers=4, num_attention_heads=4, intermediate_size=512,
        max_position_embeddings=64,
    )  # fmt: skip
    theirs = transformers.BertForPreTraining(config).eval()
    model = resolve("bert").build(SIZE, SIZE).eval()
    take_bert(model, theirs.bert)
    take(model.encode.pool, theirs.bert.pooler.dense)
    head = theirs.cls.predictions
    take(model.predict.transform, head.transform.dense)
    take(model.predict.norm, head.transform.LayerNorm)
    model.predict.bias.data.copy_(head.bias.data)
    take(model.predict.follows, theirs.cls.seq_relationship)
    source = batch()
    with torch.no_grad():
        read = model.read(source)
        given = {"input_ids": source.data, "attention_mask": source.mask.long(), "token_type_ids": source.segments}
        assert_same(read, theirs.bert(**given), source.mask)
        found, wanted = model.predict(read), theirs(**given)
    assert torch.allclose(found.logits[source.mask], wanted.prediction_logits[source.mask], atol=1e-5)
    assert torch.allclose(found.follows, wanted.seq_relationship_logits, atol=1e-5)


def test_roberta():
    config = transformers.RobertaConfig(
        vocab_size=SIZE, hidden_size=128, num_hidden_layers=4, num_attention_heads=4, intermediate_size=512,
        max_position_embeddings=66, type_vocab_size=1, layer_norm_eps=1e-12,
    )  # fmt: skip
    theirs = transformers.RobertaModel(config, add_pooling_layer=False).eval()
    theirs.embeddings.token_type_embeddings.weight.data.zero_()  # ours has no segments at all
    model = resolve("roberta").build(SIZE, SIZE).eval()
    take_bert(model, theirs, first=2)  # its positions begin after that of padding, which is 1
    source = batch()
    with torch.no_grad():
        padded = source.data.masked_fill(~source.mask, 1)  # positions count what is not padding
        found = theirs(input_ids=padded, attention_mask=source.mask.long())
        assert_same(model.read(source), found, source.mask)


def test_albert():
    config = transformers.AlbertConfig(
        vocab_size=SIZE, embedding_size=32, hidden_size=128, num_hidden_layers=4, num_hidden_groups=1,
        num_attention_heads=4, intermediate_size=512, max_position_embeddings=64, hidden_act="gelu_new",
        layer_norm_eps=1e-12, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    theirs = transformers.AlbertModel(config).eval()
    model = resolve("albert").build(SIZE, SIZE).eval()
    take_embedding(model.embed, theirs.embeddings)
    take(model.embed.widen, theirs.encoder.embedding_hidden_mapping_in)
    layer = theirs.encoder.albert_layer_groups[0].albert_layers[0]
    look = layer.attention
    rest = (look.dense, look.LayerNorm, layer.ffn, layer.ffn_output, layer.full_layer_layer_norm)
    take_layer(model.encode.layers[0], look.query, look.key, look.value, rest)
    take(model.encode.pool, theirs.pooler)
    source = batch()
    with torch.no_grad():
        given = {"input_ids": source.data, "attention_mask": source.mask.long(), "token_type_ids": source.segments}
        assert_same(model.read(source), theirs(**given), source.mask)
