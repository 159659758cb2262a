/* Calls every function of the driver API with right and with wrong arguments and prints what it returns: the same
 * program natively and through the client, so that two outputs can be compared.
 *
 * answers_table.h is generated from driver.api (AnswersGenerator): each function with its parameters. world.c makes the
 * arguments of a right call, cases.c lists the wrong ones, run.h has the processes that run the cases, because a case may crash
 * or hang the driver. */
#ifndef GRAFT_ANSWERS_H
#define GRAFT_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_PARAMETERS 20
#define BUFFER_BYTES 4096

/* What a parameter is. */
enum {
  HANDLE = 'h',  /* a handle */
  ENDS = 'D',    /* a handle that the call ends */
  HANDLES = 'i', /* a pointer to handles that the call reads */
  BLOCK = 'b',   /* a pointer to a structure or to numbers that the call reads */
  RESULT = 'o',  /* a pointer to what the call writes */
  POINTER = 'p', /* a pointer; driver.api does not say to what */
  TEXT = 's',
  ADDRESS = 'd', /* a device address */
  DEVICE = 'v',
  ENUM = 'e',
  NUMBER = 'n',
  FLOAT = 'f',
  STRUCTURE = 'x' /* a structure of 64 bytes by value */
};

struct parameter {
  char kind;
  short handle; /* of handles: the kind, as enum graft_kind numbers it */
  short bytes;  /* of one element */
  const char *name;
};

struct function {
  const char *name;
  int count;
  struct parameter parameters[MAX_PARAMETERS];
};

/* The state in which a function is called. */
enum state { USABLE, UNINITIALIZED, NO_CONTEXT, CAPTURING };

/* One case: a parameter and the value that it gets instead of the right one. */
struct answer_case {
  const struct function *function;
  enum state state;
  int parameter; /* -1: all are right */
  enum {
    VALUE,
    EMPTY_BLOCK,
    ONES_BLOCK,
    HOLDS,
    OTHER_KIND,
    MEMORY_HANDLE,
    HOST_ADDRESS,
    PAST_END,
    ATTRIBUTE,
    STRING,
    DESTROYED
  } how;
  uint64_t value;
  char label[64];
};

/* The arguments of one call. Each pointer argument has a buffer of its own. */
struct arguments {
  uint64_t value[MAX_PARAMETERS];
  float floats[MAX_PARAMETERS];
  void *buffer[MAX_PARAMETERS];
};

/* cases.c: the cases of a function; returns their number. Called with NULL, it only counts. */
int list_cases(const struct function *function, struct answer_case *to);
/* Replaces the argument that the case makes wrong; false if that one cannot be made. */
bool spoil(const struct answer_case *one, struct arguments *arguments);
/* Whether the call's result depends on the value behind this pointer, which is then part of the answer. */
bool is_observed(const struct function *function, const struct parameter *parameter);
bool is_excluded(const struct function *function);
/* Whether there are cases with handles that point nowhere. */
extern bool has_wild_handles;

/* world.c: what a right call needs. */
bool world_open(void);
void world_right(const struct function *function, struct arguments *arguments);
/* What of an argument's object is gone: the object itself, a node whose graph is left, or the context of the object. */
enum gone { OBJECT, NODE_ALONE, CONTEXT_ALONE };
/* Whether a right argument is or names an object of which that can be gone. */
bool world_can_be_gone(const struct function *function, const struct parameter *parameter, enum gone what);
/* Makes the right argument once more, with objects of its own, and destroys them. Nothing is made behind it, so that no other object
 * can have the handle. */
bool world_destroyed(const struct function *function, int parameter, enum gone what, struct arguments *arguments);
/* Puts the process into the state of the case, after its arguments have been made. */
void world_enter(enum state state);
/* Leaves it again, and waits for the work: later is the error that this returns. False if the process cannot be used any longer. */
bool world_leave(enum state state, int *later);
/* Whether the process can still make objects, behind a crash. */
bool world_is_usable(void);
/* Ends the registration of an argument, which later cases have too. */
void world_unregister(uint64_t address);
/* Forgets the objects, since the call may have ended them. */
void world_forget(void);
void *world_symbol(const char *name);
uint64_t world_handle(int kind, const struct function *function);
uint64_t world_memory(void);
#define WORLD_MEMORY_BYTES 65536

#endif
