// Huge-page hints for large arrays; they reduce page faults on first use. Threads: any.
#pragma once

#include <cstddef>

namespace reprise::detail {

// Requests huge pages for memory that is about to be written. Has no effect on ranges below a few
// MiB or where the system has no huge pages.
void advise_huge_pages(void* begin, std::size_t bytes) noexcept;

// Reserves `count` elements and requests huge pages for the vector's whole capacity.
template <class Vector>
void reserve_huge(Vector& vector, std::size_t count) {
  if (vector.capacity() >= count) return;
  vector.reserve(count);
  advise_huge_pages(vector.data(), vector.capacity() * sizeof(*vector.data()));
}

}  // namespace reprise::detail
