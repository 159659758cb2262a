// The measuring mode: a process beside the worker writes down each kind of call that is in no set, and lets it go on.
#pragma once

// Opens the file, before it is out of sight.
void open_log(const char *path);

// Starts the process; the descriptor by which it gets the filter's.
int start_log(void);

void hand_to_log(int logger, int listener);
