/* The file of a trace: an array of JSON objects, in the format of Chrome's trace viewer ("Trace Event Format", JSON Array Format), which Perfetto reads. The
 * format allows the closing bracket to be missing, so that the file of a program that was killed can be read, too. */
#ifndef GRAFT_TRACE_FILE_H
#define GRAFT_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* One row of the picture. */
struct graft_trace_row {
  uint64_t process;
  uint64_t thread;
};

/* Starts the file; "%p" in the path becomes the process's id. False with errno. The functions below write nothing before this, and nothing in a child that the
 * program forked. Any thread may call them. */
bool graft_trace_file_open(const char *path);
/* Something that took from "start" to "end", in nanoseconds of CLOCK_MONOTONIC. "more" holds further members of the object's "args", or is empty. */
void graft_trace_file_span(struct graft_trace_row row, const char *category, const char *name, uint64_t start, uint64_t end,
                           const char *more);
/* Names the row's process or thread ("process_name", "thread_name"). */
void graft_trace_file_name(struct graft_trace_row row, const char *what, const char *name);
/* Ends the file. */
void graft_trace_file_close(void);

#endif
