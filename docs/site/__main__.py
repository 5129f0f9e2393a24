"""`make site`: the pages of the repository as a static site, in results/site or the folder given.

A page that the menu in conf.py lacks, a link or an anchor that leads nowhere and a picture that is
missing are named, and the exit code is 1.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

if __name__ == "__main__":
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results" / "site"
    # Pages of an earlier site would be published, too.
    shutil.rmtree(site, ignore_errors=True)
    with tempfile.TemporaryDirectory() as parsed:
        options = ["-q", "--fail-on-warning", "-b", "html", "-d", parsed, "-c", str(HERE)]
        sys.exit(build_main([*options, str(ROOT), str(site)]))
