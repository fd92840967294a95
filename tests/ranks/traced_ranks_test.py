#!/usr/bin/env python3
"""Records, merges and analyses the traces of two ranks, of which rank 1 is late in every replay.

usage: traced_ranks_test.py REPRISE LAUNCHED_RANKS MPIRUN [arguments...]    ($REPRISE_DEVICE: see LAUNCHED_RANKS)
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

REPLAYS = 500


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300)
    if result.returncode != 0:
        sys.exit(f"{command} failed with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result


def check(is_true, what):
    if not is_true:
        sys.exit(f"FAILED: {what}")


def main():
    reprise, ranks, *mpirun = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        recorded = run(reprise, "record", "-o", folder / "run.reprise", "--", *mpirun, ranks, "-tc=*a late rank in the traces*")
        files = sorted(folder.glob("*.reprise"))
        check([file.name for file in files] == ["run.rank0.reprise", "run.rank1.reprise"], files)
        check("all ranks as one: reprise view" in recorded.stderr, recorded.stderr)
        merged = folder / "all.reprise"
        report = run(reprise, "merge", "-o", merged, *files)
        check("2 ranks on one host share a clock" in report.stdout + report.stderr, report)
        stats = json.loads(run(reprise, "stats", "--json", merged).stdout)
        communication = stats["communication"]
        print(json.dumps(communication, indent=1))

        late = [one for one in communication["collectives"] if one["executions"] == REPLAYS]
        check(len(late) == 1, f"one collective with {REPLAYS} executions")
        check(late[0]["incomplete"] == 0, "the executions of both ranks match")
        if os.environ.get("REPRISE_DEVICE") == "host":
            return  # its two ranks share the processors
        last = [rank for rank in late[0]["ranks"] if rank["last"] >= 0.95 * REPLAYS]
        check(len(last) == 1, "one rank is last in 95 % of the replays")
        check(communication["ranks"][last[0]["session"]]["name"] == "rank 1", "it is rank 1")
        command = late[0]["late_command"]
        check("fill" in command["name"], "it is late because of the fill")
        excess = command["median_ns"] - command["others_median_ns"]
        check(10_000 <= excess <= 60_000, f"which takes about 20 us longer, not {excess} ns")


main()
