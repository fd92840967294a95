// The document of a whole trace file. Threads: pure.
#pragma once

#include <filesystem>
#include <memory>

#include "model/trace_loader.hpp"

namespace reprise::test {

[[nodiscard]] inline std::shared_ptr<const model::Document> document_of(
    const std::filesystem::path& path) {
  model::TraceLoader loader({.path = path});
  while (loader.step()) {
  }
  return loader.document();
}

}  // namespace reprise::test
