#!/usr/bin/env python3
"""Checks that the tests named in engine/docs/reference.md exist.

usage: name_table.py ROOT      (the folder that contains engine/ and tests/)
"""
import pathlib
import re
import sys

SECTION = "## Names from other APIs"
STRING = r'"((?:[^"\\]|\\.)*)"'


def names_of_tests(root):
    names = set()
    for file in (root / "tests").rglob("*.cpp"):
        for parts in re.findall(r"TEST_CASE\w*\(\s*(?:\w+,\s*)?((?:" + STRING.replace("(", "(?:", 1) + r"\s*)+)", file.read_text()):
            names.add("".join(re.findall(STRING, parts)))
    return names


def main():
    root = pathlib.Path(sys.argv[1])
    page = (root / "engine" / "docs" / "reference.md").read_text()
    if SECTION not in page:
        sys.exit(f"engine/docs/reference.md has no section \"{SECTION}\"")
    section = page.split(SECTION, 1)[1].split("\n## ", 1)[0]
    named = [cells[-1].strip()[1:-1] for row in section.splitlines() if row.startswith("| ") and (cells := row.strip(" |").split(" | ")) and cells[-1].startswith('"')]
    if not named:
        sys.exit("the table contains no test names")
    known = names_of_tests(root)
    missing = [name for name in named if name not in known]
    for name in missing:
        print(f"engine/docs/reference.md names a test that does not exist: {name}")
    sys.exit(1 if missing else 0)


main()
