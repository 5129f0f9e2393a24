"""Copies of the repository in which Snakemake really runs, and a study that is tiny."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from forked import SNAKEMAKE, Forked

ROOT = Path(__file__).resolve().parents[2]
# Pages on all studies, which every changed figure remakes.
PAGES = {"report": 1, "scorecard": 1}
NEEDED = ("Snakefile", "config", "profiles", "workflow", "envs")

# Run a script as its own main program, then print which modules of the library it has loaded.
PRINTING = """
import runpy, sys
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
print()
print(*(name for name in sys.modules if name.split(".")[0] == "flatlas"))
"""

# The duality study with two realizations of a net that trains in a moment. Its three runs share
# one data set, and its two sweeps share one run.
TINY = {
    "title": "Tiny",
    "paper": "None",
    "realizations": 2,
    "runs": {
        "base": {
            "data": {"source": "digits", "per_class": 20, "test_size": 60},
            "net": {"family": "dense", "hidden": [12, 12]},
            "optimizer": {"name": "sgd", "lr": 0.1},
            "batch": 20,
            "stop": {"loss_below": 0.1, "epochs": 200},
        }
    },
    "sweeps": {
        "alpha": {"run": "base", "grid": {"optimizer.lr": [0.05, 0.1]}},
        "batch": {"run": "base", "grid": {"batch": [20, 40]}},
    },
    "measures": {"hidden": {"measure": "duality", "layer": "fc2"}},
    "figures": {
        "fig3": {
            "title": "Three",
            "module": "strategies",
            "sweeps": ["alpha", "batch"],
            "measures": ["hidden"],
        },
        "s4": {"title": "Four", "sweeps": ["alpha", "batch"], "measures": ["hidden"]},
    },
}


class Checkout:
    """A copy of the repository with its own results."""

    def __init__(
        self, root: Path, memory: Path, user: int | None = None, group: int | None = None
    ) -> None:
        """`memory` is the cache folder of the tools that it runs.

        Snakemake is run by `user`, as a member of `group` alone, if they are given.
        """
        self.root, self.memory = root, memory
        self.user, self.group = user, group
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SNAKE")}
        kept.pop("PYTHONPATH", None)
        self.env = kept | {"OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(memory)}

    def __truediv__(self, path: str) -> Path:
        return self.root / path

    def copy(self, root: Path) -> "Checkout":
        """A copy that includes the results."""
        return Checkout(shutil.copytree(self.root, root), self.memory)

    def start(self, *arguments: str, **env: str) -> Forked | subprocess.Popen:
        """Snakemake in its own process group, so that it can be killed with its jobs."""
        if self.user is not None:
            return self.start_cold(*arguments, **env)
        return Forked(
            SNAKEMAKE, ["snakemake", "--cores", "1", *arguments], self.root, self.env | env
        )

    def start_cold(self, *arguments: str, **env: str) -> subprocess.Popen:
        """As a user starts it, which includes the imports."""
        as_user: dict = {}
        if self.user is not None:
            as_user = {"user": self.user, "group": self.group, "extra_groups": []}
            # Snakemake needs a user's name.
            env |= {"LOGNAME": str(self.user), "HOME": str(self.memory)}
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", "--cores", "1", *arguments],
            cwd=self.root, env=self.env | env, start_new_session=True, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            **as_user,
        )  # fmt: skip

    def snakemake(
        self, *arguments: str, fails: bool = False, cold: bool = False, **env: str
    ) -> str:
        """What Snakemake says; it has to succeed, or to fail if `fails`."""
        process = (self.start_cold if cold else self.start)(*arguments, **env)
        said, _ = process.communicate()
        assert (process.returncode != 0) is fails, said
        return said

    def python(self, code: str, *arguments: str, **env: str) -> str:
        """What some code says; it has to succeed."""
        process = Forked(code, ["-c", *arguments], self.root, self.env | env)
        said, _ = process.communicate()
        assert process.returncode == 0, said
        return said

    def by_hand(self, script: str, job: Path) -> set[str]:
        """Repeat a job by hand; returns the modules of the library that it loaded.

        Those of `plan` and `jobs` are left out, as they are of fingerprints.
        """
        said = self.python(
            PRINTING, f"workflow/scripts/{script}.py", str(job), PYTHONPATH=str(self / "workflow")
        )
        loaded = said.splitlines()[-1].split()
        # The plan, which no fingerprint covers, reads the names of layers; a job writes provenance.
        store = ("flatlas.store.provenance", "flatlas.store.json_files")
        outside = ("flatlas.plan", "flatlas.jobs", "flatlas.layer_names", *store)
        return {name for name in loaded if not name.startswith(outside)}

    def would_run(self, *targets: str) -> dict[str, int]:
        """How many jobs of each rule there are to do, without the rules that only gather."""
        return job_counts(self.snakemake("-n", *targets))

    def edit(self, path: str, pattern: str, new: str) -> None:
        """Replace what matches a regular expression."""
        text, changes = re.subn(pattern, new, (self / path).read_text(), flags=re.DOTALL)
        assert changes, f"{path} has nothing like {pattern}"
        (self / path).write_text(text)

    def change_function(self, path: str, name: str) -> None:
        """One more statement at the beginning of a function, after its docstring."""
        self.edit(path, rf'(def {name}\(.*?""".*?"""\n)', r"\1    changed = True\n")

    def save_each_epoch(self) -> None:
        """Let trainings save their state after each epoch, also where the disk is slow."""
        self.edit(
            "workflow/flatlas/training/resume.py", r"LARGEST_SHARE = .*?\n", "LARGEST_SHARE = 1e9\n"
        )

    def set_study(self, *keys: str | int, value: object) -> None:
        """Change one value of the tiny study."""
        study = self / "config/studies/duality.yaml"
        tree = yaml.safe_load(study.read_text())
        here = tree
        for key in keys[:-1]:
            here = here[key]
        here[keys[-1]] = value
        study.write_text(yaml.safe_dump(tree))

    def keep_one_run(self) -> None:
        """Keep one run of the tiny study, in one sweep and one figure."""
        self.set_study("sweeps", "alpha", "grid", "optimizer.lr", value=[0.1])
        figures = TINY["figures"]
        self.set_study("figures", value={"fig3": figures["fig3"] | {"sweeps": ["alpha"]}})

    def keep_one_figure(self, sweep: dict, measure: dict) -> None:
        """Keep only the runs of the tiny study, with one sweep, one measure and one figure."""
        self.set_study("sweeps", value={"one": sweep})
        self.set_study("measures", value={"one": measure})
        one = {"title": "Three", "sweeps": ["one"], "measures": ["one"]}
        self.set_study("figures", value={"s4": one})

    def only(self, pattern: str) -> Path:
        """The one file or folder under results that a pattern matches."""
        (found,) = (self / "results").glob(pattern)
        return found

    def contents(self, pattern: str) -> dict[str, bytes]:
        """Files under results, by their path there."""
        results = self / "results"
        return {
            str(path.relative_to(results)): path.read_bytes()
            for path in sorted(results.glob(pattern))
            if path.is_file()
        }


def job_counts(said: str) -> dict[str, int]:
    """The table of jobs that Snakemake prints before it runs any."""
    table = re.search(r"Job stats:\n.*\n[- ]+\n((?:\S+ +\d+\n)+)", said)
    if table is None:
        assert "Nothing to be done" in said, said
        return {}
    counts = dict(line.split() for line in table[1].splitlines())
    return {name: int(n) for name, n in counts.items() if name not in ("all", "duality", "total")}


def copied(root: Path) -> Path:
    root.mkdir(parents=True)
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, root / name)
    return root


def with_tiny_study(root: Path) -> Path:
    for path in (*root.glob("config/studies/*.yaml"), *root.glob("config/presets/*.yaml")):
        path.unlink()
    (root / "config/studies/duality.yaml").write_text(yaml.safe_dump(TINY))
    (root / "config/presets/tiny.yaml").write_text("title: Tiny\n")
    config = root / "config/config.yaml"
    settings = yaml.safe_load(config.read_text()) | {"preset": "tiny", "studies": {}}
    config.write_text(yaml.safe_dump(settings))
    return root
