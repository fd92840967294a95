#!/usr/bin/env python3
"""Checks the exit codes, messages and traces of `reprise run` with various programs. Needs no GPU: the programs load the library as CUDA would.

usage: process_test.py REPRISE LIBRARY DRIVER      (LIBRARY "none": tests only the command; DRIVER: see slow_driver.cpp)
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM, LIBRARY, DRIVER = "", "", ""
START = "import ctypes, os, sys, time; ctypes.CDLL(os.environ.get('CUDA_INJECTION64_PATH') or os.environ['REPRISE_RUN_LIBRARY']).InitializeInjection()\n"


class RunTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="reprise-run-")
        self.here = pathlib.Path(self.folder.name)
        (self.here / "runtime").mkdir(mode=0o700)
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(self.here / "runtime"), "REPRISE_CUPTI": "off"}
        for name in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "REPRISE_RUN_TRACE"):
            self.environment.pop(name, None)
        self.trace = self.here / "run.reprise"

    def tearDown(self):
        self.folder.cleanup()

    def run_it(self, *command, options=()):
        return subprocess.run([PROGRAM, "run", "-o", self.trace, *options, "--", *map(str, command)], capture_output=True, text=True, env=self.environment,
                              timeout=300)

    def python(self, text, options=()):
        return self.run_it(sys.executable, "-c", START + text, options=options)

    def stats(self, path=None):
        result = subprocess.run([PROGRAM, "stats", "--json", path or self.trace], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)


class Command(RunTest):
    def test_exit_code_is_that_of_the_program(self):
        for code in (0, 1, 7):
            result = self.run_it("sh", "-c", f"exit {code}")
            self.assertEqual(result.returncode, code, result.stderr)

    def test_signal_that_ends_the_program_ends_the_command(self):
        self.assertEqual(self.run_it("sh", "-c", "kill -9 $$").returncode, -signal.SIGKILL)

    def test_exit_code_of_a_missing_program_is_127(self):
        result = self.run_it("reprise-has-no-such-program")
        self.assertEqual(result.returncode, 127)
        self.assertIn("cannot run reprise-has-no-such-program", result.stderr)

    def test_without_cuda_there_is_a_message_and_no_trace(self):
        result = self.run_it("sh", "-c", "echo out; echo err >&2")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, "out\n")
        self.assertRegex(result.stderr, r"^err\nreprise: no trace was written: sh (did not initialise CUDA|could not initialise CUDA: this machine has no GPU driver)\n$")
        self.assertFalse(self.trace.exists())

    def test_without_a_trace_no_window_opens(self):
        result = self.run_it("sh", "-c", "exit 3", options=("--view",))
        self.assertEqual(result.returncode, 3)
        self.assertIn("reprise: no trace was written: sh ", result.stderr)
        self.assertIn("reprise: no window was opened: there is no trace to view\n", result.stderr)

    def test_wrong_usage_is_rejected_before_the_program_starts(self):
        marker = self.here / "ran"
        for arguments, code, text in (((), 2, "CMD is required"),
                                      (("-o", self.here / "a,b"), 2, "must not contain a comma"),
                                      (("--stacks", "all"), 2, "--stacks"),
                                      (("-o", self.here), 1, "is a directory"),
                                      (("-o", self.here / "no" / "x.reprise"), 1, "no such directory")):
            command = ("--", "touch", marker) if arguments else ()
            result = subprocess.run([PROGRAM, "run", *map(str, arguments), *command], capture_output=True, text=True, env=self.environment)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(text, result.stderr)
            self.assertFalse(marker.exists())

    def test_program_receives_the_path_of_the_library(self):
        result = self.run_it("sh", "-c", "echo $CUDA_INJECTION64_PATH; echo $REPRISE_RUN_TRACE; echo $REPRISE_RUN_NODES; echo $REPRISE_RUN_STACKS",
                             options=("--nodes", "--stacks", "none"))
        library, trace, nodes, stacks = result.stdout.split("\n")[:4]
        self.assertEqual(stacks, "none")
        self.assertTrue(pathlib.Path(library).is_file())
        self.assertEqual(trace, f"live,{self.trace}")
        self.assertEqual(nodes, "1")

    def test_library_of_another_tool_is_replaced_with_a_message(self):
        self.environment["CUDA_INJECTION64_PATH"] = "/other/tool.so"
        self.assertIn("/other/tool.so", self.run_it("true").stderr)


# Writes a GPU core dump of one thread with an illegal address, in a kernel without a name, as the driver would, then aborts.
DUMP = """
import struct
sections, kept = [("", 0, b"", 0, 0, 0)], 0x80000000
def add(name, kind, data, link=0, entry=0): sections.append((name, kind, data, link, 0, entry)); return len(sections) - 1
devices = add(".cudbg.devtbl", kept + 9, bytes(80), 0, 80)
grid = bytearray(136); struct.pack_into("<Q", grid, 0, 7); struct.pack_into("<6I", grid, 72, 4, 1, 1, 32, 1, 1)
add(".cudbg.gridtbl.dev0", kept + 12, bytes(grid), devices, 136)
sms = add(".cudbg.smtbl.dev0", kept + 11, bytes(40), devices, 40)
block = add(".cudbg.ctatbl.dev0.sm0", kept + 13, struct.pack("<Q4I", 7, 2, 0, 0, 0), sms, 24)
warp = add(".cudbg.wptbl.dev0.sm0.cta0", kept + 14, bytes(32), block, 32)
thread = bytearray(48); struct.pack_into("<I", thread, 20, 9); struct.pack_into("<I", thread, 32, EXCEPTION)
add(".cudbg.lntbl.dev0.sm0.cta0.wp0", kept + 15, bytes(thread), warp, 48)
names = b"\\0".join(one[0].encode() for one in sections) + b"\\0.shstrtab\\0"; add(".shstrtab", 3, names)
body, headers = b"", b""
for name, kind, data, link, info, entry in sections:
    headers += struct.pack("<IIQQQQIIQQ", names.index(b"\\0" + name.encode() + b"\\0") + 1 if name else 0, kind, 0, 0, 64 + len(body), len(data), link, info, 0, entry)
    body += data
ident = bytes([0x7f]) + b"ELF" + bytes([2, 1, 1, 0x33]) + bytes(8)
elf = ident + struct.pack("<HHIQQQIHHHHHH", 4, 190, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, len(sections), len(sections) - 1) + body + headers
path = os.environ["CUDA_COREDUMP_FILE"].replace("%p", str(os.getpid()))
open(path, "wb").write(elf)
"""


class Faults(RunTest):
    def setUp(self):
        if LIBRARY == "none":
            self.skipTest("the library can't be loaded here")
        super().setUp()
        for name in [name for name in self.environment if "COREDUMP" in name]:
            del self.environment[name]
        self.temporary = self.here / "tmp"
        self.temporary.mkdir()
        self.environment["TMPDIR"] = str(self.temporary)

    def fault(self, after="os.abort()", exception=14, options=("--faults",)):
        return self.python(DUMP.replace("EXCEPTION", str(exception)) + after, options=options)

    def test_dump_is_reported_and_removed_and_the_trace_has_a_message(self):
        self.python("os.abort()", options=("--faults",))
        before = self.stats()["messages"].get("error", 0)  # CUPTI is off
        result = self.fault("print(oct(os.stat(os.path.dirname(path)).st_mode & 0o777)); sys.stdout.flush(); os.abort()")
        self.assertEqual(result.returncode, -signal.SIGABRT, result.stderr)
        self.assertEqual(result.stdout, "0o700\n")
        self.assertIn("fault: illegal address in unnamed kernel, block (2, 0, 0), thread (9, 0, 0)", result.stderr)
        self.assertIn("grid 4 x 1 x 1, block 32 x 1 x 1, device 0", result.stderr)
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertEqual(self.stats()["messages"]["error"], before + 1)

    def test_kept_dump_remains_in_the_folder_that_is_printed(self):
        result = self.fault(options=("--faults", "--keep-dump"))
        kept = list(self.temporary.glob("reprise-dumps-*/dump.*"))
        self.assertEqual(len(kept), 1, result.stderr)
        self.assertIn(f"GPU core dump: {kept[0]}", result.stderr)

    def test_variables_of_the_user_stay_and_their_dump_is_read_and_remains(self):
        self.environment["CUDA_COREDUMP_FILE"] = str(self.here / "mine.%p")
        self.environment["CUDA_COREDUMP_GENERATION_FLAGS"] = "skip_abort"
        result = self.fault("print(os.environ['CUDA_COREDUMP_GENERATION_FLAGS'], os.environ['CUDA_ENABLE_COREDUMP_ON_EXCEPTION'])")
        self.assertEqual(result.stdout, "skip_abort 1\n")
        self.assertIn("fault: illegal address", result.stderr)
        self.assertEqual(len(list(self.here.glob("mine.*"))), 1)

    def test_abort_without_a_dump_is_explained(self):
        self.assertIn("the driver wrote no GPU core dump", self.python("os.abort()", options=("--faults",)).stderr)
        self.environment["CUDA_ENABLE_COREDUMP_ON_EXCEPTION"] = "0"
        self.assertIn("CUDA_ENABLE_COREDUMP_ON_EXCEPTION is 0", self.python("os.abort()", options=("--faults",)).stderr)

    def test_broken_dump_is_an_error_with_its_name(self):
        result = self.fault("open(path, 'wb').write(elf[:100]); os.abort()")
        self.assertRegex(result.stderr, r"dump\.\d+: the file ends before its section headers")

    def test_handler_of_the_program_runs_after_the_trace_is_written(self):
        result = self.python("import faulthandler; faulthandler.enable(); os.abort()", options=("--faults",))
        self.assertEqual(result.returncode, -signal.SIGABRT)
        self.assertIn("Fatal Python error: Aborted", result.stderr)

    def test_hang_is_reported_while_the_program_runs(self):
        result = self.fault("time.sleep(4); print(os.environ['CUDA_ENABLE_USER_TRIGGERED_COREDUMP'], 'request' in os.environ['CUDA_COREDUMP_PIPE'])", exception=0,
                            options=("--hang-after", "500ms"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "1 True\n")
        self.assertIn("hang: unnamed kernel runs: 1 block on the GPU, one is (2, 0, 0)", result.stderr)
        self.assertLess(result.stderr.index("hang: "), result.stderr.index("(process "))

    def test_calls_of_the_driver_are_observed_without_cupti_however_they_are_found(self):
        find = ("at = c.c_void_p(); find = driver.cuGetProcAddress_v2\n"
                "assert find(b'cuGetProcAddress', c.byref(at), 12000, c.c_uint64(0), None) == 0\n"
                "find = c.CFUNCTYPE(c.c_int, c.c_char_p, c.c_void_p, c.c_int, c.c_uint64, c.c_void_p)(at.value)\n"
                "def call(name, *types): assert find(name, c.byref(at), 12000, 0, None) == 0; return c.CFUNCTYPE(c.c_int, *types)(at.value)\n"
                "init = call(b'cuInit', c.c_uint); instantiate, launch = call(b'cuGraphInstantiate', c.c_void_p, c.c_void_p, c.c_ulonglong), call(b'cuGraphLaunch', c.c_void_p, c.c_void_p)\n")
        symbols = "init, instantiate, launch = driver.cuInit, driver.cuGraphInstantiateWithFlags, driver.cuGraphLaunch\n"
        for how in (symbols, find):
            result = self.run_it(sys.executable, "-c", f"import ctypes as c, os; assert 'CUDA_INJECTION64_PATH' not in os.environ; driver = c.CDLL({DRIVER!r})\n{how}init(0)\n"
                                 "exec = c.c_void_p(); assert instantiate(c.byref(exec), None, 0) == 0\n"
                                 "for i in range(7): assert launch(exec, None) == 0\n", options=("--faults",))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("1 graph, 7 replays", result.stderr)

    def test_wrong_options_are_rejected(self):
        for options, text in ((("--keep-dump",), "--keep-dump requires"), (("--hang-after", "soon"), "is no duration"), (("--launch-stacks", "--stacks", "none"), "--launch-stacks requires"), (("--faults", "--yield"), "--yield cannot be combined with --faults"),
                              (("--hang-after", "3s", "--nodes"), "--nodes cannot be combined"), (("--faults", "--measure-cost", "3"), "--measure-cost cannot be combined")):
            result = self.run_it("true", options=options)
            self.assertEqual(result.returncode, 2)
            self.assertIn(text, result.stderr)


class Library(RunTest):
    def setUp(self):
        if LIBRARY == "none":
            self.skipTest("the library can't be loaded here")
        super().setUp()

    def test_program_without_graphs_has_a_readable_trace_and_a_reason(self):
        result = self.python("print('out')")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "out\n")
        self.assertRegex(result.stderr, r"^reprise: .*run.reprise: python3.* \(process \d+\): no CUDA graphs were observed, ")
        self.assertIn("REPRISE_CUPTI is off", result.stderr)
        self.stats()

    def test_yield_leaves_cupti_to_the_program_with_a_message(self):
        result = self.python("print(int('cupti' in open('/proc/self/maps').read()))", options=("--yield",))
        self.assertEqual(result.stdout, "0\n")
        self.assertIn("CUPTI is left to the program", result.stderr)

    def test_kind_of_stacks_is_that_of_the_command_and_an_unknown_one_does_not_affect_the_program(self):
        self.environment["REPRISE_RUN_STACKS"] = "python"  # replaced by that of the command
        result = self.python("print('on')", options=("--stacks", "native"))
        self.assertEqual(result.stdout, "on\n", result.stderr)
        self.stats()
        environment = {**self.environment, "CUDA_INJECTION64_PATH": LIBRARY, "REPRISE_RUN_TRACE": str(self.trace), "REPRISE_RUN_STACKS": "all"}
        self.trace.unlink()
        result = subprocess.run([sys.executable, "-c", START + "print('on')"], capture_output=True, text=True, env=environment)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "on\n", ""))
        self.assertFalse(self.trace.exists())

    def test_forked_child_does_not_write_to_the_parents_trace(self):
        result = self.python("pid = os.fork()\nif pid == 0: sys.exit(3)\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))")
        self.assertEqual(result.stdout, "3\n")
        self.assertEqual([path.name for path in self.here.glob("run.reprise*")], ["run.reprise"])
        self.stats()

    def test_each_process_writes_its_own_file(self):
        child = "import subprocess; subprocess.run([sys.executable, '-c', 'import ctypes, os; ctypes.CDLL(os.environ[\"CUDA_INJECTION64_PATH\"]).InitializeInjection()'], check=True)"
        result = self.python(child)
        names = sorted(path.name for path in self.here.glob("run.reprise*"))
        self.assertEqual(len(names), 2, result.stderr)
        self.assertEqual(names[0], "run.reprise")
        self.assertRegex(names[1], r"^run\.reprise\.\d+$")
        self.stats(self.here / names[1])
        for path in self.here.glob("run.reprise*"):
            path.unlink()
        result = self.run_it("sh", "-c", f"{sys.executable} -c \"$0\"; true", START)
        self.assertEqual([path.name for path in self.here.glob("run.reprise*")], ["run.reprise"], result.stderr)

    def test_ranges_that_end_with_a_payload_are_taken_from_nvtx(self):
        result = self.python("""
class Segment(ctypes.Structure):
    _fields_ = [("id", ctypes.c_size_t), ("slots", ctypes.c_size_t), ("functions", ctypes.POINTER(ctypes.c_void_p))]
class Module(ctypes.Structure):
    _fields_ = [("header", ctypes.c_uint16 * 4), ("count", ctypes.c_size_t), ("segments", ctypes.POINTER(Segment))]
begin = ctypes.CDLL(os.environ["NVTX_INJECTION64_PATH"]).InitializeInjectionNvtxExtension
for extension, slots in ((2, 63), (2, 2), (4, 63)):
    functions = (ctypes.c_void_p * slots)()
    segment = Segment(0, slots, functions)
    print(begin(ctypes.byref(Module((3, 40, extension, 0x103), 1, ctypes.pointer(segment)))), [i for i in range(slots) if functions[i]])
    pop = functions[4] if slots > 4 else None
    if pop: print(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(pop)(None, None, 1))
""")
        self.assertEqual(result.stdout, "1 [4]\n-2\n1 []\n1 []\n", result.stderr)

    def test_each_rank_of_a_launcher_writes_a_file_named_by_it(self):
        ranks = 'export WORLD_SIZE=2 LOCAL_RANK=0 MASTER_ADDR=localhost MASTER_PORT=29500; RANK=0 "$1" -c "$0" & RANK=1 "$1" -c "$0"; wait'
        result = self.run_it("sh", "-c", ranks, START + "time.sleep(0.3)", sys.executable)
        self.assertEqual(sorted(path.name for path in self.here.glob("run*")), ["run.rank0.reprise", "run.rank1.reprise", "runtime"], result.stderr)
        self.assertIn("all ranks as one: reprise view", result.stderr)

    def limited(self, bytes):
        """A program whose files may have `bytes` bytes, which fails as a full disk does."""
        limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({bytes}, resource.RLIM_INFINITY))\n"
        return self.run_it(sys.executable, "-c", limit + START + "print('out')")

    def test_full_disk_is_reported_when_the_program_has_ended(self):
        result = self.limited(100)
        self.assertEqual((result.returncode, result.stdout), (0, "out\n"), result.stderr)
        self.assertRegex(result.stderr, r"^reprise: .*run\.reprise: cannot write: File too large; the trace ends there\n")

    def test_trace_that_cannot_be_created_is_reported(self):
        result = self.limited(0)
        self.assertEqual((result.returncode, result.stdout), (0, "out\n"), result.stderr)
        self.assertRegex(result.stderr, r"^reprise: .*run\.reprise: cannot write: File too large\n")
        self.assertNotIn("CUDA", result.stderr)

    def test_file_of_another_run_is_not_overwritten(self):
        wait = "sys.stdin.readline()"
        other = subprocess.Popen([PROGRAM, "run", "-o", self.trace, "--", sys.executable, "-c", START + "print(flush=True)\n" + wait],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment)
        other.stdout.readline()
        result = self.python("pass")
        self.assertRegex(result.stderr, r"run\.reprise\.\d+: python3.*\n(reprise:   .*\n)*reprise:   another process is writing .*run\.reprise; this process writes .*run\.reprise\.\d+\n")
        _, text = other.communicate("\n", timeout=300)
        self.assertIn("run.reprise: python3", text)
        self.assertEqual(len(list(self.here.glob("run.reprise*"))), 2)
        self.stats()

    def test_killed_process_leaves_a_readable_file(self):
        text = "while os.path.getsize(sys.argv[1]) < 100: time.sleep(0.01)\nos.kill(os.getpid(), 9)"
        result = self.run_it(sys.executable, "-c", START + text, self.trace)
        self.assertEqual(result.returncode, -signal.SIGKILL, result.stderr)
        self.assertIn("no CUDA graphs were observed", result.stderr)
        self.stats()

    def test_unwritable_trace_does_not_affect_the_program(self):
        self.environment["REPRISE_RUN_TRACE"] = "/no/such/folder/x.reprise"
        environment = {**self.environment, "CUDA_INJECTION64_PATH": LIBRARY}
        result = subprocess.run([sys.executable, "-c", START + "print('on')"], capture_output=True, text=True, env=environment)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "on\n", ""))

    def cost_of(self, how="symbol", launches=300, after=""):
        """Measures the cost of a program that launches graphs with slow_driver.cpp; `how` it finds cuGraphLaunch(), `after` the launch `i`."""
        find = {"symbol": "launch = driver.cuGraphLaunch", "address": "import ctypes as c; at = c.c_void_p(); find = driver.cuGetProcAddress_v2\n"
                "assert find(b'cuGetProcAddress', c.byref(at), 12000, c.c_uint64(0), None) == 0\n"
                "find = c.CFUNCTYPE(c.c_int, c.c_char_p, c.c_void_p, c.c_int, c.c_uint64, c.c_void_p)(at.value)\n"
                "assert find(b'cuGraphLaunch', c.byref(at), 12000, 2, None) == 0\n"
                "launch = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_void_p)(at.value)"}[how]
        program = (f"import ctypes, os, time; driver = ctypes.CDLL({DRIVER!r})\n{find}\n"
                   f"if 'CUDA_INJECTION64_PATH' in os.environ: ctypes.CDLL(os.environ['CUDA_INJECTION64_PATH']).InitializeInjection()\n"
                   f"for i in range({launches}):\n    assert launch(None, None) == 0\n    {after or 'pass'}\nprint('done')")
        return self.run_it(sys.executable, "-c", program, options=("--measure-cost", "3"))

    def check_cost(self, result, alone_ms):
        self.assertEqual((result.returncode, result.stdout), (0, "done\n"), result.stderr)
        found = re.search(r"observing costs \+(\S+) % \(\+(\S+) % to \+(\S+) % in 3 pairs of runs\): (\S+) ms from launch to launch alone, (\S+) ms observed", result.stderr)
        self.assertIsNotNone(found, result.stderr)
        median, least, most, alone, observed = (float(text) for text in found.groups())
        self.assertTrue(least <= median <= most, result.stderr)
        self.assertTrue(alone_ms <= alone < alone_ms + 0.8, result.stderr)
        self.assertTrue(alone + 0.5 < observed < alone_ms + 2, result.stderr)
        self.assertEqual(self.stats()["profile_cost"]["measured"], found[0])

    def test_cost_is_the_ratio_of_the_times_between_launches(self):
        self.check_cost(self.cost_of("symbol"), alone_ms=2)
        self.check_cost(self.cost_of("address"), alone_ms=2)

    def test_cost_includes_waits_and_no_pauses(self):
        self.check_cost(self.cost_of(after="i % 30 or driver.cuCtxSynchronize()"), alone_ms=4)
        self.check_cost(self.cost_of(after="i == 150 and time.sleep(0.5)"), alone_ms=2)

    def test_cost_of_few_launches_is_refused_by_name(self):
        result = self.cost_of(launches=3)
        self.assertEqual(result.returncode, 1)
        self.assertIn("--measure-cost: the program alone launched 3 graphs; at least 20 launches are needed", result.stderr)
        self.assertFalse(self.trace.exists())

    def test_cost_of_a_failing_program_is_refused_by_name(self):
        result = self.run_it("sh", "-c", "exit 7", options=("--measure-cost", "1"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("--measure-cost: the program alone ended with exit code 7", result.stderr)

    def test_library_exports_only_its_entries_and_links_no_cuda(self):
        symbols = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertEqual(sorted(line.split()[-1] for line in symbols.splitlines()), ["InitializeInjection", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension"])
        needed = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout
        for name in ("libcuda", "libcudart", "libcupti", "libtbb", "openblas", "libGL", "libstdc++"):
            self.assertNotIn(name, needed)


if __name__ == "__main__":
    PROGRAM, LIBRARY, DRIVER = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
