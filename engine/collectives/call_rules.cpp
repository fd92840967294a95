#include "collectives/call_rules.hpp"

#include <limits>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

[[noreturn]] void refuse(const CollectiveCall& call, const std::string& why) {
  fail(ErrorCode::InvalidArgument, Stage::Launch, {}, concat(describe(call), ": ", why));
}

}  // namespace

std::string describe(const CollectiveCall& call) {
  const std::string reduction =
      is_reduction(call.kind) ? concat(" (", to_string(call.reduce), ")") : std::string();
  const std::string_view peer = call.kind == CollectiveKind::Reduce ? " on rank "
                                : call.kind == CollectiveKind::Send ? " to rank "
                                                                    : " from rank ";
  return concat(to_string(call.kind), " of ", call.count, " ", to_string(call.type), reduction,
                has_peer(call.kind) ? concat(peer, call.peer) : std::string());
}

void check_call(const CollectiveCall& call, std::uint32_t rank, std::uint32_t size) {
  require_enumerator("the kind of a collective", call.kind, Stage::Launch);
  require_enumerator("the type of its elements", call.type, Stage::Launch);
  require_enumerator("its reduction", call.reduce, Stage::Launch);
  if (has_peer(call.kind) && call.peer >= size)
    refuse(call, concat("the communicator has ", size, " ranks"));
  if (is_reduction(call.kind) && call.reduce == ReduceOperator::Average &&
      !is_floating_point(call.type))
    refuse(call, concat("an average requires floating-point elements, not ", to_string(call.type)));
  const std::uint64_t max_bytes = std::numeric_limits<std::int64_t>::max();
  if (call.count > max_bytes / size_of(call.type) / size)
    refuse(call, concat("its bytes on ", size, " ranks exceed 2^63 - 1; use a smaller count"));
  if (call.count == 0) return;
  if (has_input(call, rank) && call.send == nullptr) refuse(call, "the send buffer is null");
  if (has_output(call, rank) && call.receive == nullptr) refuse(call, "the receive buffer is null");
}

}  // namespace reprise::detail
