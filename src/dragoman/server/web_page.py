"""The page at `/`, for people: that of `dragoman export web`, whose worker asks this server in place of a model."""

from __future__ import annotations

from importlib.resources import files
from string import Template

from fastapi import APIRouter, Request, Response
from starlette.responses import HTMLResponse

from dragoman.documents import FORMATS
from dragoman.exchange.web_site import view_scripts, view_styles, web_modules
from dragoman.inspection.page import harmless_json, page_part
from dragoman.server.api_errors import ApiError
from dragoman.server.routing import Directory
from dragoman.server.server_parts import ServerParts
from dragoman.server.texts import AUTO

_WEB = files("dragoman") / "web"
#: Parts of the exported page, and those of the server's.
_CHANGES = {
    'data-say="about"': 'data-say="about_server"',
    '<details id="terms" hidden>': '<details id="terms">',
    "JavaScript and WebAssembly": "JavaScript",
}


def page_routes(parts: ServerParts) -> APIRouter:
    """Return the page and its files; none of them if the page is disabled."""
    router = APIRouter(include_in_schema=False)
    if parts.config.disable_web_ui:
        return router
    scripts, policy, config = _scripts(), _policy(), parts.config
    template = _template(policy)
    rest = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    header = {"content-security-policy": f"{rest}; {policy}"}
    documents = [] if config.disable_files_translation else list(FORMATS)
    styles = {"frame.css": page_part("frame.css"), "page.css": _text("page", "page.css")}

    @router.get("/")
    async def page(request: Request) -> Response:
        models = [{"name": "server", "directions": _directions(parts.shelf.directory), "bytes": 1}]
        site = {"models": models, "documents": documents, "needs_key": bool(config.api_keys)}
        return HTMLResponse(template.substitute(site=harmless_json(site)), headers=header)

    @router.get("/page/{name}")
    async def file(name: str) -> Response:
        if name in scripts:
            return Response(scripts[name], media_type="text/javascript", headers=header)
        if name in styles:
            return Response(styles[name], media_type="text/css")
        raise ApiError(404, "Not Found")

    return router


def _scripts() -> dict[str, str]:
    """Return the modules of the page."""
    own = {part.name for part in (_WEB / "page").iterdir() if part.name.endswith(".js")} | {"views.js"}
    modules = {name: text for name, text in web_modules().items() if name in own}
    return modules | {"worker.js": _text("server", "worker.js")}


def _policy() -> str:
    """Return all that the page may load: its own files, the server's answers, and the pages in its frames."""
    scripts, styles = f"script-src 'self' {view_scripts()}", f"style-src 'self' {view_styles()}"
    return f"{styles}; {scripts}; connect-src 'self'; worker-src 'self'"


def _template(policy: str) -> Template:
    """Return the page with a place for what it knows of the server."""
    page = _text("page", "index.html")
    for old, new in _CHANGES.items():
        if old not in page:
            raise RuntimeError(f"the page has no {old}")
        page = page.replace(old, new)
    style = '<link rel="stylesheet" href="page/frame.css">\n<link rel="stylesheet" href="page/page.css">'
    script = '<script type="module" src="page/page.js"></script>'
    return Template(Template(page).safe_substitute(style=style, script=script, policy=policy))


def _text(folder: str, name: str) -> str:
    return (_WEB / folder / name).read_text(encoding="utf-8")


def _directions(directory: Directory) -> list[tuple[str, str]]:
    """Return all pairs of languages, those through a third one too; the source may be open."""
    pairs = directory.pairs()
    return [(AUTO, target) for target in dict.fromkeys(target for _, target in pairs)] + pairs
