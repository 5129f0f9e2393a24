"""A checkout that sends its jobs to SLURM, and what SLURM says of them."""

import subprocess

from checkout import Checkout
from forked import Forked
from waiting import PATIENCE

# Ask squeue for the state of jobs, because this cluster keeps no accounts, and ask soon: the plugin
# waits ten seconds longer after each time without a change.
QUICKLY = (
    "--slurm-init-seconds-before-status-checks", "6", "--slurm-status-command", "squeue",
    "--latency-wait", "10",
)  # fmt: skip


class OnCluster(Checkout):
    """A checkout that sends its jobs to SLURM."""

    def submit(self, *arguments: str) -> str:
        """What Snakemake says when all jobs have gone through SLURM."""
        return self.snakemake("--workflow-profile", "slurm", *QUICKLY, *arguments)

    def submitting(self, *arguments: str, profile: str = "slurm") -> Forked:
        """The same, as a process to watch while it works."""
        return self.start("--workflow-profile", profile, *QUICKLY, *arguments)

    def jobs(self, rule: str) -> list[dict[str, str]]:
        """This checkout's jobs of a rule in the order of submission, as `scontrol` shows them."""
        lines = ask("scontrol", "show", "job", "--oneliner").splitlines()
        every = [dict(word.partition("=")[::2] for word in line.split()) for line in lines]
        mine = [job for job in every if job.get("WorkDir") == str(self.root)]
        of_rule = [job for job in mine if job["Comment"].startswith(f"rule_{rule}")]
        return sorted(of_rule, key=lambda job: int(job["JobId"]))


def ask(*command: str) -> str:
    """What SLURM answers."""
    done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, timeout=PATIENCE)
    return done.stdout


def ended(process: Forked) -> str:
    """What Snakemake has said when it ends, which has to be without an error."""
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    return said
