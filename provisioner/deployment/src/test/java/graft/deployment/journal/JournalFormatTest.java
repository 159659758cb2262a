package graft.deployment.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.deployment.apply.Steps;
import graft.deployment.step.Step;
import graft.deployment.step.StepCodec;
import graft.deployment.step.StepKind;
import graft.deployment.step.guest.MakeToken;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What journals on users' disks rely on: the ids of the kinds of steps, the names of their
 * components, and what is made of records that this version does not know.
 */
class JournalFormatTest {
  /** Records that stand in journals as a text, which their own tests keep. */
  private static final Set<String> TEXTS =
      Set.of("HostAddress", "UserName", "PciAddress", "MacAddress", "Guid");

  @TempDir Path folder;

  @Test
  void everyStepHasAnId() throws Exception {
    Path classes = Path.of(Step.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    List<Class<?>> steps = new ArrayList<>();
    try (Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
        String name = classes.relativize(file).toString().replace('/', '.');
        Class<?> type =
            Class.forName(
                name.substring(0, name.length() - ".class".length()),
                false,
                Step.class.getClassLoader());
        if (Step.class.isAssignableFrom(type) && type.isRecord()) {
          steps.add(type);
        }
      }
    }
    assertThat(steps)
        .as("give a new kind of step an id in Steps.KINDS")
        .containsExactlyInAnyOrderElementsOf(
            Steps.KINDS.stream().<Class<?>>map(StepKind::type).toList());
  }

  @Test
  void noIdStandsForTwoKinds() {
    StepKind token = new StepKind("make-token", MakeToken.class);
    StepKind other = new StepKind("make-token", Steps.KINDS.get(0).type());
    assertThatThrownBy(() -> new StepCodec(List.of(token, other), Map.of()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new StepCodec(List.of(token), Map.of("Made", "make-a-token")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new StepKind("MakeToken", MakeToken.class))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** Journals that were written with an id or a component must stay readable. */
  @Test
  void noIdAndNoComponentDisappears() throws Exception {
    List<String> recorded;
    try (var in = JournalFormatTest.class.getResourceAsStream("/journal-format.txt")) {
      recorded =
          new String(in.readAllBytes(), StandardCharsets.UTF_8)
              .lines()
              .filter(line -> !line.startsWith("#"))
              .toList();
    }
    List<String> present =
        Steps.KINDS.stream().map(kind -> kind.id() + components(kind.type())).sorted().toList();
    assertThat(present)
        .as("a new kind of step is added to journal-format.txt; what stands there stays")
        .isEqualTo(recorded);
  }

  @Test
  void earlierNamesAreThoseOfTheRecordedJournals() throws Exception {
    TreeSet<String> names = new TreeSet<>();
    Path recorded = Path.of(JournalFormatTest.class.getResource("/state-before-ids").toURI());
    try (Stream<Path> files = Files.walk(recorded)) {
      for (Path journal : files.filter(f -> f.endsWith("journal.jsonl")).toList()) {
        Journal.read(journal, Steps.CODEC)
            .entries()
            .forEach((id, entry) -> assertThat(entry.step().id()).isEqualTo(id));
        Files.readString(journal)
            .lines()
            .filter(line -> line.contains("\"type\":\""))
            .forEach(line -> names.add(line.replaceFirst(".*?\"type\":\"([^\"]+)\".*", "$1")));
      }
    }
    assertThat(names).isEqualTo(new TreeSet<>(Steps.FORMER_NAMES.keySet())).hasSize(33);
  }

  @Test
  void aJournalOfTheFormerVersionIsContinued() throws Exception {
    Path recorded =
        Path.of(
            JournalFormatTest.class
                .getResource("/state-before-ids/guest/lab/journal.jsonl")
                .toURI());
    Files.copy(recorded, file());
    Step token = new MakeToken("bob", Path.of("/s/token"), Optional.empty());
    try (Journal journal = Journal.open(file(), Steps.CODEC, Clock.systemUTC())) {
      journal.begin(journal.apply("/d/lab.yaml", ""), token, Map.of());
    }
    JournalState read = Journal.read(file(), Steps.CODEC);
    assertThat(read.entries()).hasSize(25);
    assertThat(read.entry(token.id()).orElseThrow().step()).isEqualTo(token);
    assertThat(Files.readString(file()))
        .contains("\"version\":2")
        .contains("\"kind\":\"make-token\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"event\":\"run\",\"version\":3,\"command\":\"destroy\"}",
        "{\"event\":\"begin\",\"run\":1,\"id\":\"guest/a/b\",\"kind\":\"fly\",\"step\":{}}",
        "{\"event\":\"begin\",\"run\":1,\"id\":\"guest/a/b\",\"type\":\"Fly\",\"step\":{}}",
        "{\"event\":\"begin\",\"run\":1,\"id\":\"guest/a/token\",\"kind\":\"make-token\",\"step\":{}}"
      })
  void whatIsNotKnownIsAnErrorThatTouchesNothing(String line) throws IOException {
    String text = "{\"event\":\"run\",\"command\":\"undo\"}\n" + line + "\n{\"half";
    Files.writeString(file(), text);
    assertThatThrownBy(() -> Journal.open(file(), Steps.CODEC, Clock.systemUTC()).close())
        .isInstanceOf(GraftException.class)
        .hasMessageContaining(file() + " is not readable at line 2")
        .hasMessageContaining("nothing was changed: use the version of Graft that wrote it");
    assertThat(file()).hasContent(text);
  }

  private Path file() {
    return folder.resolve("journal.jsonl");
  }

  private static String components(Class<?> type) {
    return Arrays.stream(type.getRecordComponents())
        .map(JournalFormatTest::component)
        .collect(Collectors.joining(", ", "(", ")"));
  }

  private static String component(RecordComponent component) {
    return component.getName() + " " + form(component.getGenericType());
  }

  /** Records of our own as their components, enums as their constants, all else by name. */
  private static String form(Type type) {
    if (type instanceof ParameterizedType of) {
      return ((Class<?>) of.getRawType()).getSimpleName()
          + Arrays.stream(of.getActualTypeArguments())
              .map(JournalFormatTest::form)
              .collect(Collectors.joining(", ", "<", ">"));
    }
    Class<?> plain = (Class<?>) type;
    if (plain.isEnum()) {
      return Stream.of(plain.getEnumConstants())
          .map(constant -> ((Enum<?>) constant).name())
          .collect(Collectors.joining(", ", "[", "]"));
    }
    return plain.isRecord() && !TEXTS.contains(plain.getSimpleName())
        ? components(plain)
        : plain.getSimpleName();
  }
}
