"""CTranslate2 behind FastAPI, one call a request: python benchmarks/serve_peer.py FOLDER PORT"""

from __future__ import annotations

import sys

import uvicorn
from ctranslate2_peer import Peer
from fastapi import FastAPI
from pydantic import BaseModel

from dragoman.machine.devices import all_cores


class Texts(BaseModel):
    """The body of a request."""

    q: list[str]


def main() -> None:
    """Serve."""
    peer, app = Peer(sys.argv[1], "float32", workers=all_cores()), FastAPI()

    @app.post("/translate")
    def translate(texts: Texts) -> dict[str, list[str]]:
        return {"translatedText": peer.translate(texts.q, beam_size=5, max_batch_size=512, batch_type="tokens")}

    uvicorn.run(app, port=int(sys.argv[2]), access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
