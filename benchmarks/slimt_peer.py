"""slimt for `marian_folder.py`, in a Python that has it: reads lists of sentences, writes lists of translations.

    python3.11 benchmarks/slimt_peer.py '{"shape": [6, 2, 8], "files": {...}, "workers": 2}'

slimt's package asks the network for lists of models when it is imported, so its library is loaded alone.
"""

import importlib
import json
import sys
import sysconfig
from pathlib import Path


def main() -> None:
    """Translate until there is nothing more to read."""
    settings = json.loads(sys.argv[1])
    place = next(Path(sysconfig.get_paths()["purelib"]).glob("slimt/_slimt*.so"), None)
    if place is None:
        sys.exit("this Python has no slimt: pip install slimt")
    sys.path.insert(0, str(place.parent))
    slimt = importlib.import_module("_slimt")
    config = slimt.Config()
    config.encoder_layers, config.decoder_layers, config.num_heads = settings["shape"]
    config.feed_forward_depth, config.split_mode = 2, "sentence"
    model, service = slimt.Model(config, slimt.Package(**settings["files"])), slimt.Service(settings["workers"], 0)
    for line in sys.stdin:
        responses = service.translate(model, json.loads(line), html=False)
        print(json.dumps([each.target.text for each in responses]), flush=True)


if __name__ == "__main__":
    main()
