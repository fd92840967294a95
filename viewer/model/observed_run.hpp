// A program that runs under observation: the injected library, the variables that it reads, and the
// errors that it reports. Threads: one at a time.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace reprise::model {

inline constexpr char kInjectionLibrary[] = "libreprise_injection.so";
inline constexpr char kInjectionVariable[] = "CUDA_INJECTION64_PATH";
// An auditing library of the dynamic linker, beside the injected library; see interposer.cpp.
inline constexpr char kInterposer[] = "libreprise_interposer.so";
inline constexpr char kInterposerVariable[] = "LD_AUDIT";

// The library that observes programs, located relative to `program`, the running executable. Empty:
// this build has none.
[[nodiscard]] std::filesystem::path injection_library(const std::filesystem::path& program);

// Errors that the processes of one run report.
class RunErrors {
 public:
  RunErrors();
  RunErrors(const RunErrors&) = delete;
  RunErrors& operator=(const RunErrors&) = delete;
  ~RunErrors();

  // A pipe that the processes open and write lines to.
  [[nodiscard]] std::string path() const;
  // The lines so far.
  [[nodiscard]] std::vector<std::string> take();

 private:
  int pipe_[2];
};

struct ObservedRun {
  std::filesystem::path library;
  std::string trace;   // in the syntax of REPRISE_TRACE
  std::string errors;  // RunErrors::path()
  bool nodes = false;  // time the nodes of every replay
  bool yield = false;  // leave CUPTI to the program
  bool dumps = false;  // GPU core dumps: observe without CUPTI and without the driver's injection
  std::string stacks = {};  // python (also if empty), native or none
  bool launch_stacks = false;  // launches have them too
  std::string follow = {};  // record each change of nodes whose kernel or label contains this
  std::string cost = {};    // what observing costs, as a text for the trace; empty: not measured
};

// The variables for the environment of a program that this process starts.
[[nodiscard]] std::map<std::string, std::string> observation_variables(const ObservedRun& run);

}  // namespace reprise::model
