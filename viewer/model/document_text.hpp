// Formats a Document as stable text, for golden tests and for reading. Times are ns since the
// document's first time, so identical runs at different times yield identical text. Threads: a pure
// function.
#pragma once

#include <string>

#include "model/document.hpp"

namespace reprise::model {

[[nodiscard]] std::string document_text(const Document& document);

}  // namespace reprise::model
