// An OCI hook (createContainer) that CDI calls for containers with Graft's vGPU: links the client, which is mounted at
// /usr/lib/graft, into a folder that the container's loader searches. A library that is there already, such as that
// of a real driver, stays. It also makes the memory that the guest shares with the server writable in the container,
// which sees the rest of /sys read-only.
//
// The runtime calls the hook with the guest's root rights, and the container's image is not trusted. So the hook
// executes nothing, reads nothing of the environment, follows links only within the container's root (openat2), and
// makes nothing but links, and mounts of the guest's own files in the container's mount namespace.
// https://github.com/opencontainers/runtime-spec/blob/main/config.md#posix-platform-hooks
#include <asm/errno.h>
#include <asm/fcntl.h>
#include <linux/fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include "json.h"
#include "system.h"

enum { LARGEST_STATE = 1 << 20, LARGEST_CONFIG = 8 << 20, LONGEST_PATH = 4096, LARGEST_FOLDER = 32768 };

// An entry of a folder, as getdents64 writes it.
struct entry {
  uint64_t inode;
  int64_t next;
  unsigned short size;
  unsigned char type;
  char name[];
};

// The loaders' own folders: Debian's, Fedora's and SUSE's, and those of others.
static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64", "/usr/lib"};
static const char *const libraries[] = {"libcuda.so.1", "libnvidia-ml.so.1"};

#define DEVICES "/sys/bus/pci/devices"

enum { FOLDERS = sizeof folders / sizeof *folders, LIBRARIES = sizeof libraries / sizeof *libraries };

static char text[LARGEST_CONFIG + 1];

static const char *reason(long error) {
  switch (-error) {
    case ENOENT: return "no such file or folder";
    case EROFS: return "the file system is read-only";
    case EACCES:
    case EPERM: return "permission denied";
    case ENOTDIR: return "not a folder";
    case EFBIG: return "too large";
    case ENOSYS: return "this kernel lacks openat2 (Linux 5.6)";
    default: return "an input or output error";
  }
}

static void say(const char *what, const char *why) {
  const char *const parts[] = {"graft: ", what, ": ", why, "\n"};
  for (int i = 0; i < 5; i++) sys_write(2, parts[i], text_length(parts[i]));
}

// All of a file, at most so many bytes, into text. Returns the length, or a negative error.
static long read_all(int fd, size_t most) {
  size_t length = 0;
  while (length <= most) {
    long count = sys_read(fd, text + length, most + 1 - length);
    if (count == -EINTR) continue;
    if (count <= 0) return count < 0 ? count : (long)length;
    length += (size_t)count;
  }
  return -EFBIG;
}

static bool bundle_of(char *bundle) {
  long length = read_all(0, LARGEST_STATE);
  if (length < 0) {
    say("the container's state cannot be read", reason(length));
    return false;
  }
  const char *const path[] = {"bundle", NULL};
  const char *wrong = json_string(text, (size_t)length, path, bundle, LONGEST_PATH);
  if (!wrong && bundle[0] != '/') wrong = "has a relative path";
  if (wrong) say("the container's bundle is not known; its state", wrong);
  return !wrong;
}

// The container's root folder; negative if it cannot be opened.
static long open_root(const char *bundle) {
  static char root[LONGEST_PATH];
  long folder = sys_openat(AT_FDCWD, bundle, O_PATH | O_DIRECTORY | O_CLOEXEC);
  long file = folder < 0 ? folder : sys_openat((int)folder, "config.json", O_RDONLY | O_CLOEXEC);
  long length = file < 0 ? file : read_all((int)file, LARGEST_CONFIG);
  if (length < 0) {
    say("config.json of the container's bundle cannot be read", reason(length));
    return length;
  }
  const char *const path[] = {"root", "path", NULL};
  const char *wrong = json_string(text, (size_t)length, path, root, sizeof root);
  if (wrong) {
    say("the container's root is not known; config.json", wrong);
    return -1;
  }
  // A relative path starts at the bundle.
  long opened = sys_openat((int)folder, root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) say("the container's root cannot be opened", reason(opened));
  return opened;
}

static long open_in(int root, const char *path, unsigned flags) {
  struct open_how how = {.flags = flags | O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
  return sys_openat2(root, path, &how, sizeof how);
}

// Whether the library, or a link of its name, is in some folder of the loader's.
static bool is_there(int root, const char *library) {
  for (int i = 0; i < FOLDERS; i++) {
    long folder = open_in(root, folders[i], O_DIRECTORY);
    long file = folder < 0 ? folder : open_in((int)folder, library, O_NOFOLLOW);
    if (folder >= 0) sys_close((int)folder);
    if (file < 0) continue;
    sys_close((int)file);
    return true;
  }
  return false;
}

// Links a library into the first folder that there is.
static long link_in(int root, const char *library, const char *target) {
  for (int i = 0; i < FOLDERS; i++) {
    long folder = open_in(root, folders[i], O_DIRECTORY);
    if (folder == -ENOSYS) return folder;
    if (folder < 0) continue;
    long result = sys_symlinkat(target, (int)folder, library);
    sys_close((int)folder);
    return result;
  }
  return -ENOENT;
}

// Whether a file of a PCI device begins with this number.
static bool has(int device, const char *name, const char *number) {
  char found[8] = {0};
  long file = sys_openat(device, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  long count = sys_read((int)file, found, sizeof found - 1);
  sys_close((int)file);
  if (count > 6) found[6] = 0;
  return count >= 6 && text_equal(found, number);
}

// Mounts the shared memory over the container's view of it, if the device is one of shared memory. A container without
// sysfs has no such view, and gets no mount.
static long mount_memory(int root, int devices, const char *name) {
  static char path[sizeof DEVICES + 256 + sizeof "/resource2"];
  long device = sys_openat(devices, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (device < 0) return 0;
  bool shared = has((int)device, "vendor", "0x1af4") && has((int)device, "device", "0x1110");
  join(path, sizeof path, DEVICES "/", name, "/resource2");
  long target = shared ? open_in(root, path, 0) : -ENOENT;
  long error = 0;
  if (target >= 0) {
    long tree = sys_open_tree((int)device, "resource2", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    error = tree < 0 ? tree : sys_move_mount((int)tree, (int)target);
    if (tree >= 0) sys_close((int)tree);
    sys_close((int)target);
  }
  sys_close((int)device);
  return error;
}

// Mounts the memory of all devices of shared memory, and returns the first error.
static long mount_memories(int root) {
  static char entries[LARGEST_FOLDER] __attribute__((aligned(8)));
  long devices = sys_openat(AT_FDCWD, DEVICES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  long length, error = 0;
  while (devices >= 0 && (length = sys_getdents64((int)devices, entries, sizeof entries)) > 0) {
    for (long at = 0; at < length;) {
      const struct entry *entry = (const struct entry *)(entries + at);
      at += entry->size;
      if (entry->name[0] == '.') continue;
      long result = mount_memory(root, (int)devices, entry->name);
      if (!error) error = result;
    }
  }
  if (devices >= 0) sys_close((int)devices);
  return error;
}

int hook(void) {
  static char bundle[LONGEST_PATH];
  static const char *const targets[] = {"/usr/lib/graft/libcuda.so.1", "/usr/lib/graft/libnvidia-ml.so.1"};
  if (!bundle_of(bundle)) return 1;
  long root = open_root(bundle);
  if (root < 0) return 1;
  for (int i = 0; i < LIBRARIES; i++) {
    long error = is_there((int)root, libraries[i]) ? 0 : link_in((int)root, libraries[i], targets[i]);
    // A container whose root is read-only, or that has no loader, can still be given LD_LIBRARY_PATH=/usr/lib/graft.
    if (error < 0)
      say("the client is not linked into the container, which finds it with LD_LIBRARY_PATH=/usr/lib/graft", reason(error));
  }
  long error = mount_memories((int)root);
  if (error < 0) say("the memory that the guest shares with the server cannot be used in the container", reason(error));
  return 0;
}
