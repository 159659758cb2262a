/* Counts of calls, round trips and bytes (GRAFT_STATS). */
#ifndef GRAFT_STATS_H
#define GRAFT_STATS_H

#include <stddef.h>
#include <stdint.h>

void graft_stats_call(int function, size_t bytes, size_t bulk);
void graft_stats_round_trip(int function, uint64_t nanoseconds);
void graft_stats_received(size_t bytes);
/* Data that was not sent because the server had it. */
void graft_stats_known(size_t bytes);
/* Data of mirrored memory, to and from the server on its own connection. */
void graft_stats_brought(size_t bytes);
void graft_stats_fetched(size_t bytes);
void graft_stats_enable(void);

#endif
