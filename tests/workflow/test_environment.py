"""What the Snakefile gives every job to know: where the library is, how to keep memory."""

import json


def test_a_job_has_the_library_and_keeps_its_memory(tiny):
    note = "import json, os; open('told.json', 'w').write(json.dumps(dict(os.environ)))"
    tiny.edit("workflow/scripts/source.py", r"\nwith Job", f"\n{note}\nwith Job")
    tiny.snakemake("--until", "source")
    told = json.loads((tiny / "told.json").read_text())
    assert told["PYTHONPATH"] == str(tiny / "workflow")
    # glibc takes no more than this for a threshold, and ignores what is larger.
    assert int(told["MALLOC_MMAP_THRESHOLD_"]) == 32 << 20
    assert int(told["MALLOC_TRIM_THRESHOLD_"]) > 8 << 30
