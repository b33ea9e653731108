"""Build the extension with a profile of itself: an instrumented one runs scenarios, then it is made again.

The compiler lays out and inlines code by how often it ran; results stay the same to the byte. `make pgo` puts
the extension in its place. A wheel is built with the same profile:
`RUSTFLAGS=-Cprofile-use=$PWD/target/pgo/fullpipe.profdata maturin build --release`.
Needs `rustup component add llvm-tools`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "_native.abi3.so"
LONG_QUEUE = "topology.bottleneck.queue.packets=5000"

# Scenarios of the package with what is changed in them: algorithms, queues, many flows, samples, web pages.
TRAINING: tuple[tuple[str, ...], ...] = (
    *(
        ("kato2025", LONG_QUEUE, f"flows.0.cca={cca}", "duration=10s")
        for cca in ("cubic", "bbr1", "bbr3", "reno")
    ),
    ("kato2025", "duration=10s"),
    (
        "kato2025",
        LONG_QUEUE,
        "flows.0.cca=cubic",
        "flows.0.count=500",
        "flows.0.start_jitter=1s",
        "duration=10s",
    ),
    *(
        ("kato2025", "flows.0.cca=cubic", f'topology.bottleneck.queue={{kind="{kind}"}}', "duration=10s")
        for kind in ("codel", "fq_codel", "cake")
    ),
    ("kato2025", LONG_QUEUE, "flows.0.cca=cubic", "record.interval=10ms", "duration=10s"),
    ("web-1000", "flows.0.count=200", "duration=20s", "warmup=0s"),
)


def host() -> str:
    """What programs are made for. Where it is named, those that run while building are not instrumented."""
    told = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return next(line.removeprefix("host: ") for line in told.splitlines() if line.startswith("host: "))


def merger() -> Path:
    """The `llvm-profdata` of the compiler: only its own reads what it writes."""
    sysroot = subprocess.run(
        ["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True
    ).stdout
    found = Path(sysroot.strip()) / "lib/rustlib" / host() / "bin/llvm-profdata"
    if not found.exists():
        sys.exit("pgo: no llvm-profdata that fits the compiler; rustup component add llvm-tools")
    return found


def built(target: Path, flags: str) -> Path:
    """Build the extension with flags of the compiler; the file."""
    command = ["cargo", "build", "--release", "--quiet", "--package", "fullpipe-python", "--target", host()]
    subprocess.run(
        [*command, "--target-dir", str(target)], cwd=ROOT, check=True, env=os.environ | {"RUSTFLAGS": flags}
    )
    names = {"linux": "lib_native.so", "darwin": "lib_native.dylib"}
    return target / host() / "release" / names[sys.platform]


def packaged(library: Path, package: Path) -> Path:
    """A copy of the package with this extension."""
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "python", package, ignore=shutil.ignore_patterns("_native*.so", "__pycache__"))
    shutil.copy(library, package / "fullpipe" / NAME)
    return package


def train(package: Path) -> None:
    """Run all scenarios of the training."""
    for name, *values in TRAINING:
        chosen = [part for value in values for part in ("--set", value)]
        command = [sys.executable, "-m", "fullpipe", "run", name, *chosen, "--no-store", "--json"]
        paths = os.pathsep.join([str(package), str(ROOT)])
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": paths})


def main() -> None:
    """Build, train, merge, build again."""
    folder, tool = ROOT / "target/pgo", merger()
    raw, profile = folder / "raw", folder / "fullpipe.profdata"
    shutil.rmtree(raw, ignore_errors=True)
    counting = built(folder / "made", f"-Cprofile-generate={raw}")
    train(packaged(counting, folder / "package"))
    subprocess.run([tool, "merge", "--output", profile, raw], check=True)
    library = built(folder / "used", f"-Cprofile-use={profile}")
    place = ROOT / "python/fullpipe" / NAME
    shutil.copy(library, place.with_suffix(".new"))
    place.with_suffix(".new").replace(place)  # a process that uses the one before goes on with it
    print(f"pgo: {place.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
