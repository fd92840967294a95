// A library that reads Python's stacks as CUPTI's callbacks do, for python_stacks_test.py, which
// loads it with ctypes: a CDLL releases the GIL in each call, a PyDLL holds it. Threads: any.
#define DOCTEST_CONFIG_IMPLEMENT  // the fake driver and CUPTI check their calls
#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#include "injection/hand_made_cupti.hpp"
#include "injection/hand_made_driver.hpp"
#include "injection/played_calls.hpp"
#include "injection/python_stacks.hpp"
#include "injection/run_session.hpp"
#include "trace/trace_reader.hpp"

using reprise::detail::CallFrame;
using reprise::detail::PythonStacks;

namespace {

std::mutex driver_lock;

// A line per frame, innermost first: function, file, line, and whether the user wrote it.
std::string text_of(const CallFrame* innermost) {
  std::string text;
  for (const CallFrame* frame = innermost; frame != nullptr; frame = frame->caller) {
    const bool is_user = frame->code->author == reprise::detail::CodeName::Author::User;
    text += frame->code->function + '\t' + frame->code->file + '\t' + std::to_string(frame->line) +
            (is_user ? "\tuser\n" : "\tlibrary\n");
  }
  return text;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// The text of this thread's stack, cut to `size` bytes.
void probe_read(char* text, std::size_t size) {
  const std::string all = text_of(PythonStacks::of_process().read());
  std::strncpy(text, all.c_str(), size - 1);
}

// As of a thread that Python does not know.
void probe_read_elsewhere(char* text, std::size_t size) {
  std::thread([=] { probe_read(text, size); }).join();
}

// The identity of this thread's stack; 0: none.
std::uintptr_t probe_identity() {
  return reinterpret_cast<std::uintptr_t>(PythonStacks::of_process().read());
}

// The mean time of a read, ns.
double probe_time(int reads) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < reads; ++i) static_cast<void>(PythonStacks::of_process().read());
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began)
             .count() /
         reads;
}

// Waits with the GIL as it was at the call, ms.
void probe_wait(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// A lock, as the driver has them; taken alone, and during a wait and a read. Returns whether there
// was a stack.
void probe_lock() { const std::lock_guard lock(driver_lock); }
int probe_read_locked(int ms) {
  const std::lock_guard lock(driver_lock);
  probe_wait(ms);
  return PythonStacks::of_process().read() != nullptr ? 1 : 0;
}

// Reads when the process ends, after Python did; the process aborts if there is a stack.
void probe_at_exit() {
  static_cast<void>(std::atexit([] {
    if (PythonStacks::of_process().read() != nullptr) std::abort();
  }));
}

// Observes the creation of a node and a graph by this thread, and their trace: the source line of
// the node and the functions of both stacks, from the innermost on.
void probe_trace(const char* file, char* text, std::size_t size) {
  namespace test = reprise::test;
  namespace detail = reprise::detail;
  doctest::Context checks;
  checks.setAsDefaultForAssertsOutOfTestCases();
  test::HandMadeCupti cupti;
  const detail::DriverCalls driver = test::hand_made_driver();
  detail::RunSession::Desc desc;
  desc.environment.trace = detail::trace_options_of("TEST", file);
  desc.load_cupti = [&] { return detail::CuptiLibrary::Loaded{&cupti.library(), {}}; };
  desc.load_driver = [&] { return detail::DriverCalls::Loaded{&driver, {}}; };
  detail::RunSession session(desc);
  const test::PlayedCalls calls([&](CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                    const void* data) { cupti.call_back(domain, id, data); });
  test::HandMadeGraph graph;
  graph.nodes.resize(1);
  graph.nodes[0].type = CU_GRAPH_NODE_TYPE_EMPTY;
  calls.make_node(graph, graph.nodes[0]);
  calls.instantiate(graph, reinterpret_cast<CUgraphExec>(0xe0e0e0));
  session.finish();
  std::string found;
  const reprise::trace::TraceReader reader(file);
  for (const reprise::trace::ChunkEntry& chunk : reader.chunks()) {
    for (const reprise::trace::GraphVersion& version : reader.read(chunk).graph_versions) {
      const reprise::trace::Node& node = version.nodes.at(0);
      found = version.strings[node.file] + ':' + std::to_string(node.line);
      for (std::uint32_t at :
           {version.stacks.empty() ? reprise::trace::kNone : version.stacks[0].frame,
            version.stack}) {
        found += '\n';
        for (; at != reprise::trace::kNone; at = version.frames[at].caller)
          found += version.strings[version.frames[at].function] + ' ';
      }
    }
  }
  std::strncpy(text, found.c_str(), size - 1);
}

std::uint64_t probe_dropped() { return PythonStacks::of_process().dropped(); }

}  // extern "C"
#pragma GCC visibility pop
