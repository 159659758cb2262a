// Shows which files NVIDIA's driver makes in /dev/shm for CUDA's IPC, and what a process of another user needs to open
// an event and memory of this one. Needs root. gcc -O1 -o event-files event-files.c -ldl
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { A = 1990000001, B = 1990000002, OWNER = 65533, INSIDE = 1000 };
struct handle { unsigned char bytes[64]; };
struct offer { struct handle event, memory; };
static const char *where = "/dev/shm";

static void die(const char *what) {
  printf("    %s: %s\n", what, strerror(errno));
  fflush(stdout);
  _exit(9);
}

static void list(const char *when) {
  DIR *folder = opendir(where);
  printf("    files %s:", when);
  if (!folder) printf(" %s", strerror(errno));
  for (struct dirent *e; folder && (e = readdir(folder));) {
    struct stat s;
    if (e->d_name[0] == '.' || fstatat(dirfd(folder), e->d_name, &s, AT_SYMLINK_NOFOLLOW)) continue;
    printf(" %s(mode %o, uid %u, %ld bytes, %ld blocks, %lu links)", e->d_name, s.st_mode, s.st_uid, (long)s.st_size,
           (long)s.st_blocks, (unsigned long)s.st_nlink);
  }
  if (folder) closedir(folder);
  printf("\n");
  char line[300];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps))
    if (strstr(line, "shm") || strstr(line, "memfd")) printf("    mapped: %s", line);
  if (maps) fclose(maps);
  fflush(stdout);
}

static void *lib;
#define CU(name, types, ...) \
  ({ int (*f) types = (int(*) types)dlsym(lib, #name); int r = f ? f(__VA_ARGS__) : -1; \
     if (r) { printf("    %s: error %d\n", #name, r); fflush(stdout); } r; })

static void start(void) {
  void *context;
  lib = dlopen("libcuda.so.1", RTLD_NOW);
  if (!lib) { printf("    %s\n", dlerror()); _exit(9); }
  if (CU(cuInit, (unsigned), 0)) _exit(9);
  list("after cuInit");
  if (CU(cuDevicePrimaryCtxRetain, (void **, int), &context, 0) || CU(cuCtxSetCurrent, (void *), context)) _exit(9);
  list("with a context");
}

static void put(int fd, const void *data, size_t size) { if (write(fd, data, size) != (ssize_t)size) _exit(8); }
static void get(int fd, void *data, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = read(fd, (char *)data + done, size - done);
    if (n <= 0) _exit(8);
    done += (size_t)n;
  }
}

static void exporter(int in, int out) {
  char byte = 0;
  uint64_t memory, big;
  void *plain, *event;
  struct offer offer;
  start();
  put(out, "C", 1);
  get(in, &byte, 1); // /dev/shm may have been replaced
  CU(cuMemAlloc_v2, (uint64_t *, size_t), &memory, 4 << 20);
  CU(cuMemAlloc_v2, (uint64_t *, size_t), &big, 4ul << 30);
  CU(cuEventCreate, (void **, unsigned), &plain, 0);
  list("with an ordinary event");
  CU(cuEventCreate, (void **, unsigned), &event, 2 | 4);
  list("with an interprocess event");
  int failed = CU(cuIpcGetEventHandle, (struct handle *, void *), &offer.event, event);
  list("with an event's handle");
  printf("    event's handle:");
  for (int i = 0; i < 64; i++) printf("%s%02x", i % 4 ? "" : " ", offer.event.bytes[i]);
  printf("\n    pid %x uid %x\n", getpid(), getuid());
  fflush(stdout);
  failed |= CU(cuIpcGetMemHandle, (struct handle *, uint64_t), &offer.memory, memory);
  if (failed) _exit(7);
  put(out, &offer, sizeof offer);
  get(in, &byte, 1); // the other has opened both
  for (int i = 0; i < 200; i++) CU(cuMemsetD8Async, (uint64_t, int, size_t, void *), big, i, 4ul << 30, 0);
  CU(cuMemsetD8Async, (uint64_t, int, size_t, void *), memory, 0x5a, 4 << 20, 0);
  CU(cuEventRecord, (void *, void *), event, 0);
  put(out, "R", 1);
  get(in, &byte, 1);
  if (byte == 'E') CU(cuEventDestroy_v2, (void *), event);
  list("at the exporter's end");
  if (byte == 'K') raise(SIGKILL);
  exit(0);
}

static void importer(int in, int out) {
  struct offer offer;
  char byte;
  uint64_t memory = 0;
  void *event = 0, *stream;
  unsigned char *data = malloc(4 << 20);
  start();
  put(out, "C", 1);
  get(in, &offer, sizeof offer);
  int e = CU(cuIpcOpenEventHandle, (void **, struct handle), &event, offer.event);
  int m = CU(cuIpcOpenMemHandle_v2, (uint64_t *, struct handle, unsigned), &memory, offer.memory, 1);
  put(out, "O", 1);
  get(in, &byte, 1);
  int q = -1, w = -1, s = -1, seen = -1;
  if (!e) {
    q = ((int (*)(void *))dlsym(lib, "cuEventQuery"))(event);
    CU(cuStreamCreate, (void **, unsigned), &stream, 1);
    w = CU(cuStreamWaitEvent, (void *, void *, unsigned), stream, event, 0);
    if (!m) CU(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *), data, memory, 4 << 20, stream);
    CU(cuStreamSynchronize, (void *), stream);
    if (!m) for (seen = 1; seen && byte < 127 && seen < 4 << 20 && data[seen] == 0x5a; seen++) {}
    s = CU(cuEventSynchronize, (void *), event);
  }
  printf("  RESULT open event %d, open memory %d, query (600 is not ready) %d, stream wait %d, synchronize %d, memory %s\n",
         e, m, q, w, s, seen == 4 << 20 ? "right" : "not seen");
  fflush(stdout);
  put(out, "D", 1);
  exit(0);
}

// ---- what the driver asks the kernel, of a child
static int interesting(const char *path) { return strstr(path, "shm") || strstr(path, "cuda.") || strstr(path, "/tmp"); }
static void peek(pid_t pid, uint64_t address, char *text, size_t size) {
  memset(text, 0, size);
  for (size_t i = 0; i + 8 < size; i += 8) {
    errno = 0;
    long word = ptrace(PTRACE_PEEKDATA, pid, address + i, 0);
    if (errno) return;
    memcpy(text + i, &word, 8);
    if (memchr(&word, 0, 8)) return;
  }
}

static int traced(void (*role)(int, int), int in, int out, void (*prepare)(int), int which) {
  struct { pid_t pid; char text[256]; } calls[256] = {{0, ""}};
  pid_t child = fork();
  if (child == 0) {
    prepare(which);
    prctl(PR_SET_DUMPABLE, 1);
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) == 0) raise(SIGSTOP);
    else printf("    (no ptrace: %s)\n", strerror(errno));
    role(in, out);
  }
  int status, last = 0;
  again:;
  pid_t pid = waitpid(-1, &status, __WALL);
  if (pid < 0) return last;
  if (WIFEXITED(status) || WIFSIGNALED(status)) {
    if (pid == child) last = status;
    goto again;
  }
  int sig = WSTOPSIG(status);
  static int set;
  if (!set) ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK), set = 1, sig = 0;
  if (sig == (SIGTRAP | 0x80)) {
    struct __ptrace_syscall_info i;
    char *text = 0;
    for (int n = 0; n < 256; n++) if (calls[n].pid == pid || (!calls[n].pid && !text)) { text = calls[n].text; calls[n].pid = pid; break; }
    if (text && ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof i, &i) > 0) {
      if (i.op == PTRACE_SYSCALL_INFO_ENTRY) {
        char path[160] = "";
        __typeof__(i.entry.args[0]) *a = i.entry.args;
        text[0] = 0;
        int nr = (int)i.entry.nr, at = -1, show = 0;
        if (nr == SYS_open || nr == SYS_unlink || nr == SYS_mkdir || nr == SYS_chmod || nr == SYS_stat || nr == SYS_access || nr == SYS_rename) at = 0;
        if (nr == SYS_openat || nr == SYS_unlinkat || nr == SYS_newfstatat || nr == SYS_mkdirat || nr == SYS_fchmodat || nr == SYS_faccessat) at = 1;
        if (at >= 0) { peek(pid, a[at], path, sizeof path); show = interesting(path) && path[0] == '/' && strcmp(path, "/dev/shm"); }
        if (nr == SYS_connect || nr == SYS_bind) { peek(pid, a[1] + 3, path, 64); show = 1; } // abstract names begin with 0
        if (nr == SYS_fchmod || nr == SYS_fchown || nr == SYS_kill || nr == SYS_pidfd_open || nr == SYS_pidfd_getfd || nr == SYS_memfd_create || nr == SYS_shmget) show = 1;
        if (show) snprintf(text, 256, "call %d(%lx, %lx, %lx, %lx) %s", nr, (long)a[0], (long)a[1], (long)a[2], (long)a[3], path);
      } else if (i.op == PTRACE_SYSCALL_INFO_EXIT && text[0]) {
        printf("    %s %s = %ld\n", which ? "importer" : "exporter", text, (long)i.exit.rval);
        fflush(stdout);
        text[0] = 0;
      }
    }
    sig = 0;
  } else if (sig == SIGTRAP || sig == SIGSTOP) sig = 0;
  ptrace(PTRACE_SYSCALL, pid, 0, sig);
  goto again;
}

// ---- the cases
enum kind { HOST, PLAIN, MAPPED, LATE, USERNS };
static struct { const char *name; enum kind kind; uid_t user[2]; char end; } cases[] = {
    {"both root, the host's /dev/shm", HOST, {0, 0}, 'X'},
    {"one user, the host's /dev/shm", HOST, {A, A}, 'E'},
    {"two users, the host's /dev/shm", HOST, {A, B}, 'X'},
    {"one user, a tmpfs of their own", PLAIN, {A, A}, 'K'},
    {"two users, a tmpfs mapped so that each owns all of it", MAPPED, {A, B}, 'X'},
    {"the same, mounted over /dev/shm after the contexts exist", LATE, {A, B}, 'X'},
    {"two users that are one number in user namespaces, mapped", USERNS, {A, B}, 'X'},
};
static int now, tmpfs_of_guest = -1;
static const char *folder = "/run/graft-event-files";

static int user_namespace(uid_t inside, uid_t outside) {
  int ends[2], fd;
  char text[64], path[64];
  if (pipe(ends)) die("pipe");
  pid_t child = fork();
  if (child == 0) {
    char byte = unshare(CLONE_NEWUSER) ? 'n' : 'y';
    put(ends[1], &byte, 1);
    pause();
  }
  get(ends[0], text, 1);
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "/proc/%d/%cid_map", child, "ug"[i]);
    snprintf(text, sizeof text, "%u %u 1", inside, outside);
    if ((fd = open(path, O_WRONLY)) < 0 || write(fd, text, strlen(text)) < 0) die(path);
    close(fd);
  }
  snprintf(path, sizeof path, "/proc/%d/ns/user", child);
  fd = open(path, O_RDONLY);
  kill(child, SIGKILL);
  waitpid(child, 0, 0);
  return fd;
}

// Mounts a copy of the guest's tmpfs, in which `user` owns what OWNER owns on it, over /dev/shm of this namespace.
static int copy_for(uid_t user) {
  int tree = (int)syscall(SYS_open_tree, tmpfs_of_guest, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (tree < 0) die("open_tree");
  struct mount_attr attr = {.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC};
  if (user != OWNER) attr.attr_set |= MOUNT_ATTR_IDMAP, attr.userns_fd = (uint64_t)user_namespace(OWNER, user);
  if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof attr)) die("mount_setattr");
  return tree;
}
static void place(int tree) {
  if (syscall(SYS_move_mount, tree, "", AT_FDCWD, "/dev/shm", MOVE_MOUNT_F_EMPTY_PATH)) die("move_mount");
}

static void prepare(int which) {
  uid_t user = cases[now].user[which];
  enum kind kind = cases[now].kind;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int tree = kind == MAPPED || kind == USERNS ? copy_for(user) : -1;
  int space = kind == USERNS ? user_namespace(INSIDE, user) : -1;
  if (unshare(CLONE_NEWNS)) die("unshare");
  mount(0, "/", 0, MS_REC | MS_PRIVATE, 0);
  if (kind == PLAIN && mount(folder, "/dev/shm", 0, MS_BIND, 0)) die("bind");
  if (kind == LATE && mount("own", "/dev/shm", "tmpfs", 0, "mode=1777,size=16m")) die("tmpfs");
  if (tree >= 0) place(tree);
  if (setgroups(0, 0)) die("setgroups");
  if (space >= 0) {
    if (setns(space, CLONE_NEWUSER)) die("setns");
    user = INSIDE;
  }
  if (setresgid(user, user, user) || setresuid(user, user, user)) die("setresuid");
}

static void attach(pid_t pid, uid_t user) {
  char path[64];
  pid_t helper = fork();
  if (helper) { waitpid(helper, 0, 0); return; }
  snprintf(path, sizeof path, "/proc/%d/ns/mnt", pid);
  int tree = copy_for(user), space = open(path, O_RDONLY);
  if (setns(space, CLONE_NEWNS)) die("setns");
  place(tree);
  _exit(0);
}

static pid_t child_of(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
  FILE *f = fopen(path, "r");
  int child = 0;
  if (f) { if (fscanf(f, "%d", &child) != 1) child = 0; fclose(f); }
  return child;
}

static void run(void) {
  int pipes[4][2];
  char byte;
  struct offer offer;
  printf("\n  CASE %s\n", cases[now].name);
  fflush(stdout);
  for (int i = 0; i < 4; i++) if (pipe2(pipes[i], O_CLOEXEC)) die("pipe");
  pid_t pid[2];
  for (int i = 0; i < 2; i++) {
    if ((pid[i] = fork()) == 0) {
      alarm(40);
      for (int k = 0; k < 4; k++) close(pipes[k][k == 2 * i || k == 2 * i + 1 ? k % 2 == 0 : k % 2 == 0]);
      int status = traced(i ? importer : exporter, pipes[2 * i][0], pipes[2 * i + 1][1], prepare, i);
      _exit(WIFEXITED(status) ? WEXITSTATUS(status) : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 99);
    }
  }
  for (int i = 0; i < 2; i++) close(pipes[2 * i][0]), close(pipes[2 * i + 1][1]);
  if (fork() == 0) { // so that a child that fails ends this part alone
    get(pipes[1][0], &byte, 1);
    get(pipes[3][0], &byte, 1);
    if (cases[now].kind == LATE) for (int i = 0; i < 2; i++) attach(child_of(pid[i]), cases[now].user[i]);
    put(pipes[0][1], "g", 1);
    get(pipes[1][0], &offer, sizeof offer);
    put(pipes[2][1], &offer, sizeof offer);
    get(pipes[3][0], &byte, 1);
    put(pipes[0][1], "g", 1);
    get(pipes[1][0], &byte, 1);
    put(pipes[2][1], "g", 1);
    get(pipes[3][0], &byte, 1);
    put(pipes[0][1], &cases[now].end, 1);
    _exit(0);
  }
  for (int i = 0; i < 2; i++) close(pipes[2 * i][1]), close(pipes[2 * i + 1][0]);
  for (int i = 0; i < 3; i++) {
    int status;
    pid_t ended = wait(&status);
    if (ended == pid[0] || ended == pid[1]) printf("    %s ended with %d\n", ended == pid[0] ? "exporter" : "importer", WEXITSTATUS(status));
    if (ended != pid[0] && WEXITSTATUS(status)) for (int k = 0; k < 2; k++) { pid_t c = child_of(pid[k]); if (c > 0) kill(c, SIGKILL); }
  }
  if (cases[now].kind >= PLAIN) where = folder;
  list("left behind, as the host sees them");
  where = "/dev/shm";
}

int main(void) {
  char option[64];
  signal(SIGPIPE, SIG_IGN);
  if (unshare(CLONE_NEWNS)) die("unshare");
  mount(0, "/", 0, MS_REC | MS_PRIVATE, 0);
  mkdir(folder, 0700);
  for (now = 0; now < (int)(sizeof cases / sizeof *cases); now++) {
    uid_t owner = cases[now].kind == PLAIN ? A : OWNER;
    snprintf(option, sizeof option, "mode=0700,size=16m,uid=%u,gid=%u", owner, owner);
    if (mount("guest", folder, "tmpfs", MS_NOSUID | MS_NODEV, option)) die("mount the guest's tmpfs");
    tmpfs_of_guest = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    run();
    close(tmpfs_of_guest);
    umount2(folder, MNT_DETACH);
  }
  rmdir(folder);
  return 0;
}
