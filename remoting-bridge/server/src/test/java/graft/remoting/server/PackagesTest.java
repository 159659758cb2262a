package graft.remoting.server;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Which packages of the server may use which others. Any use that is not listed is an error. */
class PackagesTest {
  private static final String ROOT = "graft.remoting.server";
  private static final int MOST_CLASSES = 30;

  /** From each package, the packages that it may use. */
  private static final Map<String, String> ALLOWED =
      Map.ofEntries(
          // The packages that all others build on.
          Map.entry("system", ""),
          Map.entry("protocol", "system"),
          Map.entry("exchange", "system"),
          Map.entry("control", "exchange protocol system"),
          Map.entry("transport", "protocol system"),
          Map.entry("connection", "protocol system transport"),
          Map.entry("device", "protocol system"),
          Map.entry("profile", ""),
          // The server's process.
          Map.entry("jail", "control system transport"),
          Map.entry("health", "control"),
          Map.entry("mps", "control"),
          Map.entry("pool", "control exchange health jail mps protocol system transport"),
          Map.entry("accept", "control exchange health pool protocol share system transport"),
          Map.entry("share", "control exchange system"),
          Map.entry("operate", "control exchange health pool share system"),
          // The worker's process.
          Map.entry("session.memory", "exchange system"),
          Map.entry("session.call", "connection exchange protocol session.memory"),
          Map.entry(
              "session.state", "connection exchange protocol session.call session.memory system"),
          Map.entry(
              "session.copy",
              "connection device exchange session.call session.memory session.state system"
                  + " transport"),
          Map.entry("session.code", "exchange session.call session.memory system"),
          Map.entry(
              "session.launch", "session.call session.code session.memory session.state system"),
          Map.entry(
              "session",
              "connection device exchange profile protocol session.call session.code session.copy"
                  + " session.launch session.memory session.state system"),
          Map.entry(
              "backend",
              "connection control device exchange session session.call session.memory system"
                  + " transport"),
          Map.entry(
              "worker",
              "backend connection control exchange mps protocol session session.call session.state system"
                  + " transport"),
          // The packages that start the two.
          Map.entry(
              "",
              "accept control exchange health jail operate pool session.call share system transport"
                  + " worker"));

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(ROOT);

  private static String name(JavaClass type) {
    String name = type.getPackageName();
    return name.equals(ROOT) ? "" : name.substring(ROOT.length() + 1);
  }

  @Test
  void packagesUseWhatTheyMay() {
    Map<String, Set<String>> wrong = new TreeMap<>();
    for (JavaClass type : CLASSES) {
      Set<String> allowed = Set.of(ALLOWED.getOrDefault(name(type), "").split(" ", -1));
      for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
        JavaClass target = dependency.getTargetClass().getBaseComponentType();
        if (target.getPackageName().startsWith(ROOT)
            && !name(target).equals(name(type))
            && !allowed.contains(name(target))) {
          wrong
              .computeIfAbsent(name(type) + " -> " + name(target), key -> new TreeSet<>())
              .add(type.getSimpleName() + " uses " + target.getSimpleName());
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void everyPackageIsInTheList() {
    assertThat(CLASSES.stream().map(PackagesTest::name).collect(Collectors.toSet()))
        .isEqualTo(ALLOWED.keySet());
  }

  @Test
  void noPackagesFormACycle() {
    for (String part : new String[] {ROOT + ".(*)..", ROOT + ".session.(*).."}) {
      slices().matching(part).should().beFreeOfCycles().check(CLASSES);
    }
  }

  @Test
  void noPackageIsLarge() {
    Map<String, Long> sizes =
        CLASSES.stream()
            .filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
            .collect(Collectors.groupingBy(PackagesTest::name, Collectors.counting()));
    assertThat(sizes).allSatisfy((name, size) -> assertThat(size).isLessThan(MOST_CLASSES + 1L));
  }
}
