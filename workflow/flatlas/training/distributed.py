"""Learners in processes of their own: a rank a learner, by torch.distributed.

`carry_out` starts torchrun on this machine; each rank runs this module's `main`. What the ranks do
is what `learners.Together` does in one process, to round-off, and the state that they save has its
form; but it is known as theirs, for its last bits are.
"""

import json
import logging
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from flatlas.device import choose_device
from flatlas.errors import FlatlasError
from flatlas.nets.layers import Parameters
from flatlas.plan.requests import THREAD_VARIABLES
from flatlas.plan.training_specs import Learners, RunSpec
from flatlas.training.errand import Errand
from flatlas.training.trainer import Report

logger = logging.getLogger("flatlas")
# What the leading rank prints of its progress, for the process that started it.
PROGRESS = "PROGRESS "
# torchrun's last words: the rank that failed first, and how.
FAILED = re.compile(r"Root Cause.*?\n +rank +: (\d+).*?\n +exitcode +: (-?\d+)", re.DOTALL)
# Where a rank finds this library.
LIBRARY = Path(__file__).resolve().parents[2]


class Ranks:
    """One learner here, the others in processes beside it."""

    def __init__(self, learners: Learners, device: str) -> None:
        """After `init_process_group`, in a world of as many ranks as there are learners."""
        self.learners, self.device = learners, device
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.here: Sequence[int] = [self.rank]
        self.leads = self.rank == 0

    def mix(self, parameters: Parameters, gradients: Parameters) -> None:
        """SSGD: the mean gradient. DPSGD: the mean of all weights, or of the neighbours'."""
        if self.learners.kind == "ssgd":
            self._average(gradients)
        elif self.learners.mixing == "full":
            self._average(parameters)
        else:
            self._average_neighbours(parameters)

    def _average(self, stack: Parameters) -> None:
        for value in stack.values():
            dist.all_reduce(value)
            value /= self.world

    def _average_neighbours(self, stack: Parameters) -> None:
        """(W_{j-1} + W_{j+1})/2, or with itself: all weights in one message to either side."""
        mine = torch.cat([value.flatten() for value in stack.values()])
        left, right = torch.empty_like(mine), torch.empty_like(mine)
        before, after = (self.rank - 1) % self.world, (self.rank + 1) % self.world
        messages = [
            dist.P2POp(dist.isend, mine, after),
            dist.P2POp(dist.isend, mine, before),
            dist.P2POp(dist.irecv, left, before),
            dist.P2POp(dist.irecv, right, after),
        ]
        for message in dist.batch_isend_irecv(messages):
            message.wait()
        beside = left + right
        mean = beside / 2 if self.learners.mixing == "ring" else (beside + mine) / 3
        parts = mean.split([value.numel() for value in stack.values()])
        for value, mixed in zip(stack.values(), parts, strict=True):
            value.copy_(mixed.view_as(value))

    def mean(self, parameters: Parameters) -> Parameters:
        """W_a, the mean over the ranks."""
        copies = {name: value.clone() for name, value in parameters.items()}
        self._average(copies)
        return copies

    def every(self, stack: Parameters) -> Parameters:
        """The rows of all ranks, as they would stand in one process."""
        return {name: self._gathered(value) for name, value in stack.items()}

    def _gathered(self, value: Tensor) -> Tensor:
        sent = value.detach().to(self.device).contiguous()
        received = [torch.empty_like(sent) for _ in range(self.world)]
        dist.all_gather(received, sent)
        return torch.stack(received, 1).flatten(0, 1).to(value.device)

    def agreed(self, values: Tensor) -> Tensor:
        """The leader's."""
        sent = values.to(self.device)
        dist.broadcast(sent, 0)
        return sent.to(values.device)


def carry_out(errand: Errand, ranks: int, gpu: bool, report: Report) -> None:
    """Start the ranks and wait for them; one that dies ends all, and says so."""
    if errand.spec.get("snapshots"):
        raise FlatlasError(
            "snapshots are recorded in one process only: "
            "say `distributed: false`, or leave out the run's snapshots."
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "errand.json"
        path.write_text(json.dumps({"gpu": gpu, **asdict(errand)}))
        command = [
            sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
            str(ranks), "--module", __spec__.name, str(path),
        ]  # fmt: skip
        # One thread a rank: there are as many ranks as threads were asked for.
        one_thread = dict.fromkeys(THREAD_VARIABLES, "1")
        env = {**os.environ, **one_thread, "PYTHONPATH": str(LIBRARY)}
        process = subprocess.Popen(
            command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        try:
            said = _listen(process, report)
        finally:
            process.terminate()
            process.wait()
    if process.returncode:
        first = FAILED.search(said)
        who = f"learner {first[1]} ended with exit code {first[2]}" if first else "torchrun failed"
        raise FlatlasError(
            f"{who}, and so all {ranks} learners ended. What it said stands in the log; what they "
            "had saved waits in results/resume, and the same command goes on from there."
        )


def _listen(process: subprocess.Popen[str], report: Report) -> str:
    """What the ranks say, written to the log, but for their progress."""
    said = []
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(PROGRESS):
            told: dict[str, Any] = json.loads(line.removeprefix(PROGRESS))
            report(told.pop("done"), told.pop("total"), **told)
        else:
            logger.info("ranks: %s", line.rstrip())
            said.append(line)
    process.wait()
    return "".join(said)


def main(path: str) -> None:
    """What a rank does."""
    given = json.loads(Path(path).read_text())
    gpu = given.pop("gpu")
    errand = Errand(**given)
    learners = RunSpec.model_validate(errand.spec).learners
    assert learners is not None
    # What makes a GPU repeat itself holds in one process only, and so has to be said here, too.
    device = choose_device(wanted=gpu)
    if gpu:
        device = f"cuda:{os.environ['LOCAL_RANK']}"
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if gpu else "gloo")
    try:
        team = Ranks(learners, device)
        errand.carry_out(device, _tell if team.leads else _keep_quiet, team)
    finally:
        dist.destroy_process_group()


def _tell(done: int, total: int, **facts: Any) -> None:
    print(PROGRESS + json.dumps({"done": done, "total": total, **facts}), flush=True)


def _keep_quiet(done: int, total: int, **facts: Any) -> None:
    """The leader reports for all."""


if __name__ == "__main__":
    main(sys.argv[1])
