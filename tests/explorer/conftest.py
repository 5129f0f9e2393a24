"""The explorer of some hundred made-up networks, and how a browser opens it."""

import made_up_networks
import pytest
from made_up_explorer import explorer
from node import Functions

from flatlas.explorer.page import explorer_page


@pytest.fixture(scope="session")
def nets():
    """The networks, in the order of the page."""
    return made_up_networks.networks(crossed=2)


@pytest.fixture(scope="session")
def file(nets, tmp_path_factory):
    """The page, beside one of the figures that it links to."""
    folder = tmp_path_factory.mktemp("explorer")
    (folder / "duality").mkdir()
    (folder / "duality" / "fig3.png").touch()
    page = folder / "explorer.html"
    page.write_text(explorer_page(explorer(nets)), encoding="utf-8")
    return page


@pytest.fixture(scope="session")
def thousand():
    """More than a thousand networks, and their page."""
    many = made_up_networks.networks(crossed=14)
    return many, explorer_page(explorer(many))


@pytest.fixture(scope="session")
def functions(file):
    """The page's functions, without a browser."""
    return Functions(file.read_text(encoding="utf-8"))


@pytest.fixture
def opened(chromium, file):
    """Open the page with a fragment of its address, in its own window; errors fail the test."""
    contexts, errors = [], []

    def at(fragment="", page_file=file, **window):
        settings = {"viewport": {"width": 1366, "height": 900}, **window}
        contexts.append(chromium.new_context(**settings))
        page = contexts[-1].new_page()
        # Long enough beside other work: a page waits for events, not for times.
        page.set_default_timeout(120_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{page_file.as_uri()}#{fragment}")
        return page

    yield at
    for context in contexts:
        context.close()
    assert errors == []
