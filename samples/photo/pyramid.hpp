// The image pyramid as one recorded graph: levels, differences, edges, histograms and the
// reconstruction, for all channels. Threads: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/reprise.hpp>

#include "image.hpp"
#include "results.hpp"

namespace photo {

class Pyramid {
 public:
  // Records and compiles the graph for images of `size`.
  Pyramid(const reprise::Device& device, Size size);

  // Replays the graph for `image`, which has that size, and waits.
  [[nodiscard]] Results<std::uint8_t> run(const Image& image);
  // Replays it `times` times in a row for the same image; waits for the last.
  void repeat(std::uint32_t times);
  [[nodiscard]] const reprise::CapturedGraph& graph() const noexcept { return graph_; }

 private:
  using Plane = reprise::GpuRef<float>;
  using Planes = std::array<Plane, kChannels>;
  using Bytes = reprise::GpuRef<std::uint8_t>;
  using HostBytes = reprise::HostRef<std::uint8_t>;

  struct Kernels {
    reprise::Kernel split_channel, halve_width, halve_height, add_expanded, merge_channels,
        gradient_edges, channel_histogram;
  };

  void record(reprise::CommandBuffer& commands);
  [[nodiscard]] Planes split(reprise::CommandBuffer& commands, const Bytes& rgb);
  [[nodiscard]] Planes halve(reprise::CommandBuffer& commands, const Planes& fine, Size size);
  // fine + sign * expanded coarse
  [[nodiscard]] Planes add_expanded(reprise::CommandBuffer& commands, const Planes& fine, Size size,
                                    const Planes& coarse, float sign);
  // Bytes of the three planes plus `offset`, in pinned memory after a replay.
  [[nodiscard]] HostBytes merge(reprise::CommandBuffer& commands, const Planes& planes, Size size,
                                float offset);
  [[nodiscard]] HostBytes edges(reprise::CommandBuffer& commands, const Planes& planes, Size size);
  void histograms(reprise::CommandBuffer& commands, const Bytes& rgb);

  std::vector<Size> sizes_;
  Kernels kernels_;
  std::shared_ptr<reprise::CapturePool> pool_;
  reprise::Queue queue_;
  HostBytes input_;
  std::vector<HostBytes> gaussian_, laplacian_, edges_;
  HostBytes reconstruction_;
  reprise::HostRef<std::uint32_t> histogram_;
  reprise::CapturedGraph graph_;
};

}  // namespace photo
