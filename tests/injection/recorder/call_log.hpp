// CallLog: the output file of a recording, and the numbers of handles in it. Threads: any.
#pragma once

#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <unordered_map>

namespace reprise::test {

class CallLog {
 public:
  // Null if the file cannot be created.
  explicit CallLog(const char* path) : file_(std::fopen(path, "w")) {}
  CallLog(const CallLog&) = delete;
  CallLog& operator=(const CallLog&) = delete;
  ~CallLog() {
    if (file_ != nullptr) std::fclose(file_);
  }
  [[nodiscard]] bool is_open() const noexcept { return file_ != nullptr; }

  enum class Kind : std::uint8_t { Graph, Node, Exec, Stream, Domain, Text, Thread };
  // Numbers from 1 in the order of first use. Streams: 0 to 2 are CUDA's own, others start at 10.
  [[nodiscard]] std::uint32_t number(Kind kind, std::uint64_t handle) {
    if (kind == Kind::Domain && handle == 0) return 0;
    if (kind == Kind::Stream && handle <= 2) return static_cast<std::uint32_t>(handle);
    const std::lock_guard lock(mutex_);
    auto& numbers = numbers_[static_cast<unsigned>(kind)];
    const auto first = kind == Kind::Stream ? 10u : 1u;
    return numbers.try_emplace(handle, first + static_cast<std::uint32_t>(numbers.size()))
        .first->second;
  }
  // The number of a kernel. Writes `parameters` and attributes of a new kernel.
  [[nodiscard]] std::uint32_t kernel(const std::string& name, const std::string& attributes) {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] =
        kernels_.try_emplace(name, static_cast<std::uint32_t>(kernels_.size()));
    if (is_new)
      std::fprintf(file_, "0 kernel %u %s %s\n", at->second, attributes.c_str(), name.c_str());
    return at->second;
  }
  // Writes related lines, each with a line end.
  void write(const std::string& lines) {
    const std::lock_guard lock(mutex_);
    std::fputs(lines.c_str(), file_);
  }

 private:
  std::FILE* const file_;
  std::mutex mutex_;  // guards the members below and the file
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_[7];
  std::unordered_map<std::string, std::uint32_t> kernels_;
};

}  // namespace reprise::test
