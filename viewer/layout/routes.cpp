#include "layout/routes.hpp"

#include <cmath>

namespace reprise::viewer {

namespace {

constexpr double kSameLine = 1e-6;

struct Place {
  double x = 0, y = 0;
};

class Polyline {
 public:
  void add(Place p) {
    if (places_.size() >= 2 && in_line(places_[places_.size() - 2], places_.back(), p))
      places_.pop_back();
    places_.push_back(p);
  }
  [[nodiscard]] std::vector<Point> points() const {
    std::vector<Point> result;
    result.reserve(places_.size());
    for (const Place p : places_)
      result.push_back({static_cast<float>(p.x), static_cast<float>(p.y)});
    return result;
  }

 private:
  static bool in_line(Place a, Place b, Place c) {
    return std::abs((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y)) <
           kSameLine * (1 + std::abs(c.y - a.y) + std::abs(c.x - a.x));
  }
  std::vector<Place> places_;
};

}  // namespace

std::vector<Point> route(const RouteDesc& desc, std::uint32_t edge) {
  const LayeredGraph& graph = *desc.graph;
  const auto begin = [&](std::uint32_t item) { return (*desc.rank_start)[graph.rank[item]]; };
  const auto end = [&](std::uint32_t item) { return (*desc.rank_end)[graph.rank[item]]; };
  const auto half = [&](std::uint32_t node) {
    return static_cast<double>((*desc.along)[node]) / 2;
  };
  const auto middle = [&](std::uint32_t item) { return (begin(item) + end(item)) / 2; };
  const auto chain = graph.chain(edge);
  Polyline line;
  const std::uint32_t from = chain.front(), to = chain.back();
  line.add({(*desc.across)[from], middle(from) + half(from)});
  line.add({(*desc.across)[from], end(from)});
  for (const std::uint32_t item : chain.subspan(1, chain.size() - 2)) {
    line.add({(*desc.across)[item], begin(item)});
    line.add({(*desc.across)[item], end(item)});
  }
  line.add({(*desc.across)[to], begin(to)});
  line.add({(*desc.across)[to], middle(to) - half(to)});
  return line.points();
}

}  // namespace reprise::viewer
