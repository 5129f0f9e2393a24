"""The plan that rules look up is kept, and resolved again if anything it depends on changes."""

import pytest
from small_configuration import PRESET, STUDY, USER, write

from flatlas.errors import FlatlasError
from flatlas.plan import answers as answering
from flatlas.plan import drawings, kept
from flatlas.plan.lookup import lookup, own_state


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The small configuration with its own cache, and figures that need no module."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "memory"))
    monkeypatch.setattr(answering, "check_drawings", lambda plan: None)
    write(tmp_path / "config" / "studies" / "flat.yaml", STUDY)
    write(tmp_path / "config" / "presets" / "small.yaml", PRESET)
    return tmp_path / "config"


@pytest.fixture
def resolved(monkeypatch):
    """How often a plan was resolved."""
    times, resolve = [], answering.resolve
    monkeypatch.setattr(answering, "resolve", lambda *given: times.append(1) or resolve(*given))
    return times


def test_a_kept_plan_equals_the_resolved_one(root, resolved):
    fresh = lookup(USER, root, [])
    assert lookup(USER, root, []) == fresh
    assert len(resolved) == 1
    assert {job.rule for job in fresh.jobs.values()} > {"train", "measure_duality", "flat_fig1"}
    # Snakemake would take a list for another value of a parameter.
    assert {type(pair) for pair in lookup(USER, root, []).picture["edges"]} == {tuple}


def test_a_changed_file_or_setting_is_resolved_again(root, resolved):
    lookup(USER, root, [])
    for file in ("studies/flat.yaml", "presets/small.yaml"):
        with (root / file).open("a") as config:
            config.write("# A comment.\n")
        lookup(USER, root, [])
    assert lookup({**USER, "data_root": "elsewhere"}, root, []).data_root == "elsewhere"
    assert len(resolved) == 4


def test_a_mistake_is_reported_each_time(root, tmp_path):
    lookup(USER, root, [])
    (tmp_path / "mine.yaml").write_text("preset: small\npreset: small\n")
    for user, files, said in [
        ({**USER, "datta_root": "elsewhere"}, [], "datta_root is not a key"),
        (USER, [str(tmp_path / "mine.yaml")], "line 2: the key 'preset' is in line 1 already"),
    ] * 2:
        with pytest.raises(FlatlasError, match=said):
            lookup(user, root, files)


def test_a_changed_or_deleted_file_of_an_own_net_is_noticed(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "my_plan_net.py"
    file.write_text("class Net: ...\n")
    net = {"family": "own", "module": "my_plan_net:Net"}
    user = {**USER, "studies": {"flat": {"runs": {"own": {**STUDY["runs"]["base"], "net": net}},
            "sweeps": {"own": {"run": "own", "points": [{"batch": 5}]}}}}}  # fmt: skip
    assert [*lookup(user, root, []).own_files] == [file.name]
    lookup(user, root, [])
    file.write_text("class Other: ...\n")
    with pytest.raises(FlatlasError, match=r"my_plan_net\.py defines no 'Net'"):
        lookup(user, root, [])
    file.unlink()
    with pytest.raises(FlatlasError, match=r"has no my_plan_net\.py"):
        lookup(user, root, [])


def test_weights_of_another_size_are_noticed(tmp_path):
    """The memory that jobs request depends on it."""
    file = tmp_path / "a.safetensors"
    file.write_bytes(bytes(10))
    before = own_state(file)
    file.write_bytes(bytes(20))
    assert own_state(file) != before


@pytest.fixture
def modules(study_folder, monkeypatch):
    """The folder of the study's modules, with one, `both`, for both of its figures."""
    monkeypatch.setattr(answering, "check_drawings", drawings.check_drawings)
    (study_folder / "both.py").write_text('FIGURES = {"fig1": One(), "fig2": Two()}')
    return study_folder


def test_a_function_removed_from_a_module_is_noticed(root, modules):
    """A kept plan is not used after a change of a module that it was checked with."""
    lookup(USER, root, [])
    (modules / "fig1.py").write_text("def draw(material): ...\n")
    with pytest.raises(FlatlasError, match="needs a function claims"):
        lookup(USER, root, [])


def test_a_figure_removed_from_the_dictionary_of_its_module_is_noticed(root, modules):
    shared = {"module": "both", "claims": False}
    user = {**USER, "studies": {"flat": {"figures": {"fig1": shared}}}}
    lookup(user, root, [])
    (modules / "both.py").write_text('FIGURES = {"fig2": Two()}')
    with pytest.raises(FlatlasError, match='needs an entry "fig1" in the dictionary FIGURES'):
        lookup(user, root, [])


def test_a_plan_is_not_kept_if_its_files_change_while_it_is_resolved(root, monkeypatch):
    preset, resolve = root / "presets/small.yaml", answering.resolve
    text = preset.read_text()

    def edited(*given):
        preset.write_text("title: Edited\n")
        return resolve(*given)

    with monkeypatch.context() as while_editing:
        while_editing.setattr(answering, "resolve", edited)
        assert lookup(USER, root, []).scale == "Edited"
    preset.write_text(text)
    assert lookup(USER, root, []).scale == "Small"


def test_only_the_last_plans_are_kept(root, tmp_path, monkeypatch):
    monkeypatch.setattr("flatlas.plan.lookup.KEPT_PLANS", 2)
    for place in ("one", "two", "three"):
        lookup({**USER, "data_root": place}, root, [])
    assert len([*(tmp_path / "memory" / "flatlas" / "plans").iterdir()]) == 2


def test_a_hash_depends_on_where_a_part_ends():
    assert kept.content_hash([b"ab", b"c"]) != kept.content_hash([b"a", b"bc"])
