#!/usr/bin/env python3
"""Checks that every error code of the public API occurs in a test.

usage: error_codes.py ROOT
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
header = (root / "engine/include/reprise/error.hpp").read_text(encoding="utf-8")
codes = re.findall(r"^  X\((\w+),", header, re.MULTILINE)
if not codes:
    sys.exit("error.hpp has no table of error codes")
tests = "\n".join(path.read_text(encoding="utf-8") for path in (root / "tests").rglob("*_test.cpp"))
missing = [code for code in codes if not re.search(rf"\bErrorCode::{code}\b", tests)]
for code in missing:
    print(f"no test expects ErrorCode::{code}", file=sys.stderr)
sys.exit(1 if missing else 0)
