#!/usr/bin/env python3
"""What `reprise run` sees of a program with graphs of every kind (kinds.cu), on a machine with a GPU: exact counts.

usage: gpu_test.py REPRISE KINDS
"""
import collections
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

PROGRAM, KINDS = "", ""

# Of each graph, by the range that it was instantiated in: a line a version, as nodes, edges, replays, runs of nodes in one replay.
GRAPHS = {
    "captured": [[(3, 2, 18, 3), (3, 2, 2, 3)]],
    "explicit": [[(6, 5, 7, 3), (6, 5, 2, 3), (6, 5, 1, 2)]],
    "children": [[(6, 5, 4, 6)]],
    "grandchildren": [[(6, 5, 4, 6)]],
    "clone": [[(3, 2, 2, 3)]],
    "allocating": [[(3, 2, 2, 1)]],
    "looping": [[(3, 2, 2, 10)]],
    "again": [[(3, 2, 1, 3)]] * 3,
    "thread": [[(3, 2, 50, 3)]] * 4,
}


class KindsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="reprise-kinds-")
        here = pathlib.Path(cls.folder.name)
        cls.bases = {}
        for name, options in (("nodes", ["--nodes"]), ("calls", [])):
            trace, base = here / f"{name}.reprise", here / f"{name}.db"
            result = subprocess.run([PROGRAM, "run", "-o", trace, *options, "--", KINDS], capture_output=True, text=True, timeout=300)
            assert result.returncode == 0 and result.stdout == "done\n", result.stdout + result.stderr
            subprocess.run([PROGRAM, "export", trace, "--format", "sqlite", "-o", base], check=True, capture_output=True)
            cls.bases[name] = sqlite3.connect(base)

    @classmethod
    def tearDownClass(cls):
        for base in cls.bases.values():
            base.close()
        cls.folder.cleanup()

    def seen(self, base):
        graphs = collections.defaultdict(dict)
        for graph, version, label in base.execute("SELECT graph, version, name FROM graphs ORDER BY graph, version"):
            one = lambda text: base.execute(f"SELECT count(*) FROM {text} WHERE graph = ? AND version = ?", (graph, version)).fetchone()[0]
            replays = one("replays")
            line = (one("nodes"), one("edges"), replays, one("samples") / max(replays, 1))
            graphs[label.split()[0]].setdefault(graph, []).append(line)
        return {label: list(of.values()) for label, of in graphs.items()}

    def test_every_graph_version_replay_and_run_of_a_node_is_there(self):
        self.assertEqual(self.seen(self.bases["nodes"]), GRAPHS)

    def test_without_records_all_but_the_runs_is_there(self):
        without = {label: [[(*line[:3], 0) for line in versions] for versions in of] for label, of in GRAPHS.items()}
        self.assertEqual(self.seen(self.bases["calls"]), without)

    def test_every_replay_of_kernels_has_its_begin_and_end(self):
        count = self.bases["nodes"].execute("SELECT count(*) FROM replays WHERE started_ns IS NULL OR started_ns = 0 OR ended_ns < started_ns").fetchone()[0]
        self.assertEqual(count, 0)

    def test_ranges_are_labels_of_what_was_captured_in_them(self):
        rows = self.bases["calls"].execute("SELECT n.name, n.label FROM nodes n JOIN graphs g USING (graph, version) WHERE g.name LIKE 'captured%' AND version = 1 ORDER BY node")
        self.assertEqual(list(rows), [("add", "forward"), ("scale<float>", "forward / layer"), ("fill", "")])

    def test_nothing_was_lost(self):
        for base in self.bases.values():
            self.assertEqual(base.execute("SELECT count(*) FROM losses").fetchone()[0], 0)


if __name__ == "__main__":
    PROGRAM, KINDS = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
