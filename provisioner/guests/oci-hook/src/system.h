// The few system calls and string functions that the hook needs. Without a C library nothing reads the environment, and
// the program that is copied into every guest stays small.
#pragma once
#include <stddef.h>

// Each returns a negative error number when it fails.
long sys_read(int fd, void *buffer, size_t room);
long sys_write(int fd, const void *bytes, size_t count);
long sys_close(int fd);
long sys_openat(int folder, const char *path, int flags);
long sys_openat2(int folder, const char *path, const void *how, size_t size);
long sys_symlinkat(const char *target, int folder, const char *path);
long sys_getdents64(int folder, void *entries, size_t room);
long sys_open_tree(int folder, const char *path, unsigned flags);
// Mounts a tree on a file or folder; both are descriptors.
long sys_move_mount(int tree, int target);

size_t text_length(const char *text);
int text_equal(const char *one, const char *other);
// Writes three texts one after the other; what has no room is left out.
void join(char *to, size_t room, const char *one, const char *two, const char *three);
int is_in(char wanted, const char *set);
