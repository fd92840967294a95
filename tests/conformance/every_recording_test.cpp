// Every recording that compiles can be given to all other operations: each command alone, and each
// pair of commands. The expected words come from plain C++.
#include <algorithm>
#include <functional>
#include <reprise/find_races.hpp>
#include <reprise/graph_op.hpp>
#include <string>
#include <vector>

#include "conditions.shaders.hpp"
#include "conformance/device_fixture.hpp"
#include "support/paths.hpp"
#include "words.shaders.hpp"

namespace reprise::test::every_recording_test {
namespace {

constexpr unsigned kCount = 300;
constexpr DispatchDesc kWords{.grid = ceil_div(kCount, 128), .block = 128};
constexpr DispatchDesc kOne{.grid = 1, .block = 1};
using Words = std::vector<unsigned>;

// A device with what the recordings use.
struct Bench {
  Device device;
  std::shared_ptr<CapturePool> pool = device.create_pool({.label = "every recording"});
  GpuRef<unsigned> x = pool->allocate<unsigned>(kCount, "x");
  HostRef<unsigned> input = pool->host<unsigned>(kCount, "input"),
                    output = pool->host<unsigned>(kCount, "output");
  Kernel increase = device.load_kernel(shaders::conf_increase),
         add = device.load_kernel(shaders::conf_add), step = device.load_kernel(shaders::conf_step),
         decide = device.load_kernel(shaders::conf_decide),
         is_odd = device.load_kernel(shaders::conf_is_odd);

  explicit Bench(Device of) : device(std::move(of)) {
    for (unsigned i = 0; i < kCount; ++i) input[i] = i + 1;
  }

  [[nodiscard]] CommandBuffer secondary(const std::function<void(Recorder&)>& record) const {
    CommandBuffer made = device.create_command_buffer({.label = "body", .level = Level::Secondary});
    made.begin();
    record(made);
    made.end();
    return made;
  }
  [[nodiscard]] CommandBuffer adding(unsigned value) const {
    return secondary(
        [&](Recorder& c) { c.dispatch(increase, kWords, read_write(x), value, kCount); });
  }
  // Makes all words of x 1.
  void reset(const Queue& queue) { reset_.launch(queue).wait(); }
  [[nodiscard]] Words words(const Queue& queue) {
    fetch_.launch(queue).wait();
    return {result_.span().begin(), result_.span().end()};
  }

 private:
  [[nodiscard]] CapturedGraph compiled(const std::function<void(Recorder&)>& record) const {
    CommandBuffer commands = device.create_command_buffer();
    commands.begin();
    record(commands);
    commands.end();
    return device.compile(commands);
  }
  HostRef<unsigned> result_ = pool->host<unsigned>(kCount, "result");
  CapturedGraph reset_ = compiled([this](Recorder&c) { c.fill(x, 1u); }),
                fetch_ = compiled([this](Recorder&c) { c.copy(x, result_); });
};

void plus(Words& x, unsigned value) {
  for (unsigned& word : x) word += value;
}

// Adds twice, in kernels of its own.
struct TwiceOp {
  Kernel increase;
  GpuRef<unsigned> x;
  [[nodiscard]] std::string_view op_name() const { return "twice"; }
  void declare(GraphOpDeclaration& declaration) const { declaration.use(read_write(x)); }
  void record(GraphRecordCtx& ctx) const {
    for (const unsigned value : {5u, 6u})
      ctx.dispatch(increase, kWords, read_write(x), value, kCount);
  }
};

// The commands of one kind, and their effect on x.
struct Part {
  std::string name;
  std::function<void(const Bench&, Recorder&)> record;
  std::function<void(Words&)> apply = [](Words&) {};
};

// Adds 1 until the first word is not below `end`, at most `limit` times.
void count_up(Words& x, unsigned end, unsigned limit) {
  for (unsigned i = 0; i < limit; ++i) {
    plus(x, 1);
    if (x[0] >= end) return;
  }
}

const std::vector<Part>& parts() {
  static const std::vector<Part> all = {
      {"dispatch",
       [](const Bench& b, Recorder& c) {
         c.dispatch(b.increase, kWords, read_write(b.x), slot("by", 3u), kCount);
       },
       [](Words& x) { plus(x, 3); }},
      {"cooperative",
       [](const Bench& b, Recorder& c) {
         DispatchDesc desc = kWords;
         desc.launch = DispatchDesc::Launch::Cooperative;
         c.dispatch(b.increase, desc, read_write(b.x), 2u, kCount);
       },
       [](Words& x) { plus(x, 2); }},
      {"transient",
       [](const Bench& b, Recorder& c) {
         const auto t = b.pool->transient<unsigned>(kCount, "t");
         c.copy(b.x, t);
         c.dispatch(b.add, kWords, read(t), write(b.x), 4u, kCount);
       },
       [](Words& x) { plus(x, 4); }},
      {"copy in", [](const Bench& b, Recorder& c) { c.copy(b.input.slice(0, 9), b.x.slice(2, 9)); },
       [](Words& x) {
         for (unsigned i = 0; i < 9; ++i) x[2 + i] = i + 1;
       }},
      {"copy out", [](const Bench& b, Recorder& c) { c.copy(b.x, b.output); }},
      {"snapshot",
       [](const Bench& b, Recorder& c) { c.copy(snapshot(Words(4, 7)), b.x.slice(8, 4)); },
       [](Words& x) { std::fill_n(x.begin() + 8, 4, 7u); }},
      {"fill", [](const Bench& b, Recorder& c) { c.fill(b.x.slice(5, 20), 6u); },
       [](Words& x) { std::fill_n(x.begin() + 5, 20, 6u); }},
      {"update",
       [](const Bench& b, Recorder& c) {
         const unsigned value = 9;
         c.update(b.x.slice(3, 1), std::as_bytes(std::span(&value, 1)));
       },
       [](Words& x) { x[3] = 9; }},
      {"host", [](const Bench&, Recorder& c) { c.host([] {}); }},
      {"barrier", [](const Bench&, Recorder& c) { c.barrier(); }},
      {"op",
       [](const Bench& b, Recorder& c) {
         c.add(TwiceOp{b.increase, b.x});
       },
       [](Words& x) { plus(x, 11); }},
      {"inlined", [](const Bench& b, Recorder& c) { c.execute(b.adding(12)); },
       [](Words& x) { plus(x, 12); }},
      {"nested", [](const Bench& b, Recorder& c) { c.execute(b.adding(13), Nested); },
       [](Words& x) { plus(x, 13); }},
      {"if",
       [](const Bench& b, Recorder& c) {
         const Condition go = b.device.create_condition({.name = "go"});
         c.dispatch(b.decide, kOne, read(b.input.slice(0, 1)), go);
         c.execute_if(go, b.adding(14));
       },
       [](Words& x) { plus(x, 14); }},
      {"else",
       [](const Bench& b, Recorder& c) {
         const Condition odd = b.device.create_condition({.name = "odd"});
         c.dispatch(b.is_odd, kOne, read(b.x.slice(0, 1)), odd);
         c.execute_if(odd, b.adding(15), b.adding(16));
       },
       [](Words& x) { plus(x, x[0] % 2 != 0 ? 15 : 16); }},
      {"switch",
       [](const Bench& b, Recorder& c) {
         const Condition which = b.device.create_condition({.name = "which"});
         const CommandBuffer zero = b.adding(17), one = b.adding(18);
         c.dispatch(b.decide, kOne, read(b.input.slice(0, 1)), which);
         c.execute_switch(which, {zero, one});
       },
       [](Words& x) { plus(x, 18); }},
      {"set by a nested graph",
       [](const Bench& b, Recorder& c) {
         const Condition go = b.device.create_condition({.name = "go"});
         const CommandBuffer setter = b.secondary(
             [&](Recorder& in) { in.dispatch(b.decide, kOne, read(b.input.slice(0, 1)), go); });
         c.execute(setter, Nested);
         c.execute_if(go, b.adding(19));
       },
       [](Words& x) { plus(x, 19); }},
      {"while",
       [](const Bench& b, Recorder& c) {
         const Condition go = b.device.create_condition({.name = "go", .initial = 1});
         const CommandBuffer body = b.secondary(
             [&](Recorder& in) { in.dispatch(b.step, kWords, read_write(b.x), 40u, kCount, go); });
         c.execute_while(go, body, {.max_iterations = 6});
       },
       [](Words& x) { count_up(x, 40, 6); }},
      {"counted loop",
       [](const Bench& b, Recorder& c) {
         const Condition go = b.device.create_condition({.name = "go", .initial = 1});
         c.execute_while(go, b.adding(1), {.max_iterations = 3});
       },
       [](Words& x) { plus(x, 3); }},
      {"branch in a loop",
       [](const Bench& b, Recorder& c) {
         const Condition go = b.device.create_condition({.name = "go", .initial = 1}),
                         odd = b.device.create_condition({.name = "odd"});
         const CommandBuffer body = b.secondary([&](Recorder& in) {
           in.dispatch(b.is_odd, kOne, read(b.x.slice(0, 1)), odd);
           in.execute_if(odd, b.adding(3));
           in.dispatch(b.step, kWords, read_write(b.x), 60u, kCount, go);
         });
         c.execute_while(go, body);
       },
       [](Words& x) {
         do {
           plus(x, x[0] % 2 != 0 ? 4 : 1);
         } while (x[0] < 60);
       }},
      {"op in a loop",
       [](const Bench& b, Recorder& c) {
         const Condition go = b.device.create_condition({.name = "go", .initial = 1});
         const CommandBuffer body = b.secondary([&](Recorder& in) {
           in.add(TwiceOp{b.increase, b.x});
         });
         c.execute_while(go, body, {.max_iterations = 2});
       },
       [](Words& x) { plus(x, 22); }},
  };
  return all;
}

struct EveryFixture : DeviceFixture {
  struct Recorded {
    Bench& bench;
    std::vector<const Part*> parts;
    CommandBuffer commands = record();

    [[nodiscard]] CommandBuffer record() const {
      std::string name;
      for (const Part* part : parts) name += (name.empty() ? "" : ", ") + part->name;
      CommandBuffer made = bench.device.create_command_buffer({.label = name});
      made.begin();
      for (const Part* part : parts) part->record(bench, made);
      made.end();
      return made;
    }
    [[nodiscard]] bool has(std::string_view name) const {
      return std::any_of(parts.begin(), parts.end(),
                         [&](const Part* part) { return part->name == name; });
    }
    void apply(Words& x) const {
      for (const Part* part : parts) part->apply(x);
    }
  };
  enum class Table : std::uint8_t { Single, Pairs };

  // Calls `check` for each recording that compiles.
  static void for_each(Bench& bench, Table table, const std::function<void(Recorded&)>& check) {
    const auto one = [&](std::vector<const Part*> of) {
      Recorded recorded{bench, std::move(of)};
      const std::string name(recorded.commands.label());
      CAPTURE(name);
      bool compiles = false;
      try {
        static_cast<void>(bench.device.compile(recorded.commands));
        compiles = true;
        check(recorded);
      } catch (const Error& error) {
        // The device may lack a feature, which only compile() may report.
        if (!compiles && error.code() == ErrorCode::Unsupported) return;
        FAIL_CHECK(std::string(error.what()));
        if (error.code() == ErrorCode::DeviceLost) throw;
      }
    };
    for (const Part& first : parts()) {
      one({&first});
      if (table == Table::Single) continue;
      for (const Part& second : parts()) one({&first, &second});
    }
  }
  // Replays the graph from words that are 1.
  void check_replays(const Recorded& recorded, CapturedGraph& graph, int replays = 2) const {
    Words expected(kCount, 1);
    recorded.bench.reset(queue);
    for (int replay = 0; replay < replays; ++replay) {
      graph.launch(queue).wait();
      recorded.apply(expected);
    }
    CHECK(recorded.bench.words(queue) == expected);
  }
  [[nodiscard]] std::vector<Lowering> lowerings() const {
    std::vector<Lowering> all = {Lowering::Auto, Lowering::Faithful, Lowering::Lanes(2),
                                 Lowering::Auto.with_fault_markers()};
    if (device.info().limits.max_segment_blocks == 0) return all;
    all.push_back(Lowering::Persistent);
    all.push_back(Lowering::Persistent.with_fault_markers());
    return all;
  }
};

}  // namespace

TEST_CASE_FIXTURE(EveryFixture, "every recording: each lowering, with and without fault markers") {
  Bench bench(device);
  for_each(bench, Table::Pairs, [&](Recorded& recorded) {
    for (const Lowering& lowering : lowerings()) {
      // Each set of kernels in segments is compiled, which takes long.
      if (lowering.mode == Lowering::Mode::Persistent && recorded.parts.size() != 1) continue;
      CAPTURE(static_cast<int>(lowering.mode));
      CAPTURE(lowering.fault_markers);
      CapturedGraph graph = compile(recorded.commands, lowering);
      check_replays(recorded, graph);
    }
  });
}

TEST_CASE_FIXTURE(EveryFixture, "every recording: find_races finds nothing and changes nothing") {
  Bench bench(device);
  bench.reset(queue);
  for_each(bench, Table::Pairs, [&](Recorded& recorded) {
    const RaceReport report = find_races(recorded.commands, {.runs = 2, .queue = queue});
    CHECK(report.findings.empty());
    CHECK(report.excluded.empty());
    CHECK(bench.words(queue) == Words(kCount, 1));
  });
}

TEST_CASE_FIXTURE(EveryFixture,
                  "every recording: updates by itself and by the same commands recorded again") {
  Bench bench(device);
  for_each(bench, Table::Pairs, [&](Recorded& recorded) {
    CapturedGraph graph = compile(recorded.commands);
    check_replays(recorded, graph);
    CommandBuffer again = recorded.record();
    for (const CommandBuffer* commands : {&recorded.commands, &again, &recorded.commands}) {
      static_cast<void>(graph.update(*commands));
      check_replays(recorded, graph);
      const UpdateReport report = graph.exec_update(*commands);
      INFO("reason: ", report.reason);
      CHECK((report.done() || !report.reason.empty()));
      check_replays(recorded, graph);
    }
  });
}

TEST_CASE_FIXTURE(EveryFixture, "every recording: rebinding to another buffer and back") {
  Bench bench(device);
  const auto other = buffer(Words(kCount, 1), "other");
  for_each(bench, Table::Pairs, [&](Recorded& recorded) {
    CapturedGraph graph = compile(recorded.commands);
    if (graph.pool_buffer_count() == 0) return;
    check_replays(recorded, graph);
    run([&](CommandBuffer& cmd) { cmd.fill(other, 1u); });
    CHECK(graph.rebind(bench.x, other).done());
    Words expected(kCount, 1);
    for (int replay = 0; replay < 2; ++replay) {
      graph.launch(queue).wait();
      recorded.apply(expected);
    }
    CHECK(values(other) == expected);
    CHECK(graph.rebind(bench.x, bench.x).done());
    check_replays(recorded, graph);
  });
}

TEST_CASE_FIXTURE(EveryFixture, "every recording: tuning") {
  Bench bench(device);
  for_each(bench, Table::Single, [&](Recorded& recorded) {
    CapturedGraph graph = compile(recorded.commands);
    const auto contents =
        recorded.has("host") ? TuneDesc::Contents::Repeatable : TuneDesc::Contents::Restored;
    const TuneReport report = graph.tune(
        queue, {.contents = contents, .pairs = 9, .budget = std::chrono::milliseconds(100)});
    CHECK_FALSE(report.candidates.empty());
    check_replays(recorded, graph);
  });
}

TEST_CASE("every recording: each profile mode, with a trace") {
  for (const ProfileMode mode : {ProfileMode::Replays, ProfileMode::Sampled, ProfileMode::Every}) {
    CAPTURE(static_cast<int>(mode));
    Instance instance({.application = "conformance",
                       .trace = {.target = (scratch_folder() / "every-recording.reprise").string(),
                                 .profile = mode}});
    EveryFixture fixture;
    fixture.device = instance.open_device(selector_of_this_run());
    fixture.queue = fixture.device.create_queue({.label = "traced"});
    fixture.pool = fixture.device.create_pool({.label = "traced"});
    Bench bench(fixture.device);
    EveryFixture::for_each(
        bench, EveryFixture::Table::Single, [&](EveryFixture::Recorded& recorded) {
          for (const Lowering& lowering : {Lowering::Auto, lowering_of_this_run()}) {
            CapturedGraph graph = fixture.compile(recorded.commands, lowering);
            fixture.check_replays(recorded, graph, 8);
            static_cast<void>(graph.update(recorded.record()));
            fixture.check_replays(recorded, graph, 3);
          }
        });
  }
}

TEST_CASE_FIXTURE(EveryFixture, "every recording: replicas on two queues") {
  const Queue other = device.create_queue({.label = "other"});
  Bench bench(device);
  bench.x = bench.pool->allocate<unsigned>(kCount, "x", PerReplica{2});
  bench.output = bench.pool->host<unsigned>(kCount, "output", PerReplica{2});
  for_each(bench, Table::Single, [&](Recorded& recorded) {
    CommandBuffer commands = recording();
    const auto results = bench.pool->host<unsigned>(kCount, "results", PerReplica{2});
    commands.fill(bench.x, 1u);
    for (const Part* part : recorded.parts) part->record(bench, commands);
    commands.copy(bench.x, results);
    commands.end();
    CapturedGraph graph = device.compile(commands, {.pool = pool, .replicas = 2});
    for (int replay = 0; replay < 10; ++replay) {
      graph.launch(queue, {.replica = 0});
      graph.launch(other, {.replica = 1});
    }
    queue.wait_idle();
    other.wait_idle();
    Words expected(kCount, 1);
    recorded.apply(expected);
    for (const std::uint32_t replica : {0u, 1u}) {
      const auto found = results.replica(replica).span();
      CHECK(Words(found.begin(), found.end()) == expected);
    }
  });
}

}  // namespace reprise::test::every_recording_test
