#!/usr/bin/env python3
"""Measures what `reprise run` costs programs that use CUDA graphs, on a machine with a GPU: the programs run alone, under a CUPTI subscriber that does
nothing (bare_subscriber.cpp), under `reprise run`, and under Nsight Systems, one after another, several times.

usage: costs.py FOLDER [--runs N] [--nsys | --stacks] [PROGRAM...]

FOLDER is a bundle. PROGRAM is a pattern of costs.cu, or a script of the folder `programs` with its arguments; default: all patterns.
--stacks: instead of the subscriber and Nsight Systems, the call stacks of nodes are compared: none, of Python, native.
Prints, for each program, the median time of an iteration with the range of its runs, in microseconds, and the ratios of the medians; each run on stderr.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

PATTERNS = ("replay", "set_parameters", "update", "instantiate", "many", "loop_1", "loop_30", "loop_1000")
# Each with what it is compared with.
MODES = {"alone": None, "bare": "alone", "run": "bare", "bare nodes": "alone", "run --nodes": "bare nodes"}
STACKS = {"alone": None, "run --stacks none": "alone", "run": "run --stacks none", "run --stacks native": "run --stacks none"}
NSYS = {"nsys graph": "alone", "nsys node": "alone"}


def us_of(output):
    for line in reversed(output.splitlines()):
        if line.startswith("{"):
            return json.loads(line)["us"]
        if found := re.fullmatch(r"([0-9.]+) us per iteration", line):
            return float(found[1])
    raise SystemExit(f"a program printed no time:\n{output}")


def run(folder, mode, command):
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="reprise-costs-") as place:
        if mode.startswith("bare"):
            environment["CUDA_INJECTION64_PATH"] = str(folder / "lib/reprise/libreprise_bare_subscriber.so")
            environment["BARE_SUBSCRIBER"] = "nodes" if mode == "bare nodes" else "callbacks"
        elif mode.startswith("run"):
            command = [folder / "bin/reprise", *mode.split(), "-o", f"{place}/run.reprise", "--", *command]
        elif mode.startswith("nsys"):
            command = ["nsys", "profile", "-t", "cuda", f"--cuda-graph-trace={mode.split()[1]}", "-o", f"{place}/nsys", *command]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
    if result.returncode != 0:
        raise SystemExit(f"{mode}, {command}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return us_of(result.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--nsys", action="store_true")
    parser.add_argument("--stacks", action="store_true")
    parser.add_argument("programs", nargs="*", default=PATTERNS)
    options = parser.parse_intermixed_args()
    if options.nsys and shutil.which("nsys") is None:
        parser.error("--nsys: nsys is not on the PATH")
    folder, modes = options.folder.resolve(), STACKS if options.stacks else {**MODES, **(NSYS if options.nsys else {})}
    scripts = pathlib.Path(__file__).resolve().parent / "programs"
    for program in options.programs:
        name, *arguments = program.split()
        command = [sys.executable, "-B", scripts / name, *arguments] if name.endswith(".py") else [folder / "bin/reprise_injection_costs", name]
        times = {mode: [] for mode in modes}
        for i in range(options.runs):
            for mode in modes:
                times[mode].append(run(folder, mode, command))
                print(f"{program}, run {i + 1} of {options.runs}, {mode}: {times[mode][-1]:.1f} us", file=sys.stderr, flush=True)
        medians = {mode: statistics.median(of) for mode, of in times.items()}
        print(f"{program}:", "; ".join(
            f"{mode} {medians[mode]:.1f} [{min(of):.1f}, {max(of):.1f}]" + (f" = {medians[mode] / medians[modes[mode]]:.2f} {modes[mode]}" if modes[mode] else "")
            for mode, of in times.items()), flush=True)


if __name__ == "__main__":
    main()
