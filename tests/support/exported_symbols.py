"""Checks the symbols that the shared libraries export.

    exported_symbols.py SOURCE LIBRARY...

Every symbol is of the public namespace with the version of the binary interface (REPRISE_ABI), which is that of the
library's SONAME, or one of the names below that has no namespace. A symbol of reprise::detail must be declared with
REPRISE_API in a public header, whose inline code calls it, or be needed by another of the libraries.
"""

import pathlib
import re
import subprocess
import sys

# Functions that kernels built with REPRISE_CHECKED_KERNELS call, and the shared memory of a block.
UNVERSIONED = re.compile(r"__asan_(load|store)(\d+|N)_noabort|reprise_dynamic_shared_block")


def symbols(library, *options):
    """The mangled names, without the versions that the linker appends."""
    listed = subprocess.run(["nm", "-D", *options, library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in listed.splitlines()}


def demangled(names):
    names = sorted(names)
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return dict(zip(names, text.splitlines()))


def main():
    source, libraries = pathlib.Path(sys.argv[1]), [pathlib.Path(path) for path in sys.argv[2:]]
    abi = re.search(r"#define REPRISE_ABI (\w+)", (source / "engine/include/reprise/abi.hpp").read_text()).group(1)
    version = abi.lstrip("v").replace("_", ".")
    public = " ".join(path.read_text() for path in sorted((source / "engine/include").rglob("*.hpp")))
    exported = {library: symbols(library, "--defined-only") for library in libraries}
    needed = {library: symbols(library, "--undefined-only") for library in libraries}
    faults = []
    for library in libraries:
        name = re.search(r"SONAME.*\[(.*)\]", subprocess.run(["readelf", "-d", library], capture_output=True, text=True,
                                                            check=True).stdout).group(1)
        if not name.endswith(f".so.{version}"):
            faults.append(f"{name}: its version is not that of REPRISE_ABI, {abi}")
        others = set().union(*(needed[other] for other in libraries if other != library))
        of_library = demangled(exported[library])
        if not any(f"reprise::{abi}::" in text for text in of_library.values()):
            faults.append(f"{name}: it exports nothing of reprise::{abi}")
        for symbol, text in of_library.items():
            owner = re.match(r"_Z(?:N|NK|T[A-Z]N|T\w*_NK?)7reprise(\d+)(\w+)", symbol)
            scope = owner.group(2)[:int(owner.group(1))] if owner else ""
            if scope == "detail":
                internal = re.search(r"reprise::detail::(\w+)", text).group(1)
                if symbol not in others and not re.search(rf"REPRISE_API [^;{{]*\b{internal}\b", public):
                    faults.append(f"{name}: {text} is internal, and nothing outside the library needs it")
            elif scope != abi and not UNVERSIONED.fullmatch(symbol) and symbol != f"reprise_{version}":
                faults.append(f"{name}: {text} has no version")
    for fault in faults:
        print(fault)
    print(f"{sum(map(len, exported.values()))} symbols of {len(libraries)} libraries, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
