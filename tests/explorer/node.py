"""The page's functions without a browser, in the Node that comes with playwright."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import playwright

from flatlas.explorer.page import SCRIPTS, TEMPLATE

NODE = Path(playwright.__file__).with_name("driver") / "node"
DATA = re.compile('id="data">(.*?)</script>', re.DOTALL)
# The last script fills the page, so it needs a document.
FUNCTIONS = [TEMPLATE / f"{name}.js" for name in SCRIPTS if name != "start"]
DOCUMENT = "const document = {{ getElementById: () => ({{ textContent: {data} }}) }};"


class Functions:
    """The functions of a page, which see its data."""

    def __init__(self, page: str) -> None:
        found = DATA.search(page)
        assert found
        scripts = (file.read_text(encoding="utf-8") for file in FUNCTIONS)
        self.code = "\n".join([DOCUMENT.format(data=json.dumps(found[1])), *scripts])

    def evaluate(self, code: str, argument: Any = None) -> Any:
        """What a JavaScript function returns; NaN is None."""
        return self.each([(code, argument)])[0]

    def each(self, calls: list[tuple[str, Any]]) -> list[Any]:
        """The same for several functions, in one process."""
        made = ", ".join(f"({code})({json.dumps(argument)})" for code, argument in calls)
        program = f"{self.code}\nconsole.log(JSON.stringify([{made}]));"
        done = subprocess.run(
            [NODE, "-"], input=program, stdout=subprocess.PIPE, check=True, encoding="utf-8"
        )
        return json.loads(done.stdout)
