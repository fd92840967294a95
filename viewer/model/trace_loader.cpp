#include "model/trace_loader.hpp"

#include <utility>

#include "trace/trace_error.hpp"

namespace reprise::model {

using trace::ChunkKind;

TraceLoader::TraceLoader(const TraceLoaderDesc& desc)
    : reader_(std::make_shared<const trace::TraceReader>(desc.path)),
      samples_(std::make_shared<SampleStore>(
          SampleStoreDesc{.reader = reader_, .max_bytes = desc.max_sample_bytes})),
      builder_(samples_) {
  plan(0);
}

void TraceLoader::plan(std::size_t first) {
  const auto& chunks = reader_->chunks();
  for (std::size_t i = first; i < chunks.size(); ++i) {
    if (chunks[i].header.kind == ChunkKind::Topology) read_chunk(chunks[i]);
  }
  for (const ChunkKind kind : {ChunkKind::Events, ChunkKind::Samples}) {
    for (std::size_t i = first; i < chunks.size(); ++i) {
      if (chunks[i].header.kind != kind) continue;
      order_.push_back(i);
      if (kind == ChunkKind::Events) ++events_left_;
      total_ += chunks[i].header.compressed_bytes;
    }
  }
}

void TraceLoader::read_chunk(const trace::ChunkEntry& chunk) {
  try {
    trace::Records records = reader_->read(chunk);
    builder_.add(std::move(records));
  } catch (const trace::TraceError& error) {
    if (error.code() == trace::TraceErrorCode::Io) throw;
    if (damaged_++ == 0) first_damage_ = error.what();
  }
}

bool TraceLoader::step() {
  if (next_ == order_.size()) return false;
  const trace::ChunkEntry& chunk = reader_->chunks()[order_[next_++]];
  done_ += chunk.header.compressed_bytes;
  read_chunk(chunk);
  if (chunk.header.kind == ChunkKind::Events) --events_left_;
  return true;
}

double TraceLoader::progress() const noexcept {
  return total_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(total_);
}

bool TraceLoader::follow() {
  const std::size_t known = reader_->chunks().size();
  std::shared_ptr<const trace::TraceReader> next = reader_->follow();
  if (!next) return false;
  reader_ = std::move(next);
  samples_->follow(reader_);
  plan(known);
  return true;
}

std::string TraceLoader::damage() const {
  std::string text;
  if (damaged_ != 0) {
    text = std::to_string(damaged_) +
           (damaged_ == 1 ? " chunk is damaged and was skipped: "
                          : " chunks are damaged and were skipped; the first error: ") +
           first_damage_;
  }
  if (reader_->trailing_bytes() != 0) {
    if (!text.empty()) text += "; ";
    text += reader_->path().string() + ": the last " + std::to_string(reader_->trailing_bytes()) +
            " bytes cannot be read: " + reader_->damage();
  }
  return text;
}

}  // namespace reprise::model
