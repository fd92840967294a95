#!/usr/bin/env python3
"""Checks the collectives that `reprise run` recognises in the CUDA graphs of a PyTorch program with two ranks. Exits with 77 without PyTorch, two GPUs or NCCL 2.25.

usage: observed_ranks_test.py REPRISE
"""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

REPLAYS = 20
FLOATS = 1024
BYTES = 4 * FLOATS
SKIPPED = 77


def rank_program():
    """One of the two ranks: captures and launches a graph with a collective of the second communicator, and one with collectives of both."""
    import torch
    import torch.distributed as dist

    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    pair = dist.new_group([0, 1])
    x, y = (torch.ones(FLOATS, device="cuda") for _ in range(2))
    both = torch.ones(2 * FLOATS, device="cuda")

    def on_pair():
        dist.all_reduce(x, group=pair)

    def on_both():
        dist.all_reduce(x)
        dist.all_gather_into_tensor(both, x)
        dist.reduce_scatter_tensor(x, both)
        dist.broadcast(x, 1)
        dist.all_to_all_single(y, x)
        dist.all_reduce(x, group=pair)
        if rank == 0:
            dist.send(x, 1)
        else:
            dist.recv(x, 0)
        peer = 1 - rank
        for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, x, peer), dist.P2POp(dist.irecv, y, peer)]):
            work.wait()

    graphs = []
    for work in (on_pair, on_both):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                work()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
            work()
        graphs.append(graph)
    for _ in range(REPLAYS):
        for graph in graphs:
            graph.replay()
    torch.cuda.synchronize()
    dist.barrier()
    del graph, graphs  # NCCL destroys a communicator after the graphs that use it
    dist.destroy_process_group()


def run(*command, environment=None):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=500, env={**os.environ, **(environment or {})})
    if result.returncode != 0:
        sys.exit(f"{command} failed with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def check(is_true, what):
    if not is_true:
        sys.exit(f"FAILED: {what}")


def record(reprise, folder, environment=None):
    """Returns the traces of both ranks, and the rows of their tables of graphs and collectives."""
    run(reprise, "run", "--nodes", "-o", folder / "run.reprise", "--", sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
        2, __file__, "--rank", environment={"NCCL_NVLS_ENABLE": "0", **(environment or {})})
    traces = sorted(folder.glob("run.rank?.reprise"))
    check(len(traces) == 2, f"two traces, not {list(folder.iterdir())}")
    graphs, collectives = [], []
    for trace in traces:
        run(reprise, "export", trace, "--format", "sqlite", "-o", folder / "run.db")
        with sqlite3.connect(folder / "run.db") as db:
            db.row_factory = sqlite3.Row
            graphs.append([dict(row) for row in db.execute("SELECT * FROM graphs ORDER BY graph")])
            collectives.append([dict(row) for row in db.execute("SELECT * FROM collectives ORDER BY graph, node")])
    return traces, graphs, collectives


def check_collectives(collectives):
    for rank, rows in enumerate(collectives):
        print(f"rank {rank}")
        for row in rows:
            print(" ", row)
    first, second = ([(row["communicator"], row["number"], row["collective"]) for row in rows] for rows in collectives)
    check(first == second, "the ranks have the same communicators, numbers and indices")
    for rank, rows in enumerate(collectives):
        peer = 1 - rank
        kinds = [row["kind"] for row in rows]
        expected = ["all-reduce", "all-reduce", "all-gather", "reduce-scatter", "broadcast", kinds[5], "all-reduce", "receive" if rank else "send", "group"]
        check(kinds[5] in ("all-to-all", "group"), "PyTorch's all_to_all is one call, since NCCL 2.28, or a group of sends and receives")
        check(kinds == expected, f"the kinds {kinds} are {expected}")
        check(all(int(row["communicator"], 16) != 0 for row in rows), "all communicators are known")
        check(all((row["communicator_ranks"], row["communicator_rank"]) == (2, rank) for row in rows), "communicators have two ranks")
        pair = rows[0]["communicator"]
        check([row["number"] for row in rows if row["communicator"] == pair] == [1, 2], "the second communicator has collectives in two graphs")
        check(rows[1]["communicator"] != pair and rows[1]["number"] == 1, "the first communicator has collectives in one graph")
        check(rows[7]["peer"] == peer and rows[4]["peer"] == 1, "peer and root are known")
        check([row["bytes"] for row in rows[1:4]] == [BYTES] * 3 and rows[7]["bytes"] == BYTES and rows[8]["bytes"] == 2 * BYTES, "the bytes are those of the messages")


def main(reprise):
    try:
        import torch
    except ImportError:
        print("skipped: PyTorch is not installed")
        return SKIPPED
    if torch.cuda.device_count() < 2 or torch.cuda.nccl.version() < (2, 25):
        print("skipped: two GPUs and NCCL 2.25 are needed")
        return SKIPPED
    print("NCCL", torch.cuda.nccl.version(), "PyTorch", torch.__version__)
    with tempfile.TemporaryDirectory(prefix="reprise-observed-") as name:
        folder = pathlib.Path(name)
        traces, graphs, collectives = record(reprise, folder)
        for rows in graphs:
            check([row["name"] for row in rows] == ["graph 0", "graph 1"], f"graphs are not named by ranges of NCCL: {[row['name'] for row in rows]}")
        check_collectives(collectives)
        merged = folder / "all.reprise"
        run(reprise, "merge", "-o", merged, *traces)
        matched = json.loads(run(reprise, "stats", "--json", merged))["communication"]["collectives"]
        check(len(matched) == len(collectives[0]), f"{len(collectives[0])} collectives match, not {len(matched)}")
        check(all((one["executions"], one["incomplete"]) == (REPLAYS, 0) for one in matched), "all executions match")
    with tempfile.TemporaryDirectory(prefix="reprise-observed-") as name:
        _, _, collectives = record(reprise, pathlib.Path(name), {"NCCL_NVTX_DISABLE": "1"})
        for rows in collectives:
            check(all(int(row["communicator"], 16) == 0 for row in rows), "without NVTX no communicator is known")
            kinds = [row["kind"] for row in rows][:8]
            check(kinds == ["all-reduce", "all-reduce", "all-gather", "reduce-scatter", "broadcast", "group", "all-reduce", "group"], f"kernels tell the kinds, not {kinds}")
    print("observed ranks: passed")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--rank"]:
        rank_program()
    elif len(sys.argv) == 2:
        sys.exit(main(sys.argv[1]))
    else:
        sys.exit(__doc__.strip())
