#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "trace/trace_error.hpp"
#include "trace/trace_writer.hpp"
#include "unit/trace/trace_samples.hpp"

using namespace reprise;
using namespace reprise::trace;

namespace {

// Stores chunks; can be blocked, which blocks the writer's thread.
class MemorySink : public ChunkSink {
 public:
  void write(const std::shared_ptr<const Chunk>& chunk) override {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    chunks_.push_back(chunk);
  }
  void flush() override { flushed_ = true; }

  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_until_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return arrived_ > chunks_.size(); });
  }
  [[nodiscard]] std::vector<std::shared_ptr<const Chunk>> chunks() const {
    const std::lock_guard lock(mutex_);
    return chunks_;
  }
  [[nodiscard]] std::vector<Records> records() const {
    std::vector<Records> all;
    for (const auto& c : chunks()) all.push_back(read_chunk(c->header, c->payload));
    return all;
  }
  bool flushed_ = false;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<const Chunk>> chunks_;
  std::size_t arrived_ = 0;
  bool open_ = true;
};

class BrokenSink : public ChunkSink {
 public:
  void write(const std::shared_ptr<const Chunk>&) override {
    throw TraceError(TraceErrorCode::Io, "the disk is full");
  }
  void flush() override {}
};

}  // namespace

TEST_CASE("trace writer: flush() delivers everything to the sinks, topology first") {
  const auto sink = std::make_shared<MemorySink>();
  TraceWriter writer;
  writer.add_sink(sink);
  CHECK(writer.push(test::sample_block(1, 10)));
  CHECK(writer.push(test::one_of_each().replays[0]));
  CHECK(writer.push(test::sample_graph(3, 4)));
  writer.flush();
  const std::vector<Records> records = sink->records();
  REQUIRE(records.size() == 3);
  CHECK(records[0].graph_versions.size() == 1);
  CHECK(records[1].replays.size() == 1);
  CHECK(records[2].sample_blocks == std::vector{test::sample_block(1, 10)});
  CHECK(writer.stats().records == 3);
  CHECK(writer.stats().samples == 10);
  CHECK(writer.stats().lost_records == 0);
}

TEST_CASE("trace writer: a late sink receives the chunks written since it was added") {
  const auto late = std::make_shared<MemorySink>();
  TraceWriter writer;
  writer.push(test::sample_graph(3, 4));
  writer.push(test::sample_block(1, 10));
  writer.flush();
  writer.add_sink(late);
  CHECK(late->records().empty());
  writer.push(test::sample_block(2, 10));
  writer.flush();
  REQUIRE(late->records().size() == 1);
  CHECK(late->records()[0].sample_blocks == std::vector{test::sample_block(2, 10)});
  writer.remove_sink(late);
  writer.push(test::sample_block(3, 10));
  writer.flush();
  CHECK(late->records().size() == 1);
}

TEST_CASE("trace writer: the end of an object follows everything that refers to it") {
  const auto sink = std::make_shared<MemorySink>();
  TraceWriter writer;
  writer.add_sink(sink);
  writer.push(test::sample_block(1, 10));
  writer.push(Ended{100, ObjectKind::Graph, 3});
  writer.push(test::sample_graph(3, 4));
  writer.flush();
  const std::vector<Records> records = sink->records();
  REQUIRE(records.size() == 3);
  CHECK(records[0].graph_versions.size() == 1);
  CHECK(records[1].sample_blocks.size() == 1);
  CHECK(records[2].ended.size() == 1);
}

TEST_CASE("trace writer: a blocked sink causes counted losses and never blocks the caller") {
  const auto sink = std::make_shared<MemorySink>();
  TraceWriter writer({.queue_bytes = 20'000,
                      .chunk_bytes = 1'000,
                      .chunk_interval = std::chrono::milliseconds(1)});
  writer.add_sink(sink);
  sink->close();
  writer.push(test::sample_block(0, 100));
  sink->wait_until_held();
  // The writer's thread is blocked in the sink: the queue fills, then push() fails.
  std::uint64_t taken = 1, lost = 0;
  while (lost < 50) {
    if (writer.push(test::sample_block(taken + lost, 100))) {
      ++taken;
    } else {
      ++lost;
    }
    REQUIRE(taken < 1'000);
  }
  CHECK(writer.stats().lost_records == lost);
  CHECK(writer.stats().lost_samples == lost * 100);
  sink->open();
  writer.flush();
  std::uint64_t blocks = 0, reported = 0;
  for (const Records& r : sink->records()) {
    blocks += r.sample_blocks.size();
    for (const Loss& l : r.losses) reported += l.kind == LossKind::Samples ? l.count : 0;
  }
  CHECK(blocks == taken);
  CHECK(reported == lost * 100);
}

TEST_CASE("trace writer: a failing sink is reported once and removed, and other sinks continue") {
  const auto good = std::make_shared<MemorySink>();
  std::vector<std::string> errors;
  {
    TraceWriter writer({.on_error = [&](const std::string& text) { errors.push_back(text); }});
    writer.add_sink(std::make_shared<BrokenSink>());
    writer.add_sink(good);
    for (std::uint64_t i = 0; i < 3; ++i) {
      writer.push(test::sample_block(i, 10));
      writer.flush();
    }
  }
  CHECK(errors == std::vector<std::string>{"the disk is full"});
  CHECK(good->records().size() == 3);
  CHECK(good->flushed_);
}

TEST_CASE(
    "trace writer: a lack of memory while it reports an error loses records, and it goes on") {
  const auto good = std::make_shared<MemorySink>();
  TraceWriter writer({.on_error = [](const std::string&) { throw std::bad_alloc(); }});
  writer.add_sink(good);
  writer.add_sink(std::make_shared<BrokenSink>());
  for (std::uint64_t i = 0; i < 3; ++i) {
    CHECK(writer.push(test::sample_block(i, 10)));
    writer.flush();
  }
  CHECK(good->records().size() >= 3);
  CHECK(writer.stats().lost_records > 0);
}

TEST_CASE("trace writer: records of many threads all arrive, in consecutively numbered chunks") {
  const auto sink = std::make_shared<MemorySink>();
  {
    TraceWriter writer({.chunk_bytes = 10'000});
    writer.add_sink(sink);
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&writer, t] {
        for (std::uint64_t i = 0; i < 200; ++i) writer.push(test::sample_block(t * 1'000 + i, 20));
      });
    }
    for (std::thread& t : threads) t.join();
  }
  std::uint64_t blocks = 0, next = 0;
  for (const auto& chunk : sink->chunks()) CHECK(chunk->header.sequence == next++);
  for (const Records& r : sink->records()) blocks += r.sample_blocks.size();
  CHECK(blocks == 800);
}

TEST_CASE("trace writer: a record larger than the queue is accepted while the queue is empty") {
  const auto sink = std::make_shared<MemorySink>();
  TraceWriter writer({.queue_bytes = 1'000});
  writer.add_sink(sink);
  const SampleBlock block = test::sample_block(0, 10'000);
  REQUIRE(block.samples.size() * sizeof(Sample) > 100'000);
  CHECK(writer.push(block));
  writer.flush();
  REQUIRE(sink->records().size() == 1);
  CHECK(sink->records()[0].sample_blocks == std::vector{block});
  CHECK(writer.stats().lost_records == 0);
}

TEST_CASE("trace writer: chunks keep their size although records hold long texts") {
  const auto sink = std::make_shared<MemorySink>();
  TraceWriter writer({.chunk_bytes = 100'000});
  writer.add_sink(sink);
  trace::Message message;
  message.text.resize(40'000);
  for (int i = 0; i < 20; ++i) writer.push(message);
  writer.flush();
  std::size_t messages = 0;
  for (const Records& records : sink->records()) {
    CHECK(records.messages.size() <= 2);
    messages += records.messages.size();
  }
  CHECK(messages == 20);
}

TEST_CASE("trace writer: a record that fits no chunk becomes a loss, and others are written") {
  const auto sink = std::make_shared<MemorySink>();
  std::vector<std::string> errors;
  {
    TraceWriter writer({.queue_bytes = std::size_t{1} << 30,
                        .on_error = [&](const std::string& text) { errors.push_back(text); }});
    writer.add_sink(sink);
    trace::Message message;
    message.text.resize(ChunkHeader::kMaxRawBytes + 1);
    CHECK(writer.push(std::move(message)));
    CHECK(writer.push(test::sample_graph(3, 4)));
    CHECK(writer.push(test::sample_block(1, 10)));
    writer.flush();
    CHECK(writer.stats().lost_records == 1);
  }
  CHECK(errors.size() == 1);
  std::vector<Loss> losses;
  std::size_t graphs = 0, blocks = 0;
  for (const Records& records : sink->records()) {
    losses.insert(losses.end(), records.losses.begin(), records.losses.end());
    graphs += records.graph_versions.size();
    blocks += records.sample_blocks.size();
  }
  REQUIRE(losses.size() == 1);
  CHECK(losses[0].count == 1);
  CHECK(losses[0].reason.find("bytes") != std::string::npos);
  CHECK(graphs == 1);
  CHECK(blocks == 1);
}
