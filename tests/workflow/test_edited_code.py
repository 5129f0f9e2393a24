"""No result is made from code that changed after Snakemake took its fingerprint."""

from waiting import wait_for

FIGURE = "workflow/flatlas/studies/duality/strategies.py"


def test_a_job_whose_code_was_edited_after_the_start_is_refused(tiny, finished):
    before = (tiny / FIGURE).read_text()
    process = tiny.start("duality_fig3")
    wait_for(lambda: [*tiny.root.glob("results/runs/*/provenance.json")], process)
    tiny.edit(FIGURE, "at the largest α", "at the smallest α")
    said, _ = process.communicate()
    assert process.returncode != 0
    assert f"duality_fig3 failed: {FIGURE} was edited after this command began" in said
    assert not tiny.contents("tiny/**/*")

    # Undone: nothing may be left of the edited code.
    (tiny / FIGURE).write_text(before)
    tiny.snakemake("duality_fig3")
    claims = "tiny/duality/fig3.claims.csv"
    assert tiny.contents(claims) == finished.contents(claims)


def test_a_comment_may_be_edited_while_jobs_run(tiny):
    process = tiny.start("duality_fig3")
    wait_for(lambda: [*tiny.root.glob("results/runs/*/provenance.json")], process)
    (tiny / FIGURE).write_text((tiny / FIGURE).read_text() + "# A comment.\n")
    said, _ = process.communicate()
    assert process.returncode == 0, said


def test_a_cluster_s_job_that_the_configuration_no_longer_has_is_refused(tiny):
    """Each job on a cluster reads the configuration again; it may have been edited meanwhile."""
    run = "digits-gone-0123456789ab"
    said = tiny.snakemake(
        "--mode", "subprocess", "--target-jobs", f"train:run={run}", "--allowed-rules", "train",
        fails=True,
    )  # fmt: skip
    assert f"has no job {run} any more" in said
    assert not tiny.contents("runs/**/*")
