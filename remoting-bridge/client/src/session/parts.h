/* What the other folders keep for each session, each in a structure of its own header, guarded as that header says. */
#ifndef GRAFT_SESSION_PARTS_H
#define GRAFT_SESSION_PARTS_H

#include "api/contexts.h"
#include "api/devices.h"
#include "api/objects.h"
#include "api/settle.h"
#include "api/streams.h"
#include "api/work_times.h"
#include "memory/known_data.h"
#include "memory/mirror_state.h"
#include "memory/place.h"
#include "memory/ranges.h"
#include "memory/shadow.h"
#include "memory/staging.h"
#include "memory/texture.h"
#include "module/code.h"

struct graft_session;

struct graft_parts {
  struct graft_objects objects;
  struct graft_devices devices;
  struct graft_primary_context primary_contexts[GRAFT_MAX_DEVICES];
  struct graft_object *last_context; /* that the program has made itself, NULL without one; atomic */
  bool has_made_contexts;            /* the program has ever made one itself; atomic */
  struct graft_stream_state streams;
  struct graft_settling settling;
  struct graft_host_functions host_functions;
  struct graft_ranges ranges;
  struct graft_mirror_list mirrors;
  struct graft_shadow_mappings shadow_mappings;
  struct graft_staging staging;
  struct graft_textures textures;
  struct graft_known_code known_code;
  struct graft_known_data known_data;
  struct graft_work_names work_names;
  uint64_t nowhere;      /* reserved addresses without memory, 0 as long as none are needed (memory/virtual.c); atomic */
  bool compiles_nothing; /* the server's device makes no machine code of PTX (module/jit_cache.c); atomic */
};

/* A session begins with its parts. */
static inline struct graft_parts *graft_parts(struct graft_session *session) { return (struct graft_parts *)session; }

#endif
