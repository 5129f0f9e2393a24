"""How configuration files and `--config` are read, and which of them are refused."""

from pathlib import Path

import pytest
import yaml

from flatlas.errors import FlatlasError
from flatlas.plan.command_line import nested
from flatlas.plan.documents import read_yaml
from flatlas.plan.reading import where_set, with_places
from flatlas.plan.targets import check_config
from flatlas.plan.trees import USER, check_tree

# Anchors that contain each other: ten lists of ten lists of ten …
BOMB = "a0: &a0 [x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)
FILES = {
    "syntax": (b"preset: demo\n  bad: [1\n", ", line 2:"),
    "a Python tag": (b"a: 1\nb: !!python/object/apply:os.system [echo]\n", ", line 2:"),
    "another encoding": (b"a: 1\npreset: d\xe9mo\n", ", line 2:"),
    "UTF-16": ("preset: demo".encode("utf-16"), ", line 1:"),
    "two documents": (b"a: 1\n---\nb: 2\n", ", line 2:"),
    "a control character": (b"a: \x01\n", "not valid YAML"),
    "empty": (b"", "is empty"),
    "a comment": (b"# nothing\n", "is empty"),
    "a list": (b"- a\n- b\n", "holds a list"),
    "a text": (b"preset", "holds a str"),
    "deep": (b"a: " + b"[" * 5000 + b"]" * 5000, "nested"),
    "nested": (b"a: " + b"[" * 200 + b"]" * 200, "nested"),
    "many digits": (b"a: " + b"1" * 5000, "digits"),
    "many digits, hexadecimal": (b"a: 0x" + b"f" * 5000, "digits"),
    "an octal number": (b"a: {b: [010]}\n", ", line 1: 010 is a number to another base"),
    "a number to the base 60": (b"a: 1:30\n", ", line 1: 1:30 is a number to another base"),
    "an octal key": (b"a: 1\nb: {010: 2}\n", ", line 2: 010 is a number"),
    "a bomb": (BOMB.encode(), "more than 300,000 values"),
    "a circle": (b"a: &a [*a]\n", "nested"),
    "a number as a key": (b"a: {1: 2}\n", "has the key '1'"),
    "no key": (b"a: {'': 2}\n", "has the key ''"),
    "a key of two lines": (b'a: {"b\\nc": 2}\n', "has the key"),
    "a key twice": (b"a: 1\nb: 2\n\na: 3\n", ", line 4: the key 'a' is in line 1 already"),
    "an inner key twice": (
        b"a:\n  b: {c: 5}\n  d: {}\n  b: {c: 6}\n",
        ", line 4: the key 'b' is in line 2 already",
    ),
    "a key twice in a line": (
        b"a:\n- b: 1\n- {c: 1, d: 2, c: 3}\n",
        ", line 3: the key 'c' is in line 3 already",
    ),
    "a date": (b"a: 2024-13-45\n", "not valid YAML"),
}


@pytest.mark.parametrize("what", FILES)
def test_a_file_that_is_no_configuration_is_refused_with_its_line(tmp_path, what):
    content, said = FILES[what]
    file = tmp_path / "mine.yaml"
    file.write_bytes(content)
    with pytest.raises(FlatlasError) as raised:
        read_yaml(file)
    assert str(raised.value).startswith(str(file))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "text", ["0", "-0.5", "00.5", "1e-3", "10", "'010'", "1_000", "v1:2", "08"]
)
def test_decimal_numbers_and_texts_are_read(tmp_path, text):
    file = tmp_path / "mine.yaml"
    file.write_text(f"a: {text}\n")
    assert read_yaml(file) == yaml.safe_load(file.read_text())


def test_the_same_key_in_two_mappings_is_allowed(tmp_path):
    """In two mappings, under an anchor, and over a merged one."""
    file = tmp_path / "once.yaml"
    file.write_text(
        "few: &few {grid: {batch: [5]}, run: base}\n"
        "more: {<<: *few, run: other}\n"
        "most: &most {<<: *few, run: third}\n"
        "all: {<<: *most, run: fourth}\n"
        "same: *few\n"
    )
    runs = {name: entry["run"] for name, entry in read_yaml(file).items()}
    assert [*runs] == ["few", "more", "most", "all", "same"]
    assert [*runs.values()] == ["base", "other", "third", "fourth", "base"]


def test_what_snakemake_has_read_is_checked_before_it_is_used():
    bomb = ["x"]
    for _ in range(12):
        bomb = [bomb] * 10
    with pytest.raises(FlatlasError, match="more than 300,000 values"):
        check_tree({"studies": bomb}, "config.yaml")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--config", "preset=demo", "-n", "--config", "a=x"], "--config is given twice"),
        (["--config", "preset=demo", "-n", "-C", "a=x"], "--config is given twice"),
        (["--configfile", "a", "-n", "--configfile", "b"], "--configfile is given twice"),
        (["--configfile", "a", "-n", "--configfiles=b", "c"], "--configfile is given twice"),
    ],
)
def test_an_option_given_twice_is_refused(words, said):
    with pytest.raises(FlatlasError, match=said):
        check_config(["snakemake", "all", *words, "-n"])


@pytest.mark.parametrize(
    "words",
    [
        ["all", "--config", "preset=demo", "data_root=x"],
        ["all", "--configfile", "a=b.yaml", "a=c.yaml"],
        ["--config", "preset=demo", "--set-threads", "train=2", "--set-resources", "train:x=2"],
        ["-c1", "--cores", "2", "--config", "preset=demo"],
    ],
)
def test_options_given_once_are_accepted(words):
    check_config(["snakemake", *words])


@pytest.mark.parametrize(
    ("entries", "key"),
    [
        (["preset=demo", "data_root=x", "preset=demo"], "preset"),
        (["studies.a.batch=2", "studies.a.batch=3"], "studies.a.batch"),
        (["studies.a.batch=2", "studies={a: {runs: {}, batch: 5}}"], "studies.a.batch"),
        (["studies=null", "studies.a.batch=2"], "studies"),
        (["studies.a.batch=2", "studies.a=null"], "studies.a"),
        (
            [
                "studies.t.sweeps.b.grid.data.size=[2]",
                "studies={t: {sweeps: {b: {grid: {data.size: [3]}}}}}",
            ],
            "studies.t.sweeps.b.grid.data.size",
        ),
    ],
)
def test_a_key_set_twice_is_refused(entries, key):
    with pytest.raises(FlatlasError, match=f"--config sets '{key}' twice"):
        list(nested(entries))


def test_mappings_of_config_may_have_other_keys():
    given = ["studies={a: {}}", "studies={b: {batch: 2}}", "studies.b.lr=1", "preset=demo"]
    assert len(list(nested(given))) == len(given)


def test_a_cluster_job_gets_settings_that_it_can_read():
    """Snakemake passes on the entries as the profile's function leaves them."""
    assert [*nested(["preset=demo", "a_b.c.d={x: [1, 2]}"])] == [
        "preset=demo",
        'a_b={"c": {"d": {"x": ["1", "2"]}}}',
    ]


def test_the_dotted_keys_of_a_grid_stay_whole():
    assert [*nested(["studies.duality.sweeps.alpha.grid.optimizer.lr=[0.1, 1e-2]"])] == [
        'studies={"duality": {"sweeps": {"alpha": {"grid": {"optimizer.lr": ["0.1", "1e-2"]}}}}}'
    ]


def test_command_lines_of_other_programs_are_not_checked():
    check_config(["snakefmt", "--config", "a=1", "a=2"])


def test_a_setting_comes_from_the_last_file_with_its_value_or_from_the_command_line(tmp_path):
    files = {"one.yaml": "a: 1\nb: 1", "two.yaml": "{a: 2}", "config.yaml": "{a: 3, b: 3, c: 3}"}
    paths = [str(tmp_path / name) for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        Path(path).write_text(text)
    for key, value, said in (
        ("a", 2, paths[1]),
        ("b", 1, paths[0]),
        ("c", 3, paths[2]),
        ("c", 4, "--config"),
        ("d", 4, "--config"),
    ):
        assert where_set(key, {key: value}, paths) == said


def test_an_error_names_the_file_that_sets_each_key(tmp_path):
    files = {
        "one.yaml": "studies: {a: {runs: {r: {batch: 1}}}}",
        "two.yaml": "studies: {a: {runs: {r: {lr: 2}}}}",
        "config.yaml": "studies: {b: {batch: 3}}",
    }
    paths = [str(tmp_path / name) for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        Path(path).write_text(text)
    config = {
        "studies": {"a": {"runs": {"r": {"batch": 1, "lr": "5"}}}, "b": {"batch": 3, "seed": 0}}
    }
    keys = ("studies.a.runs.r.batch", "studies.a.runs.r.lr", "studies.b.size", "studies.b.seed")
    message = "\n".join(f"{USER}: {key} is wrong." for key in keys)
    places = (paths[0], "--config", paths[2], "--config")
    expected = [f"{place}: {key} is wrong." for place, key in zip(places, keys, strict=True)]
    assert with_places(message, config, paths).splitlines() == expected


@pytest.mark.parametrize(
    ("key", "sweeps"),
    [
        ("studies.a.sweeps.s", {"s": None}),
        ("studies.a.sweeps.s.grid", "x"),
        ("studies.a.sweeps.s.grid.batch", {"s": {"grid": {"optimizer.lr": [0.1], "batch": [5]}}}),
    ],
)
def test_what_config_puts_in_place_of_a_mapping_or_into_it_is_set_by_config(tmp_path, key, sweeps):
    file = tmp_path / "mine.yaml"
    file.write_text("studies: {a: {sweeps: {s: {grid: {optimizer.lr: [0.1]}}}}}")
    assert where_set(key, {"studies": {"a": {"sweeps": sweeps}}}, [file]) == "--config"
    same = {"studies": {"a": {"sweeps": {"s": {"grid": {"optimizer.lr": [0.1]}}}}}}
    assert where_set("studies.a.sweeps.s.grid.optimizer.lr", same, [file]) == str(file)


def test_words_of_an_error_are_no_keys(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("a: 1")
    message = f"{USER}: the top level has the key '1'."
    assert with_places(message, {"a": 1}, [file]) == message
