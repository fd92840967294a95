#!/usr/bin/env python3
"""Checks the traces of `reprise run` on a machine with a GPU, with exact counts: of a program with graphs of every kind (kinds.cu), of one with graphs
on every device (devices.cu), of one with live viewers, and of the programs listed in engine/docs/performance.md, which
state the contents of their traces.

usage: gpu_test.py REPRISE KINDS DEVICES [TEST...]
"""
import collections
import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77
PROGRAM, KINDS, DEVICES = "", "", ""

# The graphs, by the range of their instantiation: one tuple per version with nodes, edges, replays and node runs per replay.
GRAPHS = {
    "captured": [[(3, 2, 20, 3)]],
    "explicit": [[(6, 5, 10, 2.9)]],  # a node is disabled in one replay
    "children": [[(6, 5, 4, 6)]],
    "grandchildren": [[(6, 5, 4, 6)]],
    "clone": [[(3, 2, 2, 3)]],
    "allocating": [[(3, 2, 2, 1)]],
    "looping": [[(3, 2, 2, 10)]],
    "again": [[(3, 2, 1, 3)]] * 3,
    "thread": [[(3, 2, 50, 3)]] * 4,
}


def as_base(trace):
    base = trace.with_suffix(".db")
    subprocess.run([PROGRAM, "export", trace, "--format", "sqlite", "-o", base], check=True, capture_output=True)
    return sqlite3.connect(base)


class KindsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="reprise-kinds-")
        here = pathlib.Path(cls.folder.name)
        cls.bases = {}
        for name, options in (("nodes", ["--nodes"]), ("calls", [])):
            trace = here / f"{name}.reprise"
            result = subprocess.run([PROGRAM, "run", "-o", trace, *options, "--", KINDS], capture_output=True, text=True, timeout=300)
            assert result.returncode == 0 and result.stdout == "done\n", result.stdout + result.stderr
            cls.bases[name] = as_base(trace)

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

    def test_trace_contains_every_graph_replay_and_node_run(self):
        self.assertEqual(self.seen(self.bases["nodes"]), GRAPHS)

    def test_without_node_records_everything_else_is_recorded(self):
        without = {label: [[(*line[:3], 0) for line in versions] for versions in of] for label, of in GRAPHS.items()}
        self.assertEqual(self.seen(self.bases["calls"]), without)

    def test_every_replay_with_kernels_has_start_and_end(self):
        count = self.bases["nodes"].execute("SELECT count(*) FROM replays WHERE started_ns IS NULL OR started_ns = 0 OR ended_ns < started_ns").fetchone()[0]
        self.assertEqual(count, 0)

    def test_ranges_are_labels_of_captured_nodes(self):
        rows = self.bases["calls"].execute("SELECT n.name, n.label FROM nodes n JOIN graphs g USING (graph, version) WHERE g.name LIKE 'captured%' AND version = 1 ORDER BY node")
        self.assertEqual(list(rows), [("add", "forward"), ("scale<float>", "forward / layer"), ("fill", "")])

    def test_there_are_no_losses(self):
        for base in self.bases.values():
            self.assertEqual(base.execute("SELECT count(*) FROM losses").fetchone()[0], 0)


class DevicesTest(unittest.TestCase):
    THREADS, LAUNCHES = 4, 25  # as in devices.cu

    def test_every_graph_is_on_its_device_with_all_replays(self):
        for options, timed in ((["--nodes"], True), ([], False)):
            with self.subTest(options=options), tempfile.TemporaryDirectory(prefix="reprise-devices-") as folder:
                trace = pathlib.Path(folder) / "devices.reprise"
                result = subprocess.run([PROGRAM, "run", "-o", trace, *options, "--", DEVICES], capture_output=True, text=True, timeout=300)
                self.assertEqual(result.returncode, 0, result.stderr)
                devices = int(result.stdout)
                names = json.loads(subprocess.run([PROGRAM, "stats", "--json", trace], capture_output=True, text=True, check=True).stdout)["devices"]
                shared = collections.Counter(one["name"] for one in names)
                name_of = {one["selector"]: one["name"] + (f" [{one['selector']}]" if shared[one["name"]] > 1 else "") for one in names}
                base = as_base(trace)
                seen = collections.Counter()
                for graph, name, device in base.execute("SELECT graph, name, device FROM graphs"):
                    number = lambda what: base.execute(f"SELECT count({what}) FROM graphs LEFT JOIN {what.split('.')[0]} USING (graph, version) WHERE graph = ?", (graph,)).fetchone()[0]
                    line = [number(what) for what in ("nodes.node", "edges.from_node", "replays.replay", "samples.node")]
                    seen[(name.split()[0], device, *line)] += 1
                expected = collections.Counter()
                for device in range(devices):
                    nodes = 2 + device
                    for launches, graphs in ((self.LAUNCHES, self.THREADS), (devices, 1)):
                        expected[(f"device{device}", name_of[f"cuda:{device}"], nodes, nodes - 1, launches, nodes * launches if timed else 0)] += graphs
                self.assertEqual(seen, expected)
                self.assertEqual(base.execute("SELECT count(*) FROM losses").fetchone()[0], 0)
                base.close()


class LiveTest(unittest.TestCase):
    HANG = 120  # seconds; only detects hangs

    def until(self, is_so):
        limit = time.monotonic() + self.HANG
        while not is_so():
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.05)

    def count(self, trace, query):
        if not trace.exists():
            return 0
        with tempfile.TemporaryDirectory(prefix="reprise-live-") as folder:
            base = pathlib.Path(folder) / "now.db"
            subprocess.run([PROGRAM, "export", trace, "--format", "sqlite", "-o", base], capture_output=True)
            with contextlib.closing(sqlite3.connect(base)) as opened:
                try:
                    return opened.execute(query).fetchone()[0]
                except sqlite3.OperationalError:  # no complete chunk yet
                    return 0

    def test_nodes_are_recorded_only_while_a_viewer_is_connected(self):
        with tempfile.TemporaryDirectory(prefix="reprise-live-") as folder:
            here = pathlib.Path(folder)
            (here / "runtime").mkdir(mode=0o700)
            environment = {**os.environ, "XDG_RUNTIME_DIR": str(here / "runtime")}
            trace, attached, stop = here / "live.reprise", here / "attached.reprise", here / "stop"
            program = subprocess.Popen([PROGRAM, "run", "-o", trace, "--", DEVICES, stop], env=environment, stdout=subprocess.DEVNULL)
            try:
                self.until(lambda: self.count(trace, "SELECT count(*) FROM replays") > 300)
                viewer = subprocess.Popen([PROGRAM, "record", "-o", attached, "--attach", "reprise_injection_devices"], env=environment)
                try:
                    self.until(lambda: self.count(attached, "SELECT count(*) FROM samples") > 300)
                finally:
                    viewer.send_signal(signal.SIGINT)
                    viewer.wait(self.HANG)
                self.until(lambda: self.count(trace, "SELECT count(*) FROM messages WHERE id = 'run.nodes'") == 2)
            finally:
                stop.touch()
                self.assertEqual(program.wait(self.HANG), 0)
            base = as_base(trace)
            self.addCleanup(base.close)
            timed = 0
            for graph, nodes in base.execute("SELECT graph, (SELECT count(*) FROM nodes n WHERE n.graph = g.graph) FROM graphs g").fetchall():
                last = base.execute("SELECT max(replay) FROM replays WHERE graph = ?", (graph,)).fetchone()[0]
                runs = base.execute("SELECT replay, count(*) FROM samples WHERE graph = ? GROUP BY replay ORDER BY replay", (graph,)).fetchall()
                if not runs:
                    continue
                timed += 1
                self.assertEqual([replay for replay, _ in runs], list(range(runs[0][0], runs[-1][0] + 1)))
                self.assertEqual({count for _, count in runs}, {nodes})
                self.assertGreater(runs[0][0], 1)
                self.assertLess(runs[-1][0], last)
            self.assertGreater(timed, 0)
            self.assertEqual(base.execute("SELECT count(*) FROM losses").fetchone()[0], 0)
            self.assertEqual(self.count(attached, "SELECT count(DISTINCT graph) FROM graphs"), self.count(trace, "SELECT count(DISTINCT graph) FROM graphs"))


class FaultsTest(unittest.TestCase):
    """The reports of `reprise run --faults` and `--hang-after` about programs/torch_fault.py, which states the node that faults."""
    SCRIPT = pathlib.Path(__file__).resolve().parent / "programs" / "torch_fault.py"

    def run_case(self, case, folder, *options):
        trace = pathlib.Path(folder) / "fault.reprise"
        process = subprocess.Popen([PROGRAM, "run", "-o", trace, *options, "--", sys.executable, self.SCRIPT, case], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            output, report = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, report = process.communicate()
        if process.returncode == SKIPPED:
            self.skipTest(output.strip())
        self.assertTrue(output.startswith("{"), output + report)
        return json.loads(output.splitlines()[0]), report, process.returncode, trace

    def check_node(self, expected, report, word):
        first = re.search(rf"{word}: .*?\n(?:.*grid .*\n)?.*?  node (\d+) (\S+).* of graph (\d+) .*?, (?:one of the )?replays? (\d+)", report)
        self.assertIsNotNone(first, report)
        self.assertEqual((int(first[1]), int(first[3]), int(first[4])), (expected["node"], expected["graph"], expected["replay"]), report)
        self.assertIn(expected["kernel"], first[0], report)

    def test_fault_names_kernel_node_graph_and_replay(self):
        for case in ("same", "different", "triton", "second"):
            with self.subTest(case=case), tempfile.TemporaryDirectory(prefix="reprise-fault-") as folder:
                expected, report, code, trace = self.run_case(case, folder, "--faults")
                self.assertEqual(code, -signal.SIGABRT, report)
                self.assertIn("fault: ", report)
                self.check_node(expected, report, "fault")
                self.assertRegex(report, r"torch_fault\.py:\d+, block \(3, 0, 0\)")  # the index 777 is in block 3
                with contextlib.closing(as_base(trace)) as base:
                    replays = base.execute("SELECT count(*) FROM replays WHERE graph = ?", (expected["graph"],)).fetchone()[0]
                    self.assertEqual(replays, expected["replay"])
                    line = base.execute("SELECT file FROM nodes WHERE graph = ? AND node = ?", (expected["graph"], expected["node"])).fetchone()[0]
                    self.assertTrue(line.endswith("torch_fault.py"), "the line of Python that launched the kernel")

    def test_cuda_gdb_reads_the_same_kernel_from_the_kept_dump(self):
        if shutil.which("cuda-gdb") is None:
            self.skipTest("cuda-gdb is not installed")
        with tempfile.TemporaryDirectory(prefix="reprise-fault-") as folder:
            expected, report, _, _ = self.run_case("triton", folder, "--faults", "--keep-dump")
            dump = pathlib.Path(re.search(r"GPU core dump: (\S+)", report)[1])
            try:
                told = subprocess.run(["cuda-gdb", "-batch", "-ex", f"target cudacore {dump}", "-ex", "info cuda kernels"], capture_output=True, text=True).stdout
                self.assertIn(expected["kernel"], told)
                self.assertRegex(told, r"block \(3,0,0\)")
            finally:
                shutil.rmtree(dump.parent)

    def test_hang_names_the_running_node(self):
        with tempfile.TemporaryDirectory(prefix="reprise-fault-") as folder:
            expected, report, _, _ = self.run_case("never", folder, "--hang-after", "3s")
            self.check_node(expected, report, "hang")
            self.assertIn("waiting for it: 13 nodes", report)


class ProgramsTest(unittest.TestCase):
    """One test per program; engine/docs/performance.md lists those that were tried. Prints the contents of the traces; programs/shared.py describes the expectations."""

    FOLDER = pathlib.Path(__file__).resolve().parent / "programs"
    ROWS = ("driver", "patterns conditional", "patterns memory", "patterns launch", "torch_graph.py", "torch_capture.py", "torch_pool.py",
            "torch_callables.py", "torch_triton.py", "torch_compile.py reduce-overhead", "torch_compile.py max-autotune", "torch_ddp.py", "jax_graphs.py jit",
            "jax_graphs.py scan", "jax_graphs.py while", "jax_graphs.py cond", "jax_graphs.py pmap", "cupy_capture.py", "numba_capture.py")

    @classmethod
    def setUpClass(cls):
        try:
            ctypes.CDLL("libcuda.so.1")
        except OSError:
            raise unittest.SkipTest("this machine has no GPU driver") from None

    def command(self, row):
        name, *arguments = row.split()
        if name.endswith(".py"):
            return [sys.executable, "-B", self.FOLDER / name, *arguments]
        return [pathlib.Path(KINDS).with_name(f"reprise_injection_{name}"), *arguments]

    def expectation(self, command):
        result = subprocess.run(command, capture_output=True, text=True, timeout=500)
        if result.returncode == SKIPPED:
            self.skipTest(result.stdout.strip().removeprefix("skipped: "))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return json.loads([line for line in result.stdout.splitlines() if line.startswith("{")][-1])

    def matches(self, what, actual, expected):
        if isinstance(expected, dict):
            self.assertGreaterEqual(actual, expected["at_least"], what)
            self.assertLessEqual(actual, expected.get("at_most", actual), what)
        else:
            self.assertEqual(actual, expected, what)

    def check_trace(self, row, base, expected, timed):
        counts = "SELECT name, version, {} FROM graphs g ORDER BY graph, version".format(", ".join(
            f"(SELECT count(*) FROM {table} WHERE {table}.graph = g.graph AND {table}.version = g.version{condition})"
            for table, condition in (("nodes", ""), ("nodes", " AND kind IN ('dispatch', 'copy', 'fill')"), ("nodes", " AND kind = 'conditional'"),
                                     ("replays", ""), ("samples", ""))))
        graphs = []  # name, nodes, replays, samples, expected samples (None: unknown)
        for name, version, nodes, runs, conditionals, replays, samples in base.execute(counts):
            due = None if conditionals else runs * replays if timed else 0
            self.assertEqual(version, 1, f"{row}: versions of {name}")
            graphs.append([name, nodes, replays, samples, due])
        for graph, runs in zip(graphs, expected.get("runs", []) if timed else []):
            graph[4] = runs
        messages = base.execute("SELECT id, text FROM messages").fetchall()
        memory = base.execute("SELECT total(capture_bytes) + total(launch_bytes) FROM creation_costs").fetchone()[0]
        known = base.execute("SELECT count(DISTINCT name) FROM buffers").fetchone()[0]
        print(f"  {len(graphs)} graphs, {memory / 2**20:.1f} MiB, {known} buffers:", *(f"{name}: {nodes} nodes, {replays} replays, {samples} node runs;"
              for name, nodes, replays, samples, _ in graphs[:8]), *(f"\n  {id}: {text}" for id, text in messages[:8]), flush=True)
        self.matches("graphs", len(graphs), expected["graphs"])
        for at, key in ((1, "nodes"), (2, "replays")):
            if key in expected:
                self.assertEqual(len(graphs), len(expected[key]))
            for graph, one in zip(graphs, expected.get(key, [])):
                self.matches(f"{key} of {graph[0]}", graph[at], one)
            if f"all_{key}" in expected:
                self.matches(f"{key} of all graphs", sum(graph[at] for graph in graphs), expected[f"all_{key}"])
        if "replays" in expected:
            self.assertEqual([graph[3] for graph in graphs if graph[4] is not None], [graph[4] for graph in graphs if graph[4] is not None], "node runs")
        names = "\n".join(text for (text,) in base.execute("SELECT name FROM graphs UNION SELECT name FROM nodes UNION SELECT label FROM nodes UNION SELECT kernel FROM nodes"
                          " WHERE kernel IS NOT NULL"))
        for name in expected["names"]:
            self.assertIn(name, names)
        sources = [f"{file.rsplit('/', 1)[-1]}:{line}" for file, line in base.execute("SELECT file, line FROM nodes WHERE line IS NOT NULL")]
        for source, count in expected.get("sources", {}).items():
            self.matches(f"nodes of {source} in {collections.Counter(sources).most_common(5)}", sum(one.startswith(source) for one in sources), count)
        devices = base.execute("SELECT count(DISTINCT device) FROM graphs").fetchone()[0]
        self.assertEqual(devices, expected.get("devices", 1), "devices with graphs")
        for id in expected.get("messages", []):
            self.assertIn(id, [message[0] for message in messages])
        self.assertEqual(base.execute("SELECT kind, count, reason FROM losses").fetchall(), [])

    def check_row(self, row):
        alone = self.expectation(self.command(row))
        times = [("alone", alone.get("us"))]
        for options in ([], ["--nodes"]):
            with tempfile.TemporaryDirectory(prefix="reprise-programs-") as folder:
                trace = pathlib.Path(folder) / "run.reprise"
                print(f"\n{row}: reprise run", *options)
                expected = self.expectation([PROGRAM, "run", "-o", trace, *options, "--", *self.command(row)])
                times.append((" ".join(["run", *options]), expected.get("us")))
                for one in sorted(trace.parent.glob("run.rank*.reprise")) or [trace]:
                    with contextlib.closing(as_base(one)) as base:
                        self.check_trace(row, base, expected, timed=bool(options))
        if alone.get("us"):
            print("  us per call:", ", ".join(f"{name} {us:.1f}" for name, us in times))


    def test_call_stacks_cost_a_capture_at_most_a_fifth(self):
        times = {"none": [], "python": []}
        for _ in range(5):
            for stacks, of in times.items():
                with tempfile.TemporaryDirectory(prefix="reprise-programs-") as folder:
                    command = [PROGRAM, "run", "-o", pathlib.Path(folder) / "run.reprise", "--stacks", stacks, "--", *self.command("torch_capture.py")]
                    of.append(self.expectation(command)["us"])
        print("  us per capture:", times)
        self.assertLessEqual(min(times["python"]), 1.2 * min(times["none"]))


for row in ProgramsTest.ROWS:
    setattr(ProgramsTest, "test_" + re.sub(r"\W+", "_", row.replace(".py", "")), lambda self, row=row: self.check_row(row))


if __name__ == "__main__":
    PROGRAM, KINDS, DEVICES = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
