#!/usr/bin/env python3
"""Checks that a document shows source files exactly as they are, each in a fenced block of its own.

usage: quoted.py DOCUMENT SOURCE...
"""
import sys

document, *sources = sys.argv[1:]
with open(document, encoding="utf-8") as file:
    text = file.read()
missing = []
for source in sources:
    with open(source, encoding="utf-8") as file:
        code = file.read()
    if not any(f"```{language}\n{code}```\n" in text for language in ("cpp", "cuda")):
        missing.append(source)
for source in missing:
    print(f"{document} does not show {source} as it is", file=sys.stderr)
sys.exit(1 if missing else 0)
