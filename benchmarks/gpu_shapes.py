"""The shapes of a corpus' batches on a GPU, and their padding. No GPU is needed.

dragoman prepare --source train.en --target train.de --source-lang en --target-lang de --output run
python benchmarks/gpu_shapes.py run
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

from dragoman.data.batches import Batches, Cut
from dragoman.data.drawn_pairs import AS_STORED, Drawing
from dragoman.data.prepared import open_prepared
from dragoman.settings.augmentation_config import AugmentationConfig
from dragoman.training.micro_batches import GPU_EXTRA_TOKENS
from dragoman.training.shapes import Shape, shape_for

#: Batches looked at, from the first of the first epoch on.
N_BATCHES = 150


def main() -> None:
    """Print a row for each size of batches, as they are stored and with texts changed."""
    prepared = open_prepared(Path(sys.argv[1]))
    changed = Drawing(False, 256, AugmentationConfig(spans=0.1, case=0.1, typos=0.1))
    cut = Cut(extra_tokens=GPU_EXTRA_TOKENS)
    for n_tokens in (1024, 4096, 8192, 25_000):
        for name, drawing in (("stored", AS_STORED), ("changed", changed)):
            batches = Batches(prepared.train, prepared.tokenizers, batch_tokens=n_tokens, seed=1, drawing=drawing)
            indices = islice(range(batches.epochs.n_batches), N_BATCHES)
            shapes: Counter[Shape] = Counter()
            n_real = n_batched = 0
            for batch in (part for index in indices for part in batches.micro_batches(index, cut)):
                n_pairs, source = batch.source_ids.shape
                target = batch.target_ids.size(1) - 1
                shapes[shape_for(n_pairs, max(source, target), n_tokens)] += 1
                n_batched += n_pairs * (source + target)
                n_real += int((batch.source_ids != prepared.tokenizers.special_ids.source.pad).sum())
                n_real += int((batch.target_ids[:, 1:] != prepared.tokenizers.special_ids.target.pad).sum())
            n_padded = sum(2 * shape.n_pairs * shape.length * count for shape, count in shapes.items())
            row = {"batch tokens": n_tokens, "pairs": name, "shapes": len(shapes), "micro-batches": shapes.total()}
            row |= {"padding of batches": round(1 - n_real / n_batched, 3)}
            print(json.dumps(row | {"padding of shapes": round(1 - n_batched / n_padded, 3)}), flush=True)


if __name__ == "__main__":
    main()
