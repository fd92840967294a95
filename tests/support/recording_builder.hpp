// RecordingBuilder: builds a Recording directly, for tests and benchmarks of the stages. Needs no
// device and no recorder. Checks nothing, so it can build invalid input that a recorder refuses.
// Every command has the location app.cpp:<index + 1>. Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "record/recording.hpp"

namespace reprise::test {

using detail::BufferAccess;
using detail::Recording;
using RecordingPtr = std::shared_ptr<const Recording>;

struct RecordingDesc {
  std::string_view label = "test";
  Ordering ordering = Ordering::Inferred;
};

class RecordingBuilder {
 public:
  explicit RecordingBuilder(const RecordingDesc& desc = {});

  // Functions that add something return its index: in recording.buffers, or of the command.
  std::uint32_t add_buffer(std::string_view name, std::uint64_t bytes,
                           BufferKind kind = BufferKind::Device, std::uint32_t alignment = 16);

  // Accesses of a whole buffer, of [begin, end), or of rows: `extent` with `pitch`, starting at
  // `begin`.
  [[nodiscard]] BufferAccess read(std::uint32_t buffer) const {
    return whole(buffer, Access::Read);
  }
  [[nodiscard]] BufferAccess write(std::uint32_t buffer) const {
    return whole(buffer, Access::Write);
  }
  [[nodiscard]] BufferAccess read_write(std::uint32_t buffer) const {
    return whole(buffer, Access::ReadWrite);
  }
  [[nodiscard]] static BufferAccess range(Access access, std::uint32_t buffer, std::uint64_t begin,
                                          std::uint64_t end) {
    return {buffer, access, 0, begin, end};
  }
  [[nodiscard]] BufferAccess rows(Access access, std::uint32_t buffer, std::uint64_t begin,
                                  Extent extent, Pitch pitch);

  // A dispatch of the kernel `kernel` with one pointer parameter per access.
  std::uint32_t dispatch(std::string_view kernel, std::initializer_list<BufferAccess> accesses) {
    return dispatch(kernel, std::span(accesses.begin(), accesses.size()));
  }
  std::uint32_t dispatch(std::string_view kernel, std::span<const BufferAccess> accesses) {
    return dispatch(kernel, {}, accesses);
  }
  // Like above, with grid, block, cluster, shared size and launch of `desc`.
  std::uint32_t dispatch(std::string_view kernel, const detail::DispatchPayload& desc,
                         std::span<const BufferAccess> accesses);
  // Copies between buffers: dense, or with the shapes of two rows() accesses.
  std::uint32_t copy(const BufferAccess& source, const BufferAccess& destination);
  std::uint32_t copy_from_host(void* source, HostBytes::Lifetime lifetime,
                               const BufferAccess& destination);
  std::uint32_t fill(const BufferAccess& destination, std::uint32_t bits = 0,
                     std::uint32_t element_bytes = 1);
  std::uint32_t update(const BufferAccess& destination);  // with zeros
  std::uint32_t host(std::initializer_list<BufferAccess> accesses);
  std::uint32_t barrier(const detail::BarrierPayload& barrier = {});
  void edge(std::uint32_t before, std::uint32_t after, Dependency dependency = Dependency::Full);

  void begin_label(std::string_view name, Color color = {});
  void end_label();

  // The recording under construction, for invalid values that no function above can produce.
  [[nodiscard]] Recording& recording() { return *recording_; }
  [[nodiscard]] std::uint32_t command_count() const {
    return static_cast<std::uint32_t>(recording_->commands.size());
  }
  // Returns the recording and resets the builder to its default-constructed state.
  [[nodiscard]] RecordingPtr finish();

 private:
  [[nodiscard]] BufferAccess whole(std::uint32_t buffer, Access access) const {
    return {buffer, access, 0, 0, recording_->buffers[buffer]->bytes};
  }
  std::uint32_t kernel_index(std::string_view name, std::size_t parameters);
  std::uint32_t add_command(detail::CommandKind kind, const void* payload,
                            std::span<const BufferAccess> accesses);
  // Extent and pitch of an access; a dense access is one row.
  [[nodiscard]] detail::AccessShape shape_of(const BufferAccess& access) const;

  std::shared_ptr<Recording> recording_;
  std::shared_ptr<detail::Arena> arena_;
  std::unordered_map<std::string, std::uint32_t> kernels_;
  std::uint32_t label_ = 0;
};

}  // namespace reprise::test
