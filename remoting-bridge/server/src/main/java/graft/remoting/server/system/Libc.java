package graft.remoting.server.system;

import com.sun.jna.Native;
import java.nio.charset.StandardCharsets;

/**
 * The functions of the C library that the server needs and Java does not offer: sockets as plain
 * file descriptors, which can be passed to another process. Bound by JNA direct mapping; pointers
 * are addresses. The constants are those of Linux on x86-64 and arm64, which agree.
 *
 * <p>A call that returns -1 has failed; {@link Native#getLastError()} on the same thread returns
 * its errno.
 */
public final class Libc {
  public static final int AF_UNIX = 1;
  static final int AF_INET = 2;
  static final int AF_INET6 = 10;
  public static final int AF_VSOCK = 40;
  public static final int SOCK_STREAM = 1;
  static final int SOCK_DGRAM = 2;
  public static final int SOCK_SEQPACKET = 5;
  public static final int SOCK_CLOEXEC = 0x80000;
  static final int SOL_SOCKET = 1;
  static final int SO_REUSEADDR = 2;
  static final int SO_SNDBUF = 7;
  static final int SO_RCVBUF = 8;
  static final int SO_SNDTIMEO = 21;
  static final int SO_KEEPALIVE = 9;
  static final int SO_PEERCRED = 17;
  static final int SO_LINGER = 13;
  static final int SO_DOMAIN = 39;
  static final int SCM_RIGHTS = 1;
  static final int IPPROTO_TCP = 6;
  static final int TCP_NODELAY = 1;
  static final int TCP_KEEPIDLE = 4;
  static final int TCP_KEEPINTVL = 5;
  static final int TCP_KEEPCNT = 6;
  static final int TCP_USER_TIMEOUT = 18;
  static final int IPPROTO_IPV6 = 41;
  static final int IPV6_V6ONLY = 26;
  public static final int MSG_DONTWAIT = 0x40;
  public static final int MSG_NOSIGNAL = 0x4000;
  static final int MSG_MORE = 0x8000;
  static final int MSG_CTRUNC = 0x8;
  static final int MSG_TRUNC = 0x20;
  static final int MSG_CMSG_CLOEXEC = 0x40000000;
  public static final int POLLIN = 0x1;
  public static final int POLLOUT = 0x4;
  static final int POLLERR = 0x8;
  static final int POLLHUP = 0x10;
  public static final int POLLRDHUP = 0x2000;
  static final int SHUT_WR = 1;
  static final int SHUT_RDWR = 2;

  /** Since Linux 6.1. */
  public static final int MADV_COLLAPSE = 25;

  public static final int PROT_READ = 1;
  public static final int PROT_WRITE = 2;
  public static final int MAP_SHARED = 1;
  public static final int MAP_PRIVATE = 2;
  public static final int MAP_ANONYMOUS = 0x20;
  public static final int MAP_FIXED_NOREPLACE = 0x100000;
  public static final int MFD_CLOEXEC = 1;
  public static final int MFD_ALLOW_SEALING = 2;
  public static final int F_SETFL = 4;
  public static final int F_DUPFD_CLOEXEC = 1030;
  public static final int F_GET_SEALS = 1034;
  public static final int F_ADD_SEALS = 1033;
  public static final int F_SEAL_SHRINK = 2;
  public static final int F_SEAL_GROW = 4;
  public static final int F_SEAL_WRITE = 8;
  public static final int SEEK_SET = 0;
  public static final int SEEK_END = 2;
  public static final int O_RDWR = 2;
  public static final int O_NOFOLLOW = 0x20000;
  public static final int O_CLOEXEC = 0x80000;
  public static final int F_OFD_GETLK = 36;
  public static final int F_OFD_SETLK = 37;
  public static final int F_WRLCK = 1;
  public static final int F_UNLCK = 2;
  public static final int O_NONBLOCK = 0x800;

  public static final int ENOENT = 2;
  public static final int EINTR = 4;
  public static final int EAGAIN = 11;
  public static final int EPIPE = 32;
  static final int EADDRINUSE = 98;
  public static final int ECONNRESET = 104;
  static final int ECONNREFUSED = 111;

  static {
    Native.register(Libc.class, "c");
  }

  private Libc() {}

  public static native int socket(int domain, int type, int protocol);

  public static native int socketpair(int domain, int type, int protocol, long ends);

  static native int bind(int fd, long address, int length);

  static native int listen(int fd, int backlog);

  static native int accept4(int fd, long address, long length, int flags);

  public static native int connect(int fd, long address, int length);

  static native int getsockname(int fd, long address, long length);

  static native int getpeername(int fd, long address, long length);

  static native int getsockopt(int fd, int level, int option, long value, long length);

  static native int setsockopt(int fd, int level, int option, long value, int length);

  static native int shutdown(int fd, int how);

  public static native int geteuid();

  public static native int malloc_trim(long kept);

  public static native int close(int fd);

  static native long recv(int fd, long buffer, long length, int flags);

  public static native long send(int fd, long buffer, long length, int flags);

  static native long sendmsg(int fd, long message, int flags);

  static native long recvmsg(int fd, long message, int flags);

  static native int poll(long fds, long count, int timeoutMillis);

  public static native long mmap(
      long address, long length, int protection, int flags, int fd, long offset);

  public static native int madvise(long address, long length, int advice);

  public static native long getauxval(long type);

  public static native int munmap(long address, long length);

  public static native int fcntl(int fd, int command, long argument);

  public static native int open(long path, int flags);

  public static native int ioctl(int fd, long request, long argument);

  public static native int ftruncate(int fd, long length);

  public static native int memfd_create(String name, int flags);

  public static native int pipe2(long ends, int flags);

  public static native int dup2(int from, int to);

  public static native long read(int fd, long buffer, long length);

  public static native long write(int fd, long buffer, long length);

  public static native int fflush(long file);

  public static native long fwrite(long data, long size, long count, long file);

  public static native int fseek(long file, long offset, int whence);

  public static native long open_memstream(long text, long size);

  public static native void flockfile(long file);

  public static native void funlockfile(long file);

  public static native long lseek(int fd, long offset, int whence);

  public static native void _exit(int status);

  public static int open(String path, int flags) {
    try (Scratch name = Scratch.of((path + "\0").getBytes(StandardCharsets.UTF_8))) {
      return open(name.address(), flags);
    }
  }

  /** Returns the C library's text for an errno. */
  public static native String strerror(int errno);

  /** Describes a failed call with its errno. */
  public static SystemCallException failure(String what) {
    int errno = Native.getLastError();
    return new SystemCallException(what, errno, strerror(errno));
  }
}
