/* The cost of calls: a launch without and with a wait for its end, a tiny copy, an allocation. */
#include <stdlib.h>

#include "workload.h"

void launches(void) {
  handle nothing = kernel("nothing"), stream;
  CALL(cuStreamCreate(&stream, 1));
  unsigned rounds = scaled(400), burst = scaled(500);
  double *each = host_memory(rounds * sizeof *each);
  for (int i = 0; i < 50; i++) launch(nothing, 1, 1, stream, NULL);
  CALL(cuStreamSynchronize(stream));

  double start = now();
  for (unsigned i = 0; i < burst; i++) launch(nothing, 1, 1, stream, NULL);
  double issued = now() - start;
  CALL(cuStreamSynchronize(stream));
  figure("launch-asynchronous", 0, issued / burst, "us");
  figure("launch-rate", 0, burst / (now() - start) * 1e6, "1/s");

  for (unsigned i = 0; i < rounds; i++) {
    start = now();
    launch(nothing, 1, 1, stream, NULL);
    CALL(cuStreamSynchronize(stream));
    each[i] = now() - start;
  }
  figures("launch-and-wait", 0, each, (int)rounds, "us");

  devptr word = device_memory(4);
  unsigned value = 7;
  for (unsigned i = 0; i < rounds; i++) {
    start = now();
    CALL(cuMemcpyDtoH_v2(&value, word, sizeof value));
    each[i] = now() - start;
  }
  figures("read-one-word", 0, each, (int)rounds, "us");

  for (unsigned i = 0; i < rounds; i++) {
    devptr p;
    start = now();
    CALL(cuMemAlloc_v2(&p, 1 << 20));
    CALL(cuMemFree_v2(p));
    each[i] = now() - start;
  }
  figures("allocate-and-free", 0, each, (int)rounds, "us");
  free(each);
}
