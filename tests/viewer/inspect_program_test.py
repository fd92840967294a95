#!/usr/bin/env python3
"""Finds planted faults in inspected replays by the program `reprise`, and removes contents from traces.

usage: inspect_program_test.py REPRISE WRITE_INSPECTION
"""
import json
import pathlib
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM, WRITE_INSPECTION = "", ""


def reprise(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)


class Inspect(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="reprise-inspect-")
        cls.here = pathlib.Path(cls.folder.name)
        for kernels in (10, 100, 1000):
            for fault in ("right", "nan", "wrong"):
                subprocess.run([WRITE_INSPECTION, cls.here / f"{fault}{kernels}", str(kernels), fault], check=True)
        cls.right = cls.here / "right10"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def done(self, *arguments):
        result = reprise(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        return result.stdout

    def refused(self, code, pattern, *arguments):
        result = reprise(*arguments)
        self.assertEqual((result.returncode, result.stdout), (code, ""), result.stderr)
        self.assertRegex(result.stderr, pattern)

    def test_a_nan_and_a_wrong_constant_are_each_found_by_one_command(self):
        for kernels in (10, 100, 1000):
            step = f"step {kernels * 3 // 7}"
            nan, wrong, right = (self.here / f"{fault}{kernels}" for fault in ("nan", "wrong", "right"))
            text = self.done("inspect", nan, "--first-nan")
            self.assertRegex(text, rf"{step} / .*inspected_scale .*write_inspection.cpp:\d+\n  (even|odd)\[0\]: 1,000 of 1,000 values are NaN")
            self.assertRegex(text, r"input (even|odd): 0 NaN, 0 infinite; value 0: 3\n")
            self.assertEqual(self.done("inspect", right, "--first-nan")[:7], "no NaN ")
            text = self.done("inspect", right, "--compare", wrong, "--ulps", 4)
            self.assertRegex(text, rf"in {step} .*\[0\]: 3 and 3\.000\d+; 1000 of 1000 values differ\n  input (even|odd)\[0\]: 3 and 3\n")
            self.assertEqual(self.done("inspect", right, "--compare", wrong, "--relative", "1e-3"), "no difference\n")

    def test_the_table_and_json_have_every_range(self):
        text = self.done("inspect", self.right)
        self.assertIn("graph chain after 1 replay, 11 ranges", text)
        self.assertEqual(text.count("stored"), 11)
        found = json.loads(self.done("inspect", self.right, "--json"))
        self.assertEqual([one["type"] for one in found["ranges"]], ["f32"] * 11)
        self.assertEqual(found["ranges"][-1]["mean"], 3)
        self.assertEqual(found["ranges"][-1]["norm"], (9 * 1000) ** 0.5)
        self.assertIn("not wanted", self.done("inspect", self.right, "--inspection", 1))
        nan = json.loads(self.done("inspect", self.here / "nan10", "--first-nan", "--json"))
        self.assertEqual((nan["command"], nan["nans"], nan["first_nan"]), (5, 1000, 0))

    def test_the_history_of_an_element(self):
        rows = json.loads(self.done("inspect", self.here / "nan10", "--buffer", "odd[7]", "--history", "--json"))
        self.assertEqual([row["command"] for row in rows], [1, 3, 5, 7, 9])
        self.assertEqual([row["value"] for row in rows], ["3", "3", "nan", "nan", "nan"])
        self.assertIn("1077936128", self.done("inspect", self.right, "--buffer", "out[999]", "--history", "--type", "u32"))
        self.refused(1, "out contains element 1000; the last one ends at 1000", "inspect", self.right, "--buffer", "out[1000]", "--history")
        self.refused(1, "no values of buffer oot; its buffers: in,odd,even,out", "inspect", self.right, "--buffer", "oot[0]", "--history")
        self.refused(2, "one element", "inspect", self.right, "--buffer", "out", "--history")
        self.refused(2, "\"x\" in \"out\\[x\\]\" is not an index", "inspect", self.right, "--buffer", "out[x]", "--history")

    def test_values_are_saved(self):
        file = self.here / "out.npy"
        self.assertIn("1,000 values of out, f32", self.done("inspect", self.right, "--buffer", "out", "--save", file))
        data = file.read_bytes()
        self.assertEqual(data[:8], b"\x93NUMPY\x01\x00")
        header = struct.unpack("<H", data[8:10])[0]
        self.assertEqual((10 + header) % 64, 0)
        self.assertEqual(eval(data[10:10 + header]), {"descr": "<f4", "fortran_order": False, "shape": (1000,)})
        self.assertEqual(struct.unpack("<1000f", data[10 + header:]), (3.0,) * 1000)
        self.done("inspect", self.right, "--buffer", "out", "--save", self.here / "out.csv")
        self.assertEqual((self.here / "out.csv").read_text(), "3\n" * 1000)
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.refused(2, "ends with .npy or .csv", "inspect", self.right, "--buffer", "out", "--save", "out.bin")
        self.refused(1, "cannot write", "inspect", self.right, "--buffer", "out", "--save", self.here / "no" / "out.csv")

    def test_only_rows_have_values(self):
        rows = self.here / "rows"
        subprocess.run([WRITE_INSPECTION, rows, "10", "rows"], check=True)
        self.assertEqual(self.done("inspect", rows, "--buffer", "in[5]", "--history").count("\n"), 3)
        self.assertEqual(self.done("inspect", rows, "--buffer", "in[6]", "--history").count("\n"), 2)
        self.done("inspect", rows, "--buffer", "in", "--save", self.here / "rows.csv")
        self.assertEqual((self.here / "rows.csv").read_text(), "3\n" * 6)

    def test_what_cannot_be_shown_is_refused(self):
        self.refused(1, "has 2 inspections, so there is no inspection 3", "inspect", self.right, "--inspection", 3)
        self.refused(1, "no inspection of graph nobody, only of chain", "inspect", self.right, "--graph", "nobody")
        self.refused(1, "do not correspond", "inspect", self.right, "--compare", self.here / "right100")
        self.refused(2, "--type: \"f33\"", "inspect", self.right, "--type", "f33")
        self.refused(2, "excludes", "inspect", self.right, "--first-nan", "--first-inf")
        self.refused(2, "need --buffer", "inspect", self.right, "--history")

    def test_contents_are_private_and_can_be_removed(self):
        self.assertEqual(stat.S_IMODE(self.right.stat().st_mode), 0o600)
        self.assertIn("contains data of the program", self.done("stats", self.right))
        self.assertGreater(json.loads(self.done("stats", self.right, "--json"))["contents_bytes"], 11 * 4000)
        stripped, bare = self.here / "stripped", self.here / "bare"
        self.assertIn("without 43.0 KiB of contents", self.done("strip", self.right, "-o", stripped))
        self.assertNotIn("data of the program", self.done("stats", stripped))
        text = self.done("inspect", stripped)
        self.assertEqual(text.count("removed"), 11)
        self.assertIn("the hashes of the values differ", self.done("inspect", stripped, "--compare", self.here / "wrong10"))
        self.refused(1, "not in the trace: removed", "inspect", stripped, "--buffer", "out", "--save", self.here / "never.csv")
        self.done("strip", self.right, "-o", bare, "--statistics")
        self.assertIn("not wanted", self.done("inspect", stripped, "--inspection", 1))
        self.refused(1, "bare contains no inspection", "inspect", bare)
        self.refused(1, "both the input and the output", "strip", self.right, "-o", self.right)


if __name__ == "__main__":
    PROGRAM, WRITE_INSPECTION = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
