// The system calls that a worker may make with any arguments. filter.c has those whose arguments are checked.
#pragma once
#include <asm/unistd.h>

// Java 17 (class loading, compilers, garbage collector, threads, crash report), glibc, JNA, and Graft's own code:
// sockets that the server passed, shared memory. The list was recorded with strace over the tests and examples, and
// completed with calls of the same kinds.
static const short base_calls[] = {
    // memory
    __NR_brk, __NR_mmap, __NR_munmap, __NR_mremap, __NR_mprotect, __NR_madvise, __NR_mincore, __NR_msync, __NR_mlock,
    __NR_mlock2, __NR_munlock, __NR_membarrier, __NR_memfd_create, __NR_get_mempolicy,
    // files; the mounts decide which ones are visible
    __NR_read, __NR_write, __NR_readv, __NR_writev, __NR_pread64, __NR_pwrite64, __NR_lseek, __NR_open, __NR_openat,
    __NR_close, __NR_stat, __NR_fstat, __NR_lstat, __NR_newfstatat, __NR_statx, __NR_statfs, __NR_fstatfs, __NR_access,
    __NR_faccessat, __NR_faccessat2, __NR_readlink, __NR_readlinkat, __NR_getcwd, __NR_getdents64, __NR_fcntl,
    __NR_flock, __NR_dup, __NR_dup2, __NR_dup3, __NR_pipe, __NR_pipe2, __NR_ftruncate, __NR_fallocate, __NR_fsync,
    __NR_fdatasync, __NR_fchmod, __NR_unlink, __NR_unlinkat, __NR_rename, __NR_mkdir, __NR_mkdirat, __NR_rmdir, __NR_umask,
    __NR_fadvise64,
    // open sockets, and waiting
    __NR_sendto, __NR_recvfrom, __NR_sendmsg, __NR_recvmsg, __NR_shutdown, __NR_getsockname, __NR_getpeername,
    __NR_getsockopt, __NR_setsockopt, __NR_poll, __NR_ppoll, __NR_select, __NR_pselect6, __NR_eventfd2,
    // threads and signals of this process
    __NR_exit, __NR_exit_group, __NR_futex, __NR_set_robust_list, __NR_get_robust_list, __NR_rseq, __NR_set_tid_address,
    __NR_gettid, __NR_sched_yield, __NR_sched_getaffinity, __NR_sched_setaffinity, __NR_sched_getparam,
    __NR_sched_getscheduler, __NR_sched_get_priority_max, __NR_sched_get_priority_min, __NR_getcpu, __NR_arch_prctl,
    __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_rt_sigpending, __NR_rt_sigtimedwait,
    __NR_rt_sigsuspend, __NR_sigaltstack, __NR_restart_syscall, __NR_pause,
    // time
    __NR_clock_gettime, __NR_clock_getres, __NR_clock_nanosleep, __NR_nanosleep, __NR_gettimeofday, __NR_time, __NR_times,
    // queries about this process and this host
    __NR_getpid, __NR_getppid, __NR_getuid, __NR_geteuid, __NR_getgid, __NR_getegid, __NR_getresuid, __NR_getresgid,
    __NR_getgroups, __NR_getpgrp, __NR_getpgid, __NR_getsid, __NR_getrlimit, __NR_getrusage, __NR_uname, __NR_sysinfo,
    __NR_getrandom, __NR_getpriority,
};

// libcuda.so.1. Its sockets are Unix sockets in the worker's own network namespace; it calls the kernel's driver by
// ioctl.
static const short driver_calls[] = {
    __NR_ioctl, __NR_bind, __NR_listen, __NR_accept, __NR_accept4, __NR_connect, __NR_epoll_create1,
    __NR_epoll_ctl, __NR_epoll_wait, __NR_epoll_pwait, __NR_timerfd_create, __NR_timerfd_settime, __NR_set_mempolicy,
    __NR_mbind, __NR_chmod, __NR_chdir, __NR_utimensat, __NR_getdents,
};

// UCX with an adapter: verbs use ioctl and write.
static const short network_calls[] = {
    __NR_socket, __NR_ioctl, __NR_bind, __NR_listen, __NR_accept, __NR_accept4, __NR_connect,
    __NR_epoll_create1, __NR_epoll_create, __NR_epoll_ctl, __NR_epoll_wait, __NR_epoll_pwait, __NR_timerfd_create,
    __NR_timerfd_settime, __NR_shmget, __NR_shmat, __NR_shmdt, __NR_shmctl, __NR_set_mempolicy, __NR_mbind,
    __NR_inotify_init1, __NR_inotify_add_watch, __NR_inotify_rm_watch, __NR_sendmmsg, __NR_recvmmsg, __NR_timer_create,
    __NR_timer_settime, __NR_timer_delete, __NR_capget,
};

// Calls with higher numbers are newer than this list. They fail with ENOSYS, so that the C library uses their older
// equivalents.
enum { NEWEST_CALL = __NR_set_mempolicy_home_node };
