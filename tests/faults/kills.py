"""Kill trainings, recordings, measures, figures and Snakemake: do the results stay the same?"""

import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import psutil
from checkout import Checkout, copied, with_tiny_study

VICTIMS = ("Snakemake", "a job", "all of them")
# These hold times, so they differ between two runs of the same training.
UNLIKE = ("times.csv", ".json", ".html", ".pdf")
LONGEST = 12.0


def world(root: Path, memory: Path) -> Checkout:
    """The tiny study, with a training that records its weights."""
    checkout = Checkout(with_tiny_study(copied(root)), memory)
    checkout.set_study("runs", "base", "stop", value={"epochs": 150, "extra_epochs": 60})
    checkout.set_study("runs", "base", "snapshots", value="fc2")
    return checkout


def results(checkout: Checkout) -> dict[str, bytes]:
    """Every result that is the same each time it is made."""
    made = {**checkout.contents("*/*/*"), **checkout.contents("*/*/*/*")}
    apart = ("logs/", "resume/")
    return {
        name: content
        for name, content in made.items()
        if not name.startswith(apart) and not name.endswith(UNLIKE)
    }


def try_kills(scratch: Path, kills: int, seed: int) -> Iterator[dict[str, object]]:
    """A row of the table for each kind of victim."""
    memory = scratch / "memory"
    undisturbed = world(scratch / "undisturbed", memory)
    undisturbed.snakemake()
    expected = results(undisturbed)
    for victim in VICTIMS:
        random = Random(f"{seed} {victim}")
        row = {"victim": victim, "kills": 0, "same bytes": 0, "other bytes": 0, "left behind": 0}
        while row["kills"] < -(-kills // len(VICTIMS)):
            checkout = world(scratch / "killed", memory)
            row["kills"] += killed_until_done(checkout, victim, random)
            row["same bytes" if results(checkout) == expected else "other bytes"] += 1
            row["left behind"] += len(left_behind(checkout))
            shutil.rmtree(checkout.root)
        yield row


def killed_until_done(checkout: Checkout, victim: str, random: Random) -> int:
    """Start the study again after each of at most five kills; how many there were."""
    kills = 0
    while kills < 5 and killed_once(checkout, victim, random):
        kills += 1
        checkout.snakemake("--unlock")
    checkout.snakemake()
    return kills


def killed_once(checkout: Checkout, victim: str, random: Random) -> bool:
    """Start the study and kill at a random moment; False if it was done before."""
    process = checkout.start_cold("--keep-going", "--quiet")
    time.sleep(random.uniform(1.5, LONGEST))
    family = descendants(process.pid)
    killed = process.poll() is None and kill(victim, process.pid, family, random)
    process.communicate()
    # A job that outlives Snakemake ends by itself; until then it refuses a second one.
    psutil.wait_procs(family, timeout=60)
    return killed


def descendants(pid: int) -> list[psutil.Process]:
    """The processes below Snakemake: the worker and the jobs."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def kill(victim: str, pid: int, family: list[psutil.Process], random: Random) -> bool:
    """Kill with -9; False if there is none of these."""
    if victim == "all of them":
        os.killpg(pid, signal.SIGKILL)
    elif victim == "Snakemake":
        os.kill(pid, signal.SIGKILL)
    elif family:
        random.choice(family).kill()
    return victim != "a job" or bool(family)


def left_behind(checkout: Checkout) -> list[Path]:
    """Half-written files and saved states that nobody will use."""
    hidden = [path for path in (checkout / "results").rglob(".*.part*") if path.is_file()]
    return [*hidden, *(checkout / "results/resume").rglob("*")]
