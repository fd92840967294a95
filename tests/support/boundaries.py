#!/usr/bin/env python3
"""Checks where engine and viewer exchange texts with the world outside of the process:
- They read environment variables with secure_getenv(), so that a program with raised privileges ignores them.
- They write to terminals with print_message() (base/shown_text.hpp) and write_out() (viewer/cli/text.hpp), so
  that names from traces cannot control one.

usage: boundaries.py ROOT
"""
import pathlib
import re
import sys

RULES = [
    (re.compile(r"(?<!secure_)\bgetenv\("), "secure_getenv()", {
        "engine/collectives/nccl_backend.cpp": "what NCCL reads",
        "engine/collectives/nccl_library.cpp": "what NCCL reads",
        "viewer/cli/run_command.cpp": "what the child process inherits",
        "viewer/model/observed_run.cpp": "what the child process inherits",
    }),
    (re.compile(r"\bstd(out|err)\b|\bstd::(printf|puts|cout|cerr|clog)\b"), "print_message() or write_out()", {
        "engine/base/shown_text.cpp": "print_message()",
        "viewer/cli/text.cpp": "write_out()",
        "viewer/cli/main.cpp": "flushes both; names of commands",
        "viewer/cli/progress_line.cpp": "printable, with its own control sequences",
    }),
]

root = pathlib.Path(sys.argv[1])
failures = []
for path in sorted([*root.glob("engine/**/*.?pp"), *root.glob("viewer/**/*.?pp")]):
    name = path.relative_to(root).as_posix()
    if name.startswith("engine/docs/"):
        continue
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        code = line.split("//")[0]
        for pattern, instead, exceptions in RULES:
            if pattern.search(code) and name not in exceptions:
                failures.append(f"{name}:{number}: use {instead}: {line.strip()}")
print("\n".join(failures), file=sys.stderr)
sys.exit(1 if failures else 0)
