package graft.remoting.server.pool;

import graft.common.disk.PrivateFiles;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.jail.Isolation;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.transport.VchanOffer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A graft-starter that a server of root runs for itself. It ends with the server. */
final class OwnStarter implements WorkerStarter {
  private static final Duration START_LIMIT = Duration.ofSeconds(30);
  private static final int POLL_MILLIS = 2;
  private static final int END_SECONDS = 10;

  private final Process process;
  private final Starter connection;
  private final Path config;

  private OwnStarter(Process process, Starter connection, Path config) {
    this.process = process;
    this.connection = connection;
    this.config = config;
  }

  /**
   * Starts a starter.
   *
   * @param folder a private folder for its configuration and its socket
   * @param lost is called when the starter has ended
   */
  static OwnStarter start(StarterConfig config, Path program, Path folder, Consumer<Throwable> lost)
      throws ServerException {
    Path file = folder.resolve("starter.conf");
    Path socket = folder.resolve("starter.sock");
    Process process = null;
    try {
      PrivateFiles.write(file, config.text().getBytes(StandardCharsets.UTF_8));
      process =
          new ProcessBuilder(
                  program.toString(),
                  "--once",
                  "--config",
                  file.toString(),
                  "--socket",
                  socket.toString())
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      awaitSocket(process, socket);
      return new OwnStarter(process, Starter.connect(socket, lost), file);
    } catch (ServerException e) {
      end(process);
      throw e;
    } catch (IOException e) {
      end(process);
      throw new ServerException("cannot start " + program + ": " + e.getMessage(), e);
    } catch (InterruptedException e) {
      end(process);
      Thread.currentThread().interrupt();
      throw new ServerException("interrupted while starting " + program, e);
    }
  }

  private static void end(Process process) {
    if (process != null) {
      process.destroyForcibly();
    }
  }

  private static void awaitSocket(Process process, Path socket)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + START_LIMIT.toNanos();
    while (!Files.exists(socket)) {
      if (process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
        throw new IOException("it ended with status " + process.exitValue() + "; see the log");
      }
      if (System.nanoTime() > deadline) {
        throw new IOException("it does not listen");
      }
    }
  }

  @Override
  public Isolation isolation() {
    return connection.isolation();
  }

  @Override
  public WorkerProcess start(WorkerKind kind) throws IOException {
    return connection.start(kind);
  }

  @Override
  public VchanOffer grant(String domain) throws IOException {
    return connection.grant(domain);
  }

  @Override
  public void serves() throws IOException {
    connection.serves();
  }

  @Override
  public void close() throws IOException {
    connection.close();
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    Files.deleteIfExists(config);
  }
}
