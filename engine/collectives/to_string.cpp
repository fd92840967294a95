// The names of collectives, in messages and plans.
#include <reprise/collectives.hpp>

namespace reprise::inline REPRISE_ABI {

std::string_view to_string(CollectiveKind kind) noexcept {
  switch (kind) {
    case CollectiveKind::AllReduce: return "all_reduce";
    case CollectiveKind::Reduce: return "reduce";
    case CollectiveKind::Broadcast: return "broadcast";
    case CollectiveKind::AllGather: return "all_gather";
    case CollectiveKind::ReduceScatter: return "reduce_scatter";
    case CollectiveKind::AllToAll: return "all_to_all";
    case CollectiveKind::Send: return "send";
    case CollectiveKind::Receive: return "receive";
  }
  return "unknown";
}

std::string_view to_string(ElementType type) noexcept {
  switch (type) {
    case ElementType::I8: return "i8";
    case ElementType::U8: return "u8";
    case ElementType::I32: return "i32";
    case ElementType::U32: return "u32";
    case ElementType::I64: return "i64";
    case ElementType::U64: return "u64";
    case ElementType::F16: return "f16";
    case ElementType::BF16: return "bf16";
    case ElementType::F32: return "f32";
    case ElementType::F64: return "f64";
  }
  return "unknown";
}

std::string_view to_string(ReduceOperator reduce) noexcept {
  switch (reduce) {
    case ReduceOperator::Sum: return "sum";
    case ReduceOperator::Product: return "product";
    case ReduceOperator::Min: return "min";
    case ReduceOperator::Max: return "max";
    case ReduceOperator::Average: return "average";
  }
  return "unknown";
}

std::uint32_t size_of(ElementType type) noexcept {
  switch (type) {
    case ElementType::I8:
    case ElementType::U8: return 1;
    case ElementType::F16:
    case ElementType::BF16: return 2;
    case ElementType::I32:
    case ElementType::U32:
    case ElementType::F32: return 4;
    case ElementType::I64:
    case ElementType::U64:
    case ElementType::F64: return 8;
  }
  return 0;
}

}  // namespace reprise::inline REPRISE_ABI
