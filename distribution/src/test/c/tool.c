/* With TOOL a library that asks the driver twice for a private table that nobody has; else a program that loads a library and lets it ask. */
#include <dlfcn.h>
#include <stdio.h>

int cuGetExportTable(const void **table, const void *id);
int cuInit(unsigned flags);

#ifdef TOOL
int ask(void) {
  static const unsigned char id[16] = {1, 2, 3};
  const void *table;
  int first = cuGetExportTable(&table, id), second = cuGetExportTable(&table, id);
  return first && second && !table ? 0 : 1; /* not a tail call, so that the caller is this library */
}
#else
int main(int count, char **arguments) {
  if (count != 2 || cuInit(0) || cuInit(0)) return 2;
  void *library = dlopen(arguments[1], RTLD_NOW);
  if (!library) return printf("%s\n", dlerror()), 3;
  int (*ask)(void) = (int (*)(void))dlsym(library, "ask");
  return ask ? ask() : 4;
}
#endif
