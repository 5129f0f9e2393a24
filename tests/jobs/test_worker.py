"""Jobs forked from a worker: as if started cold, and gone when they, it or Snakemake is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from flatlas.jobs.warm_start import fits, start_worker
from flatlas.jobs.worker import children
from flatlas.plan.requests import THREAD_VARIABLES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a worker needs Linux")
WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
PATIENCE = 20.0

# Leaves a child that outlives it, writes both numbers, and waits.
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
    """The library, where the worker finds it, too."""
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
    """A job that waits, with a child: what it will end as, its number, and that of its child."""
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(worker.run, script(WAITING), None)
        job, child = numbers(tmp_path)
        yield ended, job, child


def numbers(folder):
    wait_until(lambda: (folder / "script.json").exists())
    return json.loads((folder / "script.json").read_text())


def wait_until(true):
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def is_gone(pid):
    """A process that has ended and waits for its parent to look counts as gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_script_sees_what_it_sees_when_started_cold(worker, script, tmp_path):
    path = script(SEEN)
    temporary = str(tmp_path)
    assert worker.run(path, temporary) == 0
    forked = json.loads((tmp_path / "script.json").read_text())
    one_thread = dict.fromkeys(THREAD_VARIABLES, "1")
    folders = dict.fromkeys(("TMPDIR", "TMP", "TEMPDIR", "TEMP"), temporary)
    subprocess.run([sys.executable, path], env={**os.environ, **one_thread, **folders}, check=True)
    cold = json.loads((tmp_path / "script.json").read_text())
    # The connection to Snakemake and the list of imports.
    assert forked.pop("open") == cold.pop("open") + 2
    assert forked == cold


@pytest.mark.parametrize(
    ("text", "exit_code"),
    [
        ("", 0),
        ("raise SystemExit(3)", 3),
        ("1 / 0", 1),
        ("import no_such_module", 1),
        ("def", 1),
        ("import os; os._exit(4)", 4),
        ("import os; os.kill(os.getpid(), 9)", -9),
    ],
)
def test_it_ends_with_the_exit_code_of_the_script(worker, script, text, exit_code):
    assert worker.run(script(text), None) == exit_code
    assert worker.run(script(""), None) == 0, "the next job starts"


def test_what_a_script_prints_comes_where_snakemake_prints(script):
    text = "import sys; print('out'); print('err', file=sys.stderr); 1 / 0"
    client = [sys.executable, "-c", CLIENT, script(text)]
    done = subprocess.run(client, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.splitlines()[1:] == ["out"]
    assert done.stderr.startswith("err\nTraceback")
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_jobs_run_side_by_side(worker, script, tmp_path):
    """Each of two waits for the other's file."""
    text = """
import sys, time
from pathlib import Path
mine, other = (Path(__file__).with_name(name) for name in {})
mine.touch()
while not other.exists():
    time.sleep(0.005)
"""
    pairs = [("a", "b"), ("b", "a")]
    scripts = [script(text.format(pair), f"{pair[0]}.py") for pair in pairs]
    with ThreadPoolExecutor(2) as pool:
        ended = [pool.submit(worker.run, each, None) for each in scripts]
        assert [each.result(PATIENCE) for each in ended] == [0, 0]


def test_imports_are_there_for_the_next_job(worker, script, tmp_path):
    """Those at the top of the script, and those that a job had to make; never a user's own."""
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
    seen = []
    for _ in range(2):
        assert worker.run(script(text), None) == 0
        seen.append(json.loads((tmp_path / "script.json").read_text()))
    assert seen == [[True, False, False], [True, True, False]]


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
    wait_until(lambda: is_gone(job))
    os.kill(child, signal.SIGKILL)
    assert worker.run(script("", "next.py"), None) is None, "the next job has to start cold"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_snakemake_ends_with_worker_jobs_and_their_children(script, tmp_path, how):
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, script(WAITING)], stdout=subprocess.PIPE, text=True
    )
    worker = int(client.stdout.readline())
    job, child = numbers(tmp_path)
    client.send_signal(how)
    client.communicate()
    wait_until(lambda: all(is_gone(pid) for pid in (worker, job, child)))


def test_a_worker_that_imports_ends_with_snakemake(script, tmp_path):
    """It does not look at requests then."""
    (tmp_path / "slow_import.py").write_text(
        f"from pathlib import Path\nPath({str(tmp_path)!r}, 'begun').touch()\n"
        "import time\nfor _ in range(60_000): time.sleep(0.01)\n"
    )
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, script("import slow_import")],
        env={**os.environ, "PYTHONPATH": f"{WORKFLOW}:{tmp_path}"},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    worker = int(client.stdout.readline())
    wait_until((tmp_path / "begun").exists)
    client.kill()
    client.communicate()
    wait_until(lambda: is_gone(worker))


def test_ctrl_c_reaches_jobs_and_starts_no_more(script, tmp_path):
    caught = "try:\n    time.sleep(600)\nexcept KeyboardInterrupt:\n    sys.exit(7)\n"
    client = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED,
         script(WAITING.replace("time.sleep(600)\n", caught)), script("", "next.py")],
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    numbers(tmp_path)
    os.killpg(client.pid, signal.SIGINT)
    said, _ = client.communicate(timeout=PATIENCE)
    assert said.split() == ["7", str(-signal.SIGINT)]


def test_a_worker_that_is_ended_leaves_no_process(worker, script):
    worker.run(script(""), None)
    pid = worker.process.pid
    assert pid in children()
    worker.end()
    assert pid not in children()


@pytest.mark.parametrize("missing", ["socket.socketpair", "os.pidfd_open", "subprocess.Popen"])
def test_where_no_worker_can_be_had_there_is_none(monkeypatch, missing):
    def refused(*_, **__):
        raise OSError("not here")

    monkeypatch.setattr(missing, refused)
    assert start_worker() is None


COLD = {
    "threads": {"threads": 2},
    "gpu": {"resources": {"gpu": 1}},
    "ranks": {"resources": {"ranks": 2}},
    "gpu by gres": {"resources": {"gres": "gpu:1"}},
    "conda": {"conda_env": "/envs/one"},
    "container": {"container_img": "one.sif"},
    "modules": {"env_modules": ["python"]},
    "shadow": {"shadow_dir": "/shadow"},
    "benchmark": {"bench_record": object()},
}


@pytest.mark.parametrize("change", [{}, *COLD.values()], ids=["plain", *COLD])
def test_a_job_that_needs_more_than_one_thread_here_starts_cold(change):
    plain = {
        "threads": 1, "resources": {"gpu": 0, "mem_mb": 100}, "conda_env": None,
        "container_img": None, "env_modules": None, "shadow_dir": None, "bench_record": None,
    }  # fmt: skip
    assert fits(SimpleNamespace(**plain | change)) is (not change)
