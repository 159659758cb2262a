package graft.remoting.software.compare;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.software.TestDevice;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The software device gives the results that an NVIDIA H200 gave: {@code h200.txt} holds a hash of
 * the GPU's results for each instruction form and random kernel.
 */
final class GpuResultsTest {
  private static final int RANDOM = 500;

  private static Map<String, String> expected() {
    Map<String, String> lines = new HashMap<>();
    TestDevice.resource("h200.txt")
        .lines()
        .forEach(l -> lines.put(l.substring(0, l.indexOf('\t')), l.substring(l.indexOf('\t') + 1)));
    return lines;
  }

  @Test
  void instructionsGiveTheBitsThatTheGpuGave() {
    Map<String, String> expected = expected();
    List<InstructionCases.Case> cases =
        InstructionCases.all().stream().filter(c -> c.ulps() == 0).toList();
    List<String> wrong = new ArrayList<>();
    try (TestDevice device = new TestDevice()) {
      long module = device.load(InstructionCases.ptx(cases));
      Map<InstructionCases.Operands, Long> operands =
          new EnumMap<>(InstructionCases.Operands.class);
      for (InstructionCases.Operands o : InstructionCases.Operands.values()) {
        operands.put(o, device.uploadLongs(InstructionCases.operands(o)));
      }
      long out = device.allocate(InstructionCases.ROWS * 8L);
      for (InstructionCases.Case c : cases) {
        TestDevice.check(
            device.run(
                device.function(module, c.kernel()),
                InstructionCases.ROWS / 128,
                128,
                operands.get(c.operands()),
                out));
        long hash = Results.hash(c, device.downloadLongs(out, InstructionCases.ROWS));
        if (!String.format("%016x", hash).equals(expected.get(c.text()))) {
          wrong.add(c.text());
        }
      }
    }
    assertThat(cases).hasSizeGreaterThan(1340);
    assertThat(wrong).isEmpty();
  }

  @Test
  void randomKernelsGiveWhatTheGpuGave() {
    Map<String, String> expected = expected();
    List<String> wrong = new ArrayList<>();
    for (int first = 0; first < RANDOM; first += 100) {
      StringBuilder ptx = new StringBuilder(".version 8.0\n.target sm_90\n.address_size 64\n");
      for (int k = first; k < first + 100; k++) {
        ptx.append(RandomKernel.kernel("r" + k, k));
      }
      try (TestDevice device = new TestDevice()) {
        long module = device.load(ptx.toString());
        int[] input = new int[256];
        for (int i = 0; i < input.length; i++) {
          input[i] = (int) (i * 2654435761L);
        }
        long in = device.upload(input);
        long out = device.allocate(CompareMain.RANDOM_OUTPUT);
        long host = device.bytes(CompareMain.RANDOM_OUTPUT);
        for (int k = first; k < first + 100; k++) {
          TestDevice.check(device.run(device.function(module, "r" + k), 2, 64, in, out));
          TestDevice.check(device.driver().cuMemcpyDtoH_v2(host, out, CompareMain.RANDOM_OUTPUT));
          String hash = String.format("%016x", CompareMain.hash(host, CompareMain.RANDOM_OUTPUT));
          if (!hash.equals(expected.get("random " + k))) {
            wrong.add("random " + k);
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }
}
