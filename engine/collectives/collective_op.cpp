// CollectiveOp: the checks of a collective, and its accesses.
#include <sstream>
#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "collectives/call_rules.hpp"
#include "collectives/communicator_core.hpp"

namespace reprise::inline REPRISE_ABI {
namespace {

using detail::concat;

// The bytes of a rank's buffers.
struct Sizes {
  std::uint64_t send = 0, receive = 0;
};

class Checked {
 public:
  Checked(const Communicator& communicator, const CollectiveDesc& desc)
      : rank_(communicator.rank()), size_(communicator.size()), desc_(desc) {}

  CollectiveDesc result() {
    detail::require_enumerator("CollectiveDesc::kind", desc_.kind, Stage::Record);
    detail::require_enumerator("CollectiveDesc::type", desc_.type, Stage::Record);
    detail::require_enumerator("CollectiveDesc::reduce", desc_.reduce, Stage::Record);
    check_peer();
    if (desc_.reduce == ReduceOperator::Average && detail::is_reduction(desc_.kind) &&
        !detail::is_floating_point(desc_.type))
      refuse(ErrorCode::InvalidArgument,
             concat("an average requires floating-point elements, not ", to_string(desc_.type)));
    const detail::CollectiveCall call{desc_.kind, desc_.type, desc_.reduce, desc_.peer};
    if (!detail::has_input(call, rank_)) desc_.send = {};
    if (!detail::has_output(call, rank_)) desc_.receive = {};
    const Sizes bytes = sizes();
    if (detail::has_input(call, rank_)) resize(desc_.send, bytes.send, "send");
    if (detail::has_output(call, rank_)) resize(desc_.receive, bytes.receive, "receive");
    check_overlap(bytes);
    return desc_;
  }

 private:
  [[noreturn]] void refuse(ErrorCode code, const std::string& reason) const {
    detail::fail(code, Stage::Record, to_string(desc_.kind),
                 concat(to_string(desc_.kind), ": ", reason));
  }
  void check_peer() const {
    if (!detail::has_peer(desc_.kind)) return;
    if (desc_.peer >= size_)
      refuse(ErrorCode::InvalidArgument,
             concat("rank ", desc_.peer, " is outside the communicator, which has ", size_,
                    size_ == 1 ? " rank" : " ranks"));
  }
  [[nodiscard]] Sizes sizes() const {
    if (desc_.count == 0) refuse(ErrorCode::InvalidArgument, "count is 0; omit the command");
    if (desc_.count > ~std::uint64_t{0} / size_of(desc_.type) / size_)
      refuse(ErrorCode::OutOfRange,
             concat(desc_.count, " elements of ", size_of(desc_.type), " bytes on ", size_,
                    size_ == 1 ? " rank" : " ranks", " exceed 64 bits"));
    const std::uint64_t one = desc_.count * size_of(desc_.type);
    switch (desc_.kind) {
      case CollectiveKind::AllGather: return {one, one * size_};
      case CollectiveKind::ReduceScatter: return {one * size_, one};
      case CollectiveKind::AllToAll: return {one * size_, one * size_};
      default: return {one, one};
    }
  }
  void resize(BufferView& view, std::uint64_t bytes, std::string_view what) const {
    if (!view) refuse(ErrorCode::NotInitialized, concat("the ", what, " buffer is empty"));
    if (view.bytes() < bytes)
      refuse(ErrorCode::OutOfRange, concat("it needs ", bytes, " bytes of the ", what,
                                           " buffer, and ", view.name(), " has ", view.bytes()));
    view = view.subview(0, bytes);
  }
  // In place means that this rank's part has the same address in both buffers.
  void check_overlap(const Sizes& bytes) const {
    if (!desc_.send || !desc_.receive || !desc_.send.overlaps(desc_.receive)) return;
    std::uint64_t send = desc_.send.offset(), receive = desc_.receive.offset();
    if (desc_.kind == CollectiveKind::AllGather) receive += rank_ * bytes.send;
    if (desc_.kind == CollectiveKind::ReduceScatter) send += rank_ * bytes.receive;
    if (desc_.kind == CollectiveKind::AllToAll || send != receive)
      refuse(ErrorCode::Overlap,
             concat("its buffers overlap in ", desc_.send.name(),
                    " and are not in place; use disjoint ranges or the in-place layout"));
  }

  const std::uint32_t rank_, size_;
  CollectiveDesc desc_;
};

bool contains(const BufferView& whole, const BufferView& part) {
  return whole && part && whole.overlaps(part) && part.offset() >= whole.offset() &&
         part.offset() + part.bytes() <= whole.offset() + whole.bytes();
}

}  // namespace

CollectiveOp::CollectiveOp(const Communicator& communicator, const CollectiveDesc& desc)
    : communicator_(communicator) {
  static_cast<void>(detail::require_handle(detail::core_of(communicator), "Communicator",
                                           to_string(desc.kind), Stage::Record));
  operations_.push_back(Checked(communicator, desc).result());
}

CollectiveOp CollectiveOp::group(std::span<const CollectiveOp> operations) {
  if (operations.empty())
    detail::fail(ErrorCode::InvalidArgument, Stage::Record, "group",
                 "group: it has 0 operations; pass at least 1");
  CollectiveOp made(operations.front().communicator_);
  for (const CollectiveOp& one : operations) {
    if (detail::core_of(one.communicator_) != detail::core_of(made.communicator_))
      detail::fail(ErrorCode::InvalidArgument, Stage::Record, "group",
                   "group: its operations belong to different communicators; make one group per "
                   "communicator");
    made.operations_.insert(made.operations_.end(), one.operations_.begin(), one.operations_.end());
  }
  return made;
}

std::string_view CollectiveOp::op_name() const noexcept {
  return operations_.size() == 1 ? to_string(operations_.front().kind) : "group";
}

std::string CollectiveOp::parameters() const {
  const detail::CommunicatorCore& core = *detail::core_of(communicator_);
  std::ostringstream out;
  for (const CollectiveDesc& one : operations_)
    out << detail::describe({one.kind, one.type, one.reduce, one.peer, one.count}) << ", ";
  out << "rank " << core.rank() << " of " << core.size();
  if (core.id() != detail::CommunicatorCore::kWorld) out << " in " << std::hex << core.id();
  return std::move(out).str();
}

void CollectiveOp::declare(GraphOpDeclaration& declaration) const {
  declaration.use(read_write(detail::core_of(communicator_)->job().order()));
  for (const CollectiveDesc& one : operations_) {
    if (contains(one.receive, one.send)) {
      declaration.use(read_write(one.receive));
    } else if (contains(one.send, one.receive)) {
      declaration.use(read_write(one.send));
    } else {
      if (one.send) declaration.use(read(one.send));
      if (one.receive) declaration.use(write(one.receive));
    }
  }
}

void CollectiveOp::record(GraphRecordCtx& ctx) const {
  const auto& core = detail::core_of(communicator_);
  ctx.keep(core);
  core->backend().record(ctx, operations_);
}

detail::RankAgreement* CollectiveOp::ranks() const noexcept {
  return &detail::core_of(communicator_)->job();
}

}  // namespace reprise::inline REPRISE_ABI
