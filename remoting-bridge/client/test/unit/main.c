/* Unit tests of the client's own parts, built with its sources under the sanitizers. Prints "N passed, N failed". */
#include <stdio.h>

#include "unit.h"

static int passed, failed;

void unit_check(bool holds, const char *file, int line, const char *condition) {
  if (holds) {
    passed++;
  } else {
    failed++;
    printf("%s:%d: failed: %s\n", file, line, condition);
  }
}

int main(void) {
  test_api();
  test_trace();
  test_base();
  test_memory();
  test_transport();
  test_tls();
  test_certificates();
  test_tls_records();
  test_blocks();
  test_module();
  test_nvlinks();
  test_activity();
  test_work_times();
  test_session(); /* last: it leaves the process with a session that could not be opened */
  printf("client-unit: %d passed, %d failed\n", passed, failed);
  return failed != 0;
}
