#include "sluice/dist/mpi/mpi_ranks.h"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
#include "sluice/base/stopwatch.h"
#include "sluice/base/system.h"
#include "sluice/dist/mpi/heartbeat.h"

namespace sluice {
namespace {

// How long a rank that fails waits for the others to fail, too, before it ends them.
constexpr double kGrace = 3;  // seconds
// How long the processes may take to find each other: on one machine a second or two, on a thousand minutes.
constexpr double kStart = 20, kStartPerRank = 0.25, kLongestStart = 300;  // seconds
// A count is an int to MPI.
constexpr size_t kMostBytes = size_t{1} << 30;
// Between hosts. What is larger than some 64 KiB MPI sends only when the receiver has answered. Over TCP that
// answer goes behind whatever data is under way in its direction: two ranks that exchange large messages then
// often send one after the other, at half the bandwidth (docs/log.md).
constexpr size_t kUnasked = 60'000;

using Lock = std::lock_guard<std::mutex>;

std::string library_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string whole(text, static_cast<size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

class MpiTransfer final : public Ranks::Transfer {
 public:
  MpiTransfer(std::mutex& mpi, std::vector<MPI_Request> requests)
      : mpi_(mpi), requests_(std::move(requests)) {}

  ~MpiTransfer() override {
    // Left behind by an exception: nothing may arrive in memory that is no longer there.
    const Lock lock(mpi_);
    for (MPI_Request& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
  }

  bool is_over() override {
    const Lock lock(mpi_);
    int over = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &over, MPI_STATUSES_IGNORE);
    return over != 0;
  }

 private:
  std::mutex& mpi_;
  std::vector<MPI_Request> requests_;
};

// MPI itself, for as long as the program uses it.
struct MpiWorld {
  std::mutex mpi;  // MPI is asked by one thread at a time: MPI_THREAD_SERIALIZED
  std::vector<RankProcess> processes;
  std::mutex note_mutex;
  std::string note;  // what to tell if a rank is lost
};

class MpiRanks final : public Ranks {
 public:
  MpiRanks(std::shared_ptr<MpiWorld> world, MPI_Comm communicator, int rank, int size)
      : Ranks(rank, size), world_(std::move(world)), communicator_(communicator) {}

  ~MpiRanks() override {
    const bool is_world = heartbeat_.has_value();
    heartbeat_.reset();
    const Lock lock(world_->mpi);
    MPI_Comm_free(&communicator_);
    if (!is_world) return;
    MPI_Comm_free(&life_);
    MPI_Comm_free(&ending_);
    MPI_Finalize();
  }

  // Of the whole world; the communicators are its own.
  void watch(MPI_Comm life, MPI_Comm ending, Log& log) {
    life_ = life;
    ending_ = ending;
    log_ = &log;
    heartbeat_.emplace(Heartbeat::Group{life, world_->mpi, rank(), size(), world_->processes},
                       [this](int rank, const std::string& how) { tell_lost(rank, how); });
  }

  std::string name_of(int rank) const override {
    std::set<std::string> hosts;
    for (const RankProcess& process : world_->processes) hosts.insert(process.host);
    const std::string name = fmt::format("rank {}", rank);
    return hosts.size() == 1
               ? name
               : fmt::format("{} on {}", name, world_->processes[static_cast<size_t>(rank)].host);
  }

  std::unique_ptr<Ranks> first(int count) override {
    // Together: the heartbeat rests while this one waits for the others.
    agree_on_largest(*this, 0);
    const Lock lock(world_->mpi);
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(communicator_, rank() < count ? 0 : MPI_UNDEFINED, rank(), &part);
    if (part == MPI_COMM_NULL) return nullptr;
    return std::make_unique<MpiRanks>(world_, part, rank(), count);
  }

  void remember(std::string note) override {
    const Lock lock(world_->note_mutex);
    world_->note = std::move(note);
  }

  Ending end(const std::string& error) override;

  [[noreturn]] void abandon(int exit_code) override {
    const Lock lock(world_->mpi);
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

 private:
  std::unique_ptr<Transfer> start(const Outgoing& out, const Incoming& in) override;
  size_t most_bytes_between(int other) const;
  std::string note() const;
  void tell_lost(int rank, const std::string& how);

  std::shared_ptr<MpiWorld> world_;
  MPI_Comm communicator_;
  MPI_Comm life_ = MPI_COMM_NULL, ending_ = MPI_COMM_NULL;
  Log* log_ = nullptr;
  int exchanges_ = 0;
  std::optional<Heartbeat> heartbeat_;  // of the world alone
};

// Of a message as MPI sees it. The same for both sides.
size_t MpiRanks::most_bytes_between(int other) const {
  const std::vector<RankProcess>& processes = world_->processes;
  if (processes.empty()) return kMostBytes;  // they are just getting to know each other
  const std::string& own = processes[static_cast<size_t>(rank())].host;
  return own == processes[static_cast<size_t>(other)].host ? kMostBytes : kUnasked;
}

std::unique_ptr<Ranks::Transfer> MpiRanks::start(const Outgoing& out, const Incoming& in) {
  // Several exchanges may be under way: the tag says which one a message belongs to. 32767 is what every MPI
  // allows.
  const int tag = exchanges_++ & 0x7fff;
  std::vector<MPI_Request> requests;
  const auto in_parts = [&](size_t bytes, int other, const auto& post) {
    const size_t most = most_bytes_between(other);
    for (size_t done = 0; done < bytes; done += most) {
      requests.push_back(MPI_REQUEST_NULL);
      post(done, static_cast<int>(std::min(most, bytes - done)), &requests.back());
    }
  };
  const Lock lock(world_->mpi);
  // Each rank begins with its neighbour, or all would send to the first at once.
  for (int step = 1; step < size(); ++step) {
    const int from = (rank() + size() - step) % size();
    const std::span<std::byte> message = in[static_cast<size_t>(from)];
    in_parts(message.size(), from, [&](size_t begin, int count, MPI_Request* request) {
      MPI_Irecv(message.data() + begin, count, MPI_BYTE, from, tag, communicator_, request);
    });
  }
  for (int step = 1; step < size(); ++step) {
    const int to = (rank() + step) % size();
    const std::span<const std::byte> message = out[static_cast<size_t>(to)];
    in_parts(message.size(), to, [&](size_t begin, int count, MPI_Request* request) {
      MPI_Isend(message.data() + begin, count, MPI_BYTE, to, tag, communicator_, request);
    });
  }
  return std::make_unique<MpiTransfer>(world_->mpi, std::move(requests));
}

Ranks::Ending MpiRanks::end(const std::string& error) {
  const uint32_t own = error.empty() ? 0 : crc32c(error) | 1U;
  std::vector<uint32_t> all(static_cast<size_t>(size()));
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const Lock lock(world_->mpi);
    MPI_Iallgather(&own, 1, MPI_UINT32_T, all.data(), 1, MPI_UINT32_T, ending_, &request);
  }
  const Stopwatch watch;
  while (true) {
    {
      const Lock lock(world_->mpi);
      int over = 0;
      MPI_Test(&request, &over, MPI_STATUS_IGNORE);
      if (over != 0) break;
    }
    // Who ends well waits for the others; who failed would be waited for by them for ever.
    if (!error.empty() && watch.seconds() > kGrace)
      return {.tells = true, .others_go_on = true, .note = note()};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto first = std::ranges::find(all, own);
  return {.tells = first - all.begin() == rank(), .others_go_on = false, .note = {}};
}

std::string MpiRanks::note() const {
  const Lock lock(world_->note_mutex);
  return world_->note;
}

void MpiRanks::tell_lost(int rank, const std::string& how) {
  const std::string left = note();
  log_->error("{} is lost: {}{}{}", name_of(rank), how, left.empty() ? "" : "; ", left);
  // A launcher that has noticed ends everybody by itself, and tells more.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  abandon(static_cast<int>(ErrorKind::Failed));
}

RankProcess own_process() {
  std::error_code none;
  return {.host = host_name(),
          .process_space = std::filesystem::read_symlink("/proc/self/ns/pid", none).string(),
          .process = getpid()};
}

// MPI waits for ever for a process that does not come: one that was stopped, or that has ended without it.
// From when it lives until all have met, this ends the program after a while.
class StartLimit {
 public:
  StartLimit(const Launch& launch, Log& log)
      : seconds_(std::min(kStart + kStartPerRank * launch.size, kLongestStart)),
        thread_([this, &launch, &log] {
          // The first that is there tells, and its end is that of the others.
          const std::chrono::duration<double> patience(seconds_ + 0.5 * std::min(launch.rank, 4));
          std::unique_lock lock(mutex_);
          if (is_over_.wait_for(lock, patience, [this] { return over_; })) return;
          log.error(
              "{}: not all of its {} processes have begun to work together within {:.0f} s; one of them was "
              "stopped, or has ended",
              launch.by, launch.size, seconds_);
          std::_Exit(static_cast<int>(ErrorKind::Failed));
        }) {}
  StartLimit(const StartLimit&) = delete;
  StartLimit& operator=(const StartLimit&) = delete;
  ~StartLimit() {
    {
      const Lock lock(mutex_);
      over_ = true;
    }
    is_over_.notify_one();
    thread_.join();
  }

 private:
  double seconds_;
  std::mutex mutex_;
  std::condition_variable is_over_;
  bool over_ = false;
  std::thread thread_;  // last: it uses the others
};

std::vector<RankProcess> gather_processes(Ranks& ranks) {
  const RankProcess own = own_process();
  std::vector<RankProcess> all;
  for (const std::string& text :
       all_gather(ranks, fmt::format("{}\n{}\n{}", own.process, own.process_space, own.host))) {
    const size_t first = text.find('\n'), second = text.find('\n', first + 1);
    all.push_back({.host = text.substr(second + 1),
                   .process_space = text.substr(first + 1, second - first - 1),
                   .process = std::stoll(text.substr(0, first))});
  }
  return all;
}

}  // namespace

std::string mpi_library() {
  return library_name();
}

std::unique_ptr<Ranks> start_mpi(const Launch& launch, Log& log) {
  const StartLimit limit(launch, log);
  int granted = 0, rank = 0, size = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &granted);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != launch.size || granted < MPI_THREAD_SERIALIZED) {
    MPI_Finalize();
    if (granted < MPI_THREAD_SERIALIZED)
      throw usage_error({.where = library_name(), .what = "cannot be used by more than one thread"});
    throw usage_error(
        {.where = launch.by,
         .what = fmt::format("has started {} processes, but {} sees {}", launch.size, library_name(), size),
         .hint = "the launcher must be that of the MPI that sluice is built with; srun may need --mpi=pmix"});
  }
  MPI_Comm work = MPI_COMM_NULL, life = MPI_COMM_NULL, ending = MPI_COMM_NULL;
  for (MPI_Comm* each : {&work, &life, &ending}) MPI_Comm_dup(MPI_COMM_WORLD, each);
  auto world = std::make_shared<MpiWorld>();
  auto ranks = std::make_unique<MpiRanks>(world, work, rank, size);
  world->processes = gather_processes(*ranks);
  ranks->watch(life, ending, log);
  return ranks;
}

}  // namespace sluice
