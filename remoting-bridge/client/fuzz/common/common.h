/* What the fuzzers share. */
#ifndef FUZZ_COMMON_H
#define FUZZ_COMMON_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* add: p[i] += v for n bytes. */
#define ADD_KERNEL                                                                                            \
  ".visible .entry add(.param .u64 p, .param .u64 n, .param .u32 v)\n{\n"                                     \
  ".reg .pred %q;\n.reg .b32 %r<8>;\n.reg .b64 %a<8>;\n.reg .b16 %h<3>;\n"                                    \
  "ld.param.u64 %a1, [p];\nld.param.u64 %a2, [n];\nld.param.u32 %r1, [v];\n"                                  \
  "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmov.u32 %r5, %nctaid.x;\n"            \
  "mad.lo.u32 %r6, %r2, %r3, %r4;\nmul.lo.u32 %r7, %r5, %r3;\ncvt.u64.u32 %a3, %r6;\ncvt.u64.u32 %a4, %r7;\n" \
  "LOOP:\nsetp.ge.u64 %q, %a3, %a2;\n@%q bra DONE;\nadd.u64 %a5, %a1, %a3;\nld.u8 %h1, [%a5];\n"              \
  "cvt.u16.u32 %h2, %r1;\nadd.u16 %h1, %h1, %h2;\nst.u8 [%a5], %h1;\nadd.u64 %a3, %a3, %a4;\nbra LOOP;\n"     \
  "DONE:\nret;\n}\n"

/* Pointers to the driver's functions, of a list F(name, parameters). */
#define DEFINE(name, parameters) int(*name) parameters;
#define FIND(name, parameters) name = (int(*) parameters)find_function(library, #name);

static inline void *open_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library) return library;
  fprintf(stderr, "%s\n", dlerror());
  exit(2);
}

static inline void *find_function(void *library, const char *name) {
  void *function = dlsym(library, name);
  if (function) return function;
  fprintf(stderr, "the driver has no %s\n", name);
  exit(2);
}

#endif
