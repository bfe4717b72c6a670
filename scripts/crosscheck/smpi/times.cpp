// A replay program for smpirun that writes the simulated time at which every
// action of every rank has completed, with all digits of the double.
//
//   smpirun ... -replay trace.index times --cfg=...
//
// It drives SMPI's public replay entry points and wraps each action. Reading the
// clock takes no simulated time. The file named by CROSSCHECK_TIMES gets one line
// per rank, in the order in which they end: RANK END TIME TIME ...
// The file named by CROSSCHECK_ROUTES, if any, gets one line for each two hosts and each
// host with itself, at most 60 of them: SOURCE DESTINATION LATENCY LINK LINK ...
#include <cstdio>
#include <cstdlib>
#include <map>
#include <simgrid/engine.h>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <smpi/smpi.h>
#include <string>
#include <vector>
#include <xbt/replay.hpp>

namespace {

// All ranks live in one process (smpi/privatization is off).
std::map<int, std::vector<double>> times;
std::map<std::string, action_fun> original;

const char* const actions[] = {
    "init",   "finalize",  "location",  "compute",   "sleep",    "comm_size", "comm_split", "comm_dup",      "send", "isend",
    "recv",   "irecv",     "sendRecv",  "wait",      "test",     "waitall",   "barrier",    "bcast",         "reduce",
    "scan",   "exscan",    "allreduce", "alltoall",  "alltoallv", "gather",   "gatherv",    "scatter",       "scatterv",
    "allgather", "allgatherv", "reducescatter"};

// Every rank's initialisation registers SimGrid's own actions anew, so wrap them
// after each; the originals are taken from the first.
void wrap_actions()
{
  for (const char* name : actions) {
    auto found = original.find(name);
    if (found == original.end())
      found = original.emplace(name, xbt_replay_action_get(name)).first;
    const action_fun& run = found->second;
    xbt_replay_action_register(name, [&run](simgrid::xbt::ReplayAction& action) {
      const int rank = std::atoi(action.at(0).c_str());
      run(action);
      times[rank].push_back(simgrid_get_clock());
    });
  }
}

void report(int rank)
{
  const char* path = std::getenv("CROSSCHECK_TIMES");
  FILE* out = path != nullptr ? std::fopen(path, "a") : nullptr;
  if (out == nullptr) {
    std::perror("CROSSCHECK_TIMES");
    std::exit(1);
  }
  std::fprintf(out, "%d %.17g", rank, simgrid_get_clock());
  for (double at : times[rank])
    std::fprintf(out, " %.17g", at);
  std::fputc('\n', out);
  std::fclose(out);
}

void report_routes()
{
  const char* path = std::getenv("CROSSCHECK_ROUTES");
  if (path == nullptr)
    return;
  FILE* out = std::fopen(path, "w");
  if (out == nullptr) {
    std::perror("CROSSCHECK_ROUTES");
    std::exit(1);
  }
  auto hosts = simgrid::s4u::Engine::get_instance()->get_all_hosts();
  if (hosts.size() > 60)
    hosts.resize(60);
  for (const auto* source : hosts)
    for (const auto* destination : hosts) {
      std::vector<simgrid::s4u::Link*> links;
      double latency = 0;
      source->route_to(destination, links, &latency);
      std::fprintf(out, "%s %s %.17g", source->get_cname(), destination->get_cname(), latency);
      for (const auto* link : links)
        std::fprintf(out, " %s", link->get_cname());
      std::fputc('\n', out);
    }
  std::fclose(out);
}

} // namespace

// SMPI passes the instance, the rank and a trace shared by all ranks as properties
// of the actor; a trace of the rank's own, and a delay in flop, as arguments.
int main(int argc, char* argv[])
{
  const auto self            = simgrid::s4u::Actor::self();
  const std::string instance = self->get_property("instance_id");
  const int rank             = std::stoi(self->get_property("rank"));
  static bool shared         = false;
  if (const char* trace = self->get_property("tracefile"); trace != nullptr && not shared) {
    xbt_replay_set_tracefile(trace);
    shared = true;
  }
  if (rank == 0)
    report_routes();
  smpi_replay_init(instance.c_str(), rank, argc > 2 ? std::atof(argv[2]) : 0);
  wrap_actions();
  smpi_replay_main(rank, argc > 1 ? argv[1] : nullptr);
  report(rank);
  return 0;
}
