// The GPU core dumps of one run: the variables that request them, the private folder that contains
// them, and their reports. Threads: one at a time.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "cli/child_process.hpp"
#include "faults/fault_report.hpp"
#include "model/temporary_files.hpp"

namespace reprise::cli {

class FaultDumps {
 public:
  struct Desc {
    bool faults = false;                    // dump at exceptions
    double hang_seconds = 0;                // dump when a wait takes this long; 0: never
    bool keep = false;                      // the dumps remain
  };
  // Creates the folder if dumps are requested. Throws std::system_error.
  explicit FaultDumps(const Desc& desc);
  FaultDumps(const FaultDumps&) = delete;
  FaultDumps& operator=(const FaultDumps&) = delete;
  ~FaultDumps();  // removes the folder, unless dumps remain

  [[nodiscard]] bool are_requested() const noexcept { return folder_.has_value(); }
  // For the program. Variables that the user has set are left out.
  [[nodiscard]] std::map<std::string, std::string> environment() const;
  // Prints the reports of complete dumps. Call it about once a second while the program runs.
  void poll(const std::vector<std::filesystem::path>& traces);
  // After the program ended: prints the remaining reports and appends all to the traces.
  void report(const std::vector<std::filesystem::path>& traces, const ChildExit& exit);

 private:
  struct Dump {
    std::uintmax_t bytes = 0;  // at the last call of poll()
    bool is_reported = false;
    std::uint32_t pid = 0;  // 0: its name does not state it, and no trace has it
    std::vector<trace::Message> messages;
  };
  void find();
  void print(const std::filesystem::path& file, Dump& dump,
             const std::vector<std::filesystem::path>& traces);
  static void append(const Dump& dump, const std::vector<std::filesystem::path>& traces);
  [[nodiscard]] std::string why_no_dump(const ChildExit& exit) const;

  Desc desc_;
  std::optional<model::TemporaryFolder> folder_;  // empty: no dumps are requested
  std::filesystem::path pattern_;  // of the dumps, with the driver's %p, %h and %t
  std::regex names_;               // of the dumps
  bool is_own_pattern_ = true;
  std::filesystem::file_time_type began_;
  std::map<std::filesystem::path, Dump> dumps_;
};

// The names that the driver makes of `pattern` (%p: process, %h: host, %t: time).
[[nodiscard]] std::regex names_of_dumps(const std::string& pattern);
// The number of the process that one of `names` states, 0 if it states none; -1 for other names.
[[nodiscard]] std::int64_t process_of_dump(const std::string& name, const std::regex& names);

}  // namespace reprise::cli
