// What large arrays are told to the system, so that their first use does not stop at each small
// page. Threads: any.
#pragma once

#include <cstddef>

namespace reprise::detail {

// A hint about memory that is about to be written: pages as large as the system has them. Nothing
// for a few MiB or less, and where there are none.
void advise_huge_pages(void* begin, std::size_t bytes) noexcept;

// The same of all that a vector has reserved.
template <class Vector>
void reserve_huge(Vector& vector, std::size_t count) {
  if (vector.capacity() >= count) return;
  vector.reserve(count);
  advise_huge_pages(vector.data(), vector.capacity() * sizeof(*vector.data()));
}

}  // namespace reprise::detail
