// What an export throws beside TraceError: the output can't be written (the text names its path),
// or what was asked for is not in the trace. Threads: values.
#pragma once

#include <stdexcept>

namespace reprise::trace {

class ExportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace reprise::trace
