/* Preloaded into a program, lists the private tables (cuGetExportTable) that its libraries ask the driver for, and the
 * slots that they call: one line each at the end of the process, in the file that SPY_OUT names.
 *
 *   asked GUID BYTES served|refused LIBRARY
 *   called GUID SLOT TIMES LIBRARY
 *
 * The slots are replaced in the driver's own table, since the CUDA runtime hashes the tables' addresses; the table that
 * holds that hash is left alone. x86-64. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TABLES = 64, SLOTS = 128, CALLERS = 4096, PAGE = 4096, JUMP = 12 };

struct table {
  uint8_t id[16];
  void **slots;
  size_t bytes;
  char asked_by[256];
};

struct slot {
  int table, index;
  void *real;
};

struct caller {
  void *slot, *address;
  uint64_t times;
};

static struct table tables[TABLES];
static int table_count;
static struct slot slots[TABLES * SLOTS];
static int slot_count;
static struct caller callers[CALLERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The entry points of cuGetExportTable: the exported one and the one that cuGetProcAddress returns. */
static uint8_t *entries[2], kept[2][JUMP];
static int entry_count;
static uint8_t *code;
static size_t code_used;

static const uint8_t integrity[16] = {0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b,
                                      0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2};

/* Tables without a slot 0 that holds their size: context-local storage. */
static const uint8_t unsized[16] = {0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11,
                                    0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93};

static const char *library_of(void *address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname) return "?";
  const char *slash = strrchr(info.dli_fname, '/');
  return slash ? slash + 1 : info.dli_fname;
}

/* Called by every replaced slot, before the driver's own function; no system call, no floating point. */
__attribute__((target("general-regs-only"), used)) static void note(struct slot *slot, void *address) {
  uintptr_t at = ((uintptr_t)address * 31 + (uintptr_t)slot) % CALLERS;
  for (int i = 0; i < CALLERS; i++, at = (at + 1) % CALLERS) {
    struct caller *c = &callers[at];
    if (!c->slot) {
      void *none = NULL;
      if (__atomic_compare_exchange_n(&c->slot, &none, slot, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&c->address, address, __ATOMIC_RELEASE);
      }
    }
    if (c->slot != (void *)slot) continue;
    void *there = __atomic_load_n(&c->address, __ATOMIC_ACQUIRE);
    if (there && there != address) continue;
    __atomic_fetch_add(&c->times, 1, __ATOMIC_RELAXED);
    return;
  }
}

/* Saves the arguments, records the call and jumps to the driver's function. rax holds the slot. */
__asm__(
    ".text\n.type spy_thunk,@function\nspy_thunk:\n"
    "push %rdi\npush %rsi\npush %rdx\npush %rcx\npush %r8\npush %r9\npush %rax\n"
    "mov %rax, %rdi\nmov 56(%rsp), %rsi\ncall note\n"
    "pop %rax\npop %r9\npop %r8\npop %rcx\npop %rdx\npop %rsi\npop %rdi\n"
    "jmp *8(%rax)\n");
extern void spy_thunk(void);

static void put_address(uint8_t **at, uint8_t opcode, const void *value) {
  *(*at)++ = 0x48;
  *(*at)++ = opcode;
  memcpy(*at, &value, 8);
  *at += 8;
}

/* mov $slot, %rax; mov $spy_thunk, %r11; jmp *%r11 */
static void *thunk_of(struct slot *slot) {
  uint8_t *start = code + code_used, *at = start;
  put_address(&at, 0xb8, slot);
  *at++ = 0x49, *at++ = 0xbb;
  void *thunk = (void *)spy_thunk;
  memcpy(at, &thunk, 8);
  at += 8;
  *at++ = 0x41, *at++ = 0xff, *at++ = 0xe3;
  code_used += 32;
  return start;
}

static void make_writable(void *address, size_t bytes, int protection) {
  uintptr_t first = (uintptr_t)address & -(uintptr_t)PAGE;
  if (mprotect((void *)first, (uintptr_t)address + bytes - first, protection)) perror("spy: mprotect");
}

static void replace(struct table *t) {
  size_t first = !memcmp(t->id, unsized, 16) ? 0 : 1;
  if (!memcmp(t->id, integrity, 16)) return;
  make_writable(t->slots, t->bytes, PROT_READ | PROT_WRITE);
  for (size_t i = first; i < t->bytes / sizeof(void *) && i < SLOTS; i++) {
    if (!t->slots[i] || slot_count == TABLES * SLOTS) continue;
    struct slot *s = &slots[slot_count++];
    *s = (struct slot){(int)(t - tables), (int)i, t->slots[i]};
    t->slots[i] = thunk_of(s);
  }
}

static void jump_to(void *target) {
  uint8_t bytes[JUMP] = {0x48, 0xb8};
  memcpy(bytes + 2, &target, 8);
  bytes[10] = 0xff, bytes[11] = 0xe0;
  for (int i = 0; i < entry_count; i++) memcpy(entries[i], bytes, JUMP);
}

static void put_back(void) {
  for (int i = 0; i < entry_count; i++) memcpy(entries[i], kept[i], JUMP);
}

static void add_entry(void *function) {
  if (!function || (entry_count && entries[0] == function)) return;
  entries[entry_count] = function;
  memcpy(kept[entry_count], function, JUMP);
  make_writable(function, JUMP, PROT_READ | PROT_WRITE | PROT_EXEC);
  entry_count++;
}

static int get_table(void **out, const uint8_t *id) {
  void *asking = __builtin_return_address(0);
  pthread_mutex_lock(&lock);
  put_back();
  int r = ((int (*)(void **, const uint8_t *))(void *)entries[0])(out, id);
  jump_to((void *)get_table);
  int i = 0;
  const char *library = library_of(asking);
  while (i < table_count && (memcmp(tables[i].id, id, 16) || strcmp(tables[i].asked_by, library))) i++;
  if (i == table_count && table_count < TABLES) {
    struct table *t = &tables[table_count++];
    memcpy(t->id, id, 16);
    snprintf(t->asked_by, sizeof t->asked_by, "%s", library);
    t->slots = r ? NULL : *out;
    t->bytes = r ? 0 : !memcmp(id, unsized, 16) ? 4 * sizeof(void *) : (size_t)(uintptr_t)t->slots[0];
    int seen = 0;
    for (int k = 0; k < i; k++) seen |= t->slots && tables[k].slots == t->slots;
    if (t->slots && !seen && t->bytes < 8192) replace(t);
  }
  pthread_mutex_unlock(&lock);
  return r;
}

__attribute__((constructor)) static void start(void) {
  if (!getenv("SPY_OUT")) return;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!driver) return;
  int (*find)(const char *, void **, int, uint64_t, void *) =
      (int (*)(const char *, void **, int, uint64_t, void *))dlsym(driver, "cuGetProcAddress_v2");
  code = mmap(NULL, TABLES * SLOTS * 32, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return;
  void *other = NULL;
  if (find && find("cuGetExportTable", &other, 3000, 0, NULL)) other = NULL;
  add_entry(dlsym(driver, "cuGetExportTable"));
  add_entry(other);
  jump_to((void *)get_table);
}

static void print_id(FILE *f, const uint8_t *id) {
  for (int i = 0; i < 16; i++) fprintf(f, "%02x", id[i]);
}

__attribute__((destructor)) static void finish(void) {
  const char *path = getenv("SPY_OUT");
  FILE *f = path && table_count ? fopen(path, "a") : NULL;
  if (!f) return;
  for (int i = 0; i < table_count; i++) {
    fputs("asked ", f);
    print_id(f, tables[i].id);
    fprintf(f, " %zu %s %s\n", tables[i].bytes, tables[i].slots ? "served" : "refused", tables[i].asked_by);
  }
  for (int i = 0; i < CALLERS; i++) {
    struct slot *s = callers[i].slot;
    if (!s) continue;
    fputs("called ", f);
    print_id(f, tables[s->table].id);
    fprintf(f, " %d %llu %s\n", s->index, (unsigned long long)callers[i].times, library_of(callers[i].address));
  }
  fclose(f);
}
