package graft.remoting.binding;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.openjdk.jmh.util.Statistics;

/**
 * Measures a launch, a copy and a query with a driver that does nothing, by each binding of this
 * Java.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class BindingBenchmark {
  private static final String PROPERTY = "graft.binding";
  private static final int FORKS = 3;
  private static final int WARM_UPS = 10;
  private static final int ITERATIONS = 100;

  private Binding binding;

  /** Each process uses one binding, so that the compiler sees a single implementation. */
  @Setup
  public void load() throws ReflectiveOperationException {
    binding = Binding.named(System.getProperty(PROPERTY));
    if (binding.launch() != 0 || binding.copy() != 0 || binding.query() != 0) {
      throw new IllegalStateException("the library is not the one that does nothing");
    }
  }

  @Benchmark
  public int launch() {
    return binding.launch();
  }

  @Benchmark
  public int copy() {
    return binding.copy();
  }

  @Benchmark
  public int query() {
    return binding.query();
  }

  /** Prints a table of Markdown; arguments: the bindings. */
  public static void main(String[] arguments) throws RunnerException {
    System.out.println("Java " + Runtime.version());
    System.out.println("| ns a call: least, median | launch | copy | query |\n|---|---|---|---|");
    for (String name : arguments) {
      List<String> cells = new ArrayList<>(List.of(name));
      for (String call : List.of("launch", "copy", "query")) {
        cells.add(run(name, call));
      }
      System.out.println("| " + String.join(" | ", cells) + " |");
    }
  }

  /**
   * Runs short iterations and takes their minimum and median, since other processes of the machine
   * disturb some of them.
   */
  private static String run(String name, String call) throws RunnerException {
    List<String> options =
        new ArrayList<>(List.of("-XX:+UseSerialGC", "-D" + PROPERTY + "=" + name));
    if (Runtime.version().feature() >= 22) {
      options.add("--enable-native-access=ALL-UNNAMED");
    }
    if (Runtime.version().feature() >= 23) {
      options.add(
          "--sun-misc-unsafe-memory-access=allow"); // JMH uses it; the warning would spoil the
      // table
    }
    Collection<RunResult> results =
        new Runner(
                new OptionsBuilder()
                    .include(BindingBenchmark.class.getName() + "." + call + "$")
                    .jvmArgsAppend(options.toArray(String[]::new))
                    .forks(FORKS)
                    .warmupIterations(WARM_UPS)
                    .warmupTime(TimeValue.milliseconds(200))
                    .measurementIterations(ITERATIONS)
                    .measurementTime(TimeValue.milliseconds(20))
                    .shouldFailOnError(true)
                    .verbosity(VerboseMode.SILENT)
                    .build())
            .run();
    Statistics figures = results.iterator().next().getPrimaryResult().getStatistics();
    return String.format(Locale.ROOT, "%.1f, %.1f", figures.getMin(), figures.getPercentile(50));
  }
}
