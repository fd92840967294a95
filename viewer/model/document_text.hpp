// A Document as stable text, for golden tests and for a person who wants to know what a trace says.
// Times are in ns from the document's first moment, so that two runs of the same thing differ only
// in what differs. Threads: a pure function.
#pragma once

#include <string>

#include "model/document.hpp"

namespace reprise::model {

[[nodiscard]] std::string document_text(const Document& document);

}  // namespace reprise::model
