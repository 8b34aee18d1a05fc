"""The paper's base model learns 64 made-up sequences by heart: the loss after 10, 40 and 100 passes.

    python benchmarks/by_heart.py          # on a GPU if there is one, else some ten minutes; writes by_heart.json

Source and target are the same sequence of 10 ids out of a vocabulary of 10, and all 64 are one batch. Two trainings:

- unshifted: the decoder reads the very ids that it must give out, as a well-known notebook does. Position t is then
  scored on what position t has just read, so the loss falls at once and says nothing.
- shifted: the decoder reads what comes before, as it must when it translates.

That a model copies sequences it has never seen is another matter: `recipes/toy.yaml` and its tests.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch.nn import functional as F

from dragoman.model.transformer import Transformer
from dragoman.settings.model_config import ModelConfig

N_SEQUENCES, LENGTH, VOCAB_SIZE = 64, 10, 10
START = 1  # id 0 is padding
LEARNING_RATE = 1e-4
PASSES = (1, 10, 40, 100)


def losses(sequences: torch.Tensor, *, shifted: bool) -> dict[str, float]:
    """The mean loss of each pass in PASSES; every pass is printed."""
    torch.manual_seed(0)
    # The defaults are the base model; with the small first weights of Xavier it would begin more slowly.
    sizes = {"source_vocab_size": VOCAB_SIZE, "target_vocab_size": VOCAB_SIZE}
    model = Transformer(ModelConfig(**sizes, init="pytorch")).to(sequences.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98), eps=1e-9)
    found = {}
    read = F.pad(sequences[:, :-1], (1, 0), value=START) if shifted else sequences
    for n_passes in range(1, PASSES[-1] + 1):
        loss = F.cross_entropy(model(sequences, read).flatten(0, 1), sequences.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{'shifted' if shifted else 'unshifted'}, pass {n_passes}: loss {loss.item():.2e}", flush=True)
        if n_passes in PASSES:
            found[str(n_passes)] = float(f"{loss.item():.2g}")
    return found


def main() -> None:
    """Train both ways, and write the losses beside this file."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    sequences = torch.randint(2, VOCAB_SIZE, (N_SEQUENCES, LENGTH), device=device)
    result = {
        "loss_after_passes": {
            "unshifted": losses(sequences, shifted=False),
            "shifted": losses(sequences, shifted=True),
        },
        "learning_rate": LEARNING_RATE,
        "device": device.type,
        "torch": torch.__version__.split("+")[0],
    }
    Path(__file__).with_suffix(".json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
