#include "model/trace_loader.hpp"

namespace reprise::model {

using trace::ChunkKind;

TraceLoader::TraceLoader(const TraceLoaderDesc& desc)
    : reader_(std::make_shared<const trace::TraceReader>(desc.path)),
      builder_(std::make_shared<SampleStore>(SampleStoreDesc{.reader = reader_, .max_bytes = desc.max_sample_bytes})) {
  const auto& chunks = reader_->chunks();
  for (const trace::ChunkEntry& c : chunks) {
    if (c.header.kind == ChunkKind::Topology) builder_.add(reader_->read(c));
  }
  for (const ChunkKind kind : {ChunkKind::Events, ChunkKind::Samples}) {
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (chunks[i].header.kind != kind) continue;
      order_.push_back(i);
      total_ += chunks[i].header.compressed_bytes;
    }
  }
}

bool TraceLoader::step() {
  if (next_ == order_.size()) return false;
  const trace::ChunkEntry& chunk = reader_->chunks()[order_[next_++]];
  done_ += chunk.header.compressed_bytes;
  builder_.add(reader_->read(chunk));
  return true;
}

double TraceLoader::progress() const noexcept { return total_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(total_); }

}  // namespace reprise::model
