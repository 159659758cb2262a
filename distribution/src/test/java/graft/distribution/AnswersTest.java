package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The driver API answers right and wrong arguments as the driver answered them on a GPU ({@code
 * client/test/answers} calls the functions, {@code native-*.csv} has the driver's answers), but for
 * the differences that {@code software-device.txt} lists by their causes. Calls with objects that
 * are gone, of which a GPU's answer is not recorded yet, are refused, but for those that it lists.
 * Over shm every function is called, over tcp those whose calls the client sends otherwise there,
 * and one in three of the others by chance: {@code -Dgraft.seed=} takes those of an earlier run.
 */
final class AnswersTest {
  private static final Path CLIENT = Checkout.ROOT.resolve("remoting-bridge/client");
  private static final Path ANSWERS = CLIENT.resolve("test/answers");
  private static final Path KNOWN = ANSWERS.resolve("software-device.txt");
  private static final String NOT_CALLED = "not called: ";
  private static final String SUCCEEDS = "succeeds: ";
  private static final String ANY = "*";
  private static final long SEED = Long.getLong("graft.seed", new Random().nextLong());

  /** Functions that send bulk data or do not wait for their answers, which differs by channel. */
  private static final Pattern ALWAYS = Pattern.compile("cu(Mem|Stream|Launch|Event).*");

  @TempDir static Path folder;
  private static SoftwareServer server;

  @BeforeAll
  static void serve() throws Exception {
    server = SoftwareServer.forAllChannels(folder);
    Finished gcc =
        Finished.run(
            CLIENT,
            System.getenv(),
            List.of(
                "sh",
                "-c",
                "gcc -O1 -std=c11 -D_GNU_SOURCE -Itarget/generated test/answers/*.c -o \"$1\" -ldl",
                "sh",
                folder.resolve("answers").toString()));
    assertThat(gcc.code()).as(gcc.err()).isZero();
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  /** What the driver answered to a case, and what is answered here. */
  private record Difference(String natively, String here) {}

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void theDriversAnswersAreGiven(String channel) throws Exception {
    List<String> known = Files.readAllLines(KNOWN);
    Map<String, String> natively = recorded();
    known.stream()
        .filter(line -> line.startsWith(NOT_CALLED))
        .flatMap(line -> Stream.of(line.substring(NOT_CALLED.length()).split(" ", -1)))
        .forEach(name -> natively.keySet().removeIf(one -> one.startsWith(name + ",")));
    Map<String, Difference> listed = differences(known);
    assertThat(natively.keySet()).as("recorded cases").containsAll(listed.keySet());
    Set<String> functions = functions(natively.keySet());
    if (!channel.equals("shm")) {
      int all = functions.size();
      functions.retainAll(chosen(functions));
      natively.keySet().removeIf(one -> !functions.contains(functionOf(one)));
      System.out.printf(
          "%d of %d functions over %s: -Dgraft.seed=%d%n", functions.size(), all, channel, SEED);
    }
    Map<String, String> here = answers(channel, functions);

    List<String> news = new ArrayList<>();
    List<String> right = new ArrayList<>();
    natively.forEach(
        (one, driver) -> {
          String graft = here.getOrDefault(one, "not run");
          Difference difference = listed.get(one);
          if (difference == null ? isSame(driver, graft) : difference.here().equals(graft)) {
            return;
          }
          if (difference == null || !difference.here().equals(ANY)) {
            List<String> to = difference != null && isSame(driver, graft) ? right : news;
            to.add(one + ": " + driver + " natively, " + graft + " here");
          }
        });
    assertThat(news)
        .as("answers that differ from the driver's, and are not in %s", KNOWN)
        .isEmpty();
    assertThat(right).as("answers that are the driver's now: remove them from %s", KNOWN).isEmpty();
    unrecorded(here, natively.keySet(), functions, known);
  }

  /** Cases whose native answer is not known end, and objects that are gone are refused. */
  private static void unrecorded(
      Map<String, String> here, Set<String> recorded, Set<String> called, List<String> known) {
    Set<String> accepted = accepted(known);
    accepted.removeIf(one -> !called.contains(functionOf(one)));
    assertThat(here.keySet()).as("cases").containsAll(accepted);
    List<String> wrong = new ArrayList<>();
    int unrecorded = 0;
    int gone = 0;
    for (Map.Entry<String, String> one : here.entrySet()) {
      String name = one.getKey();
      String answer = one.getValue();
      boolean isGone = name.endsWith("destroyed") && !answer.equals("not called");
      gone += isGone ? 1 : 0;
      if (recorded.contains(name)) {
        continue;
      }
      unrecorded++;
      boolean isRefused = !answer.startsWith("CUDA_SUCCESS") || accepted.contains(name);
      if (answer.matches("crash|hang|exit|not run") || (isGone && !isRefused)) {
        wrong.add(name + ": " + answer);
      }
    }
    System.out.printf(
        "%d cases without a recorded answer; %d with objects that are gone%n", unrecorded, gone);
    assertThat(wrong).as("calls that do not end, or take objects that are gone").isEmpty();
    assertThat(gone).as("cases with objects that are gone").isGreaterThan(called.size());
  }

  private static String functionOf(String one) {
    return one.substring(0, one.indexOf(','));
  }

  private static Set<String> functions(Set<String> cases) {
    return cases.stream()
        .map(AnswersTest::functionOf)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** A third of these functions by chance, and those that are always called. */
  private static Set<String> chosen(Set<String> functions) {
    List<String> shuffled = new ArrayList<>(functions);
    Collections.shuffle(shuffled, new Random(SEED));
    Set<String> chosen = new TreeSet<>(shuffled.subList(0, (shuffled.size() + 2) / 3));
    functions.stream().filter(one -> ALWAYS.matcher(one).matches()).forEach(chosen::add);
    return chosen;
  }

  /** The cases of lines of "succeeds: FUNCTION... | CASE, CASE". */
  private static Set<String> accepted(List<String> lines) {
    Set<String> accepted = new TreeSet<>();
    for (String line : lines) {
      if (line.startsWith(SUCCEEDS)) {
        String[] cells = line.substring(SUCCEEDS.length()).split(" \\| ", -1);
        for (String function : cells[0].split(" ", -1)) {
          Stream.of(cells[1].split(", ", -1)).forEach(one -> accepted.add(function + "," + one));
        }
      }
    }
    return accepted;
  }

  /** Where the driver crashes, any error is right. */
  private static boolean isSame(String driver, String graft) {
    return graft.equals(driver)
        || (driver.matches("crash|hang")
            && !graft.matches("crash|hang|exit|not run|not called|varies|CUDA_SUCCESS.*"));
  }

  /** The answers to all cases of these functions. */
  private static Map<String, String> answers(String channel, Set<String> functions)
      throws IOException, InterruptedException {
    int jobs = Runtime.getRuntime().availableProcessors();
    List<String> command = new ArrayList<>();
    command.addAll(List.of(folder.resolve("answers").toString(), "--jobs", String.valueOf(jobs)));
    command.addAll(functions);
    Map<String, String> environment = server.environment(server.over(channel));
    Finished program = Finished.run(folder, environment, command, Duration.ofMinutes(8));
    assertThat(program.code()).as("%s", program).isZero();
    System.out.println(program.err()); // both answers of each case that varies
    return parse(program.out().lines());
  }

  private static Map<String, String> recorded() throws IOException {
    try (Stream<Path> files = Files.list(ANSWERS)) {
      Path file =
          files
              .filter(f -> f.getFileName().toString().matches("native-.*\\.csv"))
              .findFirst()
              .orElseThrow();
      return parse(Files.readAllLines(file).stream());
    }
  }

  /** The answer to each case, which has the name "FUNCTION,CASE". */
  private static Map<String, String> parse(Stream<String> csv) {
    Map<String, String> answers = new LinkedHashMap<>();
    csv.filter(line -> !line.startsWith("#"))
        .forEach(
            line -> {
              int comma = line.lastIndexOf(',');
              answers.put(line.substring(0, comma), line.substring(comma + 1));
            });
    return answers;
  }

  private static Map<String, Difference> differences(List<String> lines) {
    Map<String, Difference> differences = new HashMap<>();
    for (String line : lines) {
      String[] cells = line.split(" \\| ", -1);
      if (line.startsWith("#") || cells.length != 4) {
        continue;
      }
      for (String function : cells[2].split(" ", -1)) {
        for (String one : cells[3].split(", ", -1)) {
          Difference difference = new Difference(cells[0], cells[1]);
          assertThat(differences.put(function + "," + one, difference))
              .as("%s twice", one)
              .isNull();
        }
      }
    }
    return differences;
  }
}
