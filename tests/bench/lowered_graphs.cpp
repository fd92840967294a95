#ifdef REPRISE_HAS_CUDA

#include "lowered_graphs.hpp"

#include <unistd.h>

#include <system_error>
#include <utility>

#include "lowering_points.hpp"

namespace reprise::bench {

LoweredGraphs::LoweredGraphs(const LoweredGraphsDesc& desc, Compile compile, const Queue& queue,
                             const TimedStream& stream)
    : desc_(desc), compile_(std::move(compile)), queue_(queue), stream_(stream) {
  desc_.compile.lowering = lowering_of(desc_.lowering);
}

LoweredGraphs::~LoweredGraphs() {
  std::error_code ignored;
  if (!desc_.compile.tuning_file.empty())
    std::filesystem::remove(desc_.compile.tuning_file, ignored);
}

void LoweredGraphs::make_one() {
  graphs_.push_back(compile_(desc_.compile));
  if (desc_.lowering == "tuned" && graphs_.size() == 1) tune();
  static_cast<void>(stream_.gpu_us(1, [&] { static_cast<void>(graphs_.back().launch(queue_)); }));
}

void LoweredGraphs::tune() {
  const TuneReport tuned = graphs_[0].tune(queue_, desc_.tune);
  chosen_ = tuned.candidates[tuned.chosen].name;
  if (!tuned.has_changed()) return;
  const auto file = std::filesystem::temp_directory_path() /
                    ("reprise_bench." + std::to_string(::getpid()) + ".tuning.json");
  graphs_[0].save_tuning(file);
  desc_.compile.tuning_file = file;
}

void make_in_turns(std::span<const std::function<void()>> makers, std::uint32_t several) {
  for (std::size_t round = 0; round < several; ++round) {
    for (std::size_t i = 0; i < makers.size(); ++i) makers[(round + i) % makers.size()]();
  }
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA
