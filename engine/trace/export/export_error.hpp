// The exception of exporters besides TraceError: the output cannot be written (the text contains
// its path), or the trace does not contain the requested graph. Threads: values.
#pragma once

#include <stdexcept>

namespace reprise::trace {

class ExportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace reprise::trace
