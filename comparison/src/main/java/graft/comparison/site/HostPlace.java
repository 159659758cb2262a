package graft.comparison.site;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.comparison.run.Case;
import graft.comparison.run.Ended;
import graft.comparison.run.Place;
import graft.comparison.run.Program;
import graft.comparison.run.Stop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs programs on this machine, in an environment that directs them to a GPU. */
final class HostPlace implements Place {
  private static final int MOST_COPIES = 64;
  private static final long LOOK_MILLIS = 20;

  private final Path workloads;
  private final Map<String, String> environment;
  private final AutoCloseable server;
  private final Stop stop;
  private Path caches;

  /**
   * A place on this host.
   *
   * @param workloads the path of Graft's own program of workloads
   * @param environment the variables in addition to this process's own environment
   * @param server the server, which is closed with the place
   */
  HostPlace(Path workloads, Map<String, String> environment, AutoCloseable server, Stop stop) {
    this.workloads = workloads;
    this.environment = Map.copyOf(environment);
    this.server = server;
    this.stop = stop;
  }

  @Override
  public int capacity() {
    return MOST_COPIES;
  }

  @Override
  public List<Ended> run(Program program, int copies) throws InterruptedException {
    try {
      Path folder = Files.createTempDirectory("graft-compare"); // mode 0700
      List<Running> running = new ArrayList<>();
      try {
        for (int copy = 0; copy < copies; copy++) {
          running.add(start(program, folder, copy));
        }
        return await(program, running);
      } finally {
        running.forEach(Running::kill);
        PrivateFiles.deleteFolder(folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run " + program.words().get(0), e);
    }
  }

  private Running start(Program program, Path folder, int copy) throws IOException {
    List<String> words = new ArrayList<>(program.words());
    if (words.get(0).equals(Case.OWN_PROGRAM)) {
      words.set(0, workloads.toString());
    }
    Path output = folder.resolve(copy + ".out");
    Path error = folder.resolve(copy + ".err");
    Path profile = folder.resolve(copy + ".profile");
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.redirectOutput(output.toFile()).redirectError(error.toFile());
    builder.redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")));
    builder.environment().keySet().removeIf(name -> name.startsWith("GRAFT_"));
    builder.environment().putAll(environment);
    builder.environment().putAll(program.environment());
    if (program.profile()) {
      builder.environment().put("GRAFT_PROFILE", profile.toString());
    }
    return new Running(builder.start(), System.nanoTime(), output, error, profile);
  }

  private List<Ended> await(Program program, List<Running> running)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + program.limit().toNanos();
    List<Ended> ended = new ArrayList<>();
    for (Running one : running) {
      boolean over = false;
      while (!over && System.nanoTime() < deadline && !stop.isAsked()) {
        over = one.process().waitFor(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      }
      if (!over) {
        one.kill();
        one.process().waitFor();
      }
      ended.add(one.ended(!over && !stop.isAsked()));
    }
    return ended;
  }

  /** A program that was started. */
  private record Running(Process process, long start, Path output, Path error, Path profile) {
    Ended ended(boolean timedOut) throws IOException {
      double seconds = (System.nanoTime() - start) / 1e9;
      String text = Files.exists(profile) ? read(profile) : "";
      return new Ended(process.exitValue(), timedOut, seconds, read(output), read(error), text);
    }

    private static String read(Path file) throws IOException {
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    void kill() {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  @Override
  public String emptyCaches() {
    try {
      dropCaches();
      caches = Files.createTempDirectory("graft-caches"); // mode 0700
      return caches.toString();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make a folder for compiled kernels", e);
    }
  }

  private void dropCaches() throws IOException {
    if (caches != null) {
      PrivateFiles.deleteFolder(caches);
      caches = null;
    }
  }

  @Override
  public void close() {
    try {
      dropCaches();
      server.close();
    } catch (Exception e) {
      throw new GraftException("the server cannot be stopped: " + e.getMessage(), "", e);
    }
  }
}
