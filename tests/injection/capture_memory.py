#!/usr/bin/env python3
"""Checks the memory that `reprise run` reports for the graphs of a PyTorch program: a small transformer is captured at 67 batch sizes, and the sum over its graphs
is compared with what cudaMemGetInfo reports before the first capture and after the last first launch. Exits with 77 without PyTorch or a GPU.

usage: capture_memory.py REPRISE
"""
import json
import pathlib
import subprocess
import sys
import tempfile

BATCHES = [1, 2, 4, *range(8, 513, 8)]  # as an inference server captures them
MAX_DIFFERENCE = 0.05
SKIPPED = 77


def capture(output):
    """The program: captures and launches the graphs, and writes what it measured to a file."""
    import gc
    import time

    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(d_model=512, nhead=8, dim_feedforward=2048, dropout=0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, num_layers=4, enable_nested_tensor=False).cuda().half().eval()
    inputs = {batch: torch.zeros(batch, 32, 512, device="cuda", dtype=torch.half) for batch in BATCHES}
    stream, pool, graphs = torch.cuda.Stream(), None, []
    with torch.no_grad():
        # Kernels and workspaces are loaded and allocated before the measurement.
        with torch.cuda.stream(stream):
            for of_batch in inputs.values():
                model(of_batch)
        torch.cuda.synchronize()
        gc.collect()
        torch.cuda.empty_cache()
        free = torch.cuda.mem_get_info()[0]
        started = time.perf_counter()
        for batch in reversed(BATCHES):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool, stream=stream):
                result = model(inputs[batch])
            pool = pool or graph.pool()
            graphs.append((graph, result))
    for graph, _ in graphs:
        graph.replay()
    torch.cuda.synchronize()
    seconds = time.perf_counter() - started
    measured = {"graphs": len(graphs), "bytes": free - torch.cuda.mem_get_info()[0], "seconds": seconds}
    pathlib.Path(output).write_text(json.dumps(measured))


def compare(stats, measured):
    """Returns the figures as text, and why they are wrong or None. `stats`: of `reprise stats --json`."""
    table = stats["graph_table"]
    graphs, totals = table["graphs"], table["totals"]
    if len(graphs) != measured["graphs"]:
        return "", f"{measured['graphs']} graphs were captured, the trace has {len(graphs)}"
    unknown = sum(row["capture_memory_bytes"] is None or row["launch_memory_bytes"] is None for row in graphs)
    if unknown:
        return "", f"{unknown} of {len(graphs)} graphs have no known memory or were never launched"
    if measured["bytes"] <= 0:
        return "", "the graphs took no device memory"
    difference = totals["memory_bytes"] / measured["bytes"] - 1
    spent = sum(totals[key] or 0 for key in ("record_ns", "instantiate_ns", "upload_ns")) / 1e9
    text = (f"{len(graphs)} graphs: {totals['memory_bytes'] / 2**20:.1f} MiB reported, {measured['bytes'] / 2**20:.1f} MiB by cudaMemGetInfo ({100 * difference:+.1f} %); "
            f"{spent:.1f} s reported, {measured['seconds']:.1f} s measured")
    return text, f"the difference is larger than {100 * MAX_DIFFERENCE:.0f} %" if abs(difference) > MAX_DIFFERENCE else None


def main(reprise):
    try:
        import torch
    except ImportError:
        print("skipped: PyTorch is not installed")
        return SKIPPED
    if not torch.cuda.is_available():
        print("skipped: PyTorch found no GPU")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="reprise-capture-") as folder:
        trace, output = pathlib.Path(folder) / "run.reprise", pathlib.Path(folder) / "measured.json"
        subprocess.run([reprise, "run", "-o", trace, "--", sys.executable, __file__, "--capture", output], check=True, timeout=500)
        stats = subprocess.run([reprise, "stats", "--json", trace], capture_output=True, text=True, check=True).stdout
        text, failure = compare(json.loads(stats), json.loads(output.read_text()))
    print(text)
    if failure:
        print("capture_memory:", failure, file=sys.stderr)
    return 1 if failure else 0


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--capture":
        capture(sys.argv[2])
    elif len(sys.argv) == 2:
        sys.exit(main(sys.argv[1]))
    else:
        sys.exit(__doc__.strip())
