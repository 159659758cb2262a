package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Checks the allowed dependencies between the parts of Graft, over the classes of all modules. */
class ArchitectureTest {
  /** Each part and its package, which includes the packages below it. */
  private static final Map<String, List<String>> PARTS =
      table(
          """
          common       graft.common
          api          graft.remoting.api
          device       graft.remoting.device
          software     graft.remoting.software
          server       graft.remoting.server
          libvirt      graft.hypervisors.libvirt
          kvm          graft.hypervisors.kvm
          xen          graft.hypervisors.xen
          lxc          graft.hypervisors.lxc
          sriov        graft.sriov
          guests       graft.guests
          deployment   graft.deployment
          measuring    graft.comparison
          cli          graft.cli
          """);

  /** Each part and the parts that it may use. */
  private static final Map<String, List<String>> ARROWS =
      table(
          """
          common
          api
          device
          software     device
          server       common api device software
          libvirt      common
          kvm          common libvirt
          xen          common libvirt
          lxc          libvirt
          sriov        common
          guests       common libvirt
          deployment   common guests sriov libvirt kvm xen lxc
          measuring    common guests deployment libvirt server
          cli          common guests deployment measuring sriov libvirt server
          """);

  /** The largest number of classes in a package, without nested ones. */
  private static final int MOST_CLASSES = 30;

  private static JavaClasses classes;

  @BeforeAll
  static void readClasses() {
    classes =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("graft");
  }

  /** Reads a table: each line is a name and the values that belong to it. */
  private static Map<String, List<String>> table(String text) {
    Map<String, List<String>> table = new LinkedHashMap<>();
    text.lines()
        .map(line -> List.of(line.split(" +")))
        .forEach(words -> table.put(words.get(0), words.subList(1, words.size())));
    return table;
  }

  /** The part to which a class belongs; empty if there is none. */
  private static String part(JavaClass of) {
    String name = of.getPackageName() + ".";
    return PARTS.entrySet().stream()
        .filter(part -> part.getValue().stream().anyMatch(p -> name.startsWith(p + ".")))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse("");
  }

  @Test
  void everyClassBelongsToAPart() {
    assertThat(classes.stream().filter(c -> part(c).isEmpty()).map(JavaClass::getName)).isEmpty();
    assertThat(classes.stream().map(ArchitectureTest::part).distinct())
        .as("every part has classes")
        .containsExactlyInAnyOrderElementsOf(PARTS.keySet());
  }

  @Test
  void partsUseOnlyTheArrowsThatAreAllowed() {
    Set<String> forbidden = new TreeSet<>();
    Map<String, Set<String>> used = new TreeMap<>();
    for (JavaClass from : classes) {
      for (Dependency dependency : from.getDirectDependenciesFromSelf()) {
        JavaClass to = dependency.getTargetClass().getBaseComponentType();
        if (!to.getPackageName().startsWith("graft.") || part(from).equals(part(to))) {
          continue;
        }
        used.computeIfAbsent(part(from), part -> new HashSet<>()).add(part(to));
        if (!ARROWS.get(part(from)).contains(part(to))) {
          forbidden.add(part(from) + " -> " + part(to) + ": " + dependency.getDescription());
        }
      }
    }
    assertThat(forbidden).isEmpty();
    ARROWS.forEach(
        (from, arrows) ->
            assertThat(used.getOrDefault(from, Set.of()))
                .as("the arrows of " + from + " are all in use")
                .containsExactlyInAnyOrderElementsOf(arrows));
  }

  @Test
  void arrowsPointOneWay() {
    List<String> above = new ArrayList<>();
    ARROWS.forEach(
        (from, arrows) -> {
          assertThat(above).as("what " + from + " uses is listed above it").containsAll(arrows);
          above.add(from);
        });
  }

  @Test
  void noPackagesFormACycle() {
    List<String> cycles =
        SlicesRuleDefinition.slices()
            .matching("graft.(**)")
            .should()
            .beFreeOfCycles()
            .allowEmptyShould(false)
            .evaluate(classes)
            .getFailureReport()
            .getDetails();
    assertThat(cycles).isEmpty();
  }

  @Test
  void noPackageIsTooLarge() {
    Map<String, Integer> large = new TreeMap<>();
    for (JavaClass one : classes) {
      if (one.isTopLevelClass() && !one.getSimpleName().equals("package-info")) {
        large.merge(one.getPackageName(), 1, Integer::sum);
      }
    }
    large.values().removeIf(count -> count <= MOST_CLASSES);
    assertThat(large).as("packages above %s classes", MOST_CLASSES).isEmpty();
  }
}
