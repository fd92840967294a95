#include "layout/segment_list.hpp"

#include <algorithm>

namespace reprise::viewer {

namespace {

constexpr std::uint32_t kBlockSize = 192;

}  // namespace

SegmentList::SegmentList(std::uint32_t count) : blocks_(1), order_(1, 0), block_of_(count) {}

void SegmentList::split(std::uint32_t order) {
  const auto made = static_cast<std::uint32_t>(blocks_.size());
  blocks_.emplace_back();
  Block& block = blocks_[order_[order]];
  blocks_.back().assign(block.begin() + kBlockSize / 2, block.end());
  block.resize(kBlockSize / 2);
  for (const std::uint32_t segment : blocks_.back()) block_of_[segment] = made;
  order_.insert(order_.begin() + order + 1, made);
}

void SegmentList::insert(std::uint32_t place, std::uint32_t segment) {
  std::uint32_t order = 0;
  while (order + 1 < order_.size() && place > blocks_[order_[order]].size())
    place -= static_cast<std::uint32_t>(blocks_[order_[order++]].size());
  Block& block = blocks_[order_[order]];
  block.insert(block.begin() + place, segment);
  block_of_[segment] = order_[order];
  ++size_;
  if (block.size() >= kBlockSize) split(order);
}

void SegmentList::erase(std::uint32_t segment) {
  Block& block = blocks_[block_of_[segment]];
  block.erase(std::find(block.begin(), block.end(), segment));
  --size_;
  if (block.empty() && order_.size() > 1)
    order_.erase(std::find(order_.begin(), order_.end(), block_of_[segment]));
}

std::uint32_t SegmentList::place_of(std::uint32_t segment) const {
  std::uint32_t place = 0;
  for (const std::uint32_t b : order_) {
    if (b == block_of_[segment]) break;
    place += static_cast<std::uint32_t>(blocks_[b].size());
  }
  const Block& block = blocks_[block_of_[segment]];
  return place +
         static_cast<std::uint32_t>(std::find(block.begin(), block.end(), segment) - block.begin());
}

std::uint32_t SegmentList::at(std::uint32_t place) const {
  std::uint32_t order = 0;
  while (place >= blocks_[order_[order]].size())
    place -= static_cast<std::uint32_t>(blocks_[order_[order++]].size());
  return blocks_[order_[order]][place];
}

}  // namespace reprise::viewer
