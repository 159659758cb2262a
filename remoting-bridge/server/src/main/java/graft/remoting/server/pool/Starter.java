package graft.remoting.server.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.jail.Isolation;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Descriptors;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.transport.VchanOffer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server's connection to graft-starter, which holds the privileges that the server lacks: it
 * starts, ends and bounds workers. The starter decides everything else about a worker by its own
 * configuration.
 */
public final class Starter implements WorkerStarter {
  private static final Logger LOG = LoggerFactory.getLogger(Starter.class);
  private static final int ANSWER_SECONDS = 30;
  private static final int STATUS_UNKNOWN = -1;

  private final NativeSocket socket;
  private final Consumer<Throwable> lost;
  private final Isolation isolation;
  private final Map<Integer, StartedProcess> running = new ConcurrentHashMap<>();
  private final BlockingQueue<StarterMessages.Answer> answers = new LinkedBlockingQueue<>();
  private volatile StartedProcess starting;
  private volatile boolean closing;

  @GuardedBy("this")
  private boolean broken;

  private Starter(NativeSocket socket, Isolation isolation, Consumer<Throwable> lost) {
    this.socket = socket;
    this.isolation = isolation;
    this.lost = lost;
    Thread reader = new Thread(null, this::listen, "graft-starter", 128 * 1024);
    reader.setDaemon(true);
    reader.start();
  }

  /**
   * Connects to a starter.
   *
   * @param path the starter's socket
   * @param lost is called when the starter has ended; all workers have ended with it
   */
  public static Starter connect(Path path, Consumer<Throwable> lost) throws ServerException {
    NativeSocket socket = null;
    try {
      socket = NativeSocket.connectPackets(path, "graft-starter");
      StarterMessages.Answer hello = receive(socket);
      if (hello == null) {
        throw new IOException(
            "it serves another server, or another user than this one ("
                + System.getProperty("user.name")
                + ")");
      }
      if (hello.type() != StarterMessages.HELLO) {
        throw new IOException("it is of another version");
      }
      return new Starter(socket, Isolation.parse(hello.text().lines().toList()), lost);
    } catch (IOException e) {
      if (socket != null) {
        socket.close();
      }
      throw new ServerException("cannot use graft-starter at " + path + ": " + e.getMessage(), e);
    }
  }

  /** Waits for an answer; null if the starter has ended. */
  private static StarterMessages.Answer receive(NativeSocket socket) throws IOException {
    try (Scratch scratch = new Scratch(StarterMessages.MOST)) {
      Descriptors.Received received =
          Descriptors.receive(socket, scratch.address(), StarterMessages.MOST);
      return received.bytes() == 0
          ? null
          : StarterMessages.answer(scratch.bytes(0, received.bytes()), received.fds());
    }
  }

  private void listen() {
    IOException failure = new IOException("graft-starter has ended");
    try {
      StarterMessages.Answer answer;
      while ((answer = receive(socket)) != null) {
        take(answer);
      }
    } catch (IOException e) {
      failure = e;
    }
    running.values().forEach(process -> process.ended(STATUS_UNKNOWN));
    answers.add(
        new StarterMessages.Answer(
            StarterMessages.REFUSED,
            0,
            0,
            0,
            Bytes.of("graft-starter has ended".getBytes(StandardCharsets.UTF_8)),
            List.of()));
    synchronized (this) {
      broken = true;
      socket.close();
    }
    if (!closing) {
      lost.accept(failure);
    }
  }

  private void take(StarterMessages.Answer answer) {
    if (answer.type() == StarterMessages.ENDED) {
      StartedProcess process = running.remove(answer.worker());
      if (process != null) {
        process.ended(answer.exitStatus());
      }
      return;
    }
    if (answer.type() == StarterMessages.STARTED) {
      // The process may end before the thread that waits for the answer runs.
      starting.started(answer.worker(), answer.pid());
      running.put(answer.worker(), starting);
    }
    answers.add(answer);
  }

  @Override
  public Isolation isolation() {
    return isolation;
  }

  @Override
  public synchronized WorkerProcess start(WorkerKind kind) throws IOException {
    StartedProcess process = StartedProcess.prepare(this);
    starting = process;
    StarterMessages.Answer answer = null;
    try {
      answer = ask(StarterMessages.start(kind), process.given());
      if (answer.type() != StarterMessages.STARTED) {
        throw new IOException(answer.text());
      }
      return process;
    } finally {
      process.closeGiven();
      if (answer == null || answer.type() != StarterMessages.STARTED) {
        process.discard();
      }
    }
  }

  /** Kills a worker; has no effect on a worker that has ended. */
  synchronized void end(int number) {
    try {
      ask(StarterMessages.request(StarterMessages.END, number), List.of());
    } catch (IOException e) {
      // The starter has ended, and the worker with it.
      LOG.debug("cannot end worker {}: {}", number, e.getMessage());
    }
  }

  /**
   * Gives a worker the folder that the workers of a guest share, if the host has such folders.
   *
   * @param guest the guest's number
   * @throws IOException if the worker gets none, with the reason
   */
  synchronized void share(int number, long guest) throws IOException {
    if (!isolation.hasGuestFolders()) {
      return;
    }
    StarterMessages.Answer answer = ask(StarterMessages.share(number, guest), List.of());
    if (answer.type() != StarterMessages.DONE) {
      throw new IOException(answer.text());
    }
  }

  @Override
  public synchronized VchanOffer grant(String domain) throws IOException {
    StarterMessages.Answer answer = ask(StarterMessages.grant(domain), List.of());
    if (answer.type() != StarterMessages.GRANTED || answer.fds().size() != 2) {
      answer.fds().forEach(Libc::close);
      throw new IOException(answer.text());
    }
    return VchanOffer.decode(answer.data(), answer.fds().get(0), answer.fds().get(1));
  }

  @Override
  public synchronized void serves() throws IOException {
    ask(StarterMessages.request(StarterMessages.READY, 0), List.of());
  }

  @GuardedBy("this")
  private StarterMessages.Answer ask(byte[] request, List<Integer> fds) throws IOException {
    if (broken) {
      throw new IOException("graft-starter did not answer");
    }
    try (Scratch scratch = Scratch.of(request)) {
      Descriptors.send(socket, scratch.address(), request.length, fds, 0);
      StarterMessages.Answer answer = answers.poll(ANSWER_SECONDS, TimeUnit.SECONDS);
      if (answer == null) {
        broken = true;
        throw new IOException("graft-starter did not answer");
      }
      return answer;
    } catch (InterruptedException e) {
      broken = true;
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for graft-starter", e);
    }
  }

  @Override
  public void close() {
    closing = true;
    socket.shutdown();
  }
}
