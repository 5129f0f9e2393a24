"""What a page shows in a real browser without a screen."""

import shutil
from contextlib import contextmanager
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FOUND = """() => ({
  pictures: [...document.images].map(image => [image.alt, image.naturalWidth]),
  broken: [...document.querySelectorAll('a[href^="#"]')].map(link => link.hash)
    .filter(hash => !document.getElementById(decodeURIComponent(hash.slice(1)))),
  files: [...document.querySelectorAll('a:not([href^="#"])')].map(a => a.getAttribute("href")),
  fetched: performance.getEntriesByType("resource").map(entry => entry.name)
    .filter(name => !name.startsWith("data:")),
  wide: document.documentElement.scrollWidth > innerWidth,
})"""


@contextmanager
def started():
    """A browser without a screen."""
    # Imported here because only tests of pages need it.
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def found_on(browser, page: Path) -> dict:
    """Pictures with their widths, broken links, linked files, fetched files, overflow."""
    tab = browser.new_page(viewport={"width": 1400, "height": 1800})
    # Long enough beside other work.
    tab.set_default_timeout(120_000)
    tab.goto(page.as_uri())
    found = tab.evaluate(FOUND)
    tab.close()
    return found
