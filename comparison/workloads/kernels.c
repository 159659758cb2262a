/* Compute times as in the evaluation paper (its tables I, III and VI): the time from the first launch until the result is
 * available. Each result is compared with one that the CPU computes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

static float normal(float d) { return 0.5f * erfcf(-d * 0.70710678f); }

static float expected_call(float s, float x, float t) {
  float deviation = VOLATILITY * sqrtf(t);
  float d1 = (logf(s / x) + (RATE + 0.5f * VOLATILITY * VOLATILITY) * t) / deviation;
  return s * normal(d1) - x * expf(-RATE * t) * normal(d1 - deviation);
}

struct options_set {
  unsigned count, paths;
  float *price, *strike, *years, *call;
  devptr d_price, d_strike, d_years, d_call, d_put;
  handle function;
};

static devptr uploaded(const void *data, size_t bytes) {
  devptr memory = device_memory(bytes);
  CALL(cuMemcpyHtoD_v2(memory, data, bytes));
  return memory;
}

static struct options_set options_set(unsigned count) {
  struct options_set o = {.count = count};
  size_t bytes = count * sizeof(float);
  o.price = randoms(count, 5, 30);
  o.strike = randoms(count, 5, 30);
  o.years = randoms(count, 0.25f, 5);
  o.call = host_memory(bytes);
  o.d_price = uploaded(o.price, bytes);
  o.d_strike = uploaded(o.strike, bytes);
  o.d_years = uploaded(o.years, bytes);
  o.d_call = device_memory(bytes);
  o.d_put = device_memory(bytes);
  return o;
}

static void compare(struct options_set *o, const char *name, float relative, float absolute) {
  CALL(cuMemcpyDtoH_v2(o->call, o->d_call, o->count * sizeof(float)));
  for (unsigned i = 0; i < o->count; i++) {
    float e = expected_call(o->price[i], o->strike[i], o->years[i]);
    if (!(fabsf(o->call[i] - e) <= relative * e + absolute)) fail("%s: option %u is %g, not %g", name, i, o->call[i], e);
  }
}

static void release(struct options_set *o) {
  devptr all[] = {o->d_price, o->d_strike, o->d_years, o->d_call, o->d_put};
  for (int i = 0; i < 5; i++) CALL(cuMemFree_v2(all[i]));
  free(o->price);
  free(o->strike);
  free(o->years);
  free(o->call);
}

static void price_black_scholes(void *p) {
  struct options_set *o = p;
  void *arguments[] = {&o->d_price, &o->d_strike, &o->d_years, &o->d_call, &o->d_put, &o->count};
  launch(o->function, (o->count + BLOCK - 1) / BLOCK, BLOCK, NULL, arguments);
}
static void price_binomial(void *p) {
  struct options_set *o = p;
  void *arguments[] = {&o->d_price, &o->d_strike, &o->d_years, &o->d_call};
  launch(o->function, o->count, BLOCK, NULL, arguments);
}
static void price_monte_carlo(void *p) {
  struct options_set *o = p;
  void *arguments[] = {&o->d_price, &o->d_strike, &o->d_years, &o->d_call, &o->paths};
  launch(o->function, o->count, BLOCK, NULL, arguments);
}

static void price(const char *name, const char *function, void (*run)(void *), struct options_set o, float relative,
                  float absolute) {
  o.function = kernel(function);
  figure(name, 0, measured(run, &o) / 1e3, "ms");
  compare(&o, name, relative, absolute);
  release(&o);
}

/* ---- Fast Walsh transform ---- */

struct walsh {
  devptr data;
  unsigned count;
  handle function;
};

static void walsh(void *p) {
  struct walsh *w = p;
  unsigned pairs = w->count / 2;
  for (unsigned stride = 1; stride < w->count; stride *= 2) {
    void *arguments[] = {&w->data, &stride, &pairs};
    launch(w->function, (pairs + BLOCK - 1) / BLOCK, BLOCK, NULL, arguments);
  }
}

/* Transforming twice multiplies the input by the number of elements. */
static void walsh_transform(void) {
  struct walsh w = {.count = 1024, .function = kernel("walsh")};
  while (w.count * 2 <= scaled(1 << 16)) w.count *= 2;
  size_t bytes = w.count * sizeof(float);
  float *in = randoms(w.count, -1, 1), *out = host_memory(bytes);
  w.data = uploaded(in, bytes);
  walsh(&w);
  walsh(&w);
  CALL(cuMemcpyDtoH_v2(out, w.data, bytes));
  for (unsigned i = 0; i < w.count; i++) {
    if (!(fabsf(out[i] / (float)w.count - in[i]) < 1e-3f)) fail("walsh: element %u is %g, not %g", i, out[i] / (float)w.count, in[i]);
  }
  memset(out, 0, bytes);
  CALL(cuMemcpyHtoD_v2(w.data, out, bytes)); /* zeros, so that sums do not grow during the measurement */
  figure("walsh", 0, measured(walsh, &w) / 1e3, "ms");
  CALL(cuMemFree_v2(w.data));
  free(in);
  free(out);
}

/* ---- Concurrent kernels: eight streams, one block each ---- */

#define STREAMS 8
struct concurrent {
  handle streams[STREAMS], function;
  devptr sums;
  unsigned iterations;
};

static void concurrent(void *p) {
  struct concurrent *c = p;
  void *arguments[] = {&c->sums, &c->iterations};
  for (int i = 0; i < STREAMS; i++) launch(c->function, 1, 32, c->streams[i], arguments);
}

static void concurrent_kernels(void) {
  struct concurrent c = {.function = kernel("spin"), .sums = device_memory(32 * sizeof(float)), .iterations = scaled(20000)};
  for (int i = 0; i < STREAMS; i++) CALL(cuStreamCreate(&c.streams[i], 1));
  figure("concurrent-kernels", 0, measured(concurrent, &c) / 1e3, "ms");
  float first;
  CALL(cuMemcpyDtoH_v2(&first, c.sums, sizeof first));
  float sum = 500 * (1 - powf(0.999f, (float)c.iterations)); /* a geometric series */
  if (!close_to(first, sum, 0.01f)) fail("concurrent-kernels: the sum is %g, not %g", first, sum);
  CALL(cuMemFree_v2(c.sums));
}

/* ---- Multi-copy: host-to-device copy, kernel and device-to-host copy in four overlapping streams ---- */

#define LANES 4
struct lanes {
  handle streams[LANES], function;
  unsigned *host[LANES];
  devptr device[LANES];
  unsigned words;
};

static void overlapped(void *p) {
  struct lanes *l = p;
  for (int i = 0; i < LANES; i++) {
    void *arguments[] = {&l->device[i], &l->words};
    CALL(cuMemcpyHtoDAsync_v2(l->device[i], l->host[i], l->words * 4, l->streams[i]));
    launch(l->function, (l->words + BLOCK - 1) / BLOCK, BLOCK, l->streams[i], arguments);
    CALL(cuMemcpyDtoHAsync_v2(l->host[i], l->device[i], l->words * 4, l->streams[i]));
  }
}

static void multi_copy(void) {
  struct lanes l = {.function = kernel("bump"), .words = scaled(256 << 10)};
  for (int i = 0; i < LANES; i++) {
    CALL(cuStreamCreate(&l.streams[i], 1));
    l.host[i] = pinned_memory(l.words * 4);
    l.device[i] = device_memory(l.words * 4);
    memset(l.host[i], 0, l.words * 4);
  }
  double microseconds = timed(overlapped, &l, 5);
  for (int i = 0; i < LANES; i++) {
    for (unsigned k = 0; k < l.words; k++) {
      if (l.host[i][k] != 6) fail("multi-copy: word %u of lane %d is %u, not 6", k, i, l.host[i][k]);
    }
    CALL(cuMemFree_v2(l.device[i]));
    CALL(cuMemFreeHost(l.host[i]));
  }
  figure("multi-copy", (size_t)l.words * 4, 2.0 * LANES * l.words * 4 / microseconds, "MB/s");
}

void kernels(void) {
  if (wanted("black-scholes")) {
    price("black-scholes", "black_scholes", price_black_scholes, options_set(scaled(64 << 10)), 1e-3f, 1e-3f);
  }
  if (wanted("binomial")) price("binomial", "binomial", price_binomial, options_set(scaled(8)), 0.01f, 0.02f);
  if (wanted("monte-carlo")) {
    struct options_set o = options_set(scaled(8));
    o.paths = 16 << 10;
    price("monte-carlo", "monte_carlo", price_monte_carlo, o, 0.05f, 0.1f);
  }
  if (wanted("walsh")) walsh_transform();
  if (wanted("concurrent-kernels")) concurrent_kernels();
  if (wanted("multi-copy")) multi_copy();
}
