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
RUN = """
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
const document = { getElementById: () => ({ textContent: given.data }) };
eval(given.code);
"""
# In the scope of the functions.
CALLS = """
console.log(JSON.stringify(given.calls.map(([code, argument]) => eval(code)(argument))));
"""


class Functions:
    """The functions of a page, which see its data."""

    def __init__(self, page: str) -> None:
        found = DATA.search(page)
        assert found
        self.data = found[1]
        scripts = (file.read_text(encoding="utf-8") for file in FUNCTIONS)
        self.code = "\n".join([*scripts, CALLS])

    def evaluate(self, code: str, argument: Any = None) -> Any:
        """What a JavaScript function returns; NaN is None."""
        return self.each([(code, argument)])[0]

    def each(self, calls: list[tuple[str, Any]]) -> list[Any]:
        """The same for several functions, in one process."""
        given = json.dumps({"data": self.data, "code": self.code, "calls": calls})
        done = subprocess.run(
            [NODE, "-e", RUN], input=given, stdout=subprocess.PIPE, check=True, text=True
        )
        return json.loads(done.stdout)
