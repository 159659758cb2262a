package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.system.ListenAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A server in a process of its own, so that what it uses of the machine can be told from what the
 * attackers in the test's process use. It knows the guests {@code alice} and {@code bob}.
 */
final class AttackedServer implements AutoCloseable {
  /** How much the server's process may grow: code and classes that it had not used before. */
  private static final long GROWTH = 64L << 20;

  private static final int FEW = 8;

  /** Threads that have served connections end only after a minute without work. */
  private static final int IDLE_THREADS = 64;

  private final Path folder;
  private final Path log;
  private final Process process;
  private final List<ListenAddress> addresses = new ArrayList<>();

  private AttackedServer(Path folder, Path log, Process process) {
    this.folder = folder;
    this.log = log;
    this.process = process;
  }

  /**
   * Starts a server.
   *
   * @param folder holds its tokens, temporary files and log
   * @param options further options; without {@code --listen}, it listens at a port of loopback
   */
  static AttackedServer start(Path folder, String device, String... options) throws IOException {
    Path temporary = Files.createDirectories(folder.resolve("tmp"));
    Path log = folder.resolve("server.log");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx128m",
                "-Djava.io.tmpdir=" + temporary,
                "-cp",
                System.getProperty("java.class.path"),
                ServerMain.class.getName(),
                "--tokens",
                (Files.exists(folder.resolve("tokens"))
                        ? folder.resolve("tokens")
                        : ServerFixture.tokens(folder))
                    .toString(),
                "--device",
                device));
    List<String> further = List.of(options);
    command.addAll(further);
    if (!further.contains("--listen")) {
      command.addAll(List.of("--listen", "tcp://127.0.0.1:0"));
    }
    Process process = new ProcessBuilder(command).redirectError(log.toFile()).start();
    AttackedServer server = new AttackedServer(folder, log, process);
    BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
    long listens = command.stream().filter("--listen"::equals).count();
    for (int i = 0; i < listens; i++) {
      String line = out.readLine();
      if (line == null) {
        throw new IOException("the server did not start: " + Files.readString(log));
      }
      server.addresses.add(ListenAddress.parse(line));
    }
    return server;
  }

  ListenAddress address() {
    return addresses.get(0);
  }

  ListenAddress address(int index) {
    return addresses.get(index);
  }

  /** The ids of the server's process and of its workers. */
  List<Long> processes() {
    return Stream.concat(Stream.of(process.toHandle()), process.descendants())
        .map(ProcessHandle::pid)
        .toList();
  }

  /** Kills all workers, those with a session and those without, and waits until they have ended. */
  void killWorkers() {
    List<ProcessHandle> workers = process.descendants().filter(p -> !isStarter(p)).toList();
    workers.forEach(ProcessHandle::destroyForcibly);
    workers.forEach(worker -> worker.onExit().join());
  }

  /** A server ends when its starter ends. */
  private boolean isStarter(ProcessHandle one) {
    return one.parent().equals(Optional.of(process.toHandle()))
        && one.info().command().orElse("").endsWith("graft-starter");
  }

  /** What the server and its workers have written. */
  String log() throws IOException {
    return Files.readString(log);
  }

  /**
   * What a server uses.
   *
   * @param processes its workers, and what they have started
   * @param threads of the server's own process
   * @param descriptors of the server's own process
   * @param memory of the server's own process, in bytes that are resident
   * @param files below its folder for temporary files, and files of Graft's in /dev/shm
   * @param disk the bytes of these files
   */
  record Use(int processes, int threads, int descriptors, long memory, int files, long disk) {
    private boolean isAsBefore(Use before) {
      return processes <= before.processes
          && threads <= before.threads + IDLE_THREADS + FEW
          && descriptors <= before.descriptors + FEW
          && memory <= before.memory + GROWTH
          && files <= before.files
          && disk <= before.disk + (1 << 20);
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%d workers, %d threads, %d descriptors, %d MiB, %d files of %d KiB",
          processes,
          threads,
          descriptors,
          memory >> 20,
          files,
          disk >> 10);
    }
  }

  Use use() throws IOException {
    Path proc = Path.of("/proc", Long.toString(process.pid()));
    long pages = 0;
    for (String line : Files.readAllLines(proc.resolve("status"))) {
      if (line.startsWith("VmRSS:")) {
        pages = Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    List<Path> files = files();
    long disk = 0;
    for (Path file : files) {
      disk += file.toFile().isFile() ? file.toFile().length() : 0; // it may be gone by now
    }
    return new Use(
        (int) process.descendants().count(),
        count(proc.resolve("task")),
        count(proc.resolve("fd")),
        pages << 10,
        files.size(),
        disk);
  }

  private static int count(Path folder) throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return (int) all.count();
    }
  }

  private List<Path> files() throws IOException {
    return Stream.concat(
            below(folder.resolve("tmp")).stream(),
            below(Path.of("/dev/shm")).stream()
                .filter(file -> file.getFileName().toString().contains("graft")))
        .toList();
  }

  /** A folder and all below it. Other programs may make and remove files there meanwhile. */
  static List<Path> below(Path folder) throws IOException {
    List<Path> found = new ArrayList<>();
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
            found.add(path);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
            found.add(path);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path path, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }
        });
    return found;
  }

  /** A busy wait would take the time that the server needs. */
  private static void pause() {
    LockSupport.parkNanos(10_000_000);
  }

  /** Waits, as long as the test may take, until the server uses no more than before. */
  Use awaitUse(Use before) throws IOException {
    Use now = use();
    long told = System.nanoTime();
    while (!now.isAsBefore(before)) {
      assertThat(process.isAlive()).as("the server runs").isTrue();
      if (System.nanoTime() - told > 20_000_000_000L) {
        System.out.println("not yet as before: " + now + "; before: " + before);
        told = System.nanoTime();
      }
      pause();
      now = use();
    }
    return now;
  }

  /** Waits, as long as the test may take, until there are no more workers than before. */
  void awaitWorkers(Use before) throws IOException {
    while (use().processes > before.processes) {
      pause();
    }
  }

  /** No worker has crashed, and the server has not reported an error of its own. */
  void assertNothingCrashed() throws IOException {
    assertThat(process.isAlive()).isTrue();
    assertThat(log())
        .doesNotContain("A fatal error has been detected")
        .doesNotContain("the worker died with status 134")
        .doesNotContain("the worker died with status 139")
        .doesNotContain("Exception in thread");
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().join();
  }
}
