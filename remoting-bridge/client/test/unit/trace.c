/* Tests of src/api/trace_file.c: whatever names a program's kernels have, the file can be read. */
#include "api/trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static char folder[] = "/tmp/graft-trace-XXXXXX";
static const struct graft_trace_row row = {7, 8};

static char *in_folder(const char *name) {
  static char path[200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* The file's text, which the caller frees. */
static char *text_of(const char *path) {
  FILE *file = fopen(path, "re");
  char *text = calloc(1, 1 << 20);
  if (file) {
    size_t bytes = fread(text, 1, (1 << 20) - 1, file);
    text[bytes] = 0;
    fclose(file);
  }
  return text;
}

static void names_are_quoted(void) {
  CHECK(graft_trace_file_open(in_folder("a")));
  graft_trace_file_span(row, "kernel", "say \"no\" \\ \n\x01\xff\xc3\xa4", 1000, 3500, "\"bytes\":5");
  graft_trace_file_close();
  char *text = text_of(in_folder("a"));
  CHECK(!strcmp(
      text,
      "[\n{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"say \\\"no\\\" \\\\ ?????\",\"ts\":1.000,\"dur\":2.500,\"pid\":7,\"tid\":8,"
      "\"args\":{\"bytes\":5}}\n]\n"));
  free(text);
}

/* Each object is cut alone, also where the buffer ends. */
static void long_names_are_cut(void) {
  static char name[20000];
  memset(name, '"', sizeof name - 1);
  CHECK(graft_trace_file_open(in_folder("b")));
  for (int i = 0; i < 40; i++) graft_trace_file_span(row, name, name, 5, 1, "");
  graft_trace_file_name(row, "thread_name", name);
  graft_trace_file_close();
  char *text = text_of(in_folder("b"));
  size_t lines = 0, longest = 0;
  for (char *at = text, *next; (next = strchr(at, '\n')); at = next + 1) {
    if (longest < (size_t)(next - at)) longest = (size_t)(next - at);
    lines++;
  }
  CHECK(lines == 43 && longest > 16384 && longest < 16600);
  CHECK(!strcmp(text + strlen(text) - 6, "\"}}\n]\n"));
  CHECK(strstr(text, ",\"ts\":0.005,\"dur\":0.000,"));
  free(text);
}

static void a_child_writes_nothing(void) {
  CHECK(graft_trace_file_open(in_folder("c-%p-c")));
  graft_trace_file_span(row, "call", "ours", 1, 2, "");
  pid_t child = fork();
  if (!child) {
    graft_trace_file_span(row, "call", "the child's", 1, 2, "");
    graft_trace_file_close();
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && !status);
  graft_trace_file_close();
  char name[60];
  snprintf(name, sizeof name, "c-%ld-c", (long)getpid());
  char *text = text_of(in_folder(name));
  CHECK(strstr(text, "ours") && !strstr(text, "child") && strstr(text, "}\n]\n"));
  free(text);
}

static void what_cannot_be_opened_is_refused(void) {
  CHECK(!graft_trace_file_open(in_folder("none/file")) && errno == ENOENT);
  CHECK(!symlink("/dev/null", in_folder("link")));
  CHECK(!graft_trace_file_open(in_folder("link")) && errno == ELOOP);
  graft_trace_file_span(row, "call", "nowhere", 1, 2, ""); /* nothing is open */
  graft_trace_file_close();
}

void test_trace(void) {
  CHECK(mkdtemp(folder));
  CHECK(graft_trace_file_open(in_folder("empty")));
  graft_trace_file_close();
  char *text = text_of(in_folder("empty"));
  CHECK(!strcmp(text, "[\n]\n"));
  free(text);
  names_are_quoted();
  long_names_are_cut();
  a_child_writes_nothing();
  what_cannot_be_opened_is_refused();
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CHECK(!system(command));
}
