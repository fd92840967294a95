// RecordedProgram: a program's calls and CUPTI's records, as recorder/ wrote them down beside a
// GPU, played again without one: the same code takes them, from a driver and a CUPTI made by hand,
// each call on the thread that it came from. Threads: one.
//
// A recording is text, a line for each thing in the order in which it came:
//   THREAD VERB ...      THREAD: from 1 on; 0: of none
// Graphs, nodes, executables, streams (0 to 2: those that CUDA itself has), NVTX domains (0: that
// without a name) and kept texts are numbers; where CUDA used a handle again, the number comes
// again. Addresses are hexadecimal, everything else is decimal; RESULT is the driver's code.
//   kernel K REGISTERS SHARED_BYTES OFFSET:SIZE,...|- NAME         of parameters; from now on K
//   stands for it context | device D                                            one was made; which
//   one is current on the thread from now on graph G what the driver says of G from now on: the
//   lines that follow node N NUMBER WHAT | edge I J                                  in CUDA's
//   order; NUMBER: CUPTI's; I and J: places in that order node-made G N | node-copied N G N |
//   node-gone N | graph-gone G | exec-gone E | stream-gone S instantiate | instantiated G E ID its
//   begin, and what came of it; ID: CUPTI's launch E S plain|ptsz | launched E S plain|ptsz RESULT
//   CORRELATION updated E G RESULT | set E N WHAT | enabled E N 0|1 | bodies N G... alloc
//   device|managed|stream|mapped|host ADDRESS BYTES | free device|stream|host ADDRESS | unmap
//   ADDRESS BYTES push DOMAIN NAME | push-kept DOMAIN TEXT | pop DOMAIN | keep TEXT NAME ran KIND
//   ID NUMBER CORRELATION STREAM STARTED DURATION K|-      a record; KIND as CUPTI's; times in ns
//   since the recording began end
// WHAT: kernel K GRID*3 BLOCK*3 SHARED_BYTES PARAMETER.OFFSET=WORD...  (words that may be
// addresses)
//       copy SIDE SIDE WIDTH HEIGHT DEPTH, SIDE: TYPE ADDRESS X Y Z PITCH HEIGHT
//       fill ADDRESS PITCH VALUE ELEMENT_BYTES WIDTH HEIGHT | allocate ADDRESS BYTES | child G |
//       other TYPE
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "injection/hand_made_cupti.hpp"
#include "injection/played_calls.hpp"
#include "injection/played_threads.hpp"
#include "profile/injection/node_recorder.hpp"
#include "profile/injection/program_callbacks.hpp"

namespace reprise::test {

class RecordedProgram {
 public:
  // With records of nodes, or without asking for any.
  explicit RecordedProgram(detail::ObservedProgram::Nodes nodes);

  // All of it. Throws std::runtime_error naming the line that can't be read.
  void play(std::istream& recording);
  // What the trace is told of it.
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
  std::map<std::uint32_t, HandMadeKernel> kernels_;
  std::map<std::uint32_t, HandMadeGraph> graphs_;
  std::map<std::uint32_t, Node> nodes_;
  std::uint32_t described_ = 0;  // the graph whose nodes and edges come
  PlayedThreads threads_;        // last: what they do is done before the rest goes
};

}  // namespace reprise::test
