"""The two parts of the reader: the embeddings with the lowest layers, and the layers above with the head."""

from __future__ import annotations

from typing import Any

import torch


class Trunk(torch.nn.Module):
    """The embeddings and the lowest layers, token ids to hidden states [batch, tokens, width]."""

    def __init__(self, model: Any, shared: int) -> None:
        super().__init__()
        self.embeddings = model.bert.embeddings
        self.layers = torch.nn.ModuleList(model.bert.encoder.layer[:shared])

    def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        hidden = self.embeddings(input_ids=input_ids, token_type_ids=token_type_ids)
        for layer in self.layers:
            hidden = _state(layer(hidden, _ignored(attention_mask)))
        return hidden


class Top(torch.nn.Module):
    """The layers above and the head, hidden states to logits; one logit of a single class loses its dimension."""

    def __init__(self, model: Any, shared: int) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(model.bert.encoder.layer[shared:])
        self.head = torch.nn.Sequential(model.bert.pooler.dense, torch.nn.Tanh(), model.classifier)
        self.single = model.classifier.out_features == 1

    def forward(self, hidden: Any, attention_mask: Any) -> Any:
        for layer in self.layers:
            hidden = _state(layer(hidden, _ignored(attention_mask)))
        logits = self.head(hidden[:, 0])
        return logits[:, 0] if self.single else logits


def _ignored(attention_mask: Any) -> Any:
    return (1.0 - attention_mask[:, None, None, :].float()) * -10000.0


def _state(result: Any) -> Any:
    return result[0] if isinstance(result, tuple) else result
