"""Scripts of figures, pages and costs start without importing torch."""

SCRIPTS = ("figure", "dag", "scorecard", "report", "costs", "compare", "clean")
# Each script stops where it would read its job, after all its imports.
CODE = """
import runpy, sys
for script in sys.argv[1:]:
    sys.argv = [script]
    try:
        runpy.run_path(f"scripts/{script}.py", run_name="__main__")
    except SystemExit as end:
        print(end)
print("loaded:", *{"torch", "torchvision", "sklearn", "gpytorch"} & set(sys.modules))
"""


def test_scripts_of_pages_and_pictures_begin_without_torch(python):
    *ends, loaded = python(CODE, *SCRIPTS).splitlines()
    assert "\n".join(ends).count("runs inside Snakemake") == len(SCRIPTS)
    assert loaded.strip() == "loaded:"
