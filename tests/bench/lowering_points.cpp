#include "lowering_points.hpp"

#include <charconv>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "support/task_graphs.hpp"

namespace reprise::bench {

namespace {

constexpr std::uint32_t kMostUs = 100000;

std::optional<std::uint32_t> whole_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

TaskKernel task_kernel(const std::string& name) {
  TaskKernel kernel{.name = name};
  std::string_view time = name;
  if (time.ends_with("-full")) {
    time.remove_suffix(5);
    kernel.fills_gpu = true;
  }
  if (time == "empty") return kernel;
  if (time.ends_with("us")) {
    const std::optional<std::uint32_t> us = whole_number(time.substr(0, time.size() - 2));
    if (us && *us != 0 && *us <= kMostUs) {
      kernel.spin_ns = 1000 * *us;
      return kernel;
    }
  }
  throw std::invalid_argument("unknown kernel '" + name +
                              "'; use empty, 2us, 10us..., or 10us-full");
}

}  // namespace

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
  if (name == "faithful") return Lowering::Faithful;
  if (name == "persistent") return Lowering::Persistent;
  if (name.starts_with("lanes-")) {
    const std::optional<std::uint32_t> lanes = whole_number(std::string_view(name).substr(6));
    if (lanes && *lanes != 0 && *lanes <= 65535) return Lowering::Lanes(*lanes);
  }
  throw std::invalid_argument(
      "unknown lowering '" + name +
      "'; use auto, tuned, costs, traced, faithful, persistent or lanes-16");
}

}  // namespace reprise::bench
