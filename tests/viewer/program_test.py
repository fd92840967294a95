#!/usr/bin/env python3
"""Runs the program `reprise` as a process: exit codes, messages, and that nothing but text reaches a pipe.

usage: program_test.py REPRISE WRITE_TRACE
"""
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "injection"))
import capture_memory

PROGRAM, WRITE_TRACE = "", ""


def reprise(*arguments, **options):
    """Runs the program; stdout and stderr are pipes."""
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, **options)


class ProgramTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="reprise-program-")
        cls.here = pathlib.Path(cls.folder.name)
        cls.trace = cls.here / "run.reprise"
        subprocess.run([WRITE_TRACE, cls.trace], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def done(self, *arguments, **options):
        result = reprise(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        self.assertNotIn("\x1b", result.stdout)
        return result.stdout

    def refused(self, code, pattern, *arguments):
        result = reprise(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertRegex(result.stderr, pattern)
        self.assertNotIn("\x1b", result.stderr)
        self.assertEqual(result.stdout, "")


class Usage(ProgramTest):
    def test_version(self):
        self.assertRegex(self.done("--version"), r"^reprise \d+\.\d+\.\d+\n$")

    def test_help_of_every_command_has_examples(self):
        text = self.done("--help")
        self.assertIn("Exit codes", text)
        for command in ("stats", "export", "diff", "record", "run", "devices", "plan", "costs", "serve", "inspect", "strip"):
            self.assertIn(command, text)
            help_text = self.done(command, "--help")
            self.assertIn("Example", help_text)
            self.assertIn(f"reprise {command}", help_text)

    def test_wrong_usage_exits_2_with_the_reason(self):
        self.refused(2, "reprise: a command is required\nTry reprise --help")
        self.refused(2, "unknown command \"nonsense\"", "nonsense", "--json")
        self.refused(2, "FILE.*required(.|\n)*Try reprise stats --help", "stats")
        self.refused(2, "--nonsense", "stats", self.trace, "--nonsense")

    def test_a_stdout_that_is_full_is_a_failure(self):
        if pathlib.Path("/dev/full").exists():
            with open("/dev/full", "w") as full:
                result = subprocess.run([PROGRAM, "stats", self.trace], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(result.returncode, 1)
            self.assertIn("stdout", result.stderr)


class Export(ProgramTest):
    FORMATS = ("perfetto", "csv", "sqlite", "dot")

    def test_every_format_writes_a_file_and_says_what_is_in_it(self):
        for name in self.FORMATS:
            output = self.here / f"export.{name}"
            text = self.done("export", self.trace, "--format", name, "-o", output, "--graph", "step")
            self.assertRegex(text, r"^.*: \d+ replays, (199|200) node samples(; \d untimed items? omitted)?\n$")
            self.assertGreater(output.stat().st_size, 100)

    def test_wrong_usage(self):
        output = self.here / "never"
        self.refused(2, "xml.*perfetto", "export", self.trace, "--format", "xml", "-o", output)
        self.refused(2, "--format.*required", "export", self.trace, "-o", output)
        self.refused(2, "--output.*required", "export", self.trace, "--format", "csv")
        self.refused(2, "the trace itself", "export", self.trace, "--format", "csv", "-o", self.trace)
        self.assertFalse(output.exists())

    def test_stdout_receives_the_export_and_stderr_the_report(self):
        file = self.here / "export.csv"
        self.done("export", self.trace, "--format", "csv", "-o", file)
        result = reprise("export", self.trace, "--format", "csv", "-o", "/proc/self/fd/1")
        self.assertEqual((result.returncode, result.stdout), (0, file.read_text()))
        self.assertRegex(result.stderr, r"^reprise: /proc/self/fd/1: \d+ replays, ")
        redirected = self.here / "redirected.csv"
        with open(redirected, "w") as out:
            subprocess.run([PROGRAM, "export", self.trace, "--format", "csv", "-o", "/proc/self/fd/1"], stdout=out, check=True)
        self.assertEqual(redirected.read_text(), file.read_text())

    def test_failures_name_what_failed(self):
        nowhere = self.here / "no" / "folder"
        for name in self.FORMATS:
            self.refused(1, f"cannot write {nowhere}", "export", self.trace, "--format", name, "-o", nowhere, "--graph", "3")
        self.refused(1, "no graph .nonsense.", "export", self.trace, "--format", "csv", "-o", self.here / "x", "--graph", "nonsense")
        self.refused(1, "several graphs", "export", self.trace, "--format", "dot", "-o", self.here / "x")


class Costs(ProgramTest):
    MEDIAN = sorted(1000 + r % 7 for r in range(1, 41))[20] / 1000  # of the first command

    def test_text_is_a_table_for_each_graph(self):
        text = self.done("costs", self.trace)
        self.assertIn("step (plan feedfacecafebeef) on host (2 threads): medians of 40 replays, timed by the host clock", text)
        self.assertRegex(text, rf"0 +load +0 +{self.MEDIAN}")
        self.assertRegex(text, r"1 +saxpy \"a, b\" +epoch/forward +256 +\S+\n")
        for line in text.splitlines():
            self.assertEqual(line, line.rstrip())

    def test_a_file_of_them_stands_for_the_trace(self):
        output = self.here / "step.costs.json"
        of_trace = json.loads(self.done("costs", self.trace, "--graph", "step", "--json", "-o", output))
        self.assertEqual(json.loads(self.done("costs", output, "--json")), of_trace)
        graph, = of_trace["graphs"]
        self.assertEqual((graph["name"], graph["replays"], len(graph["commands"])), ("step", 40, 5))
        self.assertEqual(graph["commands"][0], {"command": 0, "name": "load", "label": "", "work": 0, "us": self.MEDIAN})

    def test_failures_name_what_failed(self):
        self.refused(1, "no graph nonsense", "costs", self.trace, "--graph", "nonsense")
        self.refused(1, "No such file", "costs", self.here / "nothing")
        self.refused(1, f"the costs could not be written to {self.here}/no/file", "costs", self.trace, "-o", self.here / "no" / "file")
        wrong = self.here / "wrong.json"
        wrong.write_text('{"reprise_tuning": 1}')
        self.refused(1, f"costs file {wrong}: save_cost_profile\\(\\) did not write it", "costs", wrong)
        self.refused(2, "FILE.*required", "costs")


class Stats(ProgramTest):
    def test_text_has_figures_with_units(self):
        text = self.done("stats", self.trace)
        self.assertIn("step (graph 3, version 1) on host (2 threads): 5 nodes, 5 edges, 2 lanes", text)
        self.assertIn("40 replays, 40 sampled; 200 node samples, 1 untimed", text)
        self.assertIn("lost: 12 samples", text)
        self.assertRegex(text, r"pool +buffers +freed +buffer bytes +mapped +reserved +peak mapped +budget +trims +remaps")
        self.assertRegex(text, r"step +2 +5 +6\S* MiB +6\S* MiB +14\S* MiB +14\S* MiB +32\S* MiB +3 +2")
        self.assertIn("session: digits on node7, process 4711, engine 0.1.0", text)
        for line in text.splitlines():
            self.assertEqual(line, line.rstrip())
        # Columns of numbers end at one place.
        table = [line for line in text.splitlines() if re.match(r"  (node|\d+ +(saxpy|blur)) ", line)]
        self.assertGreater(len(table), 4)
        self.assertEqual(len({len(line) for line in table}), 1, table)

    def test_json_and_text_agree(self):
        json_text = self.done("stats", self.trace, "--json")
        stats = json.loads(json_text)
        step = stats["graphs"][0]
        self.assertEqual(step["name"], "step")
        self.assertEqual(step["replays"], 40)
        self.assertEqual(step["samples"], 200)
        self.assertEqual(step["lost_samples"], 1)
        self.assertEqual(step["nodes"][0]["time"]["total_ns"], sum(1000 + r % 7 for r in range(1, 41)))
        self.assertAlmostEqual(sum(node["share"] for node in step["nodes"]), 1)
        self.assertEqual(stats["bytes"], self.trace.stat().st_size)
        self.assertEqual(stats["losses"], {"samples": 12})
        self.assertEqual(stats["pools"], [{"pool": 2, "label": "step", "buffers": 2, "device_bytes": 6 << 20, "host_bytes": 4096, "freed": 5, "freed_bytes": 20480, "budget": 32 << 20,
                                           "reserved": 14 << 20, "mapped": 6 << 20, "peak": 14 << 20, "slabs": 1, "trims": 3, "remaps": 2,
                                           "shared_slabs": 1, "sharers": [step["graph"]]}])
        self.assertEqual(stats["device_memory"], [{"device": stats["devices"][0]["device"], "budget": 0, "reserved": 14 << 20, "mapped": 6 << 20,
                                                   "peak": 14 << 20, "buffer_bytes": 6 << 20, "slabs": 1, "shared_slabs": 1, "trims": 3, "remaps": 2}])
        self.assertRegex(self.done("stats", self.trace), r"total of host +6.0 MiB +6.0 MiB +14.0 MiB +14.0 MiB +none +3 +2\n  graphs that share 1 slab of step: 1: step\n")
        for key in ("device_time", "launch_call", "launch_latency"):
            mean = f"{step[key]['mean_ns'] / 1000:.3f}"
            name = "launch-to-start latency" if key == "launch_latency" else key.replace("_", " ")
            self.assertRegex(self.done("stats", self.trace), rf"{name} +40 +{mean}")
        self.assertGreater(step["launch_latency"]["min_ns"], step["launch_call"]["min_ns"])

    def test_graphs_of_one_topology_are_a_family(self):
        text = self.done("stats", self.trace)
        self.assertRegex(text, r"\n  step and 1 more +50 +\S+ - \S+ +- +\S+ +100\.0 %")
        self.assertRegex(text, r"\n    step +40 +\S+ +\S+ +\S+ +\d+\.\d % +2\.500 ")
        table = json.loads(self.done("stats", self.trace, "--json"))["graph_table"]
        self.assertEqual([row["name"] for row in table["graphs"]], ["step", "other"])
        self.assertEqual({row["process"] for row in table["graphs"]}, {0})
        family, = table["families"]
        self.assertEqual((family["members"], family["replays"], family["never_replayed"]), ([3, 8], 50, 0))
        self.assertAlmostEqual(sum(row["share"] for row in table["graphs"]), 1)
        self.assertEqual(table["totals"]["device_time_ns"], sum(row["device_time_ns"] for row in table["graphs"]))
        self.assertEqual(table["graphs"][0]["launch_latency_ns"], 2500)

    def test_one_graph_and_the_length_of_lists(self):
        text = self.done("stats", self.trace, "--graph", "other", "--top", "2")
        self.assertIn("other (graph 8, version 1)", text)
        self.assertNotIn("step (graph 3", text)
        self.assertIn("... 3 nodes more; --top 0 prints all", text)
        self.assertNotIn("more; --top", self.done("stats", self.trace, "--graph", "other", "--top", "0"))
        graph, = json.loads(self.done("stats", self.trace, "--graph", "8", "--json"))["graphs"]
        self.assertEqual(graph["name"], "other")
        self.refused(1, "no graph .nonsense.", "stats", self.trace, "--graph", "nonsense")

    def test_a_replay_is_explained_by_parts_that_add_up(self):
        text = self.done("stats", self.trace, "--graph", "step", "--replay", "6")
        self.assertIn("step (graph 3, version 1), replay 6:", text)
        for part in ("launch latency without queueing", "gap before sum", "store", "remainder", "all"):
            self.assertIn(part, text)
        slow = json.loads(self.done("stats", self.trace, "--graph", "step", "--replay", "6", "--json"))
        self.assertAlmostEqual(slow["time_ns"] - slow["median_ns"], slow["difference_ns"])
        self.assertAlmostEqual(sum(part["difference_ns"] for part in slow["parts"]) + slow["remainder_ns"], slow["difference_ns"])
        slowest = json.loads(self.done("stats", self.trace, "--json"))["graphs"][0]["slowest_replays"]
        self.assertEqual(slowest[0]["replay"], 6)  # the first of those whose nodes take 6 ns longer
        self.assertEqual(len(slowest), 10)
        self.refused(2, "several graphs have a replay 6: add --graph", "stats", self.trace, "--replay", "6")
        self.refused(1, "no replay 99 of graph other", "stats", self.trace, "--graph", "other", "--replay", "99")

    def test_many_graphs_are_summarised_by_families(self):
        many = self.here / "many.reprise"
        subprocess.run([WRITE_TRACE, many, "many"], check=True)
        text = self.done("stats", many)
        self.assertLess(text.count("\n"), 40)
        self.assertRegex(text, r"\n  batch \* \(400 graphs\) +400 ")
        self.assertRegex(text, r"\n  total of 401 graphs +400 ")
        self.assertIn("1 graph never replayed", text)
        self.assertIn("--graph NAME prints", text)
        self.assertNotIn("batch 7 (graph", text)
        self.assertIn("batch 7 (graph", self.done("stats", many, "--graph", "batch 7"))

    def merged(self, ranks, replays, names="rank-*.reprise"):
        """The merged trace of a job whose rank 1 is 40 us late at the second collective."""
        folder, output = self.here / f"job-{ranks}", self.here / f"job-{ranks}.reprise"
        subprocess.run([WRITE_TRACE, folder, "ranks", str(ranks), "2", str(replays), "40000"], check=True)
        merge = reprise("merge", "-o", output, *sorted(folder.glob(names)))
        self.assertEqual(merge.returncode, 0, merge.stderr)
        return output

    def test_communication_of_ranks(self):
        trace = self.merged(4, 40)
        text = self.done("stats", trace)
        self.assertRegex(text, r"times are on the clock of rank 0, within \d+\.\d+ us\n")
        self.assertRegex(text, r"\n  rank 1 on node0 +4[\d.]+ ")
        self.assertRegex(text, r"rank 1 arrived last in \d+\.\d % of collectives, others waited \d\.\d+ ms in total\n")
        self.assertRegex(text, r"\n  4 +all-reduce +step +forward \+\d\d\.\d+ +40 +rank 1 +100\.0 % ")
        self.assertNotIn("warning:", text)
        stats = json.loads(self.done("stats", trace, "--json"))["communication"]
        self.assertEqual([rank["name"] for rank in stats["ranks"]], [f"rank {i}" for i in range(4)])
        self.assertEqual([a["session"] for a in stats["clock_alignments"]], [0, 1, 2, 3])
        self.assertGreater(stats["max_error_ns"], 0)
        self.assertEqual(stats["warnings"], [])
        late = next(c for c in stats["collectives"] if c["index"] == 1)
        self.assertEqual((late["kind"], late["executions"], late["incomplete"], late["last_session"]), ("all-reduce", 40, 0, 1))
        self.assertEqual((late["late_command"]["name"], late["late_command"]["node"]), ("forward", 3))
        self.assertEqual([rank["last"] for rank in late["ranks"]], [0, 40, 0, 0])
        for rank in stats["ranks"]:
            self.assertEqual(rank["sampled_replays"], 40)
            self.assertLess(abs(rank["overlapped_ns"] - 40 * 2 * 30000), 40 * 2 * 30000 * 0.02)
            self.assertLess(abs(rank["exposed_ns"] - rank["waited_ns"] - 40 * 2 * 21000), 40 * 2 * 21000 * 0.05)
        self.assertNotIn("communication", json.loads(self.done("stats", self.trace, "--json")))
        self.assertNotIn("Communication", self.done("stats", self.trace))

    def test_communication_of_many_ranks_is_folded(self):
        trace = self.merged(20, 10)
        text = self.done("stats", trace, "--graph", "0")
        self.assertEqual(len(re.findall(r"\n  rank \d+ on node", text)), 16)
        self.assertRegex(text, r"\n  4 other ranks +\d")
        self.assertRegex(text, r"others waited us\n  rank 1 on node0 ")  # the worst one is first
        self.assertIn("20 sessions on 10 hosts, 20 devices", text)
        self.assertEqual(text.count("\n  weights, rank "), 10)
        self.assertIn("  ... 10 pools more; --top 0 prints all\n", text)
        self.assertEqual(len(re.findall(r"\n  rank \d+ on node", self.done("stats", trace, "--graph", "0", "--top", "0"))), 20)
        self.assertEqual(len(json.loads(self.done("stats", trace, "--json"))["communication"]["ranks"]), 20)

    def test_merge_warnings_are_printed_with_the_ranks(self):
        trace = self.merged(3, 10, "rank-[01].reprise")
        self.assertRegex(self.done("stats", trace), r"\n  warning: .*2")
        self.assertEqual(len(json.loads(self.done("stats", trace, "--json"))["communication"]["warnings"]), 1)

    def test_cost_of_capture_is_per_graph_and_in_total(self):
        many = self.here / "captured.reprise"
        subprocess.run([WRITE_TRACE, many, "many"], check=True)
        text = self.done("stats", many)
        self.assertRegex(text, r"\n  batch \* \(400 graphs\) .* 1\.2 GiB +400\.0 MiB +400,000\.000 +200\.000\n")
        self.assertRegex(text, r"\n  spare +never +- .* 2\.0 MiB +- +1,000\.000 +-\n")
        self.assertRegex(text, r"\n  total of 401 graphs .* 1\.2 GiB +400\.0 MiB ")
        self.assertNotIn("compile us", text)  # a column without any value
        self.assertIn("preparation: record 1.000 ms, upload 500 ns; device memory 3.0 MiB, 1.0 MiB of it by the first launch\n",
                      self.done("stats", many, "--graph", "batch 7"))
        self.assertIn("parameters: 8 changes of 2 nodes; the latest values are known\n", self.done("stats", many, "--graph", "batch 7"))
        changed = json.loads(self.done("stats", many, "--graph", "batch 7", "--json"))["graphs"][0]["nodes"]
        self.assertEqual([node["changes"] for node in changed], [6, 2])
        table = json.loads(self.done("stats", many, "--json"))["graph_table"]
        costs = lambda row: tuple(row[key] for key in ("memory_bytes", "capture_memory_bytes", "launch_memory_bytes", "record_ns", "compile_ns", "upload_ns"))
        self.assertEqual(costs(table["totals"]), (1202 << 20, 802 << 20, 400 << 20, 401 * 1000000, None, 400 * 500))
        self.assertEqual(costs(table["graphs"][0]), (3 << 20, 2 << 20, 1 << 20, 1000000, None, 500))
        self.assertEqual(costs(table["graphs"][400]), (2 << 20, 2 << 20, None, 1000000, None, None))
        self.assertEqual(costs(json.loads(self.done("stats", self.trace, "--json"))["graph_table"]["totals"])[:3], (None, None, None))

    def test_reported_memory_is_compared_with_that_of_the_device(self):
        many = self.here / "compared.reprise"
        subprocess.run([WRITE_TRACE, many, "many"], check=True)
        stats = json.loads(self.done("stats", many, "--json"))
        used = 1202 << 20
        verdict = lambda **changes: capture_memory.compare(stats, {"graphs": 401, "bytes": used, "seconds": 1.5, **changes})
        text, failure = verdict()
        self.assertEqual(failure, "1 of 401 graphs have no known memory or were never launched")
        stats["graph_table"]["graphs"].pop()
        text, failure = verdict(graphs=400)
        self.assertIsNone(failure)
        self.assertEqual(text, "400 graphs: 1202.0 MiB reported, 1202.0 MiB by cudaMemGetInfo (+0.0 %); 0.4 s reported, 1.5 s measured")
        self.assertIsNone(verdict(graphs=400, bytes=int(used / 1.049))[1])
        for wrong in (used / 1.06, used / 0.94):
            self.assertEqual(verdict(graphs=400, bytes=int(wrong))[1], "the difference is larger than 5 %")
        self.assertEqual(verdict(graphs=67)[1], "67 graphs were captured, the trace has 400")
        self.assertEqual(verdict(graphs=400, bytes=0)[1], "the graphs took no device memory")

    def test_numbers_are_checked(self):
        for option, value in (("--replay", "-1"), ("--replay", "0x10"), ("--top", "4294967296"), ("--top", "1.5"),
                              ("--top", "ten")):
            self.refused(2, f"{option}: \"{value}\" is not an integer from 0 to ", "stats", self.trace, option, value)

    def test_names_cannot_control_a_terminal(self):
        hostile = self.here / "hostile.reprise"
        subprocess.run([WRITE_TRACE, hostile, "hostile"], check=True)
        subprocess.run([WRITE_TRACE, self.here / "job", "ranks", "2", "1", "3"], check=True)
        damaged = self.here / "\x1b[31mdamaged.reprise"
        damaged.write_bytes(self.trace.read_bytes()[:-3])
        output = self.here / "\x1b[31m.csv"
        for arguments in (["stats", hostile], ["stats", hostile, "--json"], ["stats", hostile, "--graph", "none"],
                          ["merge", "-o", self.here / "all", hostile, self.here / "job" / "rank-1.reprise"],
                          ["export", damaged, "--format", "csv", "-o", output], ["stats", "\x1b[31m"],
                          ["merge", "-o", self.here / "one.reprise", hostile], ["costs", hostile],
                          ["diff", hostile, hostile], ["\x1b[31m"], ["stats", "\x1b[31m", "--x\x1b[31m"],
                          ["record", "-o", self.here / "x", "--", "\x1b[31m"]):
            result = reprise(*arguments)
            for text in (result.stdout, result.stderr):
                self.assertIsNone(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text), (arguments, text))
                self.assertNotIn("\nreprise: forged", text, arguments)
        self.assertIn("?[31m", reprise("stats", hostile, "--graph", "none").stderr)

    def test_a_pipe_is_refused_without_waiting(self):
        pipe = self.here / "pipe"
        os.mkfifo(pipe)
        for command, *options in (["stats"], ["costs"], ["export", "--format", "csv", "-o", self.here / "x"]):
            self.refused(1, f"{pipe}.*not a regular file", command, pipe, *options)

    def test_a_lack_of_memory_names_what_was_done(self):
        if b"__asan_init" in pathlib.Path(PROGRAM).read_bytes():
            self.skipTest("AddressSanitizer reserves more address space than the limit")
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
        lists = self.here / "many.csv"
        lists.write_text("id,lower,upper,size\n" + "".join(f"{i},{i},{i + 9},{i}\n" for i in range(2_000_000)))
        result = reprise("plan", lists, "--budget", "0", preexec_fn=limit)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(f"reprise: out of memory while running reprise plan {lists}", result.stderr)

    def test_what_is_no_trace_fails_and_names_the_file(self):
        text = self.here / "text"
        text.write_text("this is no trace, it is only text")
        self.refused(1, f"reprise: .*{text}", "stats", text)
        self.refused(1, "reprise: .*nowhere.*No such file", "stats", self.here / "nowhere")
        self.refused(1, "reprise: ", "stats", self.here)

    def test_a_cut_file_says_so(self):
        cut = self.here / "cut.reprise"
        cut.write_bytes(self.trace.read_bytes()[:-3])
        self.assertIn("damaged or incomplete", self.done("stats", cut))

    def test_a_damaged_part_is_skipped_and_reported(self):
        damaged = self.here / "damaged.reprise"
        content = bytearray(self.trace.read_bytes())
        content[-3] ^= 0x55
        damaged.write_bytes(content)
        text = self.done("stats", damaged)
        self.assertIn("the file is damaged or incomplete: 1 chunk is damaged and was skipped: ", text)
        self.assertIn("step (graph 3, version 1)", text)
        self.assertIn("1 chunk is damaged", json.loads(self.done("stats", damaged, "--json"))["damage"])


class Diff(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.slow = cls.here / "slow.reprise"
        subprocess.run([WRITE_TRACE, cls.slow, "slow"], check=True)

    def test_the_slower_node_is_named(self):
        text = self.done("diff", self.trace, self.slow)
        self.assertRegex(text, r"blur +epoch / forward +40 +40 +3\.00\d +4\.50\d +\+1\.50\d +\+\d\d\.\d % +\+1\.50\d +100\.0 % +100\.0 % +<0\.001  +slower")
        self.assertEqual(text.count("slower\n"), 2)  # the node and the replays
        self.assertRegex(self.done("diff", self.slow, self.trace), r"blur .* faster\n")

    def test_json(self):
        diff = json.loads(self.done("diff", self.trace, self.slow, "--json"))
        step = next(graph for graph in diff["graphs"] if graph["name"] == "step")
        self.assertEqual([node["name"] for node in step["nodes"] if node["time"]["verdict"] == "slower"], ["blur"])
        self.assertTrue(step["same_plan"])
        self.assertLess(step["nodes"][0]["time"]["p"], 1e-6)

    def test_wrong_usage_and_failures(self):
        self.refused(2, "B.*required", "diff", self.trace)
        self.refused(1, "nowhere", "diff", self.trace, self.here / "nowhere")


class Record(ProgramTest):
    # Writes a file at the path in the variable, as the engine does.
    WRITE = 'exec "$0" "${REPRISE_TRACE%%,*}"'

    def record(self, *arguments, **options):
        return reprise("record", *arguments, **options)

    def test_a_trace_is_written_and_the_program_speaks_for_itself(self):
        output = self.here / "recorded.reprise"
        result = self.record("-o", output, "--", "sh", "-c", "echo hello --json; " + self.WRITE, WRITE_TRACE)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "hello --json\n")
        self.assertRegex(result.stderr, r"^reprise: .*recorded.reprise: .*KiB, \d+ chunks\n$")
        self.done("stats", output)
        # Again: the file that is there is replaced.
        self.assertEqual(self.record("-o", output, "--", "sh", "-c", self.WRITE, WRITE_TRACE).returncode, 0)

    def test_the_environment_says_what_is_wanted(self):
        output = self.here / "environment.reprise"
        show = 'echo "$REPRISE_TRACE $REPRISE_PROFILE"; exit 3'
        result = self.record("-o", output.name, "--", "sh", "-c", show, cwd=self.here)
        self.assertEqual(result.stdout, f"{output} every\n")
        result = self.record("-o", output, "--max", "500M", "--profile", "sampled", "--", "sh", "-c", show)
        self.assertEqual(result.stdout, f"{output},max=500M,keep=last sampled\n")

    def test_exit_codes(self):
        output = self.here / "codes.reprise"
        self.assertEqual(self.record("-o", output, "--", "sh", "-c", "exit 3").returncode, 3)
        self.assertEqual(self.record("-o", output, "--", "sh", "-c", "kill -TERM $$").returncode, -signal.SIGTERM)
        missing = self.record("-o", output, "--", self.here / "no-such-program")
        self.assertEqual(missing.returncode, 127)
        self.assertRegex(missing.stderr, "cannot run .*no-such-program: No such file")
        self.assertEqual(self.record("-o", output, "--", self.here).returncode, 126)

    HANDLE = """import signal, sys
handled = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
signal.pthread_sigmask(signal.SIG_BLOCK, handled)
print('ready', flush=True)
sys.exit(signal.sigwait(handled))"""

    def start(self, *command, prefix=()):
        def as_in_a_terminal():  # nohup and background jobs of a shell ignore some of them
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)

        running = subprocess.Popen([*prefix, PROGRAM, "record", "-o", self.here / "signals.reprise", "--", *command], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, preexec_fn=as_in_a_terminal)
        self.addCleanup(running.communicate, timeout=60)
        self.assertEqual(running.stdout.readline(), "ready\n")
        return running

    def test_signals_are_passed_to_the_program(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            running = self.start(sys.executable, "-c", self.HANDLE)
            running.send_signal(number)
            self.assertEqual(running.wait(60), number)
            running = self.start("sh", "-c", "echo ready; exec sleep 60")
            running.send_signal(number)
            self.assertEqual(running.wait(60), -number)

    def test_process_1_of_a_container_passes_signals_and_collects_orphans(self):
        prefix = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child")
        if subprocess.run([*prefix, "true"], capture_output=True).returncode != 0:
            self.skipTest("no process namespace can be created")
        # An orphan ends before the program does.
        orphan = "import os\nif os.fork() == 0: os.fork() and os._exit(0); os._exit(0)\n"
        outer = self.start(sys.executable, "-c", orphan + self.HANDLE, prefix=prefix)
        inner = int(pathlib.Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text())
        os.kill(inner, signal.SIGTERM)
        self.assertEqual(outer.wait(60), signal.SIGTERM)
        result = subprocess.run([*prefix, PROGRAM, "record", "-o", self.here / "killed.reprise", "--", "sh", "-c", "kill -KILL $$"], capture_output=True)
        self.assertEqual(result.returncode, 128 + signal.SIGKILL)

    def test_each_process_of_a_launcher_has_its_own_trace(self):
        output = self.here / "ranks.reprise"
        lines = f'"$0" "$REPRISE_TRACE" & "$0" "$REPRISE_TRACE.$$" & wait'
        result = self.record("-o", output, "--", "sh", "-c", lines, WRITE_TRACE)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"^reprise: .*ranks\.reprise: .* chunks\nreprise: .*ranks\.reprise\.\d+: .* chunks\n$")

    def test_ranks_of_a_job_are_listed_and_viewed_as_one(self):
        output = self.here / "job.reprise"
        lines = 'for rank in $(seq 0 19); do "$0" "${REPRISE_TRACE%.reprise}.rank$(printf %02d $rank).reprise"; done'
        result = self.record("-o", output, "--", "sh", "-c", lines, WRITE_TRACE)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"^(reprise: .*job\.rank\d\d\.reprise: .* chunks\n){16}reprise: and 4 further traces\n"
                                        r"reprise: all ranks as one: reprise view .*job\.rank\*\.reprise\n$")
        alone = self.here / "alone.reprise"
        result = self.record("-o", alone, "--", "sh", "-c", '"$0" "${REPRISE_TRACE%.reprise}.rank1.reprise"', WRITE_TRACE)
        self.assertRegex(result.stderr, r"^reprise: .*alone\.rank1\.reprise: .* chunks\n$")
        self.assertFalse(alone.exists())

    def test_no_trace_is_a_failure_that_is_said(self):
        output = self.here / "never.reprise"
        self.refused(1, "true wrote no trace to .*never.reprise", "record", "-o", output, "--", "true")
        # An old one does not count.
        self.refused(1, "wrote no trace", "record", "-o", self.trace, "--", "true")
        self.refused(1, "no Reprise trace|text.reprise", "record", "-o", self.here / "text.reprise", "--", "sh", "-c",
                     'echo "no trace at all, but text" > "$REPRISE_TRACE"')

    def test_wrong_usage(self):
        output = self.here / "x"
        self.refused(2, "CMD.*required", "record", "-o", output)
        self.refused(2, "another", "record", "-o", output, "--attach", "digits", "--", "true")
        self.refused(1, "no live session matches no-such-program", "record", "-o", output, "--attach", "no-such-program")
        self.refused(2, "output.*required", "record", "--", "true")
        self.refused(2, "comma", "record", "-o", "a,b", "--", "true")
        self.refused(2, "not a size", "record", "-o", output, "--max", "much", "--", "true")
        self.refused(2, "profile", "record", "-o", output, "--profile", "most", "--", "true")
        self.refused(1, "no such directory", "record", "-o", self.here / "no" / "folder", "--", "true")


class Devices(ProgramTest):
    def test_the_host_device_is_always_there(self):
        self.assertRegex(self.done("devices"), r"(?m)^  host +host")
        devices = json.loads(self.done("devices", "--json"))["devices"]
        self.assertIn("host", [device["selector"] for device in devices])


class Plan(ProgramTest):
    HEADER = "id,lower,upper,size\n"
    ROWS = "b1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n"

    def file(self, text, name="buffers.csv"):
        path = self.here / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def plan(self, text, *arguments):
        return json.loads(self.done("plan", self.file(text), "--json", *arguments))

    def check(self, rows, plan, alignment=1):
        """Rows of (lower, upper, size): overlapping lifetimes share no bytes, and the peak is the maximum end."""
        placed = list(zip(rows, plan["offsets"], strict=True))
        self.assertEqual(plan["peak_bytes"], max(offset + row[2] for row, offset in placed))
        for i, (a, at) in enumerate(placed):
            self.assertEqual(at % alignment, 0)
            for b, other in placed[:i]:
                if a[0] < b[1] and b[0] < a[1]:
                    self.assertTrue(at + a[2] <= other or other + b[2] <= at, (a, b))

    def test_text_contains_peak_lower_bound_time_and_offsets(self):
        text = self.done("plan", self.file(self.HEADER + self.ROWS))
        self.assertRegex(text, r"^5 buffers in .*s\npeak        12 bytes, optimal\nlower bound 12 bytes\n\n  id +lower +upper +size +offset\n  b1 ")
        self.assertEqual(len(text.splitlines()), 3 + 1 + 1 + 5)

    def test_json(self):
        plan = self.plan(self.HEADER + self.ROWS)
        self.assertEqual((plan["peak_bytes"], plan["lower_bound"], plan["optimal"], plan["buffers"]), (12, 12, True, 5))
        self.assertGreaterEqual(plan["seconds"], 0)
        self.check([(0, 3, 4), (3, 9, 4), (0, 9, 4), (9, 21, 4), (0, 21, 4)], plan)

    def test_columns_in_any_order_quotes_and_other_columns(self):
        want = self.plan(self.HEADER + self.ROWS)["offsets"]
        self.assertEqual(self.plan("buffer,start,end,size\n" + self.ROWS)["offsets"], want)
        swapped = "".join(",".join(reversed(row.split(","))) + "\n" for row in self.ROWS.splitlines())
        self.assertEqual(self.plan("size,upper,lower,id\n" + swapped)["offsets"], want)
        noted = "".join(f'"a ""note"", of {i}", {row} \r\n\r\n' for i, row in enumerate(self.ROWS.splitlines()))
        self.assertEqual(self.plan("\ufeffnote, ID,Lower ,UPPER,size\r\n" + noted)["offsets"], want)

    def test_alignment(self):
        plan = self.plan("id,lower,upper,size,alignment\na,0,2,10,256\nb,0,2,10,256\nc,0,2,300,256\nd,0,1,1,256\n")
        self.check([(0, 2, 10), (0, 2, 10), (0, 2, 300), (0, 1, 1)], plan, 256)
        self.assertEqual(plan["lower_bound"], 1025)
        self.assertEqual(plan["peak_bytes"], 1025)

    def test_exit_code_reports_whether_the_plan_fits(self):
        path = self.file(self.HEADER + self.ROWS)
        self.assertIn("the plan fits", self.done("plan", path, "--capacity", "12"))
        for extra in ([], ["--json"]):
            result = reprise("plan", path, "--capacity", "11", *extra)
            self.assertEqual(result.returncode, 3)
            self.assertIn("false" if extra else "does not fit", result.stdout)

    def test_standard_input_and_output_file(self):
        placed = self.here / "placed.csv"
        self.done("plan", "-", "-o", placed, input=self.HEADER + self.ROWS)
        lines = placed.read_text().splitlines()
        self.assertEqual(lines[0], "id,lower,upper,size,offset")
        self.assertEqual([line.rsplit(",", 1)[0] for line in lines[1:]], self.ROWS.splitlines())
        self.check([tuple(map(int, line.split(",")[1:4])) for line in lines[1:]],
                   {"peak_bytes": 12, "offsets": [int(line.split(",")[4]) for line in lines[1:]]})

    def test_a_file_without_rows_needs_no_bytes(self):
        self.assertEqual(self.plan(self.HEADER)["peak_bytes"], 0)

    def test_errors_name_line_and_column(self):
        for rows, pattern in (
                ("a,0,1,2\nb,x,1,2\n", r":3: column lower: \"x\" is not an integer"),
                ("a,0,1.5,2\n", r":2: column upper: \"1.5\" is not an integer"),
                ("a,5,5,2\n", r":2: column upper: \"5\" is not above lower 5"),
                ("a,0,1,-2\n", r":2: column size: \"-2\" is not an integer of at least 0"),
                ("a,0,1,\n", r":2: column size: \"\" is not an integer of at least 0"),
                ("a,0,1,99999999999999999999\n", r":2: column size: .* exceeds 64 bits"),
                ("a,0,1,9999999999999999999\n", r":2: column size: .* 2.62"),
                ("a,0,1\n", r":2: 3 fields, but the header has 4 columns"),
                ("a,0,1,2,3\n", r":2: 5 fields"),
                ("a,0,1,2\n\n\na,0,1,2\n", r":5: column id: \"a\" duplicates the id of line 2"),
                (",0,1,2\n", r":2: column id"),
                ('"a,0,1,2\n', r":2: field 1: the quote is not closed"),
                ('"a"b,0,1,2\n', r":2: field 1: text after the closing quote")):
            with self.subTest(rows=rows):
                self.refused(1, r"reprise: .*buffers\.csv" + pattern, "plan", self.file(self.HEADER + rows))
        for text, pattern in (("", "the file is empty"), ("id,lower,upper\n", ":1: missing column size"),
                              ("id,lower,upper,size,end\n", ":1: duplicate columns upper and end")):
            self.refused(1, pattern, "plan", self.file(text))
        self.refused(1, r":2: column alignment: \"0\"", "plan", self.file("id,lower,upper,size,alignment\na,0,1,2,0\n"))
        self.refused(1, r":1: missing column id; .*commas", "plan", self.file("id;lower;upper;size\na;0;1;2\n"))

    def test_arbitrary_bytes_are_refused_or_planned(self):
        random = __import__("random").Random(7)
        good = (self.HEADER + self.ROWS).encode()
        for _ in range(60):
            text = bytearray(good)
            for _ in range(random.randrange(1, 4)):
                at = random.randrange(len(text))
                text[at:at + random.randrange(3)] = bytes(random.randrange(256) for _ in range(random.randrange(3)))
            result = subprocess.run([PROGRAM, "plan", self.file(bytes(text)), "--json", "--budget", "0"], capture_output=True)
            self.assertIn(result.returncode, (0, 1), (bytes(text), result.stderr))
            self.assertEqual(result.returncode == 1, result.stderr.startswith(b"reprise: "), result.stderr)

    def test_wrong_usage_and_failures(self):
        path = self.file(self.HEADER + self.ROWS)
        self.refused(2, "FILE.*required", "plan")
        self.refused(2, "budget", "plan", path, "--budget", "-1")
        self.refused(2, "capacity", "plan", path, "--capacity", "much")
        for option, value in (("--capacity", "-5"), ("--capacity", "18446744073709551616"), ("--capacity", "5x"),
                              ("--budget", "nan"), ("--budget", "inf"), ("--budget", "1e400"), ("--budget", "1 "),
                              ("--budget", "")):
            self.refused(2, f"{option}: \"{value}\" is not (an integer|a number) from 0 to ", "plan", path, option, value)
        self.refused(1, "nowhere.*No such file", "plan", self.here / "nowhere")
        self.refused(1, "is a directory", "plan", self.here)
        self.refused(1, "cannot write", "plan", path, "-o", self.here / "no" / "folder.csv")


class Serve(ProgramTest):
    def serve(self, *arguments, command="serve", **environment):
        return subprocess.Popen([PROGRAM, command, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=os.environ | environment)

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, output), (0, ""), errors)
        return errors

    def test_the_link_is_printed_and_a_signal_ends_it(self):
        process = self.serve("--port", "0", "--allow-folder", self.here, "--allow-host", "gpu-box", self.trace)
        self.assertRegex(process.stdout.readline(), r"^http://127\.0\.0\.1:[1-9][0-9]*/#token=[0-9a-f]{32}\n$")
        self.assertEqual(self.stop(process), "")

    def test_a_taken_port_is_said_and_the_next_one_used(self):
        first = self.serve("--port", "18321")
        port = int(re.search(r":(\d+)/", first.stdout.readline())[1])
        second = self.serve("--port", port)
        self.assertGreater(int(re.search(r":(\d+)/", second.stdout.readline())[1]), port)
        self.assertIn(f"port {port} is taken", self.stop(second))
        self.stop(first)

    def test_the_browser_of_the_desktop_gets_the_link(self):
        folder = self.here / "bin"
        folder.mkdir()
        (folder / "xdg-open").write_text('#!/bin/sh\nls -l "$1"\ncat "$1"\n')
        (folder / "xdg-open").chmod(0o700)
        process = self.serve("--browser", self.trace, command="view", PATH=f"{folder}:{os.environ['PATH']}")
        link = process.stdout.readline().strip()
        self.assertRegex(link, r"^http://127\.0\.0\.1:[1-9][0-9]*/#token=[0-9a-f]{32}$")
        opened = process.stdout.readline()
        self.assertRegex(opened, r"^-rw------- .*/viewer\.html$")
        self.assertEqual(process.stdout.readline().strip(), f'<meta http-equiv="refresh" content="0;url={link}">')
        self.assertEqual(self.stop(process), "")
        self.assertFalse(pathlib.Path(opened.split()[-1]).exists())
        process = self.serve("--browser", self.trace, command="view", PATH=str(self.here))
        process.stdout.readline()
        self.assertIn("cannot start xdg-open; open the link in a browser", self.stop(process))

    def test_the_files_of_a_killed_server_go_with_the_next_one(self):
        folder = self.here / "temporary"
        folder.mkdir()
        running, killed = (self.serve("--port", "0", TMPDIR=str(folder)) for _ in range(2))
        for process in (running, killed):
            process.stdout.readline()
        before = set(folder.iterdir())
        killed.kill()
        killed.communicate()
        self.assertEqual((len(before), set(folder.iterdir())), (2, before))
        last = self.serve("--port", "0", TMPDIR=str(folder))
        last.stdout.readline()
        self.assertEqual((len(before & set(folder.iterdir())), len(set(folder.iterdir()))), (1, 2))
        self.stop(running)
        self.stop(last)
        self.assertEqual(list(folder.iterdir()), [])

    def test_other_addresses_than_loopback_warn(self):
        process = self.serve("--address", "0.0.0.0", "--port", "0")
        self.assertIn("http://127.0.0.1:", process.stdout.readline())
        self.assertIn("without encryption", self.stop(process))

    def test_wrong_usage_and_failures(self):
        self.refused(2, "--port: \"99999\" is not an integer from 0 to 65535", "serve", "--port", "99999")
        self.refused(2, "--max-clients", "serve", "--max-clients", "0")
        self.refused(1, "nowhere.reprise: no such file", "serve", self.here / "nowhere.reprise")
        self.refused(1, "no live session matches nobody", "serve", "nobody")
        self.refused(1, "--allow-folder: .*run.reprise is not a folder", "serve", "--allow-folder", self.trace)
        self.refused(1, "cannot listen on 203.0.113.7", "serve", "--address", "203.0.113.7", "--port", "0")
        self.refused(2, "--browser opens no --screenshot", "view", "--browser", "--screenshot", self.here / "a.png")


if __name__ == "__main__":
    PROGRAM, WRITE_TRACE = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
