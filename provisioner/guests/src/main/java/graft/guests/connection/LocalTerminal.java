package graft.guests.connection;

import graft.common.GraftException;
import graft.hypervisors.libvirt.TerminalSize;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The caller's terminal, which is the standard input. Its settings are as before once it is closed,
 * also by a signal that ends this process. stty(1) reads and changes them.
 */
public final class LocalTerminal implements AutoCloseable {
  private static final String KNOWN_EVERYWHERE = "xterm";

  private final String saved;
  private final Thread hook = new Thread(this::restore);

  private LocalTerminal(String saved) {
    this.saved = saved;
  }

  /**
   * Opens the terminal and notes its settings.
   *
   * @throws GraftException if stty(1) does not know the standard input as a terminal
   */
  public static LocalTerminal open() {
    try {
      LocalTerminal terminal = new LocalTerminal(stty("-g"));
      Runtime.getRuntime().addShutdownHook(terminal.hook);
      return terminal;
    } catch (IOException e) {
      throw new GraftException(
          "the terminal's settings cannot be read: " + e.getMessage(),
          "is stty there (Debian: coreutils)?",
          e);
    }
  }

  /** Passes on every key as it is typed, Ctrl-C too, and shows nothing itself. */
  public void raw() throws IOException {
    stty("raw", "-echo");
  }

  /** The size of the window now. */
  public TerminalSize size() {
    try {
      return size(stty("size"));
    } catch (IOException e) {
      return TerminalSize.USUAL;
    }
  }

  /** The size in what stty prints; the usual one if the terminal does not know its own. */
  static TerminalSize size(String said) {
    return said.matches("[1-9]\\d{0,3} [1-9]\\d{0,3}")
        ? new TerminalSize(
            Integer.parseInt(said.substring(0, said.indexOf(' '))),
            Integer.parseInt(said.substring(said.indexOf(' ') + 1)))
        : TerminalSize.USUAL;
  }

  /** What kind of terminal it is, for {@code TERM} in a guest. */
  public static String type(Map<String, String> environment) {
    String type = environment.getOrDefault("TERM", "");
    return type.matches("[A-Za-z0-9+._-]{1,64}") ? type : KNOWN_EVERYWHERE;
  }

  /** What is typed. */
  InputStream input() {
    return new FileInputStream(FileDescriptor.in);
  }

  /** What is shown; unlike {@link System#out}, it says when the terminal is gone. */
  OutputStream output() {
    return new FileOutputStream(FileDescriptor.out);
  }

  private static String stty(String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of("stty"));
    command.addAll(List.of(words));
    Process process =
        new ProcessBuilder(command)
            .redirectInput(Redirect.INHERIT)
            .redirectErrorStream(true)
            .start();
    String said =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    try {
      if (process.waitFor() != 0) {
        throw new IOException(said);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
    return said;
  }

  private void restore() {
    try {
      stty(saved);
    } catch (IOException e) {
      throw new UncheckedIOException("the terminal's settings cannot be restored", e);
    }
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      return; // the hook restores them
    }
    restore();
  }
}
