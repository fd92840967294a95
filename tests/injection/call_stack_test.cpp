// Call stacks of nodes and graphs, from the callback that reads them to the trace.
#include "injection/call_stack.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <string>

#include <reprise/error.hpp>

#include "injection/played_program.hpp"
#include "injection/run_environment.hpp"

namespace reprise::test {
namespace {

using detail::CallFrame;
using detail::CallFrames;
using detail::CodeName;

// Frames of functions of one file.
class Frames {
 public:
  const CallFrame* call(const CallFrame* caller, const char* function, std::uint32_t line,
                        const char* file = "/home/a/train.py") {
    return frames_.find({caller, frames_.find({function, file, detail::author_of(file)}), line, 0});
  }

 private:
  CallFrames frames_;
};

// "forward net.py:7 < main train.py:40", from the innermost frame on.
std::string stack_text(const trace::GraphVersion& version, std::uint32_t frame) {
  std::string text;
  for (; frame != trace::kNone; frame = version.frames[frame].caller) {
    const trace::Frame& at = version.frames[frame];
    const std::string& file = version.strings[at.file];
    text += (text.empty() ? "" : " < ") + version.strings[at.function] + ' ' +
            file.substr(file.rfind('/') + 1) + ':' + std::to_string(at.line);
  }
  return text;
}

std::string source_of(const trace::GraphVersion& version, std::size_t node) {
  return version.strings[version.nodes[node].file] + ':' + std::to_string(version.nodes[node].line);
}

}  // namespace

TEST_CASE("call stack: equal frames are one, and equal names") {
  Frames frames;
  const CallFrame* const main = frames.call(nullptr, "main", 40);
  CHECK(frames.call(nullptr, "main", 40) == main);
  CHECK(frames.call(nullptr, "main", 41) != main);
  CHECK(frames.call(main, "step", 7) == frames.call(main, "step", 7));
  CHECK(frames.call(main, "step", 7)->code == frames.call(nullptr, "step", 9)->code);
}

TEST_CASE("call stack: files of Python, of packages and of generators are not the user's") {
  const auto is_user = [](const char* file) {
    return detail::author_of(file) == CodeName::Author::User;
  };
  for (const char* const file :
       {"/home/a/net.py", "net.py", "/srv/lib/python3/net.py", "/opt/python3.11/net.py"})
    CHECK_MESSAGE(is_user(file), file);
  for (const char* const file :
       {"", "<string>", "/usr/lib/python3.11/threading.py", "/usr/lib64/python3.9/abc.py",
        "/home/a/.venv/lib/python3.12/site-packages/torch/nn/modules/linear.py",
        "/usr/lib/python3/dist-packages/numpy/core.py", "/tmp/torchinductor_a/xy/cxyz.py"})
    CHECK_MESSAGE(!is_user(file), file);
}

TEST_CASE("call stack: a node names the user's innermost line, and has the whole stack") {
  PlayedProgram program;
  Frames frames;
  HandMadeKernel kernel{"_Z1kv"};
  HandMadeGraph graph;
  for (std::uint64_t id = 0; id < 4; ++id) graph.nodes.push_back(kernel_node(kernel, id));
  graph.edges = {{0, 1}, {1, 2}, {2, 3}};
  const CallFrame* const main = frames.call(nullptr, "main", 40);
  const CallFrame* const forward = frames.call(main, "forward", 7, "/home/a/net.py");
  program.stack = frames.call(forward, "linear", 3, "/x/site-packages/torch/nn.py");
  program.make_node(graph, graph.nodes[0]);
  program.stack = frames.call(nullptr, "linear", 3, "/x/site-packages/torch/nn.py");
  program.make_node(graph, graph.nodes[1]);
  program.stack = nullptr;
  program.make_node(graph, graph.nodes[2]);
  program.stack = forward;
  program.make_node(graph, graph.nodes[3]);
  program.stack = main;
  program.instantiate(graph);
  const trace::GraphVersion version = program.only_version();
  REQUIRE(version.stacks.size() == 3);
  CHECK(version.stacks[0].node == 0);
  CHECK(stack_text(version, version.stacks[0].frame) ==
        "linear nn.py:3 < forward net.py:7 < main train.py:40");
  CHECK(source_of(version, 0) == "/home/a/net.py:7");
  CHECK(source_of(version, 1) == "/x/site-packages/torch/nn.py:3");
  CHECK(source_of(version, 2) == ":0");
  CHECK(version.stacks[2].node == 3);
  CHECK(source_of(version, 3) == "/home/a/net.py:7");
  CHECK(version.frames.size() == 4);  // shared
  CHECK(stack_text(version, version.stack) == "main train.py:40");
}

TEST_CASE("call stack: launches are counted by their stacks on request") {
  Frames frames;
  HandMadeKernel kernel{"_Z1kv"};
  HandMadeGraph graph;
  graph.nodes.push_back(kernel_node(kernel, 0));
  const CallFrame* const main = frames.call(nullptr, "main", 40);
  const CallFrame* const replay =
      frames.call(main, "replay", 9, "/x/site-packages/torch/graphs.py");
  for (const auto read : {PlayedProgram::LaunchStacks::Unread, PlayedProgram::LaunchStacks::Read}) {
    PlayedProgram program(read);
    program.instantiate(graph);
    program.stack = replay;
    program.launch();
    program.launch();
    program.stack = frames.call(nullptr, "main", 52);
    program.launch();
    program.stack = nullptr;
    program.launch();
    const trace::GraphVersion version = program.last_version();
    if (read == PlayedProgram::LaunchStacks::Unread) {
      CHECK(version.launch_stacks.empty());
      continue;
    }
    REQUIRE(version.launch_stacks.size() == 2);
    const trace::LaunchStack& first = version.launch_stacks[0];
    CHECK(first.launches == 2);
    CHECK(stack_text(version, first.frame) == "replay graphs.py:9 < main train.py:40");
    CHECK(version.strings[first.file] == "/home/a/train.py");
    CHECK(first.line == 40);
    CHECK(version.launch_stacks[1].launches == 1);
    CHECK(version.launch_stacks[1].line == 52);
  }
}

TEST_CASE(
    "call stack: a copied node has the stack of the original, a new node at its address not") {
  PlayedProgram program;
  Frames frames;
  HandMadeKernel kernel{"_Z1kv"};
  HandMadeGraph graph, copy;
  graph.nodes.push_back(kernel_node(kernel, 0));
  copy.nodes.push_back(kernel_node(kernel, 0));
  program.stack = frames.call(nullptr, "main", 40);
  program.make_node(graph, graph.nodes[0]);
  CUpti_GraphData data = {};
  data.graph = handle_of<CUgraph>(copy);
  data.node = handle_of<CUgraphNode>(copy.nodes[0]);
  data.originalNode = handle_of<CUgraphNode>(graph.nodes[0]);
  program.resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, data);
  program.stack = nullptr;
  SUBCASE("copied") {
    program.instantiate(copy);
    const trace::GraphVersion version = program.only_version();
    CHECK(source_of(version, 0) == "/home/a/train.py:40");
    CHECK(version.stack == trace::kNone);
  }
  SUBCASE("made again") {
    program.make_node(copy, copy.nodes[0]);
    program.instantiate(copy);
    CHECK(program.only_version().stacks.empty());
  }
}

TEST_CASE("call stack: native stacks name functions and modules, without this library's own") {
  PlayedProgram program;
  HandMadeKernel kernel{"_Z1kv"};
  HandMadeGraph graph;
  graph.nodes.push_back(kernel_node(kernel, 0));
  const CallFrame* const own = detail::native_stack();
  REQUIRE(own != nullptr);
  CHECK(detail::native_stack()->caller->caller == own->caller->caller);
  program.stack = own;
  program.make_node(graph, graph.nodes[0]);
  program.instantiate(graph);
  const trace::GraphVersion version = program.only_version();
  REQUIRE(version.stacks.size() == 1);  // the C library called this program's entry
  std::string modules;
  for (const trace::Frame& frame : version.frames) {
    CHECK(frame.line == 0);
    modules += version.strings[frame.file] + '\n';
  }
  CHECK(modules.find("libc.so") != std::string::npos);
  CHECK(version.nodes[0].line == 0);
  const detail::NativeName name =
      detail::native_name(reinterpret_cast<std::uintptr_t>(&::malloc) + 1);
  CHECK(name.function.find("malloc") != std::string::npos);
}

TEST_CASE("call stack: the variable selects the stacks, and another text is refused by name") {
  const auto stacks = [](const char* text) {
    ::setenv(detail::kRunTrace, "live", 1);
    ::setenv(detail::kRunStacks, text, 1);
    const auto read = [] { return detail::read_run_environment().value().stacks; };
    const auto restore = [] { ::unsetenv(detail::kRunTrace), ::unsetenv(detail::kRunStacks); };
    try {
      const auto found = read();
      restore();
      return found;
    } catch (...) {
      restore();
      throw;
    }
  };
  using Stacks = detail::RunEnvironment::Stacks;
  CHECK(stacks("") == Stacks::Python);
  CHECK(stacks("python") == Stacks::Python);
  CHECK(stacks("native") == Stacks::Native);
  CHECK(stacks("none") == Stacks::None);
  CHECK_THROWS_WITH_AS(
      stacks("all"), doctest::Contains("REPRISE_RUN_STACKS is \"all\": use python, native"), Error);
}

}  // namespace reprise::test
