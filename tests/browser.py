"""Pages in Chromium, for tests."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


@contextmanager
def chromium() -> Iterator[Any]:
    """Start the browser, or skip the test if there is none."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(PROGRAMS)} is installed (on Debian: apt install chromium)")
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


def open_page(browser: Any, address: str, allowed: tuple[str, ...] = (), timeout: int = 20_000, **options: Any) -> Any:
    """Return a page: `addresses` is all that it asks for, `problems` are its errors, its dialogs and other addresses.

    Args:
        allowed: beginnings of further addresses that it may ask for something.
        timeout: in milliseconds.
    """
    page = browser.new_page(**{"viewport": DESKTOP, "color_scheme": "light", **options})
    page.set_default_timeout(timeout)
    page.problems, page.addresses = [], []
    own = (address, *allowed)
    page.on("request", lambda request: page.addresses.append(request.url))
    page.on("request", lambda request: request.url.startswith(own) or page.problems.append(request.url))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda message: page.problems.append(message.text))
    page.on("dialog", lambda dialog: page.problems.append("dialog"))
    page.goto(address)
    return page
