// MemoryEmphasis: what selection, mouse and filter say of each buffer of the memory map. Knows no
// drawing. Threads: a value.
#pragma once

#include <cstdint>
#include <vector>

#include "panels/memory/memory_view_model.hpp"
#include "panels/shared/view_state.hpp"

namespace reprise::viewer {

enum class Emphasis : std::uint8_t {
  Plain,
  Selected,  // the selected buffer, or one that the selected node touches
  Shares,    // has bytes of the selected buffer at another time
  Beside,    // something else is selected
  Filtered   // the filter does not let it pass
};

class MemoryEmphasis {
 public:
  // `matches`: a buffer each, 1 where the filter lets it pass; empty: no filter. It outlives this.
  MemoryEmphasis(const ViewState& view, const MemoryViewModel& view_model,
                 const std::vector<std::uint8_t>& matches);

  [[nodiscard]] Emphasis of(std::uint32_t buffer) const;
  [[nodiscard]] const std::vector<std::uint32_t>& selected() const noexcept {
    return selected_;
  }  // ascending
  [[nodiscard]] const std::vector<std::uint32_t>& sharing() const noexcept {
    return sharing_;
  }  // ascending
  // kNone: none of this graph, or, of buffers, none that stands in the map.
  [[nodiscard]] std::uint32_t buffer() const noexcept { return buffer_; }
  [[nodiscard]] std::uint32_t node() const noexcept { return node_; }
  [[nodiscard]] std::uint32_t hovered_buffer() const noexcept { return hovered_buffer_; }
  [[nodiscard]] std::uint32_t hovered_node() const noexcept { return hovered_node_; }

 private:
  const std::vector<std::uint8_t>& matches_;
  std::vector<std::uint32_t> selected_, sharing_;
  std::uint32_t buffer_ = trace::kNone, node_ = trace::kNone, hovered_buffer_ = trace::kNone,
                hovered_node_ = trace::kNone;
};

}  // namespace reprise::viewer
