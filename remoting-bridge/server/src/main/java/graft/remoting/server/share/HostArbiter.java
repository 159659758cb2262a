package graft.remoting.server.share;

import graft.remoting.server.system.AddressInUseException;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides for one GPU which of a host's servers arbitrates: the one that listens on a Unix socket
 * named by the GPU, whose path only one process can have. Other servers follow it: they connect,
 * and hand it the pages of their sessions. When it ends, the kernel ends the connections, and the
 * first of the others to take the path arbitrates. In between each server arbitrates for its own
 * sessions.
 *
 * <p>A server that is stopped keeps its socket. Those that follow it arbitrate for themselves when
 * they have heard nothing for {@link #SILENCE}, until it goes on.
 */
public final class HostArbiter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HostArbiter.class);

  /** The largest number of servers that follow one. */
  static final int MOST_FOLLOWERS = 64;

  /** For how long a server that arbitrates may say nothing, in nanoseconds. */
  static final long SILENCE = TimeUnit.SECONDS.toNanos(5);

  /** How often a follower asks whether the other server is alive, in milliseconds. */
  private static final int ASK_MILLIS = 1000;

  private static final long RETRY = TimeUnit.MILLISECONDS.toNanos(50);

  /** After so many attempts there is something wrong. */
  private static final int FEW = 60;

  private static final long LATE_RETRY = TimeUnit.SECONDS.toNanos(10);

  /**
   * Where servers of one host find each other.
   *
   * @param folder a folder that only this user can enter
   * @param server this server's name, which it has again after its restart
   * @param isWorker whether a process is a worker of this server, which may not follow it
   */
  public record Place(Path folder, String server, LongPredicate isWorker) {
    /** Cuts the name to what messages can hold. */
    public Place {
      server = server.substring(0, Math.min(server.length(), ArbiterMessage.LONGEST_NAME));
    }
  }

  private final Place place;
  private final String gpu;
  private final DeviceTurns turns;
  private final Object monitor;
  private final Runnable wake;
  private final Thread thread;
  private volatile boolean closing;

  /** Ends the wait for messages. */
  private volatile Runnable interrupt = () -> {};

  private int failures;

  /**
   * Starts to look for the server that arbitrates.
   *
   * @param gpu the name of the GPU, which becomes part of files' names
   * @param monitor what guards the turns
   * @param wake lets the turns be looked at
   */
  HostArbiter(Place place, String gpu, DeviceTurns turns, Object monitor, Runnable wake) {
    this.place = place;
    this.gpu = gpu;
    this.turns = turns;
    this.monitor = monitor;
    this.wake = wake;
    this.thread = new Thread(null, this::run, "graft-arbiter", 256 * 1024);
    thread.setDaemon(true);
    thread.start();
  }

  private Path file(String suffix) {
    return place.folder.resolve(gpu + suffix);
  }

  private void run() {
    while (!closing) {
      try {
        if (!isPrivate()) {
          throw new IOException("other users can enter " + place.folder);
        }
        leadOrFollow();
      } catch (IOException | ServerException e) {
        failed(e);
      } catch (RuntimeException | Error e) {
        LOG.error("the servers of {} do not share an arbiter any more", gpu, e);
        return;
      }
    }
  }

  private boolean isPrivate() throws IOException {
    Set<PosixFilePermission> others =
        EnumSet.complementOf(
            EnumSet.of(
                PosixFilePermission.OWNER_READ,
                PosixFilePermission.OWNER_WRITE,
                PosixFilePermission.OWNER_EXECUTE));
    others.retainAll(Files.getPosixFilePermissions(place.folder, LinkOption.NOFOLLOW_LINKS));
    Object owner = Files.getAttribute(place.folder, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    return others.isEmpty() && owner.equals(Libc.geteuid());
  }

  private void leadOrFollow() throws IOException, ServerException {
    try (Listener listener = Listener.openUnix(file(".sock"), Libc.SOCK_SEQPACKET)) {
      interrupt = listener::shutdown;
      lead(listener);
    } catch (AddressInUseException e) {
      follow();
    }
  }

  private void failed(Exception why) {
    if (closing) {
      return;
    }
    failures++;
    if (failures == FEW) {
      LOG.warn(
          "this server shares no arbiter of {} with others, and keeps the shares of its own guests:"
              + " {}",
          gpu,
          why.getMessage());
    }
    LockSupport.parkNanos(this, failures < FEW ? RETRY : LATE_RETRY);
  }

  private void lead(Listener listener) throws IOException {
    LOG.info("this server arbitrates for {}", gpu);
    failures = 0;
    synchronized (monitor) {
      turns.lead(Accounts.open(file(".accounts"), System.nanoTime()));
    }
    wake.run();
    try {
      while (!closing) {
        handleEvents(listener);
      }
    } finally {
      synchronized (monitor) {
        turns.resign();
      }
      wake.run();
    }
  }

  /** Waits for connections and messages, and handles each of them. */
  private void handleEvents(Listener listener) throws IOException {
    List<Follower> followers;
    synchronized (monitor) {
      followers = new ArrayList<>(turns.followers());
    }
    int[] fds = new int[followers.size() + 1];
    int[] events = new int[fds.length];
    for (int i = 0; i < followers.size(); i++) {
      fds[i] = followers.get(i).link().fd();
      events[i] = Libc.POLLIN;
    }
    fds[followers.size()] = listener.fd();
    events[followers.size()] = Libc.POLLIN;
    int[] occurred = NativeSocket.poll(ASK_MILLIS, fds, events);
    for (int i = 0; i < followers.size(); i++) {
      if (occurred[i] != 0) {
        receive(followers.get(i));
      }
    }
    if (occurred[followers.size()] != 0 && !closing) {
      accept(listener.accept(), followers.size());
    }
  }

  private void receive(Follower follower) {
    synchronized (monitor) {
      try {
        if (!follower.receive()) {
          LOG.info("{} does not follow this server's arbiter of {} any more", follower, gpu);
          turns.drop(follower);
        }
      } catch (IOException | RuntimeException e) {
        LOG.warn("{} cannot follow this server's arbiter: {}", follower, e.getMessage());
        turns.drop(follower);
      }
    }
    wake.run();
  }

  private void accept(NativeSocket socket, int followers) throws IOException {
    int user = socket.peerUser();
    if ((user != 0 && user != Libc.geteuid())
        || place.isWorker.test(socket.peerProcess())
        || followers >= MOST_FOLLOWERS) {
      LOG.warn("process {} may not follow this server's arbiter", socket.peerProcess());
      socket.close();
      return;
    }
    synchronized (monitor) {
      turns.accept(new Follower(turns, new ArbiterLink(socket)));
    }
  }

  private void follow() throws IOException {
    NativeSocket socket = NativeSocket.connectPackets(file(".sock"), "the arbiter of " + gpu);
    interrupt = socket::shutdown;
    boolean isFollowing = false;
    try {
      ArbiterLink link = new ArbiterLink(socket);
      link.send(new ArbiterMessage.Hello(ArbiterMessage.VERSION, place.server), List.of());
      isFollowing = awaitAnswer(link);
      if (isFollowing) {
        LOG.info("process {} arbitrates for {}", socket.peerProcess(), gpu);
        failures = 0;
        obey(link);
      }
    } finally {
      synchronized (monitor) {
        if (isFollowing) {
          turns.leave();
        }
        socket.close();
      }
      wake.run();
    }
    if (isFollowing && !closing) {
      LOG.warn(
          "the server that arbitrated for {} has ended, or does not answer: this server keeps the"
              + " shares of its own guests until one has taken over",
          gpu);
    }
    throw new IOException("the server that arbitrates has ended the connection");
  }

  /** Waits, as long as the other server may be stopped. Returns false if it refuses. */
  private boolean awaitAnswer(ArbiterLink link) throws IOException {
    while (!closing) {
      if (link.socket().poll(Libc.POLLIN, ASK_MILLIS) == 0) {
        synchronized (monitor) {
          turns.grantAgain();
        }
        continue;
      }
      ArbiterMessage message = link.receiveMessage();
      if (message == null) {
        return false;
      }
      if (message instanceof ArbiterMessage.Alive) {
        synchronized (monitor) {
          turns.follow(link);
        }
        return true;
      }
    }
    return false;
  }

  /** Does what the arbiter says, until it is not there any more. */
  private void obey(ArbiterLink link) throws IOException {
    long heard = System.nanoTime();
    while (!closing && System.nanoTime() - heard < SILENCE) {
      if (link.socket().poll(Libc.POLLIN, ASK_MILLIS) == 0) {
        synchronized (monitor) {
          link.trySend(new ArbiterMessage.Alive(), List.of());
        }
        continue;
      }
      ArbiterMessage message = link.receiveMessage();
      if (message == null) {
        return;
      }
      heard = System.nanoTime();
      synchronized (monitor) {
        turns.hear(message);
      }
    }
  }

  @Override
  public void close() {
    closing = true;
    interrupt.run();
    LockSupport.unpark(thread);
    try {
      thread.join(3L * ASK_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
