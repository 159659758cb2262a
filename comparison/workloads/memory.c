/* Patterns of memory and compute, as in SHOC's level 0 (the device's limits) and level 1 (small kernels). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

static unsigned n, side;
static devptr a, b, c;

struct run {
  handle function;
  unsigned blocks, threads, blocks_y, threads_y;
  void **arguments;
};

static void once(void *p) {
  struct run *r = p;
  CALL(cuLaunchKernel(r->function, r->blocks, r->blocks_y ? r->blocks_y : 1, 1, r->threads, r->threads_y ? r->threads_y : 1,
                      1, 0, NULL, r->arguments, NULL));
}

/* Runs the kernel and prints AMOUNT (bytes or operations of one launch) per second in units of 10^9. */
static void rate(const char *name, struct run r, double amount, const char *unit) {
  figure(name, 0, amount / measured(once, &r) / 1e3, unit);
}

static float at(devptr memory, unsigned index) {
  float value;
  CALL(cuMemcpyDtoH_v2(&value, memory + (devptr)index * sizeof value, sizeof value));
  return value;
}

static void expect(const char *name, float got, float expected) {
  if (!close_to(got, expected, 1e-3f)) fail("%s: %g, not %g", name, got, expected);
}

static void fill(devptr memory, float value) {
  void *arguments[] = {&memory, &n, &value};
  struct run r = {kernel("write_all"), 256, BLOCK, 0, 0, arguments};
  once(&r);
}

static void level0(void) {
  unsigned iterations = scaled(2000), stride = 1, grid = 64;
  if (wanted("peak-flops")) {
    void *arguments[] = {&a, &iterations};
    rate("peak-flops", (struct run){kernel("peak"), grid, BLOCK, 0, 0, arguments}, 8.0 * iterations * grid * BLOCK, "GFLOP/s");
  }
  fill(b, 1);
  void *reading[] = {&b, &a, &n, &stride};
  struct run read = {kernel("read_strided"), grid, BLOCK, 0, 0, reading};
  if (wanted("read-in-order")) rate("read-in-order", read, 4.0 * n, "GB/s");
  stride = 33;
  if (wanted("read-strided")) rate("read-strided", read, 4.0 * n, "GB/s");
  if (wanted("write")) {
    float value = 2;
    void *arguments[] = {&c, &n, &value};
    rate("write", (struct run){kernel("write_all"), grid, BLOCK, 0, 0, arguments}, 4.0 * n, "GB/s");
    expect("write", at(c, n - 1), 2);
  }
  if (wanted("read-shared")) {
    void *arguments[] = {&a, &iterations};
    rate("read-shared", (struct run){kernel("read_shared"), grid, BLOCK, 0, 0, arguments}, 4.0 * iterations * grid * BLOCK, "GB/s");
  }
}

static void products(void) {
  if (wanted("sgemm")) {
    fill(a, 1);
    fill(b, 2);
    void *arguments[] = {&a, &b, &c, &side};
    rate("sgemm", (struct run){kernel("sgemm"), side / TILE, TILE, side / TILE, TILE, arguments}, 2.0 * side * side * side, "GFLOP/s");
    expect("sgemm", at(c, side * side - 1), 2.0f * (float)side);
  }
  if (wanted("spmv")) {
    unsigned rows = n / 16, entries = 8;
    unsigned *row = host_memory((rows + 1) * sizeof *row), *column = host_memory((size_t)rows * entries * sizeof *column);
    for (unsigned i = 0; i <= rows; i++) row[i] = i * entries;
    for (unsigned i = 0; i < rows * entries; i++) column[i] = (unsigned)rand_r(&options.seed) % rows;
    devptr d_row = device_memory((rows + 1) * 4), d_column = device_memory((size_t)rows * entries * 4);
    CALL(cuMemcpyHtoD_v2(d_row, row, (rows + 1) * 4));
    CALL(cuMemcpyHtoD_v2(d_column, column, (size_t)rows * entries * 4));
    fill(a, 3);
    fill(b, 2);
    void *arguments[] = {&d_row, &d_column, &a, &b, &c, &rows};
    rate("spmv", (struct run){kernel("spmv"), (rows + BLOCK - 1) / BLOCK, BLOCK, 0, 0, arguments}, 2.0 * rows * entries, "GFLOP/s");
    expect("spmv", at(c, rows - 1), 6.0f * (float)entries);
    CALL(cuMemFree_v2(d_row));
    CALL(cuMemFree_v2(d_column));
    free(row);
    free(column);
  }
}

static void level1(void) {
  if (wanted("triad")) {
    float factor = 3;
    fill(b, 1);
    fill(c, 2);
    void *arguments[] = {&a, &b, &c, &factor, &n};
    rate("triad", (struct run){kernel("triad"), (n + BLOCK - 1) / BLOCK, BLOCK, 0, 0, arguments}, 12.0 * n, "GB/s");
    expect("triad", at(a, n - 1), 7);
  }
  if (wanted("reduction")) {
    unsigned blocks = 64;
    fill(b, 1);
    void *arguments[] = {&b, &c, &n};
    rate("reduction", (struct run){kernel("reduce"), blocks, BLOCK, 0, 0, arguments}, 4.0 * n, "GB/s");
    float sum = 0;
    for (unsigned i = 0; i < blocks; i++) sum += at(c, i);
    expect("reduction", sum, (float)n);
  }
  if (wanted("scan")) {
    fill(b, 1);
    void *arguments[] = {&b, &c};
    rate("scan", (struct run){kernel("scan"), n / BLOCK, BLOCK, 0, 0, arguments}, 8.0 * n, "GB/s");
    expect("scan", at(c, n - 1), BLOCK);
  }
  if (wanted("stencil")) {
    fill(b, 1);
    void *arguments[] = {&b, &c, &side, &side};
    rate("stencil", (struct run){kernel("stencil"), (side + BLOCK - 1) / BLOCK, BLOCK, side, 0, arguments}, 8.0 * side * side, "GB/s");
    expect("stencil", at(c, side + 1), 1);
  }
  products();
}

/* All patterns use the same arrays of n floats, where n is a power of two, at least 2^16; the matrices are SIDE x SIDE. */
void patterns(void) {
  side = 256;
  while ((double)side * 2 * side * 2 <= 65536 * options.scale) side *= 2;
  n = side * side;
  a = device_memory(n * sizeof(float));
  b = device_memory(n * sizeof(float));
  c = device_memory(n * sizeof(float));
  level0();
  level1();
}
