"""Jobs forked from a worker run as if started cold, and end when Snakemake or it is killed."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace

import pytest
from waiting import wait_for

from flatlas.jobs import warm_start
from flatlas.jobs.warm_start import fits, start_worker
from flatlas.jobs.worker import children
from flatlas.plan.requests import THREAD_VARIABLES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a worker needs Linux")
WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
PATIENCE = 20.0

# A script that starts a child, writes both process ids, and waits.
WAITING = """
import json, os, subprocess, sys, time
from pathlib import Path
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
numbers = Path(__file__).with_suffix(".part")
numbers.write_text(json.dumps([os.getpid(), child.pid]))
numbers.rename(numbers.with_suffix(".json"))
time.sleep(600)
"""
# What a script sees of the process that it runs in.
SEEN = """
import json, os, signal, sys, tempfile
from pathlib import Path
seen = {
    "name": __name__, "file": __file__, "argv": sys.argv, "beside": sys.path[0],
    "main": sys.modules["__main__"].__file__, "folder": os.getcwd(),
    "temporary": tempfile.gettempdir(),
    "environment": {name: value for name, value in os.environ.items() if "PYTEST" not in name},
    "interrupt": str(signal.getsignal(signal.SIGINT)),
    "terminate": str(signal.getsignal(signal.SIGTERM)),
    "blocked": [str(one) for one in signal.pthread_sigmask(signal.SIG_BLOCK, [])],
    "open": len(os.listdir("/proc/self/fd")),
}
Path(__file__).with_suffix(".json").write_text(json.dumps(seen))
"""
# Snakemake's part: a worker, and a job in it.
CLIENT = """
import sys
from flatlas.jobs.warm_start import start_worker
worker = start_worker()
print(worker.process.pid, flush=True)
sys.exit(worker.run(sys.argv[1], None))
"""
# The same, and another job after Ctrl-C, which Snakemake survives until its jobs have ended.
INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from flatlas.jobs.warm_start import start_worker
worker = start_worker()
signal.signal(signal.SIGINT, lambda *_: None)
print(*[worker.run(script, None) for script in sys.argv[1:]])
"""


@pytest.fixture(autouse=True)
def found(monkeypatch):
    """The worker finds the library, too."""
    monkeypatch.setenv("PYTHONPATH", str(WORKFLOW))


@pytest.fixture
def worker():
    started = start_worker()
    yield started
    started.end()


@pytest.fixture
def script(tmp_path):
    """Write a script; jobs are known by its name."""

    def written(text, name="script.py"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return written


@pytest.fixture
def waiting(worker, script, tmp_path):
    """A job that waits, with a child: its future exit code, its process id and its child's."""
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(worker.run, script(WAITING), None)
        yield ended, *left_by(tmp_path)


def client(code, *scripts, **options):
    """Snakemake's part in a process of its own; it prints the process id of the worker."""
    command = [sys.executable, "-c", code, *scripts]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)


def left_by(folder):
    """What `script.py` has written beside itself."""
    wait_for((folder / "script.json").exists)
    return json.loads((folder / "script.json").read_text())


def is_gone(*pids):
    """Whether all of these processes have ended; zombies count as ended."""
    for pid in pids:
        with suppress(FileNotFoundError):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                return False
    return True


def test_a_script_sees_what_it_sees_when_started_cold(worker, script, tmp_path):
    path, temporary = script(SEEN), str(tmp_path)
    assert worker.run(path, temporary) == 0
    forked = left_by(tmp_path)
    one_thread = dict.fromkeys(THREAD_VARIABLES, "1")
    folders = dict.fromkeys(("TMPDIR", "TMP", "TEMPDIR", "TEMP"), temporary)
    subprocess.run([sys.executable, path], env={**os.environ, **one_thread, **folders}, check=True)
    cold = left_by(tmp_path)
    # The connection to Snakemake and the list of imports.
    assert forked.pop("open") == cold.pop("open") + 2
    assert forked == cold


def test_a_job_ends_with_the_exit_code_of_its_script(worker, script):
    texts = {
        "raise SystemExit(3)": 3,
        "1 / 0": 1,
        "import no_such_module": 1,
        "def": 1,
        "import os; os._exit(4)": 4,
        "import os; os.kill(os.getpid(), 9)": -9,
        "": 0,
    }
    assert {text: worker.run(script(text), None) for text in texts} == texts


def test_a_script_prints_to_the_output_of_snakemake(script):
    text = "import sys; print('out'); print('err', file=sys.stderr); 1 / 0"
    process = client(CLIENT, script(text), stderr=subprocess.PIPE)
    said, complaint = process.communicate()
    assert process.returncode == 1
    assert said.splitlines()[1:] == ["out"]
    assert complaint.startswith("err\nTraceback")
    assert complaint.endswith("ZeroDivisionError: division by zero\n")


def test_jobs_run_side_by_side(worker, script):
    """Each of two waits for the other's file."""
    text = """
import time
from pathlib import Path
mine, other = (Path(__file__).with_name(name) for name in {})
mine.touch()
while not other.exists():
    time.sleep(0.005)
"""
    scripts = [script(text.format(pair), f"{pair[0]}.py") for pair in (("a", "b"), ("b", "a"))]
    with ThreadPoolExecutor(2) as pool:
        ended = [pool.submit(worker.run, each, None) for each in scripts]
        assert [each.result(PATIENCE) for each in ended] == [0, 0]


def test_the_next_job_finds_the_imports_of_earlier_ones(worker, script, tmp_path):
    """Imports at the top of the script and those of a job, but no modules of a user."""
    text = """
import json, sys
there = [name in sys.modules for name in ("wave", "colorsys", "own_net")]
from pathlib import Path
Path(__file__).with_suffix(".json").write_text(json.dumps(there))
import wave
sys.path.append(str(Path(__file__).parent))
def later():
    import colorsys, own_net
later()
from flatlas.jobs.worker import list_imports
list_imports()
"""
    (tmp_path / "own_net.py").touch()
    for seen in ([True, False, False], [True, True, False]):
        assert worker.run(script(text), None) == 0
        assert left_by(tmp_path) == seen


def test_a_killed_job_ends_with_its_children(waiting, worker, script):
    ended, job, child = waiting
    os.kill(job, signal.SIGKILL)
    assert ended.result(PATIENCE) == -signal.SIGKILL
    assert is_gone(child)
    assert worker.run(script("", "next.py"), None) == 0, "the next job starts"


def test_a_killed_worker_ends_with_its_jobs(waiting, worker, script):
    ended, job, child = waiting
    worker.process.kill()
    assert ended.result(PATIENCE) == -signal.SIGKILL
    wait_for(lambda: is_gone(job))
    os.kill(child, signal.SIGKILL)
    assert worker.run(script("", "next.py"), None) is None, "the next job has to start cold"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_snakemake_ends_with_worker_jobs_and_their_children(script, how, tmp_path):
    process = client(CLIENT, script(WAITING))
    worker = int(process.stdout.readline())
    job, child = left_by(tmp_path)
    process.send_signal(how)
    process.communicate()
    wait_for(lambda: is_gone(worker, job, child))


def test_a_worker_that_imports_ends_with_snakemake(script, tmp_path, monkeypatch):
    """A worker reads no requests while it imports."""
    script(
        f"from pathlib import Path\nPath({str(tmp_path)!r}, 'begun').touch()\n"
        "import time\nfor _ in range(60_000): time.sleep(0.01)\n",
        "slow_import.py",
    )
    monkeypatch.setenv("PYTHONPATH", f"{WORKFLOW}:{tmp_path}")
    process = client(CLIENT, script("import slow_import"))
    worker = int(process.stdout.readline())
    wait_for((tmp_path / "begun").exists)
    process.kill()
    process.communicate()
    wait_for(lambda: is_gone(worker))


def test_ctrl_c_reaches_jobs_and_starts_no_more(script, tmp_path):
    caught = f"try:\n{indent(WAITING, '    ')}except KeyboardInterrupt:\n    sys.exit(7)\n"
    scripts = [script(caught), script("", "next.py")]
    process = client(INTERRUPTED, *scripts, start_new_session=True)
    left_by(tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=PATIENCE)
    assert said.split() == ["7", str(-signal.SIGINT)]


def test_a_worker_that_is_ended_leaves_no_process(worker, script):
    worker.run(script(""), None)
    pid = worker.process.pid
    assert pid in children()
    worker.end()
    assert pid not in children()


@pytest.mark.parametrize("missing", ["socket.socketpair", "os.pidfd_open", "subprocess.Popen"])
def test_no_worker_starts_if_the_system_lacks_what_it_needs(monkeypatch, missing):
    def refused(*_, **__):
        raise OSError("not here")

    monkeypatch.setattr(missing, refused)
    assert start_worker() is None


PLAIN = {
    "threads": 1,
    "resources": {"gpu": 0, "mem_mb": 100},
    **dict.fromkeys(("conda_env", "container_img", "env_modules", "shadow_dir", "bench_record")),
}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"threads": 2},
        {"resources": {"ranks": 2}},
        {"conda_env": "/envs/one"},
        {"container_img": "one.sif"},
        {"env_modules": ["python"]},
        {"shadow_dir": "/shadow"},
        {"bench_record": object()},
    ],
)
def test_a_job_that_needs_more_than_one_local_thread_starts_cold(change):
    assert fits(SimpleNamespace(**PLAIN | change)) is (not change)


@pytest.mark.parametrize("resources", [{"gpu": 1}, {"gres": "gpu:1"}])
@pytest.mark.parametrize("device", ["nvidia0", "nvidiactl", "dxg", "kfd", "null"])
def test_a_job_that_requests_a_gpu_starts_cold_where_there_may_be_one(
    monkeypatch, tmp_path, device, resources
):
    (tmp_path / device).touch()
    monkeypatch.setattr(warm_start, "DEVICES", tmp_path)
    assert fits(SimpleNamespace(**PLAIN | {"resources": resources})) is (device == "null")
