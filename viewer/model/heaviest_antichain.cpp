#include "model/heaviest_antichain.hpp"

#include <algorithm>
#include <bit>

namespace reprise::model {

namespace {

constexpr std::uint32_t kUnreached = 0xffffffffu;

// Maximum flow from a source over the elements to a sink (Dinic): each element sends up to its
// weight to the elements after it, and each receives up to its weight.
class Flow {
 public:
  Flow(const PartialOrder& order, const std::vector<std::uint64_t>& weights)
      : order_(order), unsent_(weights), wanted_(weights), sent_(order.size()) {}

  void maximise() {
    while (find_levels()) {
      next_.assign(order_.size(), 0);
      next_back_.assign(order_.size(), 0);
      for (std::uint32_t e = 0; e < order_.size(); ++e) {
        while (unsent_[e] > 0) {
          const std::uint64_t pushed = send(e, unsent_[e]);
          if (pushed == 0) break;
          unsent_[e] -= pushed;
        }
      }
    }
  }
  // After maximise(): the senders that the source still reaches, without the receivers it reaches.
  [[nodiscard]] std::vector<std::uint32_t> uncut() const {
    std::vector<std::uint32_t> elements;
    for (std::uint32_t e = 0; e < order_.size(); ++e) {
      if (sender_level_[e] != kUnreached && receiver_level_[e] == kUnreached) elements.push_back(e);
    }
    return elements;
  }

 private:
  struct Sent {
    std::uint32_t from = 0;
    std::uint64_t bytes = 0;
  };

  // Distances from the source over edges with remaining capacity. True if the sink is reached.
  bool find_levels() {
    sender_level_.assign(order_.size(), kUnreached);
    receiver_level_.assign(order_.size(), kUnreached);
    std::vector<std::uint64_t> unseen(order_.words(), ~std::uint64_t{0});
    std::vector<std::uint32_t> senders, receivers;
    for (std::uint32_t e = 0; e < order_.size(); ++e) {
      if (unsent_[e] == 0) continue;
      sender_level_[e] = 0;
      senders.push_back(e);
    }
    bool reached = false;
    for (std::uint32_t level = 1; !senders.empty(); level += 2) {
      receivers.clear();
      for (const std::uint32_t from : senders) {
        for (std::uint32_t w = 0; w < order_.words(); ++w) {
          std::uint64_t found = order_.row(from)[w] & unseen[w];
          unseen[w] &= ~found;
          for (; found != 0; found &= found - 1)
            receivers.push_back(w * 64 + static_cast<std::uint32_t>(std::countr_zero(found)));
        }
      }
      senders.clear();
      for (const std::uint32_t to : receivers) {
        receiver_level_[to] = level;
        reached = reached || wanted_[to] > 0;
        for (const Sent& back : sent_[to]) {
          if (back.bytes == 0 || sender_level_[back.from] != kUnreached) continue;
          sender_level_[back.from] = level + 1;
          senders.push_back(back.from);
        }
      }
    }
    return reached;
  }

  // Sends up to `bytes` from an element along the levels; returns what was sent.
  std::uint64_t send(std::uint32_t from, std::uint64_t bytes) {
    for (std::uint32_t& at = next_[from]; at < order_.size(); ++at) {
      const std::uint64_t rest = order_.row(from)[at / 64] >> at % 64;
      if (rest == 0) {
        at |= 63;  // the next word
        continue;
      }
      at += static_cast<std::uint32_t>(std::countr_zero(rest));
      if (receiver_level_[at] != sender_level_[from] + 1) continue;
      const std::uint32_t to = at;
      const std::uint64_t pushed = receive(to, bytes);
      if (pushed == 0) continue;
      const auto known = std::find_if(sent_[to].begin(), sent_[to].end(),
                                      [&](const Sent& s) { return s.from == from; });
      if (known == sent_[to].end()) {
        sent_[to].push_back({from, pushed});
      } else {
        known->bytes += pushed;
      }
      return pushed;
    }
    return 0;
  }
  std::uint64_t receive(std::uint32_t to, std::uint64_t bytes) {
    if (wanted_[to] > 0) {
      const std::uint64_t taken = std::min(bytes, wanted_[to]);
      wanted_[to] -= taken;
      return taken;
    }
    for (std::uint32_t& at = next_back_[to]; at < sent_[to].size(); ++at) {
      const Sent back = sent_[to][at];
      if (back.bytes == 0 || sender_level_[back.from] != receiver_level_[to] + 1) continue;
      const std::uint64_t moved = send(back.from, std::min(bytes, back.bytes));
      if (moved == 0) continue;
      sent_[to][at].bytes -= moved;
      return moved;
    }
    return 0;
  }

  const PartialOrder& order_;
  std::vector<std::uint64_t> unsent_, wanted_;  // per element
  std::vector<std::vector<Sent>> sent_;         // per receiver
  std::vector<std::uint32_t> sender_level_, receiver_level_, next_, next_back_;
};

}  // namespace

std::vector<std::uint32_t> heaviest_antichain(const PartialOrder& order,
                                              const std::vector<std::uint64_t>& weights) {
  Flow flow(order, weights);
  flow.maximise();
  return flow.uncut();
}

}  // namespace reprise::model
