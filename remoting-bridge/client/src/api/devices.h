/* A server's GPUs, as the server described them when the session began, and the numbers by which the program knows them. */
#ifndef GRAFT_DEVICES_H
#define GRAFT_DEVICES_H

#include <stdint.h>

#define GRAFT_CUDA_VERSION 13000
#define GRAFT_MAX_DEVICES 32
#define GRAFT_ATTRIBUTES 256

struct graft_device {
  uint64_t total_memory;
  uint8_t uuid[16];
  char name[256];
  int priority_low, priority_high;
  int attributes[GRAFT_ATTRIBUTES];
  uint32_t attribute_count;
};
/* Constant once the session is open. */
struct graft_devices {
  int count;                      /* that the program sees, those of all servers */
  int ordinal[GRAFT_MAX_DEVICES]; /* of these at the server, -1 for a device of another server */
  int server_count;
  int driver_version;
  char driver_text[16];                        /* the owner's driver as tools print it, "" if it has none */
  struct graft_device each[GRAFT_MAX_DEVICES]; /* by the server's ordinals */
};

struct graft_session;

/* The session that has a device of the program, by its ordinal; NULL if there is no such device. */
struct graft_session *graft_session_of_device(int index);
/* Numbers the devices of all open sessions one after the other, in the order of the servers. */
void graft_devices_join(void);
/* One of the devices that the program sees, by its ordinal, which is in range and of that session. */
const struct graft_device *graft_device(struct graft_session *session, int index);
/* One of the server's devices, whether the program sees it or not; NULL if there is none. */
const struct graft_device *graft_server_device(struct graft_session *session, int index);
/* The program's ordinal of a server's device, -1 if the program does not see it. */
int graft_device_seen(struct graft_session *session, int ordinal);
/* Of the calling thread's session. */
int graft_device_count(void);
int graft_driver_version(void);
const char *graft_driver_text(void);
/* Reads the snapshots; called once by the session's opening, with the session as the calling thread's. */
int graft_devices_load(struct graft_session *session);

#endif
