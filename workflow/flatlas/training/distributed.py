"""Learners in separate processes: one rank for each learner, by torch.distributed.

`run` starts torchrun on this machine; each rank runs this module's `main`. The ranks do the same as
`learners.Together` in one process, up to round-off, and save their state in the same form. Such a
state is marked as made by ranks, since its last bits differ.
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
from flatlas.search_path import search_path
from flatlas.training.learners import mean_of_neighbours
from flatlas.training.task import TrainingTask
from flatlas.training.trainer import Report

logger = logging.getLogger("flatlas")
# The prefix of the leading rank's progress lines, for the process that started it.
PROGRESS = "PROGRESS "
# torchrun's report of the rank that failed first, and how.
FAILED = re.compile(r"Root Cause.*?\n +rank +: (\d+).*?\n +exitcode +: (-?\d+)", re.DOTALL)


class Ranks:
    """One learner in this process, the others in parallel processes."""

    def __init__(self, learners: Learners, device: str) -> None:
        """Call after `init_process_group`, in a world with one rank for each learner."""
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
        """Replace the weights by the neighbours' mean, with one message to each side."""
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
        mean = mean_of_neighbours(self.learners, left + right, mine)
        parts = mean.split([value.numel() for value in stack.values()])
        for value, mixed in zip(stack.values(), parts, strict=True):
            value.copy_(mixed.view_as(value))

    def mean(self, parameters: Parameters) -> Parameters:
        """W_a, the mean over the ranks."""
        copies = {name: value.clone() for name, value in parameters.items()}
        self._average(copies)
        return copies

    def all_learners(self, stack: Parameters) -> Parameters:
        """The rows of all ranks, in the order of one process."""
        return {name: self._gathered(value) for name, value in stack.items()}

    def _gathered(self, value: Tensor) -> Tensor:
        sent = value.detach().to(self.device).contiguous()
        received = [torch.empty_like(sent) for _ in range(self.world)]
        dist.all_gather(received, sent)
        return torch.stack(received, 1).flatten(0, 1).to(value.device)

    def from_leader(self, values: Tensor) -> Tensor:
        """The leader's numbers."""
        sent = values.to(self.device)
        dist.broadcast(sent, 0)
        return sent.to(values.device)


def run(task: TrainingTask, ranks: int, gpu: bool, report: Report, lock: int) -> None:
    """Start the ranks and wait for them; if one fails, end all and raise an error.

    The file descriptor `lock` stays open until all ranks have ended, even without this process.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "task.json"
        path.write_text(json.dumps({"gpu": gpu, **asdict(task)}))
        command = [
            sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
            str(ranks), "--module", __spec__.name, str(path),
        ]  # fmt: skip
        # One thread for each rank: the job has as many threads as ranks.
        one_thread = dict.fromkeys(THREAD_VARIABLES, "1")
        env = {**os.environ, **one_thread, "PYTHONPATH": search_path()}
        process = subprocess.Popen(
            command,
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[lock],
        )
        try:
            output = _listen(process, report)
        finally:
            process.terminate()
            process.wait()
    if process.returncode:
        first = FAILED.search(output)
        what = f"learner {first[1]} ended with exit code {first[2]}" if first else "torchrun failed"
        raise FlatlasError(
            f"{what}, so all {ranks} learners were ended. The log has its output. The same command "
            f"continues from the state saved in {task.resume}."
        )


def _listen(process: subprocess.Popen[str], report: Report) -> str:
    """The output of the ranks, without their progress; it is also written to the log."""
    lines = []
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(PROGRESS):
            facts: dict[str, Any] = json.loads(line.removeprefix(PROGRESS))
            report(facts.pop("done"), facts.pop("total"), **facts)
        else:
            logger.info("ranks: %s", line.rstrip())
            lines.append(line)
    process.wait()
    return "".join(lines)


def main(path: str) -> None:
    """Run one rank."""
    given = json.loads(Path(path).read_text())
    gpu = given.pop("gpu")
    task = TrainingTask(**given)
    learners = RunSpec.model_validate(task.spec).learners
    assert learners is not None
    # The settings that make a GPU reproducible apply to one process only, so repeat them here.
    device = choose_device(wanted=gpu)
    if gpu:
        device = f"cuda:{os.environ['LOCAL_RANK']}"
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if gpu else "gloo")
    try:
        team = Ranks(learners, device)
        task.run(device, _report if team.leads else _keep_quiet, team)
    finally:
        dist.destroy_process_group()


def _report(done: int, total: int, **facts: Any) -> None:
    print(PROGRESS + json.dumps({"done": done, "total": total, **facts}), flush=True)


def _keep_quiet(done: int, total: int, **facts: Any) -> None:
    """Report nothing: only the leader does."""


if __name__ == "__main__":
    main(sys.argv[1])
