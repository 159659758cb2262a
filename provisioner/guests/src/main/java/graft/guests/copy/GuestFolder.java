package graft.guests.copy;

import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnectionException;
import graft.guests.connection.GuestProcess;
import graft.guests.connection.KeptOutput;
import graft.hypervisors.libvirt.calls.GuestText;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.LongConsumer;

/**
 * A folder in a guest. Copies go through an archive of tar(1), which the guest needs, and which is
 * never on disk as a whole. Files that exist are replaced one by one; others stay.
 */
public final class GuestFolder {
  private static final Duration LIMIT = Duration.ofDays(1);
  private static final int PIPE = 1 << 17;
  private static final int SAID = 1000;

  private final GuestConnection connection;
  private final String path;

  /**
   * A folder.
   *
   * @param path an absolute path in the guest
   */
  public GuestFolder(GuestConnection connection, String path) {
    this.connection = connection;
    this.path = path;
  }

  /** One end of a copy, in a thread of its own. */
  private interface Work<T> {
    T run() throws IOException;
  }

  /**
   * Copies the content of a folder of this machine. Links stay links; the files belong to root.
   *
   * @param progress gets the number of bytes that have gone to the guest
   */
  public CopiedFolder bring(Path from, LongConsumer progress) throws IOException {
    try (PipedInputStream archive = new PipedInputStream(PIPE);
        PipedOutputStream packing = new PipedOutputStream(archive)) {
      CompletableFuture<CopiedFolder> packed =
          inBackground(() -> FolderArchive.pack(from, packing));
      CompletableFuture<CopiedFolder> unused =
          packed.whenComplete((copied, failure) -> close(packing));
      KeptOutput said = new KeptOutput();
      // Only this folder is made: a folder of the archive would give its mode to one that exists.
      String script = "mkdir -p \"$1\" && exec tar -x -f - -C \"$1\"";
      InputStream counted = Counted.input(archive, progress);
      int code = start(script, Optional.of(counted)).await(said, said, LIMIT);
      if (packed.isCompletedExceptionally()) {
        result(packed); // tar has said only that the archive has no end
      }
      close(archive); // if tar failed, packing ends here
      check(code, "cannot write", said);
      return result(packed);
    }
  }

  /**
   * Copies the content of the folder to a folder of this machine, which is made. Only files and
   * folders are copied: a link of the guest's could lead anywhere here.
   *
   * @param progress gets the number of bytes that have come from the guest
   */
  public CopiedFolder fetch(Path to, LongConsumer progress) throws IOException {
    try (PipedInputStream archive = new PipedInputStream(PIPE);
        PipedOutputStream coming = new PipedOutputStream(archive)) {
      CompletableFuture<CopiedFolder> unpacked =
          inBackground(
              () -> {
                try (archive) {
                  return FolderArchive.unpack(archive, to);
                }
              });
      KeptOutput said = new KeptOutput();
      OutputStream counted = Counted.output(coming, progress);
      int code;
      try {
        code =
            start("cd \"$1\" && exec tar -c -f - .", Optional.empty()).await(counted, said, LIMIT);
      } catch (IOException e) {
        result(unpacked); // tells why it reads no more
        throw e;
      }
      close(coming);
      check(code, "cannot read", said);
      return result(unpacked);
    }
  }

  private GuestProcess start(String script, Optional<InputStream> input) {
    return connection.start(List.of("/bin/sh", "-c", script, "sh", path), input);
  }

  private void check(int code, String what, KeptOutput said) {
    if (code != 0) {
      String why = GuestText.line(said.toString(StandardCharsets.UTF_8).strip(), SAID);
      throw new GuestConnectionException(
          what + " the folder " + path + " in the guest: " + why, "", false, null);
    }
  }

  private static void close(Closeable end) {
    try {
      end.close();
    } catch (IOException e) {
      // the other end is closed
    }
  }

  private static CompletableFuture<CopiedFolder> inBackground(Work<CopiedFolder> work) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return work.run();
          } catch (IOException e) {
            throw new CompletionException(e);
          }
        },
        task -> {
          Thread thread = new Thread(task, "graft-copy");
          thread.setDaemon(true);
          thread.start();
        });
  }

  private static CopiedFolder result(CompletableFuture<CopiedFolder> end) throws IOException {
    try {
      return end.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof IOException failure ? failure : new IOException(e);
    }
  }
}
