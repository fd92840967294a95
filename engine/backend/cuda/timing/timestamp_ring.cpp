#include "backend/cuda/timing/timestamp_ring.hpp"

#include <algorithm>
#include <span>

namespace reprise::detail {

TimestampRing::TimestampRing(std::shared_ptr<const CudaContext> context,
                             std::shared_ptr<Readback> readback)
    : readback_(std::move(readback)),
      memory_(std::move(context), kHeadWords + kSlots * kSlotWords) {}

std::uint64_t TimestampRing::read(std::vector<ReplayTimestamps>& into) {
  std::uint64_t ended = 0;
  readback_->read(memory(), {&ended, 1});
  if (ended == last_read_) return 0;
  const std::uint64_t first = std::max(last_read_ + 1, ended >= kSlots ? ended - kSlots + 1 : 1);
  words_.resize((ended - first + 1) * kSlotWords);
  // One copy, or two if the range wraps around.
  const std::uint64_t from = first & mask(), until_end = std::min(ended - first + 1, kSlots - from);
  const std::span<std::uint64_t> words(words_);
  readback_->read(memory() + kHeadWords + from * kSlotWords, words.first(until_end * kSlotWords));
  if (until_end * kSlotWords < words.size())
    readback_->read(memory() + kHeadWords, words.subspan(until_end * kSlotWords));
  std::uint64_t lost = first - last_read_ - 1;
  for (std::uint64_t replay = first; replay <= ended; ++replay) {
    const std::uint64_t* const slot = &words_[(replay - first) * kSlotWords];
    if (slot[0] == replay && slot[2] == replay) {
      into.push_back({replay, slot[1], slot[3]});
    } else if (slot[0] > replay || slot[2] > replay) {
      ++lost;  // overwritten by a later replay
    } else {
      ended = replay - 1;  // the GPU is still writing the slot; the next call reads it
    }
  }
  last_read_ = ended;
  return lost;
}

}  // namespace reprise::detail
