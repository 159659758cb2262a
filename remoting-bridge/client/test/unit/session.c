/* The names of the driver's functions, the errors of a program without a server, and how data connections are opened. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../fake_server.h"
#include "api/rpc.h"
#include "graft_rpc.h"
#include "session/session.h"
#include "session/state.h"
#include "transport/tls.h"
#include "unit.h"

/* Names and versions as in CUDA's own typedefs. */
static void procedures(void) {
  extern int cuGetProcAddress_v2(const char *, void *, int, uint64_t, void *);
  extern int cuGetProcAddress(const char *, void *, int, uint64_t);
  void *found, *other;
  int status;
  CHECK(cuGetProcAddress_v2("cuMemAlloc", &found, 12000, 0, &status) == 0 && found == (void *)cuMemAlloc_v2 && status == 0);
  CHECK(cuGetProcAddress_v2("cuMemAlloc", &found, 2000, 0, &status) == 0 && found && found != (void *)cuMemAlloc_v2);
  CHECK(cuGetProcAddress_v2("cuStreamGetCaptureInfo", &found, 12030, 0, &status) == 0 &&
        found == (void *)cuStreamGetCaptureInfo_v3);
  CHECK(cuGetProcAddress_v2("cuCtxSynchronize", &found, 12090, 0, &status) == 0 && found == (void *)cuCtxSynchronize);
  CHECK(cuGetProcAddress_v2("cuNoSuchThing", &found, 13000, 0, &status) == 0 && !found && status == 1);
  CHECK(cuGetProcAddress_v2("cuKernelGetFunction", &found, 11000, 0, &status) == 0 && !found && status == 2);
  CHECK(cuGetProcAddress("cuNoSuchThing", &found, 13000, 0) == 500);
  CHECK(cuGetProcAddress_v2("cuGetProcAddress", &found, 13000, 0, &status) == 0 && found == (void *)cuGetProcAddress_v2);
  CHECK(cuGetProcAddress_v2("cuGetProcAddress", &found, 11030, 0, &status) == 0 && found == (void *)cuGetProcAddress);
  CHECK(cuGetProcAddress_v2("cuLaunchKernel", &found, 12000, 2, &status) == 0);
  CHECK(cuGetProcAddress_v2("cuLaunchKernel", &other, 12000, 0, &status) == 0 && other != found);
}

/* Without a server every entry point returns an error, and none crashes. */
static void no_server(void) {
  setenv("GRAFT_CONFIG", "/dev/null", 1);
  setenv("GRAFT_SERVER", "tcp://127.0.0.1:1", 1);
  int value;
  uint64_t pointer;
  CHECK(cuMemAlloc_v2(&pointer, 16) == GRAFT_NOT_INITIALIZED);
  /* A call that goes to the server does not open a session before cuInit; nor is it sent to one. */
  CHECK(cuStreamQuery(NULL) == GRAFT_NOT_INITIALIZED);
  CHECK(cuEventCreate(NULL, 0) == GRAFT_NOT_INITIALIZED);
  CHECK(cuModuleGetLoadingMode(&value) == GRAFT_NOT_INITIALIZED);
  CHECK(cuInit(0) == GRAFT_NO_DEVICE);
  CHECK(cuInit(0) == GRAFT_NO_DEVICE);
  CHECK(cuDeviceGetCount(&value) == GRAFT_NOT_INITIALIZED);
  CHECK(cuMemFree_v2(4096) == GRAFT_NOT_INITIALIZED);
  CHECK(cuCtxSynchronize() == GRAFT_NOT_INITIALIZED);
  CHECK(cuDriverGetVersion(&value) == 0 && value == 13000);
}

/* ---- Data connections ---- */

enum { CONNECTIONS = 3 };

/* A session whose server is the listener. Its secret is that of fake_handshake's tokens. The session is never freed, as its threads go on. */
static struct graft_session *session_with(int port, uint64_t greeting) {
  struct graft_session *s = calloc(1, sizeof *s);
  graft_session_init(s);
  snprintf(s->config.server, sizeof s->config.server, "tcp://127.0.0.1:%d", port);
  s->config.data_connections = CONNECTIONS;
  s->connection.transport = &graft_socket_transport;
  s->key.session = 1;
  s->key.greeting_nanoseconds = greeting;
  return s;
}

/* Accepts the connections, one after another. */
static int accepted[CONNECTIONS];
static void *serve(void *listener) {
  for (int i = 0; i < CONNECTIONS; i++) {
    accepted[i] = accept(*(int *)listener, NULL, NULL);
    if (!fake_handshake(accepted[i])) return NULL;
  }
  return listener;
}

/* Whether the other end shuts the connection down. */
static bool is_shut_down(int fd) {
  char byte;
  return recv(fd, &byte, 1, 0) == 0;
}

static bool becomes_ready(struct graft_session *s) {
  for (int i = 0; i < 6000; i++) {
    if (graft_data_connections_ready(s) && __atomic_load_n(&s->data.count, __ATOMIC_ACQUIRE) == CONNECTIONS) return true;
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  }
  return false;
}

static void near_server(void) {
  int port, listener = fake_listen(&port);
  pthread_t server;
  void *served;
  struct graft_session *s = session_with(port, 0);
  pthread_create(&server, NULL, serve, &listener);
  CHECK(graft_data_connections_ready(s) && s->data.count == CONNECTIONS); /* opened by this call */
  pthread_join(server, &served);
  CHECK(served);
  graft_session_die(s, "the test is over", 0);
  for (int i = 0; i < CONNECTIONS; i++) CHECK(is_shut_down(accepted[i]));
  close(listener);
}

/* No call waits for a server that is far away. This one answers no greeting before the first two calls have returned. */
static void far_server(void) {
  int port, listener = fake_listen(&port);
  pthread_t server;
  void *served;
  struct graft_session *s = session_with(port, 150000000);
  CHECK(!graft_data_connections_ready(s) && !graft_data_connections_ready(s));
  pthread_create(&server, NULL, serve, &listener);
  CHECK(becomes_ready(s));
  pthread_join(server, &served);
  CHECK(served);
  graft_session_die(s, "the test is over", 0);
  for (int i = 0; i < CONNECTIONS; i++) CHECK(is_shut_down(accepted[i]));
  close(listener);
}

/* Connections that are opened after the session's end are shut down as well. */
static void far_server_of_an_ended_session(void) {
  int port, listener = fake_listen(&port);
  pthread_t server;
  void *served;
  struct graft_session *s = session_with(port, 150000000);
  CHECK(!graft_data_connections_ready(s));
  graft_session_die(s, "the test is over", 0);
  pthread_create(&server, NULL, serve, &listener);
  pthread_join(server, &served);
  CHECK(served);
  for (int i = 0; i < CONNECTIONS; i++) CHECK(is_shut_down(accepted[i]));
  close(listener);
}

/* ---- TLS: its first message comes with the proof, before the welcome ---- */

static bool awaits_greeting(int fd) {
  uint8_t type;
  return recv(fd, &type, 1, MSG_PEEK) == 1 && type == 22; /* a record of TLS's handshake */
}

static bool is_encrypted; /* whether the server's end of TLS has opened */
static void *serve_encrypted(void *listener) {
  char reason[400];
  int fd = accept(*(int *)listener, NULL, NULL);
  struct graft_tls *tls = NULL;
  if (fake_handshake(fd)) tls = graft_tls_open(fd, true, fake_tls_key, GRAFT_HANDSHAKE_MILLISECONDS, reason, sizeof reason);
  is_encrypted = tls;
  graft_tls_close(tls);
  close(fd);
  return NULL;
}

static bool connects_encrypted(char *reason, size_t size) {
  int port, listener = fake_listen(&port);
  pthread_t server;
  struct graft_session *s = session_with(port, 0);
  struct graft_connection connection;
  s->config.encryption = GRAFT_ENCRYPTION_ALWAYS;
  fake_before_welcome = awaits_greeting;
  pthread_create(&server, NULL, serve_encrypted, &listener);
  bool connected = graft_connect_further(&s->config, &s->key, GRAFT_FOR_CALLBACKS, &connection, reason, size);
  if (connected) graft_connection_close(&connection);
  pthread_join(server, NULL);
  fake_before_welcome = NULL;
  close(listener);
  return connected;
}

static void tls_greeting(void) {
  char reason[400] = "";
  CHECK(connects_encrypted(reason, sizeof reason) && is_encrypted);
  fake_knows_token = false; /* the client goes no further with a server that does not prove itself */
  CHECK(!connects_encrypted(reason, sizeof reason) && !is_encrypted && strstr(reason, "may not be the server it claims to be"));
  fake_knows_token = true;
}

void test_session(void) {
  procedures();
  no_server();
  int milliseconds = fake_milliseconds;
  fake_milliseconds = -1; /* the client may be slow under a sanitizer */
  near_server();
  far_server();
  far_server_of_an_ended_session();
  tls_greeting();
  fake_milliseconds = milliseconds;
}
