package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;
import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.protocol.HandshakeMessages;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A session writes a random pattern wherever it can. Once it has ended, no new session finds the
 * pattern in memory that it gets, and no file and no process of the server holds it.
 */
@Timeout(300)
class PatternTest {
  private static final int MIB = 1 << 20;
  private static final int PIECES = 6;

  /** Printable, so that it can also be a part of a program. */
  private final String pattern = Long.toHexString(new Random().nextLong() | Long.MIN_VALUE);

  private final byte[] piece = pattern.repeat(MIB / 16).getBytes(StandardCharsets.US_ASCII);

  @TempDir Path folder;

  /** How the first session ends. */
  enum End {
    DISCONNECTED,
    KILLED,

    /** After it has asked which data is known, so that the server keeps what it writes. */
    KEPT
  }

  /** The place of the pattern in the bytes, -1 if they do not hold it. */
  private int find(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1).indexOf(pattern);
  }

  /** Memory of every kind that a session can allocate, a megabyte each. */
  private static List<Long> allocate(CudaClient session) throws IOException {
    List<Long> memory = new ArrayList<>();
    for (int i = 0; i < PIECES; i++) {
      memory.add(session.allocate(MIB));
    }
    memory.add(session.call("cuMemAllocAsync", with(1, MIB, 0)).getLong(0));
    memory.add(session.call("cuMemAllocPitch_v2", with(1, 1, 1024, 1024, 4)).getLong(0));
    return memory;
  }

  private byte[] program() {
    return ("// "
            + pattern
            + "\n.version 6.4\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n\0")
        .getBytes(StandardCharsets.US_ASCII);
  }

  private void write(AttackedServer server, End end) throws IOException {
    try (CudaClient alice =
        new CudaClient(WireClient.session(server.address(), "alice", ServerFixture.ALICE))) {
      alice.retain();
      if (end == End.KEPT) {
        assertThat(known(alice)).containsOnly(0);
      }
      try (WireClient data =
          alice.wire.connection(server.address(), "alice", HandshakeMessages.CONNECTION_DATA)) {
        int transfer = 0;
        for (long memory : allocate(alice)) {
          alice.async("graftWrite", with(memory, MIB / 2, 0), half());
          alice.onDataConnections("graftWrite", with(memory + MIB / 2, MIB / 2, 0));
          data.send(
              WireClient.little(24 + MIB / 2)
                  .putLong(++transfer)
                  .putLong(0)
                  .putLong(MIB / 2)
                  .put(half())
                  .flip());
        }
        byte[] program = program();
        alice.call("graftModuleLoad", with(1, program.length, 0, 0, 0, 0, 0), program);
        alice.call("graftContextSynchronize", with());
        assertThat(alice.call("cuMemGetInfo_v2", with(1, 1)).limit()).isEqualTo(16);
        assertThat(searchAll(server).found).as("where the pattern is meanwhile").isNotEmpty();
        while (end == End.KEPT && Arrays.equals(known(alice), new byte[16])) {
          Thread.onSpinWait(); // ended by the test's own time limit
        }
        if (end == End.KILLED) {
          server.killWorkers();
        }
      }
    }
  }

  private static byte[] known(CudaClient client) throws IOException {
    client.async("graftKnownData", with(16, Long.MIN_VALUE | 1));
    return client.data().bytes().array();
  }

  private byte[] half() {
    return Arrays.copyOf(piece, MIB / 2);
  }

  private void search(AttackedServer server, String name, byte[] token) throws IOException {
    try (CudaClient next = new CudaClient(WireClient.session(server.address(), name, token))) {
      next.retain();
      for (long memory : allocate(next)) {
        next.begin("graftRead", with(memory, MIB, 0));
        ByteBuffer all = ByteBuffer.allocate(MIB);
        while (all.hasRemaining()) {
          all.put(next.data().bytes().array());
        }
        assertThat(next.wire.answer().result()).isZero();
        assertThat(find(all.array())).as("the pattern in memory of " + name).isNegative();
      }
    }
  }

  private void searchFiles(Path root) throws IOException {
    for (Path file : AttackedServer.below(root)) {
      if (Files.isRegularFile(file)) {
        try {
          assertThat(find(Files.readAllBytes(file))).as(file.toString()).isNegative();
        } catch (NoSuchFileException e) {
          // Another program has removed it meanwhile.
        }
      }
    }
  }

  /** The bytes of a process that were searched, and the mappings that hold the pattern. */
  private record Searched(long bytes, List<String> found) {}

  private Searched search(long process) throws IOException {
    long searched = 0;
    List<String> found = new ArrayList<>();
    try (RandomAccessFile memory = new RandomAccessFile("/proc/" + process + "/mem", "r")) {
      for (String line : Files.readAllLines(Path.of("/proc/" + process + "/maps"))) {
        String[] words = line.split("[- ]", 4);
        if (words[2].startsWith("rw")) {
          searched +=
              search(
                  memory,
                  Long.parseUnsignedLong(words[0], 16),
                  Long.parseUnsignedLong(words[1], 16),
                  () -> found.add(line));
        }
      }
    } catch (FileNotFoundException | NoSuchFileException e) {
      // The process is ending or has ended; the bytes of the others are counted.
    }
    return new Searched(searched, found);
  }

  private long search(RandomAccessFile memory, long begin, long end, Runnable found) {
    byte[] bytes = new byte[4 * MIB];
    long searched = 0;
    try {
      for (long at = begin; at < end; at += bytes.length - pattern.length()) {
        memory.seek(at);
        int got = memory.read(bytes, 0, (int) Math.min(bytes.length, end - at));
        if (got <= 0) {
          break;
        }
        searched += got;
        if (find(Arrays.copyOf(bytes, got)) >= 0) {
          found.run();
        }
      }
    } catch (IOException e) {
      // The mapping is gone, or lies beyond the end of its file: nobody reads anything there.
    }
    return searched;
  }

  private Searched searchAll(AttackedServer server) throws IOException {
    long bytes = 0;
    List<String> found = new ArrayList<>();
    for (long process : server.processes()) {
      Searched one = search(process);
      bytes += one.bytes;
      one.found.forEach(line -> found.add("process " + process + ": " + line));
    }
    return new Searched(bytes, found);
  }

  @ParameterizedTest
  @EnumSource
  void nothingOfASessionIsLeftAnywhere(End end) throws Exception {
    // More memory than a token of bob's usual megabyte allows.
    Files.writeString(
        ServerFixture.tokens(folder),
        Files.readString(folder.resolve("tokens")).replace(" memory=1048576", ""));
    try (AttackedServer server =
        AttackedServer.start(folder, "software", "--spare", "1", "--memory", "67108864")) {
      AttackedServer.Use before = server.use();
      write(server, end);
      server.awaitWorkers(before);
      Searched searched = searchAll(server);
      assertThat(searched.found).isEmpty();
      search(server, "bob", ServerFixture.BOB);
      search(server, "alice", ServerFixture.ALICE);
      searchFiles(folder);
      searchFiles(Path.of("/dev/shm"));
      System.out.printf(
          "%s: searched %d MiB of the server's processes%n", end, searched.bytes / MIB);
      assertThat(searched.bytes).isGreaterThan(8 * MIB);
    }
  }
}
