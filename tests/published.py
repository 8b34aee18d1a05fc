"""A small server with the same HTTP as the places where models are published; it can lose connections."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

REVISION = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Published:
    """Files by their paths, and what was asked for.

    Args:
        breaks_after: bytes of an answer after which the connection is lost; None keeps it. One answer is broken.
        ranges: the server answers requests for a rest; "wrong" answers with another part, and says so.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    address: str = ""
    breaks_after: int | None = None
    ranges: bool | str = True
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    status: int = 200
    redirection: str | None = None

    def publish_hub_model(self, repository: str, files: Mapping[str, bytes], **card: object) -> None:
        """Publish a model as the Hugging Face hub does; large files have their SHA-256."""
        siblings = [
            {
                "rfilename": name,
                "size": len(content),
                "blobId": "0" * 40,
                **(
                    {"lfs": {"sha256": digest(content), "size": len(content), "pointerSize": 1}}
                    if is_large(name)
                    else {}
                ),
            }
            for name, content in files.items()
        ]
        tree = [
            {"type": "file", "path": each["rfilename"], "size": each["size"], "oid": "0" * 40, **_lfs(each)}
            for each in siblings
        ]
        info = {"_id": "1", "id": repository, "sha": REVISION, "siblings": siblings, "cardData": card, "private": False}
        for path in (f"/api/models/{repository}", f"/api/models/{repository}/revision/{REVISION}"):
            self.files[path] = json.dumps(info).encode()
        self.files[f"/api/models/{repository}/tree/{REVISION}"] = json.dumps(tree).encode()
        for name, content in files.items():
            self.files[f"/{repository}/resolve/{REVISION}/{name}"] = content


def _lfs(sibling: Mapping[str, object]) -> dict[str, object]:
    lfs = sibling.get("lfs")
    return {"lfs": {"oid": lfs["sha256"], "size": lfs["size"], "pointerSize": 1}} if isinstance(lfs, dict) else {}


def is_large(name: str) -> bool:
    return name.endswith((".safetensors", ".bin"))


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    published: Published

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        published, path = self.published, urlsplit(self.path).path
        wanted = self.headers.get("Range")
        published.asked.append((self.command, path, wanted))
        content = published.files.get(path)
        if content is None or published.status != 200:
            code = 404 if content is None else published.status
            self.send_response(code)
            if published.redirection is not None:
                self.send_header("Location", published.redirection)
            if path.startswith("/api/models/") and content is None:
                self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        first = int(wanted.removeprefix("bytes=").partition("-")[0]) if wanted and published.ranges else 0
        if first >= len(content) > 0:
            self.send_response(416)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if first and published.ranges == "wrong":
            first -= 1
        rest = content[first:]
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.send_header("ETag", f'"{digest(content)}"')
        self.send_header("X-Repo-Commit", REVISION)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        if not with_body:
            return
        if published.breaks_after is not None and len(rest) > published.breaks_after:
            rest, published.breaks_after = rest[: published.breaks_after], None
            self.close_connection = True
        self.wfile.write(rest)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def publishing() -> Iterator[Published]:
    """Serve files on this machine until the end of the block."""
    published = Published()
    handler = type("Handler", (_Handler,), {"published": published})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        published.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield published
        finally:
            server.shutdown()
            thread.join()
