"""Pages in a real browser without a screen: what they show, and screenshots."""

import json
import re
import shutil
import subprocess
import tempfile
from html import unescape
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
# No updates, nothing kept, and it may run as root.
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--window-size=1400,1800"),
)
# Writes what the page has loaded into a last element.
PROBE = """<script>addEventListener("load", () => {
  const found = {
    pictures: [...document.images].map(image => [image.alt, image.naturalWidth]),
    broken: [...document.querySelectorAll('a[href^="#"]')].map(link => link.hash)
      .filter(hash => !document.getElementById(decodeURIComponent(hash.slice(1)))),
    files: [...document.querySelectorAll('a:not([href^="#"])')].map(a => a.getAttribute("href")),
    fetched: performance.getEntriesByType("resource").map(entry => entry.name)
      .filter(name => !name.startsWith("data:")),
    wide: document.documentElement.scrollWidth > innerWidth,
  };
  const element = document.createElement("pre");
  element.id = "probe";
  element.textContent = JSON.stringify(found);
  document.body.append(element);
});</script>"""
# Screenshots are of the top of a page, so this leaves only one part, unfolded.
ALONE = """<script>addEventListener("load", () => {{
  const part = document.getElementById("{part}");
  part.querySelectorAll("details").forEach(one => one.open = true);
  document.querySelector("main").replaceChildren(part);
}});</script>"""


def found_on(page: Path) -> dict:
    """Pictures with their widths, broken links, linked files, fetched files, overflow."""
    dom = _chromium(page, PROBE, "--dump-dom").decode()
    return json.loads(unescape(re.search(r'<pre id="probe".*?>(.*?)</pre>', dom, re.DOTALL)[1]))


def screenshot(page: Path, to: Path, part: str = "") -> Path:
    """A screenshot of the top of a page, or of the element with the id `part`."""
    _chromium(page, ALONE.format(part=part) if part else "", f"--screenshot={to}")
    return to


def _chromium(page: Path, script: str, what: str) -> bytes:
    program = next(filter(None, map(shutil.which, BROWSERS)))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        # Beside the page, so its relative links still work.
        probed = page.with_name(f".probed-{page.name}")
        probed.write_text(page.read_text(encoding="utf-8") + script, encoding="utf-8")
        try:
            command = [program, *OPTIONS, f"--user-data-dir={folder}", what, probed.as_uri()]
            done = subprocess.run(command, check=True, capture_output=True, timeout=300)
        finally:
            probed.unlink()
    return done.stdout
