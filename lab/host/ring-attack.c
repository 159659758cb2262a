// A hostile guest on vchan: loaded into a CUDA program (LD_PRELOAD), this library changes the rings that the program shares with
// its worker, and rings the worker's bell, for three seconds, and then ends the program. The program's own client library has opened the session, so
// that everything before the attack is right. GRAFT_ATTACK=NUMBER chooses what is changed (NUMBER modulo 9) and the values. The
// layout of the pages is that of remoting-bridge/client/src/transport/vchan.h. It prints "attacks" when it has found the pages.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

typedef uint16_t domid_t; // the next header uses it, and only the kernel defines it
#include <xen/evtchn.h>

enum { PAGE = 4096, RING = 1 << 20, ANSWERS = 2048, TAIL = 64, ASLEEP = 128, MOST_PORTS = 256 };

static uint64_t state;

static uint64_t draw(uint64_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % below;
}

// The pages of a session in this process; 0 while there are none.
static uint8_t *find_pages(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  uint8_t *found = 0;
  while (maps && !found && fgets(line, sizeof line, maps)) {
    unsigned long from, to;
    if (strstr(line, "/dev/xen/gntdev") && sscanf(line, "%lx-%lx", &from, &to) == 2 && to - from == PAGE + 2 * RING) {
      found = (uint8_t *)from;
    }
  }
  if (maps) fclose(maps);
  return found;
}

static int find_events(void) {
  char path[64], target[64];
  for (int fd = 0; fd < 256; fd++) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length > 0 && (target[length] = 0, strcmp(target, "/dev/xen/evtchn") == 0)) return fd;
  }
  return -1;
}

static uint64_t nasty(uint64_t near) {
  const uint64_t values[] = {0, 1, near - 1, near + 1, near + RING, near + RING + 1, near + PAGE, UINT64_MAX, 1ull << 63, 1ull << 40};
  return draw(4) ? values[draw(sizeof values / sizeof *values)] : draw(UINT64_MAX);
}

static void change_position(volatile uint64_t *position) { *position = nasty(*position); }

static void change_data(uint8_t *data, uint64_t head) {
  // Mostly what the worker is about to read, or has just read.
  uint64_t at = draw(3) ? (head - 64 + 8 * draw(16)) % RING : 8 * draw(RING / 8);
  *(volatile uint64_t *)(data + (at & ~7ull)) = draw(2) ? draw(1 << 16) : draw(UINT64_MAX);
}

static void ring_bells(int events) {
  for (unsigned port = 1; events >= 0 && port < MOST_PORTS; port++) {
    struct ioctl_evtchn_notify bell = {port};
    ioctl(events, IOCTL_EVTCHN_NOTIFY, &bell);
  }
}

static void change(uint8_t *pages, int what, int events) {
  volatile uint64_t *requests = (uint64_t *)pages, *answers = (uint64_t *)(pages + ANSWERS);
  switch (what) {
    case 0: change_position(requests); break;                                     // what this end has written
    case 1: change_position(answers + TAIL / 8); break;                           // what this end has read
    case 2: change_position(draw(2) ? requests + TAIL / 8 : answers); break;      // what is the worker's alone
    case 3: *(volatile uint32_t *)(pages + (draw(2) ? 0 : ANSWERS) + ASLEEP) = (uint32_t)draw(3) - 1; break;
    case 4: change_data(pages + PAGE, *requests); break;                          // records while they are read
    case 5: change_data(pages + PAGE + RING, *answers); break;                    // answers while they are written
    case 6: pages[draw(PAGE + 2 * RING)] = (uint8_t)draw(256); break;
    case 7: ring_bells(events); break;
    default: change(pages, (int)draw(8), events);
  }
}

static void *attack(void *unused) {
  (void)unused;
  uint64_t number = strtoull(getenv("GRAFT_ATTACK"), 0, 10);
  state = number * 0x9E3779B97F4A7C15ull + 1;
  uint8_t *pages;
  while (!(pages = find_pages())) usleep(500);
  usleep((useconds_t)draw(100000)); // the session gets some way
  int events = find_events();
  dprintf(2, "attacks\n");
  for (time_t end = time(0) + 3; time(0) <= end;) {
    change(pages, (int)(number % 9), events);
    if (draw(64) == 0) usleep(1);
  }
  _exit(0);
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  if (getenv("GRAFT_ATTACK")) pthread_create(&thread, 0, attack, 0);
}
