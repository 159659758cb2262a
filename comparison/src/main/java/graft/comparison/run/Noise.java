package graft.comparison.run;

import graft.common.bind.Default;
import graft.common.program.HostProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Disturbances and the state of the machine during the run of a program.
 *
 * @param stealPercent the share of processor time that the hypervisor of this machine withheld, in
 *     per cent
 * @param load the one-minute load average at the end
 * @param megahertz the first processor's clock at the end; 0 if the kernel does not report it
 * @param celsius the warmest sensor at the end; 0 if there is none
 * @param gpuMegahertz the clock of the host's first NVIDIA GPU at the end; 0 if there is none
 * @param gpuCelsius the temperature of that GPU at the end; 0 if there is none
 */
public record Noise(
    double stealPercent,
    double load,
    double megahertz,
    double celsius,
    @Default("0") double gpuMegahertz,
    @Default("0") double gpuCelsius) {

  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final Pattern GPU = Pattern.compile("(\\d+), (\\d+)");

  /** Starts to count processor time. */
  static Watch watch() {
    return ticks();
  }

  /** The counts of all ticks and of stolen ticks of processor time. */
  record Watch(long all, long stolen) {
    Noise end() {
      Watch after = ticks();
      long passed = after.all - all;
      double steal = passed <= 0 ? 0 : 100.0 * (after.stolen - stolen) / passed;
      double[] gpu = readGpu();
      return new Noise(steal, readLoad(), readMegahertz(), readCelsius(), gpu[0], gpu[1]);
    }
  }

  /** Reads the counts from /proc/stat (proc(5): steal is the eighth). */
  private static Watch ticks() {
    for (String line : lines(Path.of("/proc/stat"))) {
      if (line.startsWith("cpu ")) {
        String[] words = line.trim().split(" +", -1);
        long all = 0;
        for (int i = 1; i < words.length; i++) {
          all += Long.parseLong(words[i]);
        }
        return new Watch(all, words.length > 8 ? Long.parseLong(words[8]) : 0);
      }
    }
    return new Watch(0, 0);
  }

  private static double readLoad() {
    List<String> lines = lines(Path.of("/proc/loadavg"));
    return lines.isEmpty() ? 0 : Double.parseDouble(lines.get(0).split(" ", -1)[0]);
  }

  private static double readMegahertz() {
    return lines(Path.of("/proc/cpuinfo")).stream()
        .filter(line -> line.startsWith("cpu MHz"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(':') + 1).trim()))
        .findFirst()
        .orElse(0);
  }

  private static double readCelsius() {
    Path zones = Path.of("/sys/class/thermal");
    if (!Files.isDirectory(zones)) {
      return 0;
    }
    try (Stream<Path> children = Files.list(zones)) {
      return children
          .flatMap(zone -> lines(zone.resolve("temp")).stream())
          .mapToDouble(text -> Double.parseDouble(text) / 1000)
          .max()
          .orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }

  /** Clock and temperature as nvidia-smi reports them; zeros without a GPU. */
  private static double[] readGpu() {
    double[] none = {0, 0};
    try {
      String said =
          HostProgram.of(
                  "nvidia-smi",
                  List.of(
                      "--id=0",
                      "--query-gpu=clocks.sm,temperature.gpu",
                      "--format=csv,noheader,nounits"))
              .output(LIMIT);
      Matcher numbers = GPU.matcher(said.strip());
      return numbers.matches()
          ? new double[] {
            Double.parseDouble(numbers.group(1)), Double.parseDouble(numbers.group(2))
          }
          : none;
    } catch (IOException e) {
      return none; // no nvidia-smi or no GPU
    }
  }

  private static List<String> lines(Path file) {
    try {
      return Files.isReadable(file) ? Files.readAllLines(file) : List.of();
    } catch (IOException e) {
      return List.of(); // an unreadable sensor is ignored
    }
  }
}
