/* usage: nvml LIBRARY NAMES
 * Tests libnvidia-ml.so.1 without a server: it has every name that NVIDIA's library has (by the list, and by nvml.h where the CUDA
 * toolkit is installed), and every function bears NULL arguments before nvmlInit. */
#include <ctype.h>
#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNINITIALIZED = 1, INVALID_ARGUMENT = 2 };

static int passed, failed;

static void check(bool holds, const char *what, const char *name) {
  if (holds) {
    passed++;
  } else {
    failed++;
    printf("FAILED: %s %s\n", name, what);
  }
}

static int call_with_null(void *symbol) {
  int (*function)(void *, void *, void *, void *, void *, void *);
  memcpy(&function, &symbol, sizeof symbol);
  return function(NULL, NULL, NULL, NULL, NULL, NULL);
}

/* Functions that need no nvmlInit. */
static bool needs_no_start(const char *name) {
  return !strncmp(name, "nvmlInit", 8) || !strcmp(name, "nvmlErrorString") || !strcmp(name, "nvmlSystemGetNVMLVersion") ||
         !strcmp(name, "nvmlInternalGetExportTable");
}

static int listed(void *library, const char *path) {
  char name[256];
  int count = 0;
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  while (fgets(name, sizeof name, file)) {
    name[strcspn(name, "\n")] = 0;
    if (*name == '#' || !*name) continue;
    void *symbol = dlsym(library, name);
    check(symbol != NULL, "is exported", name);
    if (symbol && !needs_no_start(name)) check(call_with_null(symbol) == UNINITIALIZED, "needs nvmlInit", name);
    count++;
  }
  fclose(file);
  return count;
}

/* Every name that a header declares as a function: "DECLDIR nvmlNAME(". */
static void declared(void *library, const char *path) {
  char line[4096];
  FILE *file = fopen(path, "r");
  if (!file) return;
  while (fgets(line, sizeof line, file)) {
    char *at = strstr(line, "DECLDIR nvml"), *name = at ? at + strlen("DECLDIR ") : NULL;
    if (!name) continue;
    char *end = name;
    while (isalnum((unsigned char)*end) || *end == '_') end++;
    if (*end != '(') continue;
    *end = 0;
    check(dlsym(library, name) != NULL, "of nvml.h is exported", name);
  }
  fclose(file);
}

static void texts(void *library) {
  void *symbol = dlsym(library, "nvmlErrorString");
  const char *(*error_string)(int);
  memcpy(&error_string, &symbol, sizeof symbol);
  const int codes[] = {-1, 0, 1, 2, 3, 29, 30, 999, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) check(error_string(codes[i])[0] != 0, "has a text", "nvmlErrorString");
  check(!strcmp(error_string(INVALID_ARGUMENT), "Invalid Argument"), "names the error", "nvmlErrorString");
  char version[4];
  int (*get)(char *, unsigned);
  symbol = dlsym(library, "nvmlSystemGetNVMLVersion");
  memcpy(&get, &symbol, sizeof symbol);
  check(get(version, sizeof version) == 7, "needs room for the text", "nvmlSystemGetNVMLVersion");
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) {
    printf("FAILED: %s\n", dlerror());
    return 1;
  }
  check(listed(library, argv[2]) > 390, "has the names", argv[2]);
  glob_t headers;
  if (!glob("/usr/local/cuda*/include/nvml.h", 0, NULL, &headers)) {
    for (size_t i = 0; i < headers.gl_pathc; i++) declared(library, headers.gl_pathv[i]);
    globfree(&headers);
  }
  texts(library);
  printf("client-nvml: %d passed, %d failed\n", passed, failed);
  return failed != 0;
}
