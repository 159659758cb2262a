/* A server that answers with nonsense: whatever it sends, the program gets CUDA errors, never a crash or a hang.
 *
 * Every round forks a client (built under the sanitizers) that makes a fixed sequence of calls against this process. The
 * server completes the handshake; a seeded generator then chooses right answers, wrong sizes, unknown slots, data that the
 * client has not requested, random bytes or an early end. On rings, a third process may change positions and contents while
 * both ends use them. The rounds take the channels in turn: tcp, unix (the code of vsock as well), shm and ivshmem, for which a
 * file stands for the device. vchan's rings are the same code; its pages need Xen. Usage: hostile [rounds] [first seed]
 */
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fake_server.h"
#include "api/work.h"
#include "graft_rpc.h"
#include "link.h"

static uint64_t state;
static uint64_t draw(uint64_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % below;
}

/* The number of bytes of a function's results. */
static size_t wanted(int function) {
  switch (function) {
    case FN_cuMemAlloc_v2: return 8;
    case FN_graftSnapshot: return 4096;
    case FN_graftModuleGetFunction_v2: return 8 + 4 * 192 + 8 + 4 * 24;
    case FN_cuMemGetInfo_v2: return 16;
    case FN_graftFunctionAttributes: return 8 + 4 * 24;
    case FN_graftFunctionGetAttribute: return 8;
    case FN_graftRegionTake: return 8;
    case FN_graftLinkComplete: return 8;
    case FN_graftLinkImage: return 256 << 10;
    default: return 0;
  }
}

/* The number of bytes of bulk data that follow a request, which is among the request's parameters. */
static size_t bulk_bytes(int function, const uint8_t *parameters, size_t bytes) {
  uint64_t bulk = 0;
  switch (function) {
    case FN_graftModuleLoad:
    case FN_graftWrite: memcpy(&bulk, parameters + 8, 8); break;
    case FN_graftLinkAdd: memcpy(&bulk, parameters + bytes - 8, 8); break;
    default: fprintf(stderr, "hostile: function %d has bulk data that this server cannot tell the size of\n", function); abort();
  }
  return bulk;
}

/* Which attributes of a function are known: none, so that the client asks again; all; or any, also of attributes that there are not. */
static void put_mask(uint8_t *body) {
  uint32_t mask = draw(3) ? (uint32_t)draw(1ull << 32) : draw(2) ? 0 : ~0u;
  memcpy(body, &mask, 4);
}

/* Says which data is known: any, for as many bytes as were asked for, or not. */
static bool put_hints(struct link *link, const uint8_t *parameters) {
  static uint8_t hints[16384];
  uint64_t data[3] = {0};
  struct fake_answer head = {40, 1, 0, 0, 0};
  memcpy(&data[2], parameters, 8);
  memcpy(&data[0], parameters + 8, 8);
  if (!draw(4)) data[draw(3)] = draw(sizeof hints);
  if (data[2] > sizeof hints) return false;
  for (size_t i = 0; i < data[2]; i++) hints[i] = (uint8_t)draw(256);
  return link_put(link, &head, sizeof head) && link_put(link, data, sizeof data) && link_put(link, hints, data[2]);
}

/* Serves a client: first `honest` right answers, then random ones. */
static void serve(struct link *link, uint64_t honest, uint64_t scribbles) {
  static uint8_t body[(256 << 10) + 8];
  uint64_t answered = 0;
  for (;;) {
    struct fake_request request;
    if (!link_get(link, &request, sizeof request) || request.size < 16 || request.size > 1 << 20) return;
    size_t bytes = request.size - 16;
    uint8_t parameters[4096];
    size_t keep = bytes < sizeof parameters ? bytes : sizeof parameters;
    if (!link_get(link, parameters, keep)) return;
    for (size_t left = bytes - keep; left; left--) {
      if (!link_get(link, body, 1)) return;
    }
    if (request.flags & 2) {
      size_t bulk = bulk_bytes(request.function, parameters, bytes);
      if (bulk > sizeof body || !link_get(link, body, bulk)) return;
    }
    if (request.function == FN_graftKnownData && draw(4) && !put_hints(link, parameters)) return;
    if (!(request.flags & 1)) continue;
    memset(body, 0, 8192);
    struct fake_answer head = {16, 0, 0, request.slot, 0};
    size_t results = wanted(request.function);
    if (request.function == FN_graftSnapshot) {
      uint32_t version = 13000, count = 1, attributes = 145;
      memcpy(body, &version, 4);
      memcpy(body + 4, &count, 4);
      memcpy(body + 312, &attributes, 4);
    } else if (request.function == FN_cuMemAlloc_v2) {
      uint64_t pointer = 0x700000000000ull;
      memcpy(body, &pointer, 8);
    } else if (request.function == FN_graftModuleGetFunction_v2) {
      uint32_t layout[] = {(uint32_t)draw(4), 0, 0, 8, 8, 4};
      memcpy(body, layout, 4);
      memcpy(body + 8, layout + 2, 16);
      put_mask(body + 8 + 4 * 192);
    } else if (request.function == FN_graftFunctionAttributes) {
      put_mask(body);
    } else if (request.function == FN_graftRegionTake) { /* a part of the device, which may be beyond its end or in use */
      uint64_t offset = (uint64_t)draw(16) << 21;
      if (!draw(3)) offset = draw(2) ? draw(1ull << 40) : 0 - draw(1ull << 30);
      memcpy(body, &offset, 8);
    } else if (request.function == FN_graftLinkComplete) { /* the size of the image: random, or one that wraps when rounded up */
      uint64_t size = draw(2) ? draw(1u << 20) : 0 - draw(1u << 19);
      memcpy(body, &size, 8);
    }
    head.size = (uint32_t)(16 + results);
    if (request.function == FN_graftRead && draw(4)) { /* the data comes before its reply */
      uint64_t data[3] = {request.slot, 0, 0};
      struct fake_answer h = {40, 1, 0, request.slot, 0};
      memcpy(&data[2], parameters + 8, 8);
      if (data[2] > sizeof body || !link_put(link, &h, sizeof h) || !link_put(link, data, sizeof data) ||
          !link_put(link, body, data[2]))
        return;
    }
    if (scribbles && answered == honest) link_scribble(link, scribbles);
    switch (answered++ < honest ? 0 : draw(12)) {
      case 1:
        head.size += 8;
        results += 8;
        break;
      case 2: head.size = (uint32_t)draw(1u << 21); break;
      case 3: head.slot ^= (uint32_t)draw(7) + 1; break;
      case 4: head.kind = (uint16_t)draw(9); break;
      case 5:
        head.result = (int32_t)draw(1000);
        head.size = 16;
        results = 0;
        break;
      case 6: { /* data that the client has not requested, or too much data */
        uint64_t data[3] = {draw(3) ? request.slot : draw(1ull << 62), draw(2) ? 0 : draw(1ull << 62), draw(1u << 16)};
        struct fake_answer h = {40, 1, 0, request.slot, 0};
        if (!link_put(link, &h, sizeof h) || !link_put(link, data, sizeof data) || !link_put(link, body, data[2])) return;
        break;
      }
      case 7:
        for (size_t i = 0; i < results; i++) body[i] = (uint8_t)draw(256);
        break;
      case 8: {
        uint8_t noise[64];
        for (size_t i = 0; i < sizeof noise; i++) noise[i] = (uint8_t)draw(256);
        link_put(link, noise, sizeof noise);
        return;
      }
      case 9: link_put(link, &head, (size_t)draw(16)); return;
      case 10: return;
      default: break;
    }
    if (!link_put(link, &head, sizeof head) || !link_put(link, body, results)) return;
  }
}

/* A profiler, which has the client ask for the times of work. */
static bool begins(struct graft_work *work) { return true; }
static void done(const struct graft_work *work, bool is_known) {
  if (is_known && work->end < work->start) abort();
}

static int client(void) {
  static const struct graft_work_listener listener = {.begins = begins, .done = done};
  setenv("GRAFT_CONFIG", "/dev/null", 1);
  setenv("GRAFT_NAME", "hostile", 1);
  setenv("CUDA_CACHE_DISABLE", "1", 1); /* links go to the server */
  alarm(20);                            /* a hang is a failure */
  if (draw(2)) setenv("GRAFT_KNOWN_DATA", "yes", 1);
  if (draw(2)) graft_work_listen(GRAFT_WORK_PROFILER, &listener);
  int device, value;
  void *pinned = NULL;
  void *context = NULL, *module = NULL, *function = NULL, *stream = NULL, *link = NULL, *image = NULL;
  uint64_t pointer = 0;
  size_t free_bytes, total, image_bytes;
  char data[300];
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDeviceGetAttribute(&value, 75, 0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  cuStreamCreate(&stream, 0);
  cuMemAlloc_v2(&pointer, 1 << 20);
  cuMemGetInfo_v2(&free_bytes, &total);
  cuMemcpyDtoH_v2(data, pointer, sizeof data);
  if (!cuMemHostAlloc(&pinned, 1 << 20, 0)) { /* on rings with shared memory, in the region */
    memset(pinned, 1, 1 << 20);
    cuMemcpyHtoDAsync_v2(pointer, pinned, 4096, stream);
    cuMemcpyHtoDAsync_v2(pointer, pinned, 100000, stream);
    cuMemcpyDtoHAsync_v2(pinned, pointer, 4096, stream);
  }
  cuModuleLoadData(&module, (void *)".version 8.0\n");
  if (module) cuModuleGetFunction(&function, module, "k");
  if (function) {
    uint64_t a = 1, b = 2, c = 3, d = 4;
    void *parameters[] = {&a, &b, &c, &d};
    for (int i = -1; i < 33; i++) cuFuncGetAttribute(&value, i, function);
    cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
  }
  cuLinkCreate_v2(0, NULL, NULL, &link);
  if (link && !cuLinkAddData_v2(link, 1, (void *)".version 8.0\n", 14, "k", 0, NULL, NULL))
    cuLinkComplete(link, &image, &image_bytes);
  if (stream) cuStreamSynchronize(stream);
  cuCtxSynchronize();
  graft_work_flush(1000000);
  if (pinned) cuMemFreeHost(pinned);
  cuMemFree_v2(pointer);
  return 0;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 200;
  uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
  int passed = 0, failed = 0, with_rings = 0;
  struct listener listener;
  listener_open(&listener);
  for (int i = 0; i < rounds; i++) {
    enum channel channel = (enum channel)(i % CHANNELS);
    state = (first + (uint64_t)i) * 0x9E3779B97F4A7C15ull | 1;
    pid_t child = fork();
    if (!child) {
      close(listener.tcp);
      close(listener.unix_socket);
      if (!freopen("/dev/null", "w", stdout)) return 1;
      listener_settings(&listener, channel);
      return client();
    }
    struct link link;
    if (link_accept(&link, &listener, channel, draw)) {
      with_rings += link.memory != NULL;
      uint64_t honest = draw(8) ? 2 + draw(20) : 0, scribbles = draw(3) ? draw(UINT64_MAX) : 0;
      serve(&link, honest, scribbles);
    }
    link_close(&link);
    int status;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && !WEXITSTATUS(status)) {
      passed++;
    } else {
      failed++;
      printf("hostile: seed %llu, channel %d: the client ended with status %#x\n", (unsigned long long)(first + (uint64_t)i),
             channel, status);
    }
  }
  listener_close(&listener);
  if (with_rings < rounds / CHANNELS) {
    printf("hostile: only %d of %d rounds got as far as the rings\n", with_rings, rounds);
    failed++;
  }
  printf("client-hostile: %d passed, %d failed\n", passed, failed);
  return failed != 0;
}
