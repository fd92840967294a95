#!/usr/bin/env python3
"""Checks that every file of the engine and the viewer includes only the layers that its own layer may include,
and that class names are unique across headers: duplicate names would violate the one-definition rule.

usage: layers.py ROOT      (the folder that contains engine/ and viewer/)

The table defines the architecture: for each layer, the layers whose headers it may include. Public headers
include only public headers.
"""
import pathlib
import re
import sys

# Lowest layer first: a layer may include the layers that its row names.
PLAN = ["base", "ptx", "record", "dependencies", "lowering", "planner", "memory", "plan"]
RUNTIME = PLAN + ["validate", "backend", "profile", "trace", "compile"]
MAY_INCLUDE = {
    "base": [],
    "trace": ["base"],
    "record": ["base"],
    "dependencies": ["base", "record"],
    "validate": ["base", "record", "dependencies"],
    "lowering": ["base", "record", "dependencies"],
    "planner": ["base"],
    "memory": ["base", "record", "dependencies", "lowering", "planner"],
    "plan": ["base", "ptx", "record", "dependencies", "lowering", "planner", "memory"],
    "backend": PLAN,
    "backend/host": PLAN + ["backend"],
    "backend/cuda": PLAN + ["backend", "profile/activity"],
    "ptx": ["base"],
    "profile/activity": ["base"],
    "profile": PLAN + ["backend", "trace"],
    "compile": PLAN + ["validate", "backend", "trace"],
    "runtime/core": RUNTIME,
    "runtime/queue": RUNTIME + ["runtime/core"],
    "runtime/memory": RUNTIME + ["runtime/core", "runtime/queue"],
    "runtime/graph": RUNTIME + ["runtime/core", "runtime/queue", "runtime/memory"],
    "tune": RUNTIME + ["runtime/core", "runtime/queue", "runtime/memory", "runtime/graph"],
    "race": RUNTIME + ["runtime/core", "runtime/queue", "runtime/memory", "runtime/graph"],
    "inspect": RUNTIME + ["runtime/core", "runtime/queue", "runtime/memory", "runtime/graph"],
    "injection": ["base", "profile/activity", "profile", "trace"],
    "ops": [],
    "collectives": ["base", "record", "trace", "ops"],
    "collectives/mpi": ["base", "collectives"],
    "capture": RUNTIME + ["runtime/core", "runtime/queue", "runtime/memory", "runtime/graph"],
    "interop": RUNTIME + ["backend/cuda", "runtime/core", "runtime/queue", "runtime/memory", "runtime/graph", "capture"],
}
# Folders of the viewer, whose names differ from those of the engine's layers.
READER = ["base", "trace"]
VIEWER = {
    "layout": [],
    "export": READER,
    "faults": READER,
    "merge": READER,
    "model": READER + ["merge"],
    "panels": READER + ["layout", "model"],
    "application": READER + ["export", "merge", "model", "panels"],
    "window": READER + ["model", "panels", "application"],
    "serve": READER + ["model", "panels", "application"],
    "cli": READER + ["export", "faults", "merge", "model", "panels", "window", "serve", "include/reprise"],
}
MAY_INCLUDE |= VIEWER
# Native headers: a pattern and the layers that may include it.
NATIVE = [
    (re.compile(r"^(cuda|cudart|cu[A-Z]|driver_types|vector_types|crt/)"), ("backend/cuda", "ops", "collectives", "profile/activity", "injection")),
    (re.compile(r"^mpi[.]h$"), ("collectives/mpi",)),
    (re.compile(r"^cupti"), ("profile/activity", "injection")),
    (re.compile(r"^(cublas|cufft|cub/|cblas|kiss_fft)"), ("ops",)),
    (re.compile(r"^(nvtx3/|generated_nvtx)"), ("profile", "injection")),
    (re.compile(r"^(tbb|oneapi/tbb|boost/context)/"), ("backend/host",)),
    (re.compile(r"^boost/(asio|beast)"), ("serve",)),
    (re.compile(r"^asio(\.hpp|/)"), ("base", "trace")),
]
# Public headers that may include native ones.
INTEROP_HEADERS = {"cuda_interop.hpp"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(path: pathlib.PurePath) -> str:
    """The layer of a path below engine/ or viewer/."""
    folder = path.parent.as_posix()
    while folder not in (".", ""):
        if folder in MAY_INCLUDE or folder == "include/reprise":
            return folder
        folder = pathlib.PurePath(folder).parent.as_posix()
    return ""


def problems(trees: list[pathlib.Path], tree: pathlib.Path, path: pathlib.Path):
    relative = path.relative_to(tree)
    layer = layer_of(relative)
    if not layer:
        yield f"{tree.name}/{relative}: not in a known layer"
        return
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, name = match.group(1) == '"', match.group(2)
        where = f"{tree.name}/{relative}:{number}: {line.strip()}"
        for pattern, owners in NATIVE:
            if pattern.match(name) and layer not in owners and path.name not in INTEROP_HEADERS:
                yield f"{where}: only {' and '.join(owners)} may include this"
        if layer in VIEWER and name.startswith("reprise/") and "include/reprise" not in MAY_INCLUDE[layer]:
            yield f"{where}: {layer} may not include public headers"
        if not quoted or name.endswith(("_generated.h", "_generated.hpp")):
            continue
        if layer == "include/reprise":
            yield f"{where}: public headers include only public headers, as <reprise/...>"
            continue
        target = layer_of(pathlib.PurePath(name))
        if not any((root / name).is_file() for root in trees):
            yield f"{where}: {name} does not exist; paths are relative to {' or '.join(f'{root.name}/' for root in trees)}"
        elif target != layer and target not in MAY_INCLUDE[layer]:
            yield f"{where}: {layer} may not include {target}"


NAMESPACE = re.compile(r"^namespace ([\w:]+) \{")
DEFINITION = re.compile(r"^(?:class|struct|enum class) (?:\[\[.*?\]\] )?(?:REPRISE_API )?([\w:]+)[^;]*\{")


def duplicate_names(root: pathlib.Path, files: list[pathlib.Path]):
    first = {}
    for path in (file for file in files if file.suffix == ".hpp"):
        namespace = ""
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if match := NAMESPACE.match(line):
                namespace = match.group(1)
            elif match := DEFINITION.match(line):
                name = f"{namespace}::{match.group(1)}"
                where = f"{path.relative_to(root)}:{number}"
                if name in first:
                    yield f"{where}: {name} is also defined at {first[name]}"
                first.setdefault(name, where)


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    trees = [root / "engine", root / "viewer"]
    files = {tree: sorted(p for p in tree.rglob("*") if p.suffix in (".hpp", ".cpp")) for tree in trees}
    if not all(files.values()):
        print(f"no source files in one of {', '.join(map(str, trees))}")
        return 1
    found = [text for tree in trees for path in files[tree] for text in problems(trees, tree, path)]
    every = [path for tree in trees for path in files[tree]]
    found += duplicate_names(root, every)
    print("\n".join(found) or f"{len(every)} files, all includes follow the layer table")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
