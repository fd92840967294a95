#!/usr/bin/env python3
"""Checks the documentation against the source.

usage: docs_tables.py ROOT

 - Links refer to existing files and headings.
 - engine/docs/debugging.md lists every ErrorCode, every validation rule with level, severity and code,
   and every message id of the engine.
 - engine/docs/reference.md lists every environment variable of the engine.
 - engine/docs/kernels.md names existing conformance tests.
 - engine/README.md lists exactly the folders of the engine.
 - The README files stay within their line limits.
"""
import pathlib
import re
import sys

PAGES = ["*.md", "engine/*.md", "engine/docs/**/*.md", "viewer/*.md", "tests/*.md"]
LINES = {"README.md": 200, "engine/README.md": 150}
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
ERROR = re.compile(r'^  X\((\w+), "', re.MULTILINE)
RULE = re.compile(r'^  X\(\w+, "([a-z-]+)", (\w+), (\w+), (\w+)\)', re.MULTILINE)
MESSAGE = re.compile(r'(?:\.id = |Severity::\w+, )"([a-z]+(?:[-.][a-z]+)+)"')
VARIABLE = re.compile(r'"(REPRISE_(?!RUN_)[A-Z_]+)"')


def anchors(text):
    """The anchors of a page's headings, as GitHub generates them."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def section(text, heading):
    return text.split(f"\n{heading}\n", 1)[1].split("\n## ", 1)[0]


def rows(text):
    """The cells of each table row, without code marks."""
    for line in text.splitlines():
        if line.startswith("| "):
            yield [cell.strip().replace("`", "") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def broken_links(root):
    for page in (path for pattern in PAGES for path in sorted(root.glob(pattern))):
        for target in LINK.findall(FENCED.sub("", page.read_text())):
            if "://" in target:
                continue
            path, _, anchor = target.partition("#")
            file = page.parent / path if path else page
            if not file.exists():
                yield f"{page.relative_to(root)}: {target} does not exist"
            elif anchor and anchor not in anchors(file.read_text()):
                yield f"{page.relative_to(root)}: {target} does not match a heading"


def difference(page, kind, documented, actual):
    yield from (f"{page}: {kind} {name} is not documented" for name in sorted(actual - documented))
    yield from (f"{page}: {kind} {name} does not exist" for name in sorted(documented - actual))


def wrong_debugging(root):
    page = "engine/docs/debugging.md"
    text = (root / page).read_text()
    codes = set(ERROR.findall((root / "engine/include/reprise/error.hpp").read_text()))
    documented = {cells[0] for cells in rows(section(text, "## Errors")) if "::" not in cells[0]}
    yield from difference(page, "ErrorCode", documented, codes)

    rules = {
        (rule, level, severity.lower(), code if severity == "Error" else "")
        for rule, level, severity, code in RULE.findall((root / "engine/validate/rules.hpp").read_text())
    }
    documented = {tuple(cells[:4]) for cells in rows(section(text, "## Validation rules")) if cells[0] != "Id"}
    yield from difference(page, "rule", {" ".join(row).strip() for row in documented}, {" ".join(row).strip() for row in rules})

    ids = {name for file in (root / "engine").rglob("*.cpp") for name in MESSAGE.findall(file.read_text())}
    yield from (f"{page}: message {name} is not documented" for name in sorted(ids) if f"`{name}`" not in text)


def wrong_variables(root):
    page = "engine/docs/reference.md"
    text = (root / page).read_text()
    names = {name for file in (root / "engine").rglob("*.cpp") for name in VARIABLE.findall(file.read_text())}
    yield from (f"{page}: {name} is not documented" for name in sorted(names) if f"`{name}`" not in text)


def wrong_tests(root):
    page = "engine/docs/kernels.md"
    tests = {cells[-1] for cells in rows(section((root / page).read_text(), "## What works where")) if cells[0] != "Feature"}
    yield from (f"{page}: tests/conformance/{name} does not exist" for name in sorted(tests) if not (root / "tests/conformance" / name).is_file())


def wrong_folders(root):
    page, engine = "engine/README.md", root / "engine"
    documented = {cells[0] for cells in rows(section((root / page).read_text(), "## Layers")) if cells[0] != "Folder"}
    yield from (f"{page}: folder engine/{name} does not exist" for name in sorted(documented) if not (engine / name).is_dir())
    for folder in sorted(path.relative_to(engine).as_posix() for path in engine.iterdir() if path.is_dir()):
        if not any(name == folder or name.startswith(folder + "/") for name in documented):
            yield f"{page}: engine/{folder} is not documented"


def too_long(root):
    for page, limit in LINES.items():
        if (count := len((root / page).read_text().splitlines())) > limit:
            yield f"{page}: {count} lines; the limit is {limit}"


def main():
    root = pathlib.Path(sys.argv[1])
    checks = (broken_links, wrong_debugging, wrong_variables, wrong_tests, wrong_folders, too_long)
    problems = [text for check in checks for text in check(root)]
    print("\n".join(problems) or "links and tables are correct")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
