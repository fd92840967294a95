// RecordedProgram: replays a program's calls and CUPTI's records, which recorder/ recorded on a
// machine with a GPU. The same library code handles them, with a fake driver and a fake CUPTI, and
// each call runs on a thread that represents its original thread. Threads: one.
//
// A recording is text with one line per event, in order:
//   THREAD VERB ...      THREAD: from 1; 0: none
// Graphs, nodes, executables, streams (0 to 2: CUDA's own), NVTX domains (0: default) and
// registered texts are numbers; a reused handle keeps its number. Addresses are hexadecimal, all
// other numbers decimal. RESULT is the driver's code.
//   kernel K REGISTERS SHARED_BYTES OFFSET:SIZE,...|- NAME    defines kernel K with its parameters
//   context | device D          a context was created; device D is current on the thread
//   graph G                     defines graph G by the lines that follow
//   node N NUMBER WHAT | edge I J    in CUDA's order; NUMBER: CUPTI's; I, J: positions
//   node-made G N | node-copied N G N | node-gone N | graph-gone G | exec-gone E | stream-gone S
//   instantiate | instantiated G E ID    the start of the call and its result; ID: CUPTI's
//   launch E S plain|ptsz | launched E S plain|ptsz RESULT CORRELATION
//   updated E G RESULT | set E N WHAT | enabled E N 0|1 | bodies N G...
//   alloc device|managed|stream|mapped|host ADDRESS BYTES
//   free device|stream|host ADDRESS | unmap ADDRESS BYTES
//   push DOMAIN NAME | push-kept DOMAIN TEXT | pop DOMAIN | keep TEXT NAME
//   ran KIND ID NUMBER CORRELATION STREAM STARTED DURATION K|-    KIND: CUPTI's; times in ns
//   end
// WHAT: kernel K GRID*3 BLOCK*3 SHARED_BYTES PARAMETER.OFFSET=WORD...    possible addresses
//       copy SIDE SIDE WIDTH HEIGHT DEPTH, SIDE: TYPE ADDRESS X Y Z PITCH HEIGHT
//       fill ADDRESS PITCH VALUE ELEMENT_BYTES WIDTH HEIGHT
//       allocate ADDRESS BYTES | child G | other TYPE
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "injection/hand_made_cupti.hpp"
#include "injection/node_recorder.hpp"
#include "injection/played_calls.hpp"
#include "injection/played_ranges.hpp"
#include "injection/played_threads.hpp"
#include "injection/program_callbacks.hpp"

namespace reprise::test {

class RecordedProgram {
 public:
  // With or without records of nodes.
  explicit RecordedProgram(detail::ObservedProgram::Nodes nodes);

  // Runs the whole recording. Throws std::runtime_error with the unreadable line.
  void play(std::istream& recording);
  // The resulting trace records.
  [[nodiscard]] std::vector<trace::Record> records();
  [[nodiscard]] std::string error() { return callbacks_.take_error(); }

 private:
  class Line;
  struct Node {
    HandMadeNode made;
    std::vector<std::vector<std::byte>> parameters;
    std::vector<void*> places;
  };
  void play_line(Line& line);
  void play_graph(const std::string& verb, Line& line);
  void play_call(const std::string& verb, Line& line);
  void play_memory(const std::string& verb, Line& line);
  void play_range(const std::string& verb, Line& line);
  void play_record(Line& line);
  void read_kernel(Line& line);
  void read_what(Line& line, Node& node);
  void set(Line& line);

  detail::ObservedProgram program_;
  HandMadeCupti cupti_;
  const detail::DriverCalls driver_ = hand_made_driver();
  detail::ProgramCallbacks callbacks_;
  detail::NodeRecorder recorder_;
  PlayedCalls calls_;
  PlayedRanges ranges_;
  std::map<std::uint64_t, nvtxStringHandle_t> texts_;
  std::map<std::uint32_t, HandMadeKernel> kernels_;
  std::map<std::uint32_t, HandMadeGraph> graphs_;
  std::map<std::uint32_t, Node> nodes_;
  std::uint32_t described_ = 0;  // the graph whose nodes and edges follow
  PlayedThreads threads_;        // last member: its threads use the others
};

}  // namespace reprise::test
