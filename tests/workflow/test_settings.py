"""Mistakes in --config and --configfile, which Snakemake reads before the Snakefile."""

FILES = {
    "broken.yaml": (
        "preset: tiny\nstudies: {duality: {\n",
        "broken.yaml is not valid YAML, line 3:",
    ),
    "missing.yaml": (None, "missing.yaml can't be read"),
    "twice.yaml": ("preset: tiny\npreset: laptop\n", "twice.yaml, line 2: the key 'preset'"),
    "circle.yaml": ("a: &a [[*a]]\n", "nested more than"),
}


def test_a_file_that_is_missing_or_no_configuration_is_named_with_its_line(tiny):
    for name, (text, expected) in FILES.items():
        if text is not None:
            (tiny / name).write_text(text)
        said = tiny.snakemake("duality_fig3", "--configfile", name, fails=True)
        assert expected in said
        assert "Traceback" not in said
        assert not (tiny / "results").exists()


def test_a_target_among_settings_is_named(tiny):
    said = tiny.snakemake("--config", "preset=tiny", "duality_fig3", fails=True)
    assert "snakemake duality_fig3 --config" in said
    assert "Traceback" not in said


def test_an_empty_value_is_named_and_null_unsets_a_key(tiny):
    for empty in ("studies.duality=", "preset=", "studies.duality.realizations= "):
        said = tiny.snakemake("-n", "--config", empty, fails=True)
        assert f"'{empty.partition('=')[0]}' has no value" in said
        # Neither a traceback nor a place in our code.
        assert 'File "' not in said
    tiny.set_study("runs", "base", "stop", "loss_below", value=-1)
    tiny.snakemake("-n", fails=True)
    assert tiny.would_run("--config", "studies.duality.runs.base.stop.loss_below=null")["train"]


def test_dotted_keys_mean_the_same_as_mappings(tiny):
    """Jobs get the same settings, although a cluster's job reads no profile."""
    dotted = ("studies.duality.realizations=1", "studies.duality.runs.base.batch=10")
    mapping = "studies={duality: {realizations: 1, runs: {base: {batch: 10}}}}"
    target = "results/tiny/duality/fig3.csv"
    tiny.snakemake(target, "--until", "train", "--config", *dotted)
    assert "train" not in tiny.would_run(target, "--config", mapping)
    mistyped = tiny.snakemake("-n", "--config", "studies.duality.realisations=1", fails=True)
    assert "studies.duality.realisations is not a key" in mistyped
