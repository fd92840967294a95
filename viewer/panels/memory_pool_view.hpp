// PoolView: the pools with their bytes and holders, all that is taken of their devices, and how these grew over the trace. BufferView: every buffer that is known.
// Threads: the drawing thread's.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "panels/background.hpp"
#include "panels/canvas.hpp"
#include "panels/frame.hpp"
#include "panels/memory_pools.hpp"

namespace reprise::viewer {

class PoolView {
 public:
  void draw(Frame& frame, const PoolFacts& facts);

 private:
  void draw_table(Frame& frame, const PoolFacts& facts, float width);
  static void draw_devices(const Theme& theme, const PoolFacts& facts);
  void draw_history(Frame& frame, const PoolFacts& facts);
  void draw_device_history(const Theme& theme, const PoolFacts& facts) const;
  void draw_hovered_time(const Frame& frame, const PoolFacts& facts) const;

  Canvas canvas_{CanvasAxes::Horizontal};
  std::optional<std::uint32_t> pool_;  // by id, that stands out
};

class BufferView {
 public:
  explicit BufferView(Background& background) : order_(background) {}
  void draw(Frame& frame, const std::shared_ptr<const PoolFacts>& facts, const std::shared_ptr<const std::vector<std::uint8_t>>& matches);

 private:
  struct Key {
    std::shared_ptr<const PoolFacts> facts;
    std::shared_ptr<const std::vector<std::uint8_t>> matches;  // may be null
    BufferOrder order;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Rows {
    std::shared_ptr<const PoolFacts> facts;  // that they are places in
    std::vector<std::uint32_t> places;
  };

  void draw_row(Frame& frame, const PoolFacts& facts, std::uint32_t place) const;

  Latest<Key, Rows> order_;
  BufferOrder asked_;
  model::Selection seen_;
};

}  // namespace reprise::viewer
