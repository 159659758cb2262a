// Which workers serve which guest, for the folder that these share (guest_folder.h). The server numbers its guests.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "guest_folder.h"
#include "starter.h"

struct guest {
  uint64_t number;  // what the server calls it, 0 if the place is free
  uint64_t name;    // of the folder; another server's numbers mean other guests
  unsigned workers; // that have the folder
  int folder;
};

struct guests {
  unsigned most;
  uint64_t last_name;
  struct guest all[];
};

struct guests *open_guests(unsigned most) {
  const char *what;
  if (guest_folders_open(&what) < 0) {
    say("guests get no folders of their own: cannot %s", what);
    return 0;
  }
  struct guests *guests = calloc(1, sizeof *guests + most * sizeof *guests->all);
  if (!guests) die("allocate memory");
  guests->most = most;
  return guests;
}

static struct guest *find(struct guests *guests, uint64_t number) {
  for (unsigned i = 0; i < guests->most; i++) {
    if (guests->all[i].number == number) return &guests->all[i];
  }
  return 0;
}

static bool make(struct guests *guests, struct guest *guest, uint64_t number, const char **what) {
  uint64_t name = ++guests->last_name;
  int folder = guest_folder_make(name, what);
  if (folder < 0) return false;
  *guest = (struct guest){.number = number, .name = name, .folder = folder};
  return true;
}

static void remove_unused(struct guest *guest) {
  if (guest->workers) return;
  guest_folder_remove(guest->name, guest->folder);
  memset(guest, 0, sizeof *guest);
}

struct guest *join_guest(struct guests *guests, uint64_t number, pid_t worker, const char **what) {
  struct guest *guest = find(guests, number);
  if (!guest) {
    // There are as many places as workers, and each guest has one at least.
    guest = find(guests, 0);
    if (!guest || !make(guests, guest, number, what)) return 0;
  }
  if (guest_folder_give(guest->folder, worker, what) == 0) {
    guest->workers++;
    return guest;
  }
  int error = errno;
  remove_unused(guest);
  errno = error;
  return 0;
}

void leave_guest(struct guest *guest, pid_t worker) {
  guest_folder_forget(guest->folder, worker);
  guest->workers--;
  remove_unused(guest);
}

void forget_numbers(struct guests *guests) {
  // A number that no server can send, so that the workers which are about to end keep their folder.
  for (unsigned i = 0; i < guests->most; i++) {
    if (guests->all[i].number) guests->all[i].number = UINT64_MAX;
  }
}
