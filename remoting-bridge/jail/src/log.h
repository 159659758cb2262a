// The measuring mode: a process beside the worker logs each kind of system call that is in no set, and allows it.
#pragma once

// Opens the file while it is still visible.
void open_log(const char *path);

// Starts the process. Returns the descriptor over which the process gets the filter's descriptor.
int start_log(void);

void hand_to_log(int logger, int listener);
