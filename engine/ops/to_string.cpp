// Names of the ops' public enumerators, as they are spelled.
#include <reprise/ops/ops.hpp>

namespace reprise::inline REPRISE_ABI {

std::string_view to_string(FftDirection value) noexcept {
  switch (value) {
    case FftDirection::Forward: return "Forward";
    case FftDirection::Inverse: return "Inverse";
  }
  return "unknown";
}

std::string_view to_string(GemmType value) noexcept {
  switch (value) {
    case GemmType::F32: return "F32";
    case GemmType::F64: return "F64";
    case GemmType::F16: return "F16";
    case GemmType::BF16: return "BF16";
  }
  return "unknown";
}

std::string_view to_string(Transpose value) noexcept {
  switch (value) {
    case Transpose::No: return "No";
    case Transpose::Yes: return "Yes";
  }
  return "unknown";
}

std::string_view to_string(ReduceKind value) noexcept {
  switch (value) {
    case ReduceKind::Sum: return "Sum";
    case ReduceKind::Min: return "Min";
    case ReduceKind::Max: return "Max";
  }
  return "unknown";
}

std::string_view to_string(ScanKind value) noexcept {
  switch (value) {
    case ScanKind::Exclusive: return "Exclusive";
    case ScanKind::Inclusive: return "Inclusive";
  }
  return "unknown";
}

std::string_view to_string(SortOrder value) noexcept {
  switch (value) {
    case SortOrder::Ascending: return "Ascending";
    case SortOrder::Descending: return "Descending";
  }
  return "unknown";
}

std::string_view to_string(ArrayType value) noexcept {
  switch (value) {
    case ArrayType::F32: return "F32";
    case ArrayType::F64: return "F64";
    case ArrayType::I32: return "I32";
    case ArrayType::U32: return "U32";
  }
  return "unknown";
}

}  // namespace reprise::inline REPRISE_ABI
