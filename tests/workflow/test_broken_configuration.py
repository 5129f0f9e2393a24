"""A broken configuration, through Snakemake: a sentence, no job, an exit code that is not 0."""


def test_a_start_in_a_folder_without_config_says_where_to_start(tiny, tmp_path):
    start = ("-s", str(tiny / "Snakefile"), "-n", "duality_fig3")
    said = tiny.snakemake(*start, "--directory", str(tmp_path), fails=True)
    assert f"There is no config/config.yaml in {tmp_path}. Start Snakemake in" in said
    assert "in reading" not in said
    assert "train" in tiny.snakemake(*start, "--directory", str(tiny.root))


def test_results_that_are_a_file_or_link_to_a_missing_folder(tiny, tmp_path):
    (tiny / "results").write_text("mine")
    assert "results is a file, but must be" in tiny.snakemake("-n", "duality_fig3", fails=True)
    (tiny / "results").unlink()
    (tiny / "results").symlink_to(tmp_path / "disk")
    said = tiny.snakemake("-n", "duality_fig3", fails=True)
    assert f"results is a link to {tmp_path / 'disk'}, which is no folder. Mount its disk," in said
    (tmp_path / "disk").mkdir()
    assert tiny.would_run("duality_fig3")["train"]


def test_a_checkout_with_braces_in_its_path_is_refused(tiny, tmp_path):
    braces = tiny.copy(tmp_path / "a {b}")
    said = braces.snakemake("-n", "duality_fig3", fails=True)
    assert f"{braces.root} has braces" in said
    assert "Traceback" not in said


def test_a_training_that_this_machine_has_no_memory_for(tiny):
    tiny.set_study("runs", "base", "net", "hidden", value=[30, 30, 150_000, 150_000])
    said = tiny.snakemake("duality_fig3", fails=True)
    assert "digits-20pc-dense30x30x150000x150000-" in said
    assert "MB of memory, but this machine has " in said
    assert "Traceback" not in said
    assert not (tiny / "results").exists()
    # A dry run plans it: the jobs may run elsewhere.
    assert tiny.would_run("duality_fig3")["train"]
