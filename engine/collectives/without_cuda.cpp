// Collectives on GPUs in a build without the CUDA device, which has no such Device.
#include "base/failure.hpp"
#include "collectives/collective_backend.hpp"

namespace reprise::detail {
namespace {

[[noreturn]] void refuse() {
  fail(ErrorCode::Unsupported, Stage::Open, "",
       "this build has no CUDA device; build it with a CUDA toolkit");
}

}  // namespace

std::shared_ptr<CollectiveBackend> make_nccl_backend(const Device&, std::shared_ptr<RankControl>) {
  refuse();
}
std::shared_ptr<CollectiveBackend> adopt_nccl(const Device&, ncclComm*, std::uint32_t&,
                                              std::uint32_t&) {
  refuse();
}
void copy_on_stream(void*, void*, const void*, std::uint64_t) { refuse(); }

}  // namespace reprise::detail
