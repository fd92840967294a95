#!/usr/bin/env python3
"""Compiles the C++ and kernel code of the documentation.

usage: docs_code.py ROOT COMPILER [FLAGS...]    (-DREPRISE_HAS_CUDA=1 also compiles interop blocks)
       docs_code.py ROOT --print                (writes the translation units to stdout)

Compiles every ```cpp and ```cuda block of the pages with -fsyntax-only: one translation unit for all
C++ blocks and one for all kernels. Errors name the page and the line.

 - A block with an #include is part of a file. It gets its own namespace; its includes move to the top.
 - A page with the marker <!-- docs.code: one program --> is one file: its blocks form one unit.
 - Any other block is a function body. It may use or redeclare the names of CONTEXT.

The kernels of all pages replace includes of generated headers, <NAME.shaders.hpp>.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HEADERS = ["<algorithm>", "<cstdio>", "<exception>", "<span>", "<vector>", "<reprise/reprise.hpp>"]

PAGES = ["*.md", "engine/*.md", "engine/docs/**/*.md", "viewer/*.md", "tests/*.md", "samples/**/*.md"]

# Objects that the guide introduces and the pages use.
CONTEXT = """
using namespace reprise;
extern Instance instance;
extern Device device;
extern Queue queue, left, right;
extern std::shared_ptr<CapturePool> pool;
extern GpuRef<float> x, y, z, w, smoothed, slopes, residual;
extern Kernel saxpy, smooth, slope, combine, converged;
extern CommandBuffer commands, forward_commands, backward_commands;
extern CapturedGraph graph;
extern std::vector<float> first_half, second_half;
constexpr unsigned n = 1024;
"""

ONE_PROGRAM = "<!-- docs.code: one program -->"
INCLUDE = re.compile(r"^\s*#\s*include\s*([<\"][^>\"]+[>\"]).*$")
KERNEL = re.compile(r"^REPRISE_KERNEL\((\w+)", re.MULTILINE)
INTEROP = "<reprise/cuda_interop.hpp>"


class Block:
    def __init__(self, page, line, language):
        self.page, self.line, self.language = page, line, language
        self.lines = []

    def includes(self):
        return [match.group(1) for match in map(INCLUDE.match, self.lines) if match]

    def code(self):
        """The block without its includes, with the page's line numbers."""
        body = [f'#line {self.line} "{self.page}"']
        body += ["" if INCLUDE.match(line) else line for line in self.lines]
        return "\n".join(body) + "\n"


def blocks_of(root, page):
    """The ```cpp and ```cuda blocks of a page."""
    blocks, current = [], None
    for number, line in enumerate((root / page).read_text().splitlines(), start=1):
        if current is None:
            if fence := re.match(r"^ *```(cpp|cuda)$", line):
                current = Block(page, number + 1, fence.group(1))
        elif line.strip() == "```":
            blocks.append(current)
            current = None
        else:
            current.lines.append(line)
    if current is not None:
        sys.exit(f"{page}:{current.line}: the block is not closed")
    return blocks


def translation_units(root, pages, with_interop):
    """The C++ and the kernels of all pages, as text, and the number of blocks."""
    headers, pieces, kernels, names, count = list(HEADERS), [], [], [], 0
    for page in pages:
        blocks = blocks_of(root, page)
        for block in blocks:
            if block.language == "cuda":
                kernels.append(block)
                count += 1
                names += KERNEL.findall("\n".join(block.lines))
        blocks = [block for block in blocks if block.language == "cpp"]
        if ONE_PROGRAM in (root / page).read_text():
            blocks = [(block, "piece" if i == 0 else "rest") for i, block in enumerate(blocks)]
        else:
            blocks = [(block, "piece" if block.includes() else "body") for block in blocks]
        for block, kind in blocks:
            if INTEROP in block.includes() and not with_interop:
                continue
            count += 1
            headers += [name for name in block.includes() if name not in headers and not name.endswith('.shaders.hpp"')]
            code = block.code()
            if kind == "rest":
                opening, body, closing = pieces.pop()
                pieces.append((opening, body + code, closing))
            elif kind == "piece":
                pieces.append(("namespace piece_{} {{\n", code, "}\n"))
            else:
                pieces.append(("namespace bodies {{\nvoid body_{}() {{\n", code, "}\n}\n"))
    if len(names) != len(set(names)):
        sys.exit("duplicate kernel names: " + " ".join(sorted(names)))
    cpp = "".join(f"#include {name}\n" for name in headers)
    cpp += "namespace shaders {\n" + "".join(f"extern const reprise::KernelDesc {name};\n" for name in names) + "}\n"
    cpp += "namespace bodies {\n" + CONTEXT + "}\n"
    for number, (opening, body, closing) in enumerate(pieces):
        cpp += opening.format(number) + body + closing
    return cpp, "#include <reprise_kernel.hpp>\n" + "".join(block.code() for block in kernels), count


def main():
    root, compiler, flags = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    pages = [str(path.relative_to(root)) for pattern in PAGES for path in sorted(root.glob(pattern))]
    cpp, kernels, count = translation_units(root, pages, "-DREPRISE_HAS_CUDA=1" in flags)
    if compiler == "--print":
        print(cpp + kernels)
        return 0
    if count == 0:
        sys.exit("no page contains code")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("pages.cpp", cpp), ("kernels.cpp", kernels)):
            file = pathlib.Path(folder) / name
            file.write_text(text)
            command = [compiler, "-std=c++20", "-fsyntax-only", "-Werror", *flags, str(file)]
            failed |= subprocess.run(command, check=False).returncode != 0
    print(f"{count} blocks of {len(pages)} pages" + (": some fail to compile" if failed else " compile"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
