// Source lines of native call stacks in traces: the innermost frame is a call in a library with
// debug information; the others have none.
#include "cli/native_lines.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "support/environment_variable.hpp"
#include "support/temporary_folder.hpp"
#include "trace/chunk.hpp"
#include "trace/trace_file.hpp"
#include "viewer/trace_document.hpp"

extern "C" const void* reprise_probe(int* line);

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

struct Probe {
  Probe() {
    const void* const address = reprise_probe(&line);
    Dl_info info{};
    REQUIRE(::dladdr(address, &info) != 0);
    module = info.dli_fname;
    offset = reinterpret_cast<std::uintptr_t>(address) -
             reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  }
  int line = 0;
  std::string module;
  std::uint64_t offset = 0;
};

// A graph of two nodes. The stack of the first is the probe, called from a module that is gone,
// called from the C library; the second has the two outer frames.
void write_trace(const fs::path& path, const Probe& probe) {
  Dl_info libc{};
  REQUIRE(::dladdr(reinterpret_cast<const void*>(&std::abort), &libc) != 0);
  trace::GraphVersion g;
  g.graph = 1;
  g.strings = {"", "copy", "/gone/libgone.so", libc.dli_fname, probe.module, "known"};
  g.labels = {{}};
  g.nodes.resize(2);
  for (trace::Node& node : g.nodes) node.name = 1;
  g.frames.resize(3);
  g.frames[0].file = 3;
  g.frames[0].offset = 0x1234;
  g.frames[0].function = 5;
  g.frames[1].caller = 0;
  g.frames[1].file = 2;
  g.frames[1].offset = 0x88;
  g.frames[2].caller = 1;
  g.frames[2].file = 4;
  g.frames[2].offset = probe.offset;
  g.stacks = {{0, 2}, {1, 1}};
  g.launch_stacks = {{7, 2, 0, 0}};
  trace::Records records;
  records.add(trace::Session{});
  records.add(g);
  trace::TraceFile file({.path = path});
  file.write(std::make_shared<const trace::Chunk>(
      trace::make_chunk(trace::ChunkKind::Topology, records, 0)));
  file.flush();
}

trace::GraphVersion version_in(const fs::path& path) {
  const auto document = document_of(path);
  REQUIRE(document->graphs.size() == 1);
  return document->graphs.begin()->second.graph->record();
}

}  // namespace

TEST_CASE("native lines: frames, nodes and launches get the lines that debug information has") {
  const TemporaryFolder folder;
  const fs::path path = folder / "run.reprise";
  const Probe probe;
  write_trace(path, probe);
  const cli::NativeLines added = cli::add_native_lines(path);
  CHECK(added.frames == 3);
  CHECK(added.lines == 1);
  const trace::GraphVersion g = version_in(path);
  const auto text = [&](std::uint32_t index) { return g.strings.at(index); };
  CHECK(text(g.frames[2].file).ends_with("/native_lines_probe.cpp"));
  CHECK(g.frames[2].line == static_cast<std::uint32_t>(probe.line));
  CHECK(text(g.frames[2].function) == "reprise_probe");
  CHECK(g.frames[2].offset == 0);
  CHECK(text(g.frames[1].file) == "/gone/libgone.so");
  CHECK(g.frames[1].offset == 0x88);
  CHECK(text(g.frames[0].function) == "known");
  CHECK(g.nodes[0].line == g.frames[2].line);
  CHECK(g.nodes[0].file == g.frames[2].file);
  CHECK(g.nodes[1].line == 0);
  CHECK(g.launch_stacks[0].line == g.frames[2].line);
  const cli::NativeLines again = cli::add_native_lines(path);
  CHECK(again.frames == 2);
  CHECK(again.lines == 0);
}

TEST_CASE("native lines: without addr2line the error says so, and the trace is unchanged") {
  const TemporaryFolder folder;
  const fs::path path = folder / "run.reprise";
  write_trace(path, Probe());
  const EnvironmentVariable programs("PATH", folder.path().string());
  CHECK_THROWS_WITH(cli::add_native_lines(path),
                    doctest::Contains("cannot run addr2line (package binutils): No such file"));
  CHECK(version_in(path).frames[2].line == 0);
}

TEST_CASE("native lines: a trace that is being written stays as it is") {
  const TemporaryFolder folder;
  const fs::path path = folder / "run.reprise";
  write_trace(path, Probe());
  const trace::TraceFile writer({.path = path, .start = trace::TraceFileDesc::Start::Append});
  CHECK_THROWS_WITH(cli::add_native_lines(path), doctest::Contains("a process writes it"));
}

}  // namespace reprise::test
