// MemoryEmphasis: the emphasis of each buffer of the memory map, from selection, hovering and
// filter. Performs no drawing. Threads: a value.
#pragma once

#include <cstdint>
#include <vector>

#include "panels/memory/memory_view_model.hpp"
#include "panels/shared/view_state.hpp"

namespace reprise::viewer {

enum class Emphasis : std::uint8_t {
  Plain,
  Selected,  // the selected buffer, or a buffer that the selected node accesses
  Aliasing,  // shares bytes with the selected buffer
  Dimmed,    // another buffer or node is selected
  Filtered   // does not match the filter
};

class MemoryEmphasis {
 public:
  // `matches`: per buffer, 1 if the filter matches; empty: no filter. Must outlive this object.
  MemoryEmphasis(const ViewState& view, const MemoryViewModel& view_model,
                 const std::vector<std::uint8_t>& matches);

  [[nodiscard]] Emphasis of(std::uint32_t buffer) const;
  [[nodiscard]] const std::vector<std::uint32_t>& selected() const noexcept {
    return selected_;
  }  // ascending
  [[nodiscard]] const std::vector<std::uint32_t>& aliasing() const noexcept {
    return aliasing_;
  }  // ascending
  // kNone if the object is not of this graph; for buffers also if the map does not contain it.
  [[nodiscard]] std::uint32_t buffer() const noexcept { return buffer_; }
  [[nodiscard]] std::uint32_t node() const noexcept { return node_; }
  [[nodiscard]] std::uint32_t hovered_buffer() const noexcept { return hovered_buffer_; }
  [[nodiscard]] std::uint32_t hovered_node() const noexcept { return hovered_node_; }

 private:
  const std::vector<std::uint8_t>& matches_;
  std::vector<std::uint32_t> selected_, aliasing_;
  std::uint32_t buffer_ = trace::kNone, node_ = trace::kNone, hovered_buffer_ = trace::kNone,
                hovered_node_ = trace::kNone;
};

}  // namespace reprise::viewer
