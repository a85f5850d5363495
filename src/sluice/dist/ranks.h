// The processes of one job, numbered from 0. All that they tell each other goes through one primitive: each
// gives every other a message and gets one from it. Alone is the group of one; MPI is in dist/mpi/, which
// only the program is linked with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// What this rank has sent so far, and how long it stood still for others.
struct Traffic {
  int64_t bytes = 0;     // to others
  int64_t messages = 0;  // likewise
  double waited = 0;     // seconds in wait()
};

class Ranks {
 public:
  // One message per rank, in their order; a message of no bytes is not sent. The one to itself is copied.
  using Outgoing = std::vector<std::span<const std::byte>>;
  using Incoming = std::vector<std::span<std::byte>>;

  // Messages under way. Both sides' memory must stay until it is over.
  class Transfer {
   public:
    Transfer() = default;
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;
    virtual ~Transfer() = default;

    // Whether all has arrived and left. Asking helps it on.
    virtual bool is_over() = 0;
  };

  // How the group ends.
  struct Ending {
    bool tells = true;          // whether this rank is to print its error
    bool others_go_on = false;  // they wait for this one, and have to be ended
    std::string note = {};      // then: what was to be told if a rank is lost
  };

  Ranks(int rank, int size) : rank_(rank), size_(size) {}
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  virtual ~Ranks() = default;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_first() const { return rank_ == 0; }

  // "rank 2", with its host if there are several.
  virtual std::string name_of(int rank) const;

  // Begins an exchange. Every rank begins the same ones in the same order; several may be under way. What
  // rank a sends to b has the size that b expects of a.
  std::unique_ptr<Transfer> begin(const Outgoing& out, const Incoming& in);

  // Waits as long as the others live: who is lost is found out by the group itself.
  void wait(Transfer& transfer);

  void exchange(const Outgoing& out, const Incoming& in) { wait(*begin(out, in)); }

  const Traffic& traffic() const { return traffic_; }

  // The first `count` ranks as a group of their own; none for the others. Every rank has to call it.
  virtual std::unique_ptr<Ranks> first(int count) = 0;

  // What is left if a rank is lost: told then, by whoever notices.
  virtual void remember(std::string) {}

  // The last thing a program does with its ranks; an empty text if all went well.
  virtual Ending end(const std::string& error);

  // Ends the processes of all ranks.
  [[noreturn]] virtual void abandon(int exit_code);

 protected:
  virtual std::unique_ptr<Transfer> start(const Outgoing& out, const Incoming& in) = 0;

  // Until it is over, without keeping a core busy for long.
  virtual void wait_until_over(Transfer& transfer);

 private:
  int rank_, size_;
  Traffic traffic_;
};

// A group of one.
class Alone final : public Ranks {
 public:
  Alone() : Ranks(0, 1) {}
  std::unique_ptr<Ranks> first(int count) override;

 private:
  std::unique_ptr<Transfer> start(const Outgoing& out, const Incoming& in) override;
};

// The one for whoever does not care. It keeps nothing.
Ranks& alone();

// --- made of exchanges; every rank calls them alike ---

// The bytes of every rank, in their order.
std::vector<std::string> all_gather(Ranks& ranks, const std::string& own);

// The same for numbers; all values one after the other.
std::vector<double> all_gather(Ranks& ranks, std::span<const double> own);

// What the first rank has, to all.
void broadcast(Ranks& ranks, std::span<std::byte> bytes);
std::string broadcast(Ranks& ranks, const std::string& text);

// Of whole numbers, place by place: every rank has the sums afterwards.
void sum_over(Ranks& ranks, std::span<int64_t> counts);

// The largest that a rank has.
int64_t agree_on_largest(Ranks& ranks, int64_t own);

// Runs `work` on this rank. If it throws an Error on any of them, all throw that of the first it failed on.
void together(Ranks& ranks, const std::function<void()>& work);

}  // namespace sluice
