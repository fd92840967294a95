#include "lowering_points.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "support/task_graphs.hpp"

namespace reprise::bench {

namespace {

constexpr std::uint32_t kMostUs = 100000, kMostBlocks = 4096;
constexpr std::array<std::uint32_t, 8> kMixedNs = {500,   1'000, 1'000,  2'000,
                                                   2'000, 5'000, 10'000, 50'000};

std::optional<std::uint32_t> whole_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

TaskKernel task_kernel(const std::string& name) {
  TaskKernel kernel{.name = name};
  std::string_view time = name;
  if (time.ends_with("-full")) {
    time.remove_suffix(5);
    kernel.fills_gpu = true;
  }
  if (time.ends_with("blocks")) {
    const std::size_t at = time.rfind('-');
    const std::optional<std::uint32_t> blocks =
        at == time.npos ? std::nullopt : whole_number(time.substr(at + 1, time.size() - at - 7));
    if (blocks && *blocks > 1 && *blocks <= kMostBlocks) {
      kernel.blocks = *blocks;
      time = time.substr(0, at);
    }
  }
  if (time == "empty") return kernel;
  if (time == "mixed") {
    kernel.is_mixed = true;
    kernel.spin_ns = kMixedNs.back();
    return kernel;
  }
  if (time.ends_with("us")) {
    const std::optional<std::uint32_t> us = whole_number(time.substr(0, time.size() - 2));
    if (us && *us != 0 && *us <= kMostUs) {
      kernel.spin_ns = 1000 * *us;
      return kernel;
    }
  }
  throw std::invalid_argument("unknown kernel '" + name +
                              "'; use empty, mixed, 2us, 10us..., 10us-16blocks or 10us-full");
}

std::uint32_t TaskKernel::spin_of(std::uint32_t node) const {
  return is_mixed ? kMixedNs[(node * 2'654'435'761u) >> 29] : spin_ns;
}

std::vector<LoweringPoint> lowering_points(const LoweringAxes& axes) {
  for (const std::string& name : axes.lowerings) static_cast<void>(lowering_of(name));
  for (const std::string& shape : axes.shapes) static_cast<void>(test::make_task_graph(shape, 1));
  std::vector<LoweringPoint> cells;  // without a shape
  for (const std::uint32_t nodes : axes.nodes) {
    for (const std::string& kernel : axes.kernels)
      cells.push_back({{}, task_kernel(kernel), nodes});
  }
  std::vector<LoweringPoint> points;
  for (std::size_t turn = 0; turn < cells.size(); ++turn) {
    for (std::size_t i = 0; i < axes.shapes.size(); ++i) {
      LoweringPoint& point = points.emplace_back(cells[(turn + i) % cells.size()]);
      point.shape = axes.shapes[i];
    }
  }
  return points;
}

Lowering lowering_of(const std::string& name) {
  if (name == "auto" || name == "tuned" || name == "costs" || name == "traced")
    return Lowering::Auto;
  if (name == "nodes") return Lowering::Auto.without_segments();
  if (name == "faithful") return Lowering::Faithful;
  if (name == "persistent") return Lowering::Persistent;
  if (name.starts_with("lanes-")) {
    const std::optional<std::uint32_t> lanes = whole_number(std::string_view(name).substr(6));
    if (lanes && *lanes != 0 && *lanes <= 65535) return Lowering::Lanes(*lanes);
  }
  throw std::invalid_argument(
      "unknown lowering '" + name +
      "'; use auto, nodes, tuned, costs, traced, faithful, persistent or lanes-16");
}

}  // namespace reprise::bench
