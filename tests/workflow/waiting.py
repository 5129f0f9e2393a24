"""Wait for what another process does."""

import time

# Seconds after which nothing more is waited for.
PATIENCE = 600.0


def wait_for(true, process=None):
    """What `true` returns, once it holds; a process that is given has to live until then."""
    deadline = time.monotonic() + PATIENCE
    while not (found := true()):
        assert process is None or process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, f"nothing of it in {PATIENCE} s"
        time.sleep(0.001)
    return found
