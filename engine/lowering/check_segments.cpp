#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "lowering/lowered_graph.hpp"

namespace reprise::detail {

namespace {

class SegmentCheck {
 public:
  SegmentCheck(const DependencyGraph& dependencies, const LoweredGraph& lowered,
               const Segment& segment)
      : dependencies_(dependencies),
        lowered_(lowered),
        segment_(segment),
        relations_(segment),
        published_(segment.nodes, 0) {}

  void check() {
    check_ranges();
    check_blocks();
    find_ends();
    for (std::uint32_t list = 0; list < segment_.lists(); ++list) check_order(list);
    check_progress();
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    detail::fail(ErrorCode::Internal, Stage::Lowering, {},
                 concat("the segment of lowered nodes ", segment_.first_node, " to ",
                        segment_.first_node + segment_.nodes - 1, ": ", parts...));
  }

  void check_ranges() const {
    const auto& first = segment_.first_item;
    if (first.empty() || first.front() != 0 || first.back() != segment_.items.size() ||
        !std::is_sorted(first.begin(), first.end()) ||
        segment_.item_counts.size() != segment_.nodes ||
        segment_.first_node + segment_.nodes > lowered_.nodes.size())
      refuse("its lists are damaged");
    for (const SegmentItem& item : segment_.items) {
      if (!segment_.contains(item.node) ||
          std::size_t{item.first_wait} + item.waits > segment_.waits.size())
        refuse("an item is damaged");
    }
    for (const std::uint32_t node : segment_.waits)
      if (!segment_.contains(node)) refuse("an item waits for node ", node);
  }

  // Whether the list runs all blocks that an item depends on before its item number `at`.
  [[nodiscard]] bool are_earlier(const BlockRelation& relation, const SegmentItem& item,
                                 std::uint32_t list, std::uint32_t at) const {
    const std::uint32_t count =
        lowered_.segment_blocks[lowered_.nodes[relation.from].dependency_node];
    const BlockRelation::Blocks needed = relation.needed(item.first_block, item.blocks, count);
    const auto& places = places_[relation.from - segment_.first_node];
    // The item with the first of these blocks, and those after it.
    auto place = std::upper_bound(
        places.begin(), places.end(), needed.first,
        [](std::uint32_t block, const Place& of) { return block < of.first_block; });
    for (place -= place == places.begin() ? 0 : 1;
         place != places.end() && place->first_block <= needed.last && needed.first <= needed.last;
         ++place)
      if (place->list != list || place->item >= at) return false;
    return true;
  }

  // Each block is in one item, and the counts are those of the items.
  void check_blocks() const {
    std::vector<const SegmentItem*> items;
    for (const SegmentItem& item : segment_.items) items.push_back(&item);
    std::sort(items.begin(), items.end(), [](const SegmentItem* a, const SegmentItem* b) {
      return a->node != b->node ? a->node < b->node : a->first_block < b->first_block;
    });
    std::size_t i = 0;
    for (std::uint32_t node = 0; node < segment_.nodes; ++node) {
      const std::uint32_t of = segment_.first_node + node;
      std::uint32_t count = 0, next = 0;
      for (; i < items.size() && items[i]->node == of; ++i, ++count) {
        if (items[i]->first_block != next) refuse("block ", next, " of node ", of);
        next += items[i]->blocks;
      }
      const std::uint32_t dependency_node = lowered_.nodes[of].dependency_node;
      if (dependency_node == kNone || next != lowered_.segment_blocks[dependency_node])
        refuse("not all blocks of node ", of, " are in items");
      if (count != segment_.item_counts[node]) refuse("the number of items of node ", of);
    }
  }

  // Where the items of a node are, and where all have ended if they are in one list.
  void find_ends() {
    ends_.assign(segment_.nodes, {});
    places_.assign(segment_.nodes, {});
    std::vector<std::uint32_t> lists_of(segment_.nodes, kNone);
    for (std::uint32_t list = 0; list < segment_.lists(); ++list) {
      for (std::uint32_t i = segment_.first_item[list]; i < segment_.first_item[list + 1]; ++i) {
        const std::uint32_t node = segment_.items[i].node - segment_.first_node;
        const bool is_first = std::exchange(lists_of[node], list) == kNone;
        ends_[node] = {is_first || ends_[node].list == list ? list : kNone, i + 1};
        places_[node].push_back({segment_.items[i].first_block, list, i});
      }
    }
    for (std::vector<Place>& places : places_)
      std::sort(places.begin(), places.end(),
                [](const Place& a, const Place& b) { return a.first_block < b.first_block; });
  }

  // A needed edge is implied if all items of the node are earlier in the list, or if the item or an
  // earlier one of the list waits for the node, or for another one that ends later in the only list
  // of the node: a list publishes an item after all earlier ones. With relations, it is also
  // implied if the items of the blocks that the item depends on are earlier in the list.
  void check_order(std::uint32_t list) const {
    std::unordered_set<std::uint32_t> ended;                  // nodes, before the current item
    std::vector<std::uint32_t> reached(segment_.lists(), 0);  // by list, the end of what has ended
    std::vector<std::uint32_t> done(segment_.nodes, 0);
    const auto has_ended = [&](std::uint32_t node) {
      const End& end = ends_[node - segment_.first_node];
      return ended.contains(node) || (end.list != kNone && end.item <= reached[end.list]);
    };
    for (std::uint32_t i = segment_.first_item[list]; i < segment_.first_item[list + 1]; ++i) {
      const SegmentItem& item = segment_.items[i];
      for (const std::uint32_t node : segment_.waits_of(item)) {
        ended.insert(node);
        const End& end = ends_[node - segment_.first_node];
        if (end.list != kNone) reached[end.list] = std::max(reached[end.list], end.item);
      }
      const auto relations = relations_.into(item.node);
      for (const Edge& edge : dependencies_.edges_into(lowered_.nodes[item.node].dependency_node)) {
        const std::uint32_t from = lowered_.node_of[edge.from];
        if (!segment_.contains(from)) {
          if (from > segment_.first_node) refuse("node ", item.node, " depends on a later node");
        } else if (!segment_.relations.empty()) {
          if (std::none_of(relations.begin(), relations.end(),
                           [from](const BlockRelation& one) { return one.from == from; }))
            refuse("no relation of node ", from, " to node ", item.node);
        } else if (!has_ended(from)) {
          refuse("list ", list, " does not order node ", from, " before node ", item.node);
        }
      }
      for (const BlockRelation& relation : relations) {
        if (!has_ended(relation.from) && !are_earlier(relation, item, list, i))
          refuse("list ", list, " does not order blocks of node ", relation.from, " before blocks ",
                 item.first_block, " to ", item.first_block + item.blocks - 1, " of node ",
                 item.node);
      }
      const std::uint32_t node = item.node - segment_.first_node;
      if (++done[node] == segment_.item_counts[node]) ended.insert(item.node);
    }
  }

  // Runs all lists at once. Which of them goes on first makes no difference, since counters only
  // grow.
  void check_progress() {
    std::vector<std::uint32_t> next(segment_.first_item.begin(), segment_.first_item.end() - 1);
    std::vector<std::vector<std::uint32_t>> waiting(segment_.nodes);  // lists, by node
    std::vector<std::uint32_t> running(next.size());
    for (std::uint32_t list = 0; list < running.size(); ++list) running[list] = list;
    while (!running.empty()) {
      const std::uint32_t list = running.back();
      running.pop_back();
      for (; next[list] < segment_.first_item[list + 1]; ++next[list]) {
        const SegmentItem& item = segment_.items[next[list]];
        const auto waits = segment_.waits_of(item);
        const auto open = std::find_if(waits.begin(), waits.end(), [this](std::uint32_t node) {
          const std::uint32_t number = node - segment_.first_node;
          return published_[number] < segment_.item_counts[number];
        });
        if (open != waits.end()) {
          waiting[*open - segment_.first_node].push_back(list);
          break;
        }
        if (!item.publishes) continue;
        const std::uint32_t number = item.node - segment_.first_node;
        if (++published_[number] < segment_.item_counts[number]) continue;
        running.insert(running.end(), waiting[number].begin(), waiting[number].end());
        waiting[number].clear();
      }
    }
    for (std::uint32_t node = 0; node < segment_.nodes; ++node) {
      if (!waiting[node].empty())
        refuse("list ", waiting[node].front(), " waits for ever for node ",
               segment_.first_node + node);
    }
  }

  const DependencyGraph& dependencies_;
  const LoweredGraph& lowered_;
  const Segment& segment_;
  const RelationsByTarget relations_;
  struct End {
    std::uint32_t list = kNone, item = 0;  // kNone: several lists; the number behind its last item
  };
  struct Place {
    std::uint32_t first_block = 0, list = 0, item = 0;
  };
  // By the node's number in the segment:
  std::vector<std::uint32_t> published_;  // items
  std::vector<End> ends_;
  std::vector<std::vector<Place>> places_;  // by block
};

}  // namespace

void check_segments(const DependencyGraph& dependencies, const LoweredGraph& lowered) {
  for (const Segment& segment : lowered.segments)
    SegmentCheck(dependencies, lowered, segment).check();
}

}  // namespace reprise::detail
