package graft.remoting.software.compare;

import graft.remoting.software.TestDevice;
import graft.remoting.software.memory.Native;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@code generate FOLDER COUNT} writes the cases and COUNT random kernels, {@code software FOLDER}
 * runs them on the software device, {@code compare FOLDER} compares that with what {@code
 * run_cases} wrote on a GPU. Exit status 1 if there are differences.
 */
public final class CompareMain {
  private static final int KERNELS_A_MODULE = 100;
  static final int RANDOM_OUTPUT = 2 * 64 * 32;

  private CompareMain() {}

  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[1]);
    switch (arguments[0]) {
      case "generate" -> generate(folder, Integer.parseInt(arguments[2]));
      case "software" -> software(folder);
      case "golden" -> golden(folder);
      default -> System.exit(compare(folder) ? 0 : 1);
    }
  }

  private static void generate(Path folder, int count) throws IOException {
    Files.createDirectories(folder);
    List<InstructionCases.Case> cases = InstructionCases.all();
    Files.writeString(folder.resolve("cases.ptx"), InstructionCases.ptx(cases));
    StringBuilder list = new StringBuilder();
    cases.forEach(
        c -> list.append(c.kernel()).append(' ').append(c.operands().ordinal()).append('\n'));
    Files.writeString(folder.resolve("cases.txt"), list);
    ByteBuffer operands =
        ByteBuffer.allocate(InstructionCases.Operands.values().length * InstructionCases.ROWS * 24)
            .order(ByteOrder.LITTLE_ENDIAN);
    for (InstructionCases.Operands o : InstructionCases.Operands.values()) {
      for (long v : InstructionCases.operands(o)) {
        operands.putLong(v);
      }
    }
    Files.write(folder.resolve("operands.bin"), operands.array());
    for (int m = 0; m < (count + KERNELS_A_MODULE - 1) / KERNELS_A_MODULE; m++) {
      StringBuilder ptx = new StringBuilder(".version 8.0\n.target sm_90\n.address_size 64\n");
      for (int k = 0; k < KERNELS_A_MODULE; k++) {
        ptx.append(RandomKernel.kernel("r" + k, (long) m * KERNELS_A_MODULE + k));
      }
      Files.writeString(folder.resolve("random" + m + ".ptx"), ptx);
    }
  }

  private static void software(Path folder) throws IOException {
    List<InstructionCases.Case> cases = InstructionCases.all();
    ByteBuffer results =
        ByteBuffer.allocate(cases.size() * InstructionCases.ROWS * 8)
            .order(ByteOrder.LITTLE_ENDIAN);
    try (TestDevice device = new TestDevice()) {
      long module = device.load(Files.readString(folder.resolve("cases.ptx")));
      long out = device.allocate(InstructionCases.ROWS * 8L);
      Map<InstructionCases.Operands, Long> sets = new TreeMap<>();
      for (InstructionCases.Operands o : InstructionCases.Operands.values()) {
        sets.put(o, device.uploadLongs(InstructionCases.operands(o)));
      }
      for (InstructionCases.Case c : cases) {
        TestDevice.check(
            device.run(
                device.function(module, c.kernel()),
                InstructionCases.ROWS / 128,
                128,
                sets.get(c.operands()),
                out));
        for (long v : device.downloadLongs(out, InstructionCases.ROWS)) {
          results.putLong(v);
        }
      }
    }
    Files.write(folder.resolve("software.bin"), results.array());
    StringBuilder hashes = new StringBuilder();
    for (Path p : randomModules(folder)) {
      hashes.append(randomHashes(Files.readString(p)));
    }
    Files.writeString(folder.resolve("software-random.txt"), hashes);
  }

  private static List<Path> randomModules(Path folder) {
    List<Path> found = new ArrayList<>();
    for (int m = 0; Files.exists(folder.resolve("random" + m + ".ptx")); m++) {
      found.add(folder.resolve("random" + m + ".ptx"));
    }
    return found;
  }

  private static String randomHashes(String ptx) {
    StringBuilder hashes = new StringBuilder();
    try (TestDevice device = new TestDevice()) {
      long module = device.load(ptx);
      int[] input = new int[256];
      for (int i = 0; i < input.length; i++) {
        input[i] = (int) (i * 2654435761L);
      }
      long in = device.upload(input);
      long out = device.allocate(RANDOM_OUTPUT);
      for (int k = 0; k < KERNELS_A_MODULE; k++) {
        TestDevice.check(device.run(device.function(module, "r" + k), 2, 64, in, out));
        long host = device.bytes(RANDOM_OUTPUT);
        TestDevice.check(device.driver().cuMemcpyDtoH_v2(host, out, RANDOM_OUTPUT));
        hashes.append(String.format("%016x%n", hash(host, RANDOM_OUTPUT)));
      }
    }
    return hashes.toString();
  }

  /** FNV-1a over bytes, as run_cases computes it. */
  static long hash(long address, int bytes) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < bytes; i++) {
      hash = (hash ^ Native.UNSAFE.getByte(address + i) & 0xff) * 0x100000001b3L;
    }
    return hash;
  }

  private static boolean compare(Path folder) throws IOException {
    List<InstructionCases.Case> cases = InstructionCases.all();
    ByteBuffer ours = read(folder.resolve("software.bin"));
    ByteBuffer theirs = read(folder.resolve("native.bin"));
    int different = 0;
    int exact = 0;
    for (InstructionCases.Case c : cases) {
      long[] operands = InstructionCases.operands(c.operands());
      int wrong = 0;
      boolean same = true;
      String first = "";
      for (int row = 0; row < InstructionCases.ROWS; row++) {
        long a = ours.getLong();
        long b = theirs.getLong();
        same &= a == b;
        if (!Results.agree(c, a, b) && wrong++ == 0) {
          first =
              String.format(
                  "a=%x b=%x c=%x: %x, GPU %x",
                  operands[3 * row], operands[3 * row + 1], operands[3 * row + 2], a, b);
        }
      }
      exact += same ? 1 : 0;
      if (wrong > 0) {
        different++;
        System.out.printf(
            "%-28s %4d of %d differ, first %s%n", c.text(), wrong, InstructionCases.ROWS, first);
      }
    }
    System.out.printf(
        "instructions: %d forms, %d equal in every bit, %d within PTX's rules, %d different%n",
        cases.size(), exact, cases.size() - exact - different, different);
    List<String> mine = Files.readAllLines(folder.resolve("software-random.txt"));
    List<String> gpu = Files.readAllLines(folder.resolve("native-random.txt"));
    int unequal = 0;
    for (int i = 0; i < Math.max(mine.size(), gpu.size()); i++) {
      if (i >= mine.size() || i >= gpu.size() || !mine.get(i).equals(gpu.get(i))) {
        if (unequal++ < 20) {
          System.out.println("random kernel " + i + " differs");
        }
      }
    }
    System.out.printf("random kernels: %d, %d different%n", mine.size(), unequal);
    return different == 0 && unequal == 0;
  }

  /**
   * Lines "form, tab, hash" for the forms that PTX defines bit by bit, and random kernels' hashes.
   */
  private static void golden(Path folder) throws IOException {
    ByteBuffer theirs = read(folder.resolve("native.bin"));
    for (InstructionCases.Case c : InstructionCases.all()) {
      long[] rows = new long[InstructionCases.ROWS];
      theirs.asLongBuffer().get(rows);
      theirs.position(theirs.position() + 8 * rows.length);
      if (c.ulps() == 0) {
        System.out.printf("%s\t%016x%n", c.text(), Results.hash(c, rows));
      }
    }
    List<String> gpu = Files.readAllLines(folder.resolve("native-random.txt"));
    for (int i = 0; i < 500; i++) {
      System.out.printf("random %d\t%s%n", i, gpu.get(i));
    }
  }

  private static ByteBuffer read(Path path) {
    try {
      return ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
