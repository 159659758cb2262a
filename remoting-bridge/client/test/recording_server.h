/* A server of a test, which answers what the client asks and counts the requests. */
#ifndef GRAFT_RECORDING_SERVER_H
#define GRAFT_RECORDING_SERVER_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/objects.h"
#include "api/rpc.h"
#include "fake_server.h"
#include "graft_rpc.h"
#include "module/functions.h"
#include "session/state.h"

#define ADDRESS 0x700000000000ull /* both servers return it */
#define CODE (128u << 10)
#define DATA (100u << 10)
#define ATTRIBUTES 1000 /* the value of the first attribute of a function */

/* A server, and the requests that it has received. The test reads them after it has waited for an answer. */
struct server {
  const char *name;
  uint32_t devices;
  uint64_t memory;
  const uint8_t *known;      /* the hash of code that the server has, or NULL */
  const uint8_t *known_data; /* the same of data */
  int listener, port, fd;
  uint32_t answered; /* a bit for each attribute of functions */
  int fault;         /* the result of every call that waits, once it is set */
  unsigned calls[GRAFT_FUNCTIONS];
  uint64_t context, first, last; /* context, first and last parameter of the last call of the watched function */
  int watched;
};

static size_t snapshot(const struct server *server, uint8_t *body) {
  uint32_t head[] = {13000, server->devices}, attributes = 145;
  memcpy(body, head, sizeof head);
  memcpy(body + 8, &server->memory, 8);
  strcpy((char *)body + 48, server->name);
  memcpy(body + 312, &attributes, 4);
  return 4096;
}

/* The attributes of a function: a mask of those that are known, which may have bits of attributes that the client knows nothing of, and values. */
static size_t attributes(const struct server *server, int base, uint8_t *body) {
  memcpy(body, &server->answered, 4);
  for (int i = 0; i < GRAFT_FUNCTION_ATTRIBUTES; i++, base++) memcpy(body + 8 + 4 * i, &base, 4);
  return 8 + 4 * GRAFT_FUNCTION_ATTRIBUTES;
}

/* The results of a call, as many bytes as the client expects. */
static size_t results(const struct server *server, int function, uint8_t *body) {
  const uint64_t address = ADDRESS, numbers[] = {1, server->memory};
  const uint32_t known = server->known ? 1 : 0;
  switch (function) {
    case FN_graftSnapshot: return snapshot(server, body);
    case FN_cuMemAlloc_v2: memcpy(body, &address, 8); return 8;
    case FN_cuMemGetInfo_v2: memcpy(body, numbers, 16); return 16;
    case FN_graftModuleGetFunction_v2: return 8 + 4 * 192 + attributes(server, ATTRIBUTES, body + 8 + 4 * 192);
    case FN_graftFunctionAttributes: return attributes(server, ATTRIBUTES + 100, body);
    case FN_graftFunctionGetAttribute:
    case FN_graftOccupancyClusters: return 8;
    case FN_graftOccupancyClusters_v2:
      for (int i = 0; i < 32; i++) memcpy(body + 4 * (32 + i), &(int){100 + i + 1}, 4);
      memcpy(body + 4 * 19, &(int){912}, 4); /* the error of the width 20 */
      return 2 * 4 * 32;
    case FN_graftKnownCode:
      if (known) memcpy(body, server->known, 32);
      memcpy(body + 32 * GRAFT_MOST_KNOWN_CODE, &known, 4);
      return 32 * GRAFT_MOST_KNOWN_CODE + 8;
    default: return 0;
  }
}

static bool answer(struct server *server, const struct fake_request *request) {
  static _Thread_local uint8_t body[16384];
  memset(body, 0, sizeof body);
  struct fake_answer head = {.slot = request->slot, .result = __atomic_load_n(&server->fault, __ATOMIC_ACQUIRE)};
  size_t bytes = head.result ? 0 : results(server, request->function, body);
  head.size = (uint32_t)(sizeof head + bytes);
  return fake_put(server->fd, &head, sizeof head) && fake_put(server->fd, body, bytes);
}

static bool call_back(const struct server *server, uint64_t identity) {
  struct fake_answer head = {.size = sizeof head + sizeof identity, .kind = GRAFT_ANSWER_CALLBACK};
  return fake_put(server->fd, &head, sizeof head) && fake_put(server->fd, &identity, sizeof identity);
}

/* Says which data the server has. */
static bool put_hints(const struct server *server, const uint64_t *parameters) {
  static const uint8_t zeros[GRAFT_KNOWN_DATA_MOST * GRAFT_KNOWN_DATA_HINT];
  struct fake_answer head = {.size = sizeof head + 24, .kind = GRAFT_ANSWER_DATA};
  uint64_t data[] = {parameters[1], 0, parameters[0]};
  size_t known = server->known_data ? GRAFT_KNOWN_DATA_HINT : 0;
  return parameters[0] == sizeof zeros && fake_put(server->fd, &head, sizeof head) && fake_put(server->fd, data, sizeof data) &&
         fake_put(server->fd, server->known_data, known) && fake_put(server->fd, zeros, sizeof zeros - known);
}

/* Accepts one connection. The client's further connections are refused, and the client works without them. */
static void *serve(void *argument) {
  static _Thread_local uint8_t bulk[CODE + 4096];
  struct server *server = argument;
  __atomic_store_n(&server->fd, accept(server->listener, NULL, NULL), __ATOMIC_RELEASE);
  close(server->listener);
  if (!fake_handshake(server->fd)) return NULL;
  struct fake_request request;
  while (fake_get(server->fd, &request, sizeof request)) {
    uint64_t parameters[512];
    if (request.size > sizeof parameters || !fake_get(server->fd, parameters, request.size - sizeof request)) break;
    uint64_t count = (request.size - sizeof request) / 8, last = count ? parameters[count - 1] : 0, in_bulk = 0;
    if (request.function == FN_graftModuleLoad || request.function == FN_graftWrite) in_bulk = parameters[1];
    if (request.function == FN_graftLinkAdd) in_bulk = last;
    if (request.flags & GRAFT_RECORD_BULK && (in_bulk > sizeof bulk || !fake_get(server->fd, bulk, in_bulk))) break;
    __atomic_add_fetch(&server->calls[request.function], 1, __ATOMIC_ACQ_REL);
    if (request.function == __atomic_load_n(&server->watched, __ATOMIC_ACQUIRE)) {
      __atomic_store_n(&server->context, request.context, __ATOMIC_RELEASE);
      __atomic_store_n(&server->first, parameters[0], __ATOMIC_RELEASE);
      __atomic_store_n(&server->last, last, __ATOMIC_RELEASE);
    }
    if (request.function == FN_graftKnownData && !put_hints(server, parameters)) break;
    if (request.function == FN_graftHostFunction && !call_back(server, parameters[1])) break;
    if (request.flags & GRAFT_RECORD_REPLY && !answer(server, &request)) break;
  }
  close(server->fd);
  return NULL;
}

static void start(struct server *server) {
  pthread_t thread;
  server->listener = fake_listen(&server->port);
  if (server->listener < 0 || pthread_create(&thread, NULL, serve, server) || pthread_detach(thread)) {
    perror("sessions");
    exit(1);
  }
}

static unsigned calls(struct server *server, int function) { return __atomic_load_n(&server->calls[function], __ATOMIC_ACQUIRE); }
static void watch(struct server *server, int function) { __atomic_store_n(&server->watched, function, __ATOMIC_RELEASE); }
static uint64_t seen(const uint64_t *value) { return __atomic_load_n(value, __ATOMIC_ACQUIRE); }

#endif
