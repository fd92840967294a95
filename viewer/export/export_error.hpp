// The exception of exporters for requests that the trace or the format cannot satisfy, for example
// a graph that the trace does not contain. Threads: values.
#pragma once

#include <stdexcept>

namespace reprise::trace {

class ExportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace reprise::trace
