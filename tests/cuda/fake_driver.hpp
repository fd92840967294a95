// FakeDriver: the part of a CUDA driver that CudaQueue needs: streams whose work completes when the
// test says so, events, captures and errors. Threads: any; one fake at a time.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/cuda/cuda_context.hpp"

namespace reprise::test {

class FakeDriver {
 public:
  FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;
  ~FakeDriver();

  [[nodiscard]] std::shared_ptr<const detail::CudaContext> context() const { return context_; }
  // Completes the first `launches` launches of the stream; never fewer than before.
  void finish(CUstream stream, std::uint64_t launches);
  void finish_all(bool always);  // completes every launch at once
  void set_capturing(bool capturing);
  void fail_launches(CUresult result);
  void fail_events(CUresult result);

  struct Counts {
    std::uint64_t launches = 0, stream_waits = 0, events_alive = 0, streams_alive = 0;
    int pushed_contexts = 0;         // pushed and not popped
    std::uint64_t synchronised = 0;  // calls that would have blocked
    std::uint64_t destroyed_streams_used = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  std::shared_ptr<const detail::CudaContext> context_;
};

}  // namespace reprise::test
