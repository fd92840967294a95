// The common part of the samples: the options --device and --out, the device line,
// errors and exit codes. Knows the engine's public headers. Threads: the main thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <CLI/CLI.hpp>
#include <reprise/reprise.hpp>

namespace samples {

// Exit codes: 0 success, 1 the work failed, 2 invalid command line.
class Program {
 public:
  // `name` must outlive the program object.
  Program(const char* name, const std::string& description)
      : options(description, name), name_(name) {
    options.add_option(
        "--device", device_name_,
        "host, cuda:0, ... (default: $REPRISE_DEVICE, else the first GPU, else host)");
    options.add_option("--out", out_, "directory that files are written to")->capture_default_str();
  }

  CLI::App options;

  // Parses the command line and runs `body`, which takes no argument and returns true on success.
  template <class Body>
  [[nodiscard]] int run(int argc, char** argv, const Body& body) {
    try {
      options.parse(argc, argv);
      return body() ? 0 : 1;
    } catch (const CLI::CallForHelp&) {
      std::fputs(options.help().c_str(), stdout);
      return 0;
    } catch (const CLI::ParseError& error) {
      complain(error.what());
      std::fprintf(stderr, "Try %s --help.\n", name_);
      return 2;
    } catch (const std::exception& error) {
      complain(error.what());
      return 1;
    }
  }

  // Opens the device that --device names, or the best one: of several ranks, the GPU with number
  // `local_rank`. Prints its name, and the reason if it is not a GPU.
  [[nodiscard]] reprise::Device open_device(const reprise::Instance& instance,
                                            std::uint32_t local_rank = 0) const {
    using reprise::DeviceSelector;
    std::string name = device_name_;
    if (name.empty() && local_rank != 0 && std::getenv("REPRISE_DEVICE") == nullptr &&
        instance.devices().front().kind == reprise::DeviceKind::Cuda)
      name = "cuda:" + std::to_string(local_rank);
    reprise::Device device =
        instance.open_device(name.empty() ? DeviceSelector::best() : DeviceSelector::named(name));
    const reprise::DeviceInfo& info = device.info();
    std::printf("%s: runs on %s [%s]\n", name_, info.name.c_str(), info.selector.c_str());
    if (const std::string why = instance.gpu_unavailable_reason();
        info.kind == reprise::DeviceKind::Host && !why.empty()) {
      std::printf("%s: no GPU: %s\n", name_, why.c_str());
    }
    std::fflush(stdout);
    return device;
  }

  // The path of `file` in the directory of --out, which is created.
  [[nodiscard]] std::filesystem::path output(std::string_view file) const {
    std::error_code error;
    std::filesystem::create_directories(out_, error);
    if (error) {
      throw std::runtime_error("cannot make the directory " + out_ + ": " + error.message());
    }
    return std::filesystem::path(out_) / file;
  }

  void complain(const std::string& text) const {
    std::fflush(stdout);
    std::fprintf(stderr, "%s%s: %s\n", name_, rank_.c_str(), text.c_str());
  }
  // Complaints name the rank from now on.
  void set_rank(std::uint32_t rank) { rank_ = ", rank " + std::to_string(rank); }

 private:
  const char* name_;
  std::string rank_;
  std::string device_name_;
  std::string out_ = "out";
};

// A one-line summary of a compiled graph.
[[nodiscard]] inline std::string describe(const reprise::CompileReport& report) {
  return std::to_string(report.commands) + " commands as " + std::to_string(report.nodes) +
         " nodes" + (report.entry_exit ? " with entry/exit kernels" : "") + ", " +
         std::to_string(report.needed_edges) + " needed edges, " +
         (report.lanes == 0 ? "no lanes" : std::to_string(report.lanes) + " lanes");
}

}  // namespace samples
