#!/usr/bin/env python3
"""Runs `reprise merge` as a process on the traces of hand-made jobs.

usage: merge_program_test.py REPRISE WRITE_TRACE
"""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

PROGRAM, WRITE_TRACE = "", ""


class Merge(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="reprise-merge-")
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)
        self.output = self.here / "all.reprise"

    def job(self, name, ranks, per_host, replays=20):
        subprocess.run([WRITE_TRACE, self.here / name, "ranks", *map(str, (ranks, per_host, replays))], check=True)
        return [self.here / name / f"rank-{rank}.reprise" for rank in range(ranks)]

    def reprise(self, *arguments, **options):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, **options)

    def merge(self, *arguments, **options):
        return self.reprise("merge", "-o", self.output, *arguments, **options)

    def refused(self, code, pattern, result):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertRegex(result.stderr, pattern)
        self.assertEqual(result.stdout, "")
        self.assertFalse(self.output.exists())
        self.assertEqual(list(self.here.glob("*.partial")), [])

    def test_the_report_names_ranks_replays_and_alignment(self):
        result = self.merge(*self.job("job", 4, 2))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^.*all\.reprise: 80 replays, 480 node samples\n"
                                        r"4 ranks on 2 hosts, aligned to rank 0 within \d+\.\d+ us by 8 exchanges and 40 collectives\n$")
        result = self.merge(*self.job("host", 4, 4))
        self.assertIn("\n4 ranks on one host share a clock\n", result.stdout)

    def test_other_commands_read_the_merged_trace(self):
        self.assertEqual(self.merge(*self.job("job", 4, 2)).returncode, 0)
        pools = self.reprise("stats", self.output).stdout.split("Device memory of pools")[1]
        self.assertIn("weights, rank 3", pools)
        stats = self.reprise("stats", self.output, "--json")
        self.assertEqual((stats.returncode, stats.stderr), (0, ""))
        self.assertEqual(sum(graph["replays"] for graph in json.loads(stats.stdout)["graphs"]), 80)
        for name in ("perfetto", "csv", "sqlite"):
            export = self.reprise("export", self.output, "--format", name, "-o", self.here / name)
            self.assertEqual((export.returncode, export.stderr), (0, ""))

    def test_an_incomplete_set_is_merged_with_warnings(self):
        files = self.job("job", 8, 2)
        with open(files[1], "r+b") as file:
            file.truncate(files[1].stat().st_size - 5)
        result = self.merge(files[0], files[1], files[2], files[4])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("reprise: ranks 3 and 5 to 7 of 8 are missing\n", result.stderr)
        self.assertRegex(result.stderr, r"reprise: the trace of rank 1, .*rank-1\.reprise, is damaged or incomplete: the last chunk is truncated\n")

    def test_failures_name_the_files_and_write_nothing(self):
        files = self.job("job", 2, 2)
        other = self.here / "plain.reprise"
        subprocess.run([WRITE_TRACE, other], check=True)
        self.refused(1, "plain.reprise is not the trace of a rank", self.merge(files[0], other))
        self.refused(1, "nowhere.reprise: cannot open: No such file", self.merge(self.here / "nowhere.reprise"))
        self.refused(2, "FILES.*required(.|\n)*Try reprise merge --help", self.merge())
        self.refused(2, "--output.*required", self.reprise("merge", files[0]))
        self.refused(1, "cannot write /nowhere/all.reprise", self.reprise("merge", "-o", "/nowhere/all.reprise", *files))
        self.refused(1, "both the output and an input", self.reprise("merge", "-o", files[1], *files))

    def test_a_full_disk_is_a_failure_and_leaves_no_file(self):
        files = self.job("job", 4, 2, 400)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        # Python ignores the signal of the limit; so does the program then.
        self.refused(1, "cannot write .*all.reprise: File too large", self.merge(*files, preexec_fn=limit, restore_signals=False))

    def test_help_has_examples(self):
        text = self.reprise("merge", "--help").stdout
        self.assertIn("Examples:\n  reprise merge -o all.reprise", text)
        self.assertIn("merge", self.reprise("--help").stdout)


if __name__ == "__main__":
    PROGRAM, WRITE_TRACE = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
