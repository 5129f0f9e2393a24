"""The compiled form of `kernel.c`, built when it is first needed.

The shared object is in the user's cache. Its name is a hash of the source, the compiler and its
options, so several checkouts, compilers and kinds of processors can share one home folder, and a
checkout may be read-only. Without a compiler there is no kernel, and torch trains.
"""

import ctypes
import hashlib
import logging
import os
import platform
import shlex
import shutil
import subprocess
from ctypes import POINTER, Structure, c_double, c_int, c_int64, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch

from flatlas.errors import FlatlasError
from flatlas.plan.kept import cache_folder
from flatlas.store.atomic import replacing

logger = logging.getLogger("flatlas")

SOURCE = Path(__file__).with_name("kernel.c")
COMPILERS = ("cc", "gcc", "clang")
# The losses show numerical errors, so errno and traps are not needed. A product and its sum are
# rounded once.
OPTIONS = (
    "-O3", "-std=gnu11", "-fPIC", "-shared",
    "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast",
)  # fmt: skip
# Rows of weights are padded with zeros to a multiple of this many numbers.
PADDED = 8
RULES = (
    "gradient", "sgd", "momentum", "nesterov", "adam", "adamw", "rmsprop", "adagrad", "entropy_sgd"
)  # fmt: skip
# `squared` is β|w|² and β/2 |w|²: the gradient of both is a multiple of the weights.
PENALTIES = ("none", "squared", "unsquared")
SLOTS, NUMBERS = 2, 5


class Layer(Structure):
    """`layer` in kernel.c."""

    _fields_ = [
        *((name, c_int64) for name in ("inputs", "outputs", "bias", "moves", "offset")),
        ("kept", c_double),
    ]


class Net(Structure):
    """`net` in kernel.c."""

    _fields_ = [("layers", c_int64), ("layer", POINTER(Layer))]


class Images(Structure):
    """`samples` in kernel.c."""

    _fields_ = [(name, c_void_p) for name in ("starts", "entries", "image", "labels")]


class Descent(Structure):
    """`descent` in kernel.c."""

    _fields_ = [
        ("rule", c_int64),
        ("penalty", c_int64),
        ("lr", c_double),
        ("coefficient", c_double),
        ("numbers", c_double * NUMBERS),
        ("steps", c_int64),
        ("weights", c_void_p),
        ("slots", c_void_p * SLOTS),
        ("noisy", c_int64),
        ("seed", c_uint64),
        ("position", c_uint64),
    ]


@dataclass(frozen=True)
class Kernel:
    """The functions of kernel.c for one type of numbers; `name` says how they were compiled."""

    name: str
    dtype: torch.dtype
    library: ctypes.CDLL

    @property
    def entry(self) -> np.dtype:
        """The NumPy type of a list's entry: a unit and its value."""
        value = np.float32 if self.dtype == torch.float32 else np.float64
        return np.dtype([("unit", np.int32), ("value", value)], align=True)


@cache
def find_kernel(dtype: torch.dtype = torch.float32) -> Kernel | None:
    """The kernel, compiled if necessary; None if that fails, with a log line that says why.

    The pipeline trains in float32; tests compare the kernel with torch in float64.
    """
    processor, options = _processor()
    try:
        compiler = _compiler()
        if compiler is None:
            logger.info("dense nets are trained by torch: there is no C compiler")
            return None
        version = _output([*compiler, "--version"])
        bits = torch.finfo(dtype).bits
        path = _built(compiler, version, (*OPTIONS, *options, *_shared_constants(bits)))
        library = ctypes.CDLL(str(path))
    except (OSError, RuntimeError, ValueError, FlatlasError, subprocess.SubprocessError) as error:
        logger.warning("dense nets are trained by torch: kernel.c can't be compiled: %s", error)
        return None
    _declare(library)
    compiled_by = version.partition("\n")[0] or compiler[0]
    return Kernel(f"compiled by {compiled_by} for {processor}", dtype, library)


def _shared_constants(bits: int) -> list[str]:
    """The constants that kernel.c shares with this module, as compiler options."""
    constants = {
        "REAL": {32: "float", 64: "double"}[bits],
        "REAL_BITS": bits,
        "PADDED": PADDED,
        "RULES": ",".join(RULES).upper(),
        "PENALTIES": ",".join(PENALTIES).upper(),
        "SLOTS": SLOTS,
        "NUMBERS": NUMBERS,
        "LAYER_BYTES": ctypes.sizeof(Layer),
        "NET_BYTES": ctypes.sizeof(Net),
        "SAMPLES_BYTES": ctypes.sizeof(Images),
        "DESCENT_BYTES": ctypes.sizeof(Descent),
    }
    return [f"-D{name}={value}" for name, value in constants.items()]


def _declare(library: ctypes.CDLL) -> None:
    """Declare the arguments of the functions; arrays and structures are pointers."""
    pointer, number = c_void_p, c_int64
    library.descend.restype = library.evaluate.restype = c_int
    library.compress.restype = library.normal_numbers.restype = None
    library.descend.argtypes = (
        pointer, pointer, pointer, number, number, pointer, pointer, number, pointer
    )  # fmt: skip
    library.evaluate.argtypes = (pointer, pointer, number, pointer, pointer, pointer, pointer)
    library.compress.argtypes = (pointer, number, number, number, pointer, pointer)
    library.normal_numbers.argtypes = (c_uint64, c_uint64, number, pointer)


def _compiler() -> list[str] | None:
    """The command in $CC, or that of the first compiler found."""
    for command in (shlex.split(os.environ.get("CC", "")), *([name] for name in COMPILERS)):
        found = shutil.which(command[0]) if command else None
        if found:
            return [found, *command[1:]]
    return None


def _processor() -> tuple[str, tuple[str, ...]]:
    """The name of the instruction set, and the compiler's options for it.

    Processors with AVX-512 also use AVX2, and so give the same bytes.
    """
    if torch.backends.cpu.get_cpu_capability().startswith("AVX"):
        return "AVX2", ("-mavx2", "-mfma")
    return platform.machine(), ()


def _built(compiler: list[str], version: str, options: tuple[str, ...]) -> Path:
    """The shared object, from the cache or compiled now."""
    source = SOURCE.read_bytes()
    circumstances = "\0".join([*compiler, version, platform.machine(), *options]).encode()
    digest = hashlib.sha256(circumstances + b"\0" + source).hexdigest()[:24]
    path = _trusted_folder() / f"kernel-{digest}.so"
    if not path.exists():
        with replacing(path) as temporary:
            _output([*compiler, *options, str(SOURCE), "-o", str(temporary), "-lm"])
    return path


def _trusted_folder() -> Path:
    """The cache folder; an error if others may write to it, since its files are executed."""
    folder = cache_folder()
    status = folder.stat()
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise FlatlasError(
            f"other users can write to {folder}. Make it private: chmod 700 {folder}"
        )
    return folder


def _output(command: list[str]) -> str:
    done = subprocess.run(
        command, capture_output=True, errors="replace", stdin=subprocess.DEVNULL, timeout=120
    )
    if done.returncode:
        raise FlatlasError(f"{' '.join(command)} failed: {done.stderr.strip()[-500:]}")
    return done.stdout
