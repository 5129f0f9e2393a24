"""A real SLURM of one node, on this machine, for as long as a command runs.

    python tests/slurm/cluster.py COMMAND …

As root, with Debian's packages slurmctld, slurmd, slurm-client and munge. Everything that it writes
lies in a temporary folder, so it disturbs neither another SLURM nor a second one of itself. `bash`
as the COMMAND gives a shell to try things in.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

# The variable by which tests know that they may drain this cluster's node.
OURS = "FLATLAS_TEST_CLUSTER"
DAEMONS = ("munged", "slurmctld", "slurmd")
PATH = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])
PATIENCE = 30.0

CONFIGURATION = """\
ClusterName=flatlas
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log

# No cgroups and no accounting, because a container has none.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/none
MpiDefault=none

# Without cgroups the daemon itself looks, every second, how much memory a job has, and ends it
# if that is more than it requested.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_interval=5,batch_sched_delay=0
ReturnToService=2
KillWait=5
MinJobAge=3600
SlurmdParameters=config_overrides

# Two plain files as GPUs. SLURM counts them, assigns them and takes them back.
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=8000 Gres=gpu:2
PartitionName=short Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def start(folder: Path) -> None:
    """Bring the daemons up, and wait until the node takes jobs."""
    folder.chmod(0o711)  # munge wants its socket to be reached by all
    host = socket.gethostname().split(".")[0]
    ports = dict(zip(("controller_port", "node_port"), free_ports(2), strict=True))
    (folder / "slurm.conf").write_text(CONFIGURATION.format(folder=folder, host=host, **ports))
    (folder / "gres.conf").write_text(f"Name=gpu File={folder}/gpu[0-1]\n")
    for name in ("gpu0", "gpu1", "munge.key"):
        (folder / name).write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o600)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    munge = {kind: folder / f"munge.{kind}" for kind in ("socket", "pid", "log", "seed")}
    run(
        "munged", f"--key-file={folder}/munge.key", f"--socket={munge['socket']}",
        f"--pid-file={munge['pid']}", f"--log-file={munge['log']}", f"--seed-file={munge['seed']}",
    )  # fmt: skip
    run("slurmctld")
    run("slurmd")
    until = time.monotonic() + PATIENCE
    while "idle" not in run("sinfo", "--noheader", "--format=%T", check=False):
        if time.monotonic() > until:
            logs = "\n".join((folder / f"{name}.log").read_text() for name in DAEMONS[1:])
            raise SystemExit(f"SLURM did not come up in {PATIENCE:g} s:\n{logs}")
        time.sleep(0.2)


def wrap_srun(folder: Path) -> None:
    """Make an srun that finds its cluster, because Snakemake's plugin hides SLURM_CONF from it."""
    tools = folder / "bin"
    tools.mkdir()
    srun = tools / "srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun")} "$@"\n')
    srun.chmod(0o755)
    os.environ["PATH"] = os.pathsep.join([str(tools), os.environ["PATH"]])


def stop(folder: Path) -> None:
    """Take the daemons down, jobs first."""
    if (folder / "slurmctld.pid").exists():
        run("scancel", "--full", "--user=root", check=False)
    for name in ("slurmd", "slurmctld", "munge"):
        file = folder / f"{name}.pid"
        if file.exists():
            end(int(file.read_text()))


def end(process: int) -> None:
    """Ask a process to end, if it has not, and wait until it has."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGTERM)
    until = time.monotonic() + PATIENCE
    while Path(f"/proc/{process}").exists() and time.monotonic() < until:
        time.sleep(0.1)


def run(*command: str, check: bool = True) -> str:
    """What a command of SLURM says."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if check and done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


def free_ports(count: int) -> list[int]:
    """Different ports that are free."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def missing() -> str:
    """Why no cluster can be brought up here; empty if it can."""
    absent = [name for name in (*DAEMONS, "sbatch") if not shutil.which(name, path=PATH)]
    if absent:
        return (
            f"there is no {', '.join(absent)}: "
            "apt-get install slurmctld slurmd slurm-client munge, or run this elsewhere"
        )
    return "" if os.geteuid() == 0 else "the daemons of SLURM have to be started by root"


def main(command: list[str]) -> int:
    """Run the command with a cluster around it."""
    if not command:
        raise SystemExit(__doc__)
    if missing():
        raise SystemExit(f"No SLURM here: {missing()}.")
    # So that the daemons end with this process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(f"{sys.argv[0]} was ended"))
    with tempfile.TemporaryDirectory(prefix="flatlas-slurm-") as name:
        folder = Path(name)
        os.environ.update(PATH=PATH, SLURM_CONF=f"{folder}/slurm.conf", **{OURS: name})
        try:
            start(folder)
            wrap_srun(folder)
            return subprocess.run(command).returncode
        finally:
            stop(folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
