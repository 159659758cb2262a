/* Two sessions in one process, each with a server of this test: the objects of one session never reach the other server, a call finds
 * its session by its objects, and one session works after the other has ended. Prints "client-sessions: N passed, N failed".
 */
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "api/objects.h"
#include "api/rpc.h"
#include "base/crypto.h"
#include "graft_rpc.h"
#include "module/functions.h"
#include "recording_server.h"
#include "session/parts.h"
#include "session/session.h"
#include "session/state.h"

static int passed, failed;

#define CHECK(condition)                                             \
  do {                                                               \
    if (condition) {                                                 \
      passed++;                                                      \
    } else {                                                         \
      failed++;                                                      \
      printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                \
  } while (0)

GRAFT_EXPORT const char *graftChannel(void);

static uint8_t known_hash[32], known_data_hash[32];
static struct server server_a = {.name = "GPU A", .devices = 1, .memory = 1000, .known = known_hash, .known_data = known_data_hash},
                     server_b = {.name = "GPU B", .devices = 2, .memory = 2000};
static struct graft_session session_b;
static void *context_a, *context_b, *stream_a, *stream_b, *event_a, *event_b, *module_a, *module_b, *function_a, *function_b;
static uint8_t code[CODE], weights[DATA];

static void open_session(struct graft_session *session, const struct server *server) {
  char address[64];
  snprintf(address, sizeof address, "tcp://127.0.0.1:%d", server->port);
  setenv("GRAFT_SERVER", address, 1);
  graft_session_use(session);
  CHECK(cuInit(0) == GRAFT_OK && graft_session_is_open(session));
  CHECK(!strcmp(graftChannel(), address));
}

static void devices(void) {
  char name[64];
  int count;
  size_t bytes;
  graft_session_use(&graft_default_session);
  CHECK(!cuDeviceGetCount(&count) && count == 1);
  CHECK(!cuDeviceGetName(name, sizeof name, 0) && !strcmp(name, "GPU A"));
  CHECK(!cuDeviceTotalMem_v2(&bytes, 0) && bytes == 1000);
  CHECK(cuDeviceGetName(name, sizeof name, 1) == GRAFT_INVALID_DEVICE);
  graft_session_use(&session_b);
  CHECK(!cuDeviceGetCount(&count) && count == 2);
  CHECK(!cuDeviceGetName(name, sizeof name, 0) && !strcmp(name, "GPU B"));
  CHECK(!cuDeviceTotalMem_v2(&bytes, 0) && bytes == 2000);
  graft_session_use(NULL);
}

static struct graft_session *of(const void *handle) { return ((const struct graft_object *)handle)->session; }
static uint32_t id_of(const void *handle) { return ((const struct graft_object *)handle)->id; }

/* A thread's calls go to the session of its current context. */
static void contexts(void) {
  size_t free_bytes, total;
  graft_session_use(&session_b);
  CHECK(!cuDevicePrimaryCtxRetain(&context_b, 0));
  graft_session_use(&graft_default_session);
  CHECK(!cuDevicePrimaryCtxRetain(&context_a, 0));
  graft_session_use(NULL);
  CHECK(graft_session_current() == &graft_default_session);
  CHECK(of(context_a) == &graft_default_session && of(context_b) == &session_b);
  cuCtxSetCurrent(context_b);
  CHECK(graft_session_current() == &session_b);
  CHECK(!cuMemGetInfo_v2(&free_bytes, &total) && total == 2000);
  cuCtxPushCurrent_v2(context_a);
  CHECK(!cuMemGetInfo_v2(&free_bytes, &total) && total == 1000);
  cuCtxPopCurrent_v2(NULL);
  CHECK(!cuMemGetInfo_v2(&free_bytes, &total) && total == 2000);
  CHECK(calls(&server_a, FN_cuMemGetInfo_v2) == 1 && calls(&server_b, FN_cuMemGetInfo_v2) == 2);
}

/* Both servers use the same ids for their objects. The program's handles differ, and each call goes to the handle's server. */
static void streams_and_events(void) {
  cuCtxSetCurrent(context_b);
  CHECK(!cuStreamCreate(&stream_b, 0) && !cuEventCreate(&event_b, 0));
  cuCtxSetCurrent(context_a);
  CHECK(!cuStreamCreate(&stream_a, 0) && !cuEventCreate(&event_a, 0));
  CHECK(id_of(stream_a) == id_of(stream_b) && stream_a != stream_b);
  watch(&server_b, FN_cuStreamSynchronize);
  CHECK(!cuStreamSynchronize(stream_b));
  CHECK(calls(&server_b, FN_cuStreamSynchronize) == 1 && !calls(&server_a, FN_cuStreamSynchronize));
  CHECK(seen(&server_b.first) == id_of(stream_b) && seen(&server_b.context) == id_of(context_b)); /* not the current context */
  CHECK(!cuEventQuery(event_b) && calls(&server_b, FN_cuEventQuery) == 1 && !calls(&server_a, FN_cuEventQuery));
  CHECK(cuEventRecord(event_b, stream_a) == GRAFT_INVALID_HANDLE);
  CHECK(cuEventRecord(event_b, NULL) == GRAFT_INVALID_HANDLE);
  CHECK(cuStreamWaitEvent(stream_b, event_a, 0) == GRAFT_INVALID_HANDLE);
  CHECK(cuMemsetD8Async(ADDRESS, 0, 1, stream_b) == GRAFT_INVALID_HANDLE);
  CHECK(cuMemcpyDtoDAsync_v2(ADDRESS, ADDRESS + 64, 1, stream_b) == GRAFT_INVALID_HANDLE);
  CHECK(!cuEventRecord(event_a, stream_a) && !cuStreamSynchronize(stream_a));
  CHECK(calls(&server_a, FN_cuEventRecord) == 1 && !calls(&server_b, FN_cuEventRecord));
  CHECK(!calls(&server_a, FN_cuMemsetD8Async) && !calls(&server_b, FN_cuMemsetD8Async));
}

/* Code that one server has is not sent to that server, and is sent to the other. */
static void modules(void) {
  uint64_t parameter = 0;
  void *parameters[] = {&parameter};
  cuCtxSetCurrent(context_a);
  CHECK(!cuModuleLoadData(&module_a, code) && !cuModuleGetFunction(&function_a, module_a, "k"));
  cuCtxSetCurrent(context_b);
  CHECK(!cuModuleLoadData(&module_b, code) && !cuModuleGetFunction(&function_b, module_b, "k"));
  CHECK(calls(&server_a, FN_graftModuleLoadKnown) == 1 && !calls(&server_a, FN_graftModuleLoad));
  CHECK(calls(&server_b, FN_graftModuleLoad) == 1 && !calls(&server_b, FN_graftModuleLoadKnown));
  CHECK(function_a != function_b && id_of(function_a) == id_of(function_b));
  CHECK(cuLaunchKernel(function_a, 1, 1, 1, 1, 1, 1, 0, stream_b, parameters, NULL) == GRAFT_INVALID_HANDLE);
  CHECK(cuLaunchKernel(function_b, 1, 1, 1, 1, 1, 1, 0, stream_a, parameters, NULL) == GRAFT_INVALID_HANDLE);
  CHECK(!cuLaunchKernel(function_b, 1, 1, 1, 1, 1, 1, 0, stream_b, parameters, NULL) && !cuStreamSynchronize(stream_b));
  CHECK(calls(&server_b, FN_graftLaunch) == 1 && !calls(&server_a, FN_graftLaunch));
}

static unsigned questions(struct server *server) {
  return calls(server, FN_graftFunctionAttributes) + calls(server, FN_graftFunctionGetAttribute);
}

static bool is_attribute(void *function, int attribute, int expected) {
  int value = -1;
  return !cuFuncGetAttribute(&value, attribute, function) && value == expected;
}

/* The attributes of a function come with it, for the current device. */
static void attributes_come_with_the_function(void) {
  void *function, *second;
  int value;
  cuCtxSetCurrent(context_b);
  __atomic_store_n(&server_b.answered, ~(1u << 15), __ATOMIC_RELEASE);
  CHECK(!cuModuleGetFunction(&function, module_b, "with attributes"));
  for (int i = 0; i < GRAFT_FUNCTION_ATTRIBUTES; i++) CHECK(i == 15 || is_attribute(function, i, ATTRIBUTES + i));
  CHECK(!cuFuncSetAttribute(function, 8, 77) && is_attribute(function, 8, 77));
  CHECK(!cuFuncSetAttribute(function, 8, 77) && !cuCtxSynchronize() && calls(&server_b, FN_graftFunctionSetAttribute) == 1);
  CHECK(cuFuncGetAttribute(&value, GRAFT_FUNCTION_ATTRIBUTES, function) == GRAFT_INVALID_VALUE);
  CHECK(cuFuncGetAttribute(&value, 31, function) == GRAFT_INVALID_VALUE && !questions(&server_b));
  /* What the server does not know it is asked for alone, as its error is the answer. */
  CHECK(is_attribute(function, 15, 0) && questions(&server_b) == 1);
  CHECK(is_attribute(function, 15, 0) && questions(&server_b) == 1);
  CHECK(!cuModuleGetFunction(&second, module_b, "with attributes") && second == function);
  cuCtxSetCurrent(context_a);
  CHECK(!questions(&server_a));
}

/* What came with a function holds for one device: the others are asked about, once each. */
static void attributes_are_of_a_device(void) {
  void *function, *other;
  int value, before = (int)questions(&server_b);
  graft_session_use(&session_b);
  CHECK(!cuDevicePrimaryCtxRetain(&other, 1));
  graft_session_use(NULL);
  cuCtxSetCurrent(context_b);
  CHECK(!cuModuleGetFunction(&function, module_b, "of a device") && is_attribute(function, 3, ATTRIBUTES + 3));
  CHECK(!cuFuncSetAttribute(function, 8, 77));
  cuCtxSetCurrent(other);
  CHECK(is_attribute(function, 3, ATTRIBUTES + 103) && is_attribute(function, 4, ATTRIBUTES + 104));
  CHECK(is_attribute(function, 8, ATTRIBUTES + 108) && (int)questions(&server_b) == before + 1);
  cuCtxSetCurrent(context_b);
  CHECK(is_attribute(function, 8, 77) && (int)questions(&server_b) == before + 1);
  cuCtxSetCurrent(other);
  CHECK(!cuModuleGetFunction(&function, module_b, "of the other device") && is_attribute(function, 3, ATTRIBUTES + 3));
  cuCtxSetCurrent(context_b);
  CHECK((int)questions(&server_b) == before + 1 && is_attribute(function, 3, ATTRIBUTES + 103));
  CHECK((int)questions(&server_b) == before + 2);
  /* A server that knew none, as it has no context, is asked again, and so is one that fails. */
  __atomic_store_n(&server_b.answered, 0, __ATOMIC_RELEASE);
  CHECK(!cuModuleGetFunction(&function, module_b, "of no device"));
  __atomic_store_n(&server_b.fault, 400, __ATOMIC_RELEASE);
  CHECK(cuFuncGetAttribute(&value, 3, function) == 400);
  CHECK(!cuFuncSetAttribute(function, 8, 77)); /* which is not forgotten for what the server says later */
  __atomic_store_n(&server_b.fault, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&server_b.answered, ~0u, __ATOMIC_RELEASE);
  CHECK(is_attribute(function, 3, ATTRIBUTES + 103) && is_attribute(function, 4, ATTRIBUTES + 104));
  CHECK(is_attribute(function, 8, 77) && (int)questions(&server_b) == before + 5);
}

struct cluster_question {
  unsigned grid[3], block[3], shared;
  void *stream, *attributes;
  unsigned count;
};

/* The size of clusters (attribute 4), in memory that the program has used for something else. */
static int clusters_in(unsigned grid, unsigned size, int before, unsigned shared, int *clusters) {
  uint8_t attribute[72];
  const unsigned id = 4, sizes[] = {size, 1, 1};
  memset(attribute, before, sizeof attribute);
  memcpy(attribute, &id, sizeof id);
  memcpy(attribute + 8, sizes, sizeof sizes);
  struct cluster_question question = {{grid, 1, 1}, {32, 1, 1}, shared, NULL, attribute, 1};
  return cuOccupancyMaxActiveClusters(clusters, function_b, &question);
}

static int clusters_of(unsigned size, int before, unsigned shared) {
  int clusters;
  return clusters_in(8, size, before, shared, &clusters);
}

/* Where the grid is one cluster, one question answers for all widths. */
static void clusters_of_every_width_are_asked_for_at_once(void) {
  int clusters, asked = (int)calls(&server_b, FN_graftOccupancyClusters);
  for (unsigned width = 1; width <= 32; width++) {
    int r = clusters_in(width, width, 0, 128, &clusters);
    CHECK(width == 20 ? r == 912 : !r && clusters == 100 + (int)width);
  }
  CHECK(calls(&server_b, FN_graftOccupancyClusters_v2) == 2); /* an error is not remembered */
  CHECK((int)calls(&server_b, FN_graftOccupancyClusters) == asked);
  CHECK(!clusters_in(33, 33, 0, 128, &clusters) && !clusters_in(0, 0, 0, 128, &clusters));
  CHECK((int)calls(&server_b, FN_graftOccupancyClusters) == asked + 2);
}

/* An occupancy is asked for once. */
static void occupancy_is_remembered(void) {
  cuCtxSetCurrent(context_b);
  CHECK(!clusters_of(2, 0, 0) && calls(&server_b, FN_graftOccupancyClusters) == 1);
  CHECK(!clusters_of(2, 0, 0) && !clusters_of(2, 0xaa, 0) && calls(&server_b, FN_graftOccupancyClusters) == 1);
  CHECK(!clusters_of(4, 0, 0) && calls(&server_b, FN_graftOccupancyClusters) == 2);
  CHECK(!clusters_of(4, 0, 64) && calls(&server_b, FN_graftOccupancyClusters) == 3);
  CHECK(!cuFuncSetAttribute(function_b, 8, 4096)); /* on which the answers depend */
  CHECK(!clusters_of(4, 0, 64) && calls(&server_b, FN_graftOccupancyClusters) == 4);
  clusters_of_every_width_are_asked_for_at_once();
}

/* A program may say anything of the size of a text. */
static void a_text_that_is_linked_ends_at_its_end(void) {
  static char ptx[] = ".version 7.0";
  void *link;
  cuCtxSetCurrent(context_b);
  CHECK(!cuLinkCreate_v2(0, NULL, NULL, &link));
  watch(&server_b, FN_graftLinkAdd);
  CHECK(!cuLinkAddData_v2(link, 1, ptx, SIZE_MAX, NULL, 0, NULL, NULL) && seen(&server_b.last) == sizeof ptx);
  CHECK(!cuLinkAddData_v2(link, 1, ptx, 8, NULL, 0, NULL, NULL) && seen(&server_b.last) == 8);
  CHECK(!cuLinkDestroy(link));
}

/* Both servers return the same address. The current context selects the session of an address; freeing finds the owner. */
static void device_memory(void) {
  uint64_t in_a, in_b, base;
  size_t bytes;
  void *owner;
  cuCtxSetCurrent(context_b);
  CHECK(!cuMemAlloc_v2(&in_b, 8192));
  cuCtxSetCurrent(context_a);
  CHECK(!cuMemAlloc_v2(&in_a, 4096) && in_a == in_b);
  CHECK(!cuMemGetAddressRange_v2(&base, &bytes, in_a) && bytes == 4096);
  CHECK(!cuPointerGetAttribute(&owner, 1, in_a) && owner == context_a);
  cuCtxSetCurrent(context_b);
  CHECK(!cuMemGetAddressRange_v2(&base, &bytes, in_b) && bytes == 8192);
  CHECK(!cuPointerGetAttribute(&owner, 1, in_b) && owner == context_b);
  cuCtxSetCurrent(context_a);
  CHECK(!cuMemFree_v2(in_a) && !cuCtxSynchronize());
  CHECK(calls(&server_a, FN_cuMemFree_v2) == 1 && !calls(&server_b, FN_cuMemFree_v2));
  CHECK(!cuPointerGetAttribute(&owner, 1, in_b) && owner == context_b); /* only this session has the address now */
  watch(&server_b, FN_cuMemFree_v2);
  CHECK(!cuMemFree_v2(in_b) && !cuStreamSynchronize(stream_b));
  CHECK(calls(&server_a, FN_cuMemFree_v2) == 1 && calls(&server_b, FN_cuMemFree_v2) == 1);
  CHECK(seen(&server_b.context) == id_of(context_b));
  CHECK(cuMemFree_v2(in_b) == GRAFT_INVALID_VALUE);
}

/* Data that one server has is not sent to that server, and is sent to the other. */
static void known_data(void) {
  uint64_t in_a, in_b;
  static uint8_t other[DATA];
  CHECK(calls(&server_a, FN_graftKnownData) == 1 && calls(&server_b, FN_graftKnownData) == 1); /* before anything waits for it */
  cuCtxSetCurrent(context_b);
  CHECK(!cuMemAlloc_v2(&in_b, DATA) && !cuMemcpyHtoD_v2(in_b, weights, DATA) && !cuCtxSynchronize());
  CHECK(calls(&server_b, FN_graftWrite) == 1 && !calls(&server_b, FN_graftWriteKnown));
  cuCtxSetCurrent(context_a);
  watch(&server_a, FN_graftWriteKnown);
  CHECK(!cuMemAlloc_v2(&in_a, DATA) && !cuMemcpyHtoD_v2(in_a, weights, DATA) && !cuCtxSynchronize());
  CHECK(calls(&server_a, FN_graftWriteKnown) == 1 && !calls(&server_a, FN_graftWrite) && seen(&server_a.first) == in_a);
  memcpy(other, weights, DATA);
  other[DATA - 1] ^= 1;
  CHECK(!cuMemcpyHtoD_v2(in_a, other, DATA) && !cuMemcpyHtoD_v2(in_a, weights, DATA - 1) && !cuCtxSynchronize());
  CHECK(calls(&server_a, FN_graftWriteKnown) == 1 && calls(&server_a, FN_graftWrite) == 2);
  CHECK(!cuMemcpyHtoDAsync_v2(in_a, weights, DATA, stream_a) && !cuCtxSynchronize());
  CHECK(calls(&server_a, FN_graftWriteKnown) == 2 && calls(&server_a, FN_graftKnownData) == 1);
  CHECK(!cuMemFree_v2(in_a));
  cuCtxSetCurrent(context_b);
  CHECK(!cuMemFree_v2(in_b));
  cuCtxSetCurrent(context_a);
}

/* Memory that one session has pinned is ordinary memory of the program for the other. The thread sanitizer allows no memory at the
 * addresses that the client prefers for pinned memory. */
static void host_memory(void) {
#ifndef __SANITIZE_THREAD__
  void *pinned;
  unsigned flags;
  cuCtxSetCurrent(context_a);
  CHECK(!cuMemHostAlloc(&pinned, 4096, 0) && !cuMemHostGetFlags(&flags, pinned));
  cuCtxSetCurrent(context_b);
  CHECK(cuMemHostGetFlags(&flags, pinned) == GRAFT_INVALID_VALUE);
  CHECK(!cuMemHostRegister_v2(pinned, 4096, 0) && !cuMemHostUnregister(pinned));
  CHECK(!cuMemFreeHost(pinned) && cuMemFreeHost(pinned) == GRAFT_INVALID_VALUE);
#endif
}

static sem_t has_run;
static struct graft_session *ran_in;

static void host_function(void *data) {
  (void)data;
  ran_in = graft_session_current();
  sem_post(&has_run);
}

static bool runs(void) {
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 20;
  return !sem_timedwait(&has_run, &limit);
}

/* Each session has its own listener and its own numbers of host functions. */
static void host_functions(void) {
  void *function;
  void (*call)(void *) = host_function;
  memcpy(&function, &call, sizeof function);
  cuCtxSetCurrent(context_b);
  CHECK(!cuLaunchHostFunc(stream_b, function, NULL) && runs() && ran_in == &session_b);
  cuCtxSetCurrent(context_a);
  CHECK(cuLaunchHostFunc(stream_b, function, NULL) == GRAFT_INVALID_HANDLE);
  CHECK(!cuLaunchHostFunc(stream_a, function, NULL) && runs() && ran_in == &graft_default_session);
  CHECK(calls(&server_a, FN_graftHostFunction) == 1 && calls(&server_b, FN_graftHostFunction) == 1);
  /* Without a current context the stream's counts, for this call alone. */
  void *current = function;
  cuCtxSetCurrent(NULL);
  CHECK(cuLaunchHostFunc(NULL, function, NULL) == GRAFT_INVALID_CONTEXT);
  CHECK(!cuLaunchHostFunc(stream_b, function, NULL) && runs() && ran_in == &session_b);
  CHECK(!cuCtxGetCurrent(&current) && !current);
  CHECK(calls(&server_a, FN_graftHostFunction) == 1 && calls(&server_b, FN_graftHostFunction) == 2);
  cuCtxSetCurrent(context_a);
}

/* Whether a call returns the error of an earlier call, after which the server returns none. */
static bool is_kept(int error) {
  cuCtxSetCurrent(context_b);
  __atomic_store_n(&server_b.fault, error, __ATOMIC_RELEASE);
  CHECK(cuCtxSynchronize() == error);
  __atomic_store_n(&server_b.fault, 0, __ATOMIC_RELEASE);
  return cuCtxSynchronize() == error && cuStreamCreate(&(void *){NULL}, 0) == error;
}

/* Calls in a context that has failed return its error; calls in contexts of the other session do not. */
static void faults(void) {
  /* Those of CUresult's page that leave the process in an inconsistent state, and others. */
  static const int sticky[] = {226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 911}, others[] = {1, 2, 214, 400, 701, 720, 800};
  int *kept = &graft_parts(&session_b)->primary_contexts[0].fault;
  for (size_t i = 0; i < sizeof sticky / sizeof *sticky; i++) {
    CHECK(is_kept(sticky[i]));
    *kept = 0;
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) CHECK(!is_kept(others[i]));
  __atomic_store_n(&server_b.fault, 700, __ATOMIC_RELEASE); /* CUDA_ERROR_ILLEGAL_ADDRESS */
  cuCtxSetCurrent(context_b);
  CHECK(cuCtxSynchronize() == 700 && cuStreamCreate(&(void *){NULL}, 0) == 700);
  cuCtxSetCurrent(context_a);
  CHECK(!cuCtxSynchronize());
  __atomic_store_n(&server_b.fault, 0, __ATOMIC_RELEASE);
  CHECK(cuStreamSynchronize(stream_b) == 700 && !cuStreamSynchronize(stream_a)); /* by the stream's context, not the current one */
  *kept = 0;
}

static void end(void) {
  size_t free_bytes, total;
  unsigned before;
  shutdown(__atomic_load_n(&server_b.fd, __ATOMIC_ACQUIRE), SHUT_RDWR);
  cuCtxSetCurrent(context_a);
  CHECK(cuStreamQuery(stream_b) == GRAFT_DEVICE_UNAVAILABLE);
  CHECK(cuStreamQuery(stream_b) == GRAFT_DEVICE_UNAVAILABLE && !graft_dead());
  CHECK(!cuMemGetInfo_v2(&free_bytes, &total) && total == 1000);
  before = calls(&server_a, FN_cuStreamSynchronize);
  CHECK(!cuStreamSynchronize(stream_a) && calls(&server_a, FN_cuStreamSynchronize) == before + 1);
  graft_session_use(&session_b);
  CHECK(graft_dead() == GRAFT_DEVICE_UNAVAILABLE && rpc_cuMemGetInfo_v2(&free_bytes, &total) == GRAFT_DEVICE_UNAVAILABLE);
  graft_session_use(NULL);
  CHECK(!cuStreamDestroy_v2(stream_a) && !cuCtxSynchronize());
}

int main(void) {
  fake_milliseconds = -1; /* the client may be slow under a sanitizer */
  setenv("GRAFT_CONFIG", "/dev/null", 1);
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  memset(code, ' ', sizeof code - 1);
  memcpy(code, ".version 8.0\n", 13);
  graft_sha256(code, sizeof code, known_hash);
  for (size_t i = 0; i < DATA; i++) weights[i] = (uint8_t)(i * 2654435761u >> 20);
  graft_sha256(weights, sizeof weights, known_data_hash);
  setenv("GRAFT_KNOWN_DATA", "yes", 1);
  sem_init(&has_run, 0, 0);
  graft_session_init(&session_b);
  start(&server_a);
  start(&server_b);
  open_session(&graft_default_session, &server_a);
  open_session(&session_b, &server_b);
  devices();
  contexts();
  streams_and_events();
  modules();
  attributes_come_with_the_function();
  attributes_are_of_a_device();
  occupancy_is_remembered();
  a_text_that_is_linked_ends_at_its_end();
  device_memory();
  known_data();
  host_memory();
  host_functions();
  faults();
  end();
  printf("client-sessions: %d passed, %d failed\n", passed, failed);
  return failed != 0;
}
