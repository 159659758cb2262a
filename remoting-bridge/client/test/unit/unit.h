/* Shared by the unit tests. Most files test one folder of src. */
#ifndef GRAFT_TEST_UNIT_H
#define GRAFT_TEST_UNIT_H

#include <stdbool.h>

struct graft_config;

/* Counts a check, and prints one that fails. */
void unit_check(bool holds, const char *file, int line, const char *condition);
#define CHECK(condition) unit_check(condition, __FILE__, __LINE__, #condition)

/* Reads a configuration file with this text. The reason has room for 400 bytes. */
bool config_from(const char *text, struct graft_config *config, char *reason);

void test_activity(void);
void test_api(void);
void test_base(void);
void test_blocks(void);
void test_certificates(void);
void test_memory(void);
void test_module(void);
void test_nvlinks(void);
void test_session(void);
void test_tls(void);
void test_tls_records(void);
void test_trace(void);
void test_transport(void);
void test_work_times(void);

#endif
