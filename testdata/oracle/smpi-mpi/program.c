/* Plays a script of MPI calls, the same on all ranks, and prints when each rank is through
 * with it. The language is in README.md. To be compiled by smpicc.
 *
 *     program FILE CASE
 */
#include <mpi.h>
#include <simgrid/actor.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_WORDS = 64, MAX_COMMS = 8, MAX_WINDOWS = 8, MAX_SLOTS = 64, MAX_BYTES = 1 << 25 };

typedef struct {
  char name[32];
  MPI_Comm comm;
} Comm;

typedef struct {
  int rank, size, comms;
  Comm comm[MAX_COMMS];
  MPI_Request slot[MAX_SLOTS];
  struct {
    MPI_Win win;
    MPI_Comm comm;
  } window[MAX_WINDOWS];
  char *out, *in, *memory;
} State;

static void stop(const char* what, const char* word)
{
  fprintf(stderr, "program: %s %s\n", what, word);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Words of one line. */
typedef struct {
  char* word[MAX_WORDS];
  int n, next;
} Line;

static Line split(char* text)
{
  Line l = {.n = 0, .next = 0};
  for (char* w = strtok(text, " \n"); w && l.n < MAX_WORDS; w = strtok(NULL, " \n"))
    l.word[l.n++] = w;
  return l;
}

static const char* word(Line* l) { return l->next < l->n ? l->word[l->next++] : ""; }
static double number(Line* l) { return atof(word(l)); }
static int integer(Line* l) { return (int)number(l); }

/* comm NAME 0 2 4 | 1 3: members in order; who is in none has MPI_COMM_NULL. */
static void make_comm(State* s, Line* l)
{
  Comm* c = &s->comm[s->comms++];
  int color = 0, key = 0, mine = MPI_UNDEFINED, at = 0;
  snprintf(c->name, sizeof c->name, "%s", word(l));
  while (l->next < l->n) {
    const char* w = word(l);
    if (!strcmp(w, "|")) {
      color++;
      key = 0;
      continue;
    }
    if (atoi(w) == s->rank) {
      mine = color;
      at   = key;
    }
    key++;
  }
  MPI_Comm_split(MPI_COMM_WORLD, mine, at, &c->comm);
}

static MPI_Comm comm_of(State* s, Line* l)
{
  const char* name = word(l);
  for (int i = 0; i < s->comms; i++)
    if (!strcmp(s->comm[i].name, name))
      return s->comm[i].comm;
  stop("no communicator", name);
  return MPI_COMM_NULL;
}

/* A peer: a rank of the communicator, +N or -N around it, ^N, null or any. */
static int peer_of(Line* l, MPI_Comm c)
{
  const char* w = word(l);
  int rank, size;
  MPI_Comm_rank(c, &rank);
  MPI_Comm_size(c, &size);
  switch (w[0]) {
    case 'n':
      return MPI_PROC_NULL;
    case 'a':
      return MPI_ANY_SOURCE;
    case '+':
    case '-':
      return ((rank + atoi(w)) % size + size) % size;
    case '^':
      return rank ^ atoi(w + 1);
    default:
      return atoi(w);
  }
}

static int tag_of(Line* l)
{
  const char* w = word(l);
  return w[0] == 'a' ? MPI_ANY_TAG : atoi(w);
}

static int slot_of(Line* l)
{
  const char* w = word(l);
  if (w[0] != '@')
    stop("no slot", w);
  return atoi(w + 1);
}

/* Copies the requests of the slots that the line names. */
static int slots_of(Line* l, int* at)
{
  int n = 0;
  while (l->next < l->n)
    at[n++] = slot_of(l);
  return n;
}

static int point_to_point(State* s, const char* op, Line* l)
{
  static const char* ops[] = {"send", "ssend", "recv", "isend", "issend", "irecv", "sendinit", "ssendinit", "recvinit", NULL};
  int k = 0;
  while (ops[k] && strcmp(ops[k], op))
    k++;
  if (!ops[k])
    return 0;
  MPI_Comm c = comm_of(s, l);
  int peer = peer_of(l, c), tag = tag_of(l), bytes = integer(l);
  MPI_Request* r = k > 2 ? &s->slot[slot_of(l)] : NULL;
  switch (k) {
    case 0: MPI_Send(s->out, bytes, MPI_BYTE, peer, tag, c); break;
    case 1: MPI_Ssend(s->out, bytes, MPI_BYTE, peer, tag, c); break;
    case 2: MPI_Recv(s->in, bytes, MPI_BYTE, peer, tag, c, MPI_STATUS_IGNORE); break;
    case 3: MPI_Isend(s->out, bytes, MPI_BYTE, peer, tag, c, r); break;
    case 4: MPI_Issend(s->out, bytes, MPI_BYTE, peer, tag, c, r); break;
    case 5: MPI_Irecv(s->in, bytes, MPI_BYTE, peer, tag, c, r); break;
    case 6: MPI_Send_init(s->out, bytes, MPI_BYTE, peer, tag, c, r); break;
    case 7: MPI_Ssend_init(s->out, bytes, MPI_BYTE, peer, tag, c, r); break;
    case 8: MPI_Recv_init(s->in, bytes, MPI_BYTE, peer, tag, c, r); break;
  }
  return 1;
}

static void sendrecv(State* s, Line* l)
{
  MPI_Comm c = comm_of(s, l);
  int to = peer_of(l, c), tag = tag_of(l), out = integer(l), from = peer_of(l, c), with = tag_of(l), in = integer(l);
  MPI_Sendrecv(s->out, out, MPI_BYTE, to, tag, s->in, in, MPI_BYTE, from, with, c, MPI_STATUS_IGNORE);
}

static int completion(State* s, const char* op, Line* l)
{
  static const char* ops[] = {"wait", "waitall", "waitany", "waitsome", "test", "testall", "testany", "testsome", "start", "drain", NULL};
  int k = 0, at[MAX_SLOTS], n, index, count, indices[MAX_SLOTS];
  MPI_Request list[MAX_SLOTS];
  while (ops[k] && strcmp(ops[k], op))
    k++;
  if (!ops[k])
    return 0;
  n = slots_of(l, at);
  for (int i = 0; i < n; i++)
    list[i] = s->slot[at[i]];
  switch (k) {
    case 0: MPI_Wait(&list[0], MPI_STATUS_IGNORE); break;
    case 1: MPI_Waitall(n, list, MPI_STATUSES_IGNORE); break;
    case 2: MPI_Waitany(n, list, &index, MPI_STATUS_IGNORE); break;
    case 3: MPI_Waitsome(n, list, &count, indices, MPI_STATUSES_IGNORE); break;
    case 4: MPI_Test(&list[0], &index, MPI_STATUS_IGNORE); break;
    case 5: MPI_Testall(n, list, &index, MPI_STATUSES_IGNORE); break;
    case 6: MPI_Testany(n, list, &index, &count, MPI_STATUS_IGNORE); break;
    case 7: MPI_Testsome(n, list, &count, indices, MPI_STATUSES_IGNORE); break;
    case 8: MPI_Startall(n, list); break;
    case 9: /* takes them as they come, and computes after each */
      for (int i = 0; i < n; i++) {
        MPI_Waitany(n, list, &index, MPI_STATUS_IGNORE);
        smpi_execute_flops(1e5);
      }
      break;
  }
  for (int i = 0; i < n; i++)
    s->slot[at[i]] = list[i];
  return 1;
}

/* Runs f blocking, or g with a request. */
#define BOTH(f, g, ...) (r ? MPI_##g(__VA_ARGS__, r) : MPI_##f(__VA_ARGS__))

static void collective(State* s, const char* op, Line* l)
{
  static const char* ops[] = {"barrier", "bcast", "reduce", "allreduce", "scan", "exscan", "alltoall", "allgather", "gather", "scatter",
                              "gatherv", "scatterv", "allgatherv", "alltoallv", "reducescatter", NULL};
  int k = 0, size, rank, n = 0, step = 0, root = 0;
  const char* name = op;
  while (ops[k] && strcmp(ops[k], name))
    k++;
  if (!ops[k] && op[0] == 'i') {
    name++;
    for (k = 0; ops[k] && strcmp(ops[k], name); k++)
      ;
  }
  if (!ops[k])
    stop("no operation", op);
  MPI_Comm c = comm_of(s, l);
  MPI_Comm_rank(c, &rank);
  MPI_Comm_size(c, &size);
  if (k > 0)
    n = integer(l);
  if (k >= 10)
    step = integer(l);
  if (k == 1 || k == 2 || (k >= 8 && k <= 11))
    root = integer(l);
  MPI_Request* r = name == op ? NULL : &s->slot[slot_of(l)];
  int counts[size], at[size], other[size], place[size];
  for (int i = 0, sum = 0, all = 0; i < size; i++) {
    counts[i] = n + step * (k == 13 ? (3 * rank + i) % size : i);
    other[i]  = n + step * ((3 * i + rank) % size);
    at[i]     = sum;
    place[i]  = all;
    sum += counts[i];
    all += other[i];
  }
  char *x = s->out, *y = s->in;
  switch (k) {
    case 0: BOTH(Barrier, Ibarrier, c); break;
    case 1: BOTH(Bcast, Ibcast, x, n, MPI_BYTE, root, c); break;
    case 2: BOTH(Reduce, Ireduce, x, y, n, MPI_DOUBLE, MPI_SUM, root, c); break;
    case 3: BOTH(Allreduce, Iallreduce, x, y, n, MPI_DOUBLE, MPI_SUM, c); break;
    case 4: BOTH(Scan, Iscan, x, y, n, MPI_DOUBLE, MPI_SUM, c); break;
    case 5: BOTH(Exscan, Iexscan, x, y, n, MPI_DOUBLE, MPI_SUM, c); break;
    case 6: BOTH(Alltoall, Ialltoall, x, n, MPI_BYTE, y, n, MPI_BYTE, c); break;
    case 7: BOTH(Allgather, Iallgather, x, n, MPI_BYTE, y, n, MPI_BYTE, c); break;
    case 8: BOTH(Gather, Igather, x, n, MPI_BYTE, y, n, MPI_BYTE, root, c); break;
    case 9: BOTH(Scatter, Iscatter, x, n, MPI_BYTE, y, n, MPI_BYTE, root, c); break;
    case 10: BOTH(Gatherv, Igatherv, x, counts[rank], MPI_BYTE, y, counts, at, MPI_BYTE, root, c); break;
    case 11: BOTH(Scatterv, Iscatterv, x, counts, at, MPI_BYTE, y, counts[rank], MPI_BYTE, root, c); break;
    case 12: BOTH(Allgatherv, Iallgatherv, x, counts[rank], MPI_BYTE, y, counts, at, MPI_BYTE, c); break;
    case 13: BOTH(Alltoallv, Ialltoallv, x, counts, at, MPI_BYTE, y, other, place, MPI_BYTE, c); break;
    case 14: BOTH(Reduce_scatter, Ireduce_scatter, x, y, counts, MPI_DOUBLE, MPI_SUM, c); break;
  }
}

/* Windows have numbers; peers are ranks of their communicators. */
static int one_sided(State* s, const char* op, Line* l)
{
  static const char* ops[] = {"wincreate", "winfree", "fence", "put", "get", "accumulate", "getaccumulate", "fetchandop", "compareandswap", NULL};
  static const int asserts[] = {MPI_MODE_NOCHECK, MPI_MODE_NOSTORE, MPI_MODE_NOPUT, MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED};
  int k = 0, peer = 0, n = 1, assert = 0;
  while (ops[k] && strcmp(ops[k], op))
    k++;
  if (!ops[k])
    return 0;
  MPI_Comm c   = k == 0 ? comm_of(s, l) : MPI_COMM_NULL;
  int w        = integer(l);
  MPI_Win* win = &s->window[w].win;
  if (k > 2)
    peer = peer_of(l, s->window[w].comm);
  if (k > 1 && k < 7)
    n = integer(l);
  for (int i = 0; i < 5; i++)
    assert |= n >> i & 1 ? asserts[i] : 0;
  char *x = s->out, *y = s->in;
  switch (k) {
    case 0:
      MPI_Win_create(s->memory, MAX_BYTES, 1, MPI_INFO_NULL, c, win);
      s->window[w].comm = c;
      break;
    case 1: MPI_Win_free(win); break;
    case 2: MPI_Win_fence(assert, *win); break;
    case 3: MPI_Put(x, n, MPI_BYTE, peer, 0, n, MPI_BYTE, *win); break;
    case 4: MPI_Get(y, n, MPI_BYTE, peer, 0, n, MPI_BYTE, *win); break;
    case 5: MPI_Accumulate(x, n, MPI_DOUBLE, peer, 0, n, MPI_DOUBLE, MPI_SUM, *win); break;
    case 6: MPI_Get_accumulate(x, n, MPI_DOUBLE, y, n, MPI_DOUBLE, peer, 0, n, MPI_DOUBLE, MPI_SUM, *win); break;
    case 7: MPI_Fetch_and_op(x, y, MPI_DOUBLE, peer, 0, MPI_SUM, *win); break;
    case 8: MPI_Compare_and_swap(x, x, y, MPI_DOUBLE, peer, 0, *win); break;
  }
  return 1;
}

static void probe(State* s, const char* op, Line* l)
{
  MPI_Comm c = comm_of(s, l);
  int peer = peer_of(l, c), tag = tag_of(l), flag;
  if (op[0] == 'p')
    MPI_Probe(peer, tag, c, MPI_STATUS_IGNORE);
  else
    MPI_Iprobe(peer, tag, c, &flag, MPI_STATUS_IGNORE);
}

static void call(State* s, Line* l)
{
  const char* op = word(l);
  if (!strcmp(op, "sleep")) {
    double base = number(l), step = number(l);
    usleep((useconds_t)((base + step * s->rank) * 1e6 + 0.5));
  } else if (!strcmp(op, "compute"))
    smpi_execute_flops(number(l));
  else if (!strcmp(op, "sendrecv"))
    sendrecv(s, l);
  else if (!strcmp(op, "probe") || !strcmp(op, "iprobe"))
    probe(s, op, l);
  else if (!point_to_point(s, op, l) && !completion(s, op, l) && !one_sided(s, op, l))
    collective(s, op, l);
}

/* Whether a word names the rank: *, N, N-M, or several of these with commas between. */
static int named(const char* who, int rank)
{
  if (who[0] == '*')
    return 1;
  for (const char* p = who; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    int first, last, n = sscanf(p, "%d-%d", &first, &last);
    if (n == 1 ? rank == first : rank >= first && rank <= last)
      return 1;
  }
  return 0;
}

/* Once on each communicator what SMPI sets up at the first call: who shares a host. */
static void warm_up(State* s)
{
  for (int i = 0; i < s->comms; i++)
    if (s->comm[i].comm != MPI_COMM_NULL) {
      MPI_Bcast(s->out, 200, MPI_BYTE, 0, s->comm[i].comm);
      MPI_Bcast(s->out, 600, MPI_BYTE, 0, s->comm[i].comm); /* ompi, fewer than 4 ranks */
      MPI_Reduce(s->out, s->in, 25, MPI_DOUBLE, MPI_SUM, 0, s->comm[i].comm);
      MPI_Allreduce(s->out, s->in, 25, MPI_DOUBLE, MPI_SUM, s->comm[i].comm);
    }
}

int main(int argc, char** argv)
{
  State s = {.comms = 1, .comm = {{.name = "world"}}};
  char text[4096];
  int on = 0, begun = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.size);
  s.comm[0].comm = MPI_COMM_WORLD;
  s.out          = calloc(MAX_BYTES, 1);
  s.in           = calloc(MAX_BYTES, 1);
  s.memory       = calloc(MAX_BYTES, 1);
  for (int i = 0; i < MAX_SLOTS; i++)
    s.slot[i] = MPI_REQUEST_NULL;
  FILE* f = argc == 3 ? fopen(argv[1], "r") : NULL;
  if (!f)
    stop("cannot read", argc > 1 ? argv[1] : "");
  while (fgets(text, sizeof text, f)) {
    Line l          = split(text);
    const char* who = word(&l);
    if (!strcmp(who, "case"))
      on = !strcmp(word(&l), argv[2]);
    if (!on || !*who || who[0] == '#' || !strcmp(who, "case"))
      continue;
    if (!strcmp(who, "comm")) {
      make_comm(&s, &l);
      continue;
    }
    if (!begun++) { /* communicators are made: all begin at 10 s */
      warm_up(&s);
      sg_actor_sleep_for(10.0 - MPI_Wtime());
    }
    if (named(who, s.rank))
      call(&s, &l);
  }
  printf("%s %d %.12f\n", argv[2], s.rank, MPI_Wtime());
  MPI_Finalize();
  return 0;
}
