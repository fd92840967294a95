#!/usr/bin/env python3
"""Checks that every file of the engine includes only the layers that its own layer may include, and that no two headers
define a class of one name: the linker would take the one's inline functions for the other's.

usage: layers.py ROOT      (the folder that holds engine/)

The table is the architecture: a row a layer, and the layers whose headers it may name. Public headers stand on their own.
"""
import pathlib
import re
import sys

# Lowest first: a layer may include the layers that its row names.
PLAN = ["base", "record", "dependencies", "lowering", "planner", "memory", "plan"]
RUNTIME = PLAN + ["validate", "backend", "profile", "trace", "compile"]
MAY_INCLUDE = {
    "trace": [],
    "base": [],
    "record": ["base"],
    "dependencies": ["base", "record"],
    "validate": ["base", "record", "dependencies"],
    "lowering": ["base", "record", "dependencies"],
    "planner": ["base"],
    "memory": ["base", "record", "dependencies", "lowering", "planner"],
    "plan": ["base", "record", "dependencies", "lowering", "planner", "memory"],
    "backend": PLAN,
    "backend/host": PLAN + ["backend"],
    "backend/cuda": PLAN + ["backend", "profile/activity"],
    "profile/activity": ["base"],
    "profile": PLAN + ["backend", "trace"],
    "compile": PLAN + ["validate", "backend", "profile", "trace"],
    "runtime/core": RUNTIME,
    "runtime/queue": RUNTIME + ["runtime/core"],
    "runtime/memory": RUNTIME + ["runtime/core", "runtime/queue"],
    "runtime/graph": RUNTIME + ["runtime/core", "runtime/queue", "runtime/memory"],
    "tune": RUNTIME + ["runtime/core", "runtime/queue", "runtime/memory", "runtime/graph"],
    "race": RUNTIME + ["runtime/core", "runtime/queue", "runtime/memory", "runtime/graph"],
    "profile/injection": ["base", "profile/activity", "profile", "trace"],
    "ops": [],
    "capture": RUNTIME + ["runtime/core", "runtime/queue", "runtime/memory", "runtime/graph"],
    "interop": RUNTIME + ["backend/cuda", "runtime/core", "runtime/queue", "runtime/memory", "runtime/graph", "capture"],
}
# Native headers: the pattern, and the layers that may name it.
NATIVE = [
    (re.compile(r"^(cuda|cudart|cu[A-Z]|driver_types|vector_types|crt/)"), ("backend/cuda", "ops", "profile/activity", "profile/injection")),
    (re.compile(r"^cupti"), ("profile/activity", "profile/injection")),
    (re.compile(r"^(cublas|cufft|cub/|cblas|kiss_fft)"), ("ops",)),
    (re.compile(r"^(nvtx3/|generated_nvtx)"), ("profile", "profile/injection")),
    (re.compile(r"^(tbb|oneapi/tbb|boost)/"), ("backend/host",)),
    (re.compile(r"^asio(\.hpp|/)"), ("trace",)),
]
# Public headers that are allowed a native one.
INTEROP_HEADERS = {"cuda_interop.hpp"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(path: pathlib.PurePath) -> str:
    """The layer of a path below engine/."""
    folder = path.parent.as_posix()
    while folder not in (".", ""):
        if folder in MAY_INCLUDE or folder == "include/reprise":
            return folder
        folder = pathlib.PurePath(folder).parent.as_posix()
    return ""


def complaints(engine: pathlib.Path, path: pathlib.Path):
    relative = path.relative_to(engine)
    layer = layer_of(relative)
    if not layer:
        yield f"{relative}: in no layer that this table knows"
        return
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, name = match.group(1) == '"', match.group(2)
        where = f"engine/{relative}:{number}: {line.strip()}"
        for pattern, owners in NATIVE:
            if pattern.match(name) and layer not in owners and path.name not in INTEROP_HEADERS:
                yield f"{where}: only {' and '.join(owners)} may include this"
        if not quoted or name.endswith("_generated.h"):
            continue
        if layer == "include/reprise":
            yield f"{where}: a public header includes public headers, as <reprise/...>"
            continue
        target = layer_of(pathlib.PurePath(name))
        if not (engine / name).is_file():
            yield f"{where}: there is no engine/{name}; write paths from engine/"
        elif target != layer and target not in MAY_INCLUDE[layer]:
            yield f"{where}: {layer} may not include {target}"


NAMESPACE = re.compile(r"^namespace ([\w:]+) \{")
DEFINITION = re.compile(r"^(?:class|struct|enum class) (?:\[\[\w+\]\] )?([\w:]+)[^;]*\{")


def named_twice(engine: pathlib.Path):
    first = {}
    for path in sorted(engine.rglob("*.hpp")):
        namespace = ""
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if match := NAMESPACE.match(line):
                namespace = match.group(1)
            elif match := DEFINITION.match(line):
                name = f"{namespace}::{match.group(1)}"
                where = f"engine/{path.relative_to(engine)}:{number}"
                if name in first:
                    yield f"{where}: {name} is what {first[name]} defines too"
                first.setdefault(name, where)


def main() -> int:
    engine = pathlib.Path(sys.argv[1]) / "engine"
    files = sorted(p for p in engine.rglob("*") if p.suffix in (".hpp", ".cpp"))
    if not files:
        print(f"no source files in {engine}")
        return 1
    found = [text for path in files for text in complaints(engine, path)] + list(named_twice(engine))
    print("\n".join(found) or f"{len(files)} files, every include within its layer's rights")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
