package graft.remoting.software;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import java.util.Map;
import java.util.stream.Collectors;

/** The order of the packages, and the public interface of the module. */
@AnalyzeClasses(
    packages = "graft.remoting.software",
    importOptions = ImportOption.DoNotIncludeTests.class)
final class ArchitectureTest {
  private static final String ROOT = "graft.remoting.software";

  /** From an image to a running kernel; each package uses only those named here. */
  @ArchTest
  static void eachPackageKnowsOnlyThoseBelowIt(JavaClasses all) {
    layeredArchitecture()
        .consideringOnlyDependenciesInAnyPackage(ROOT + "..")
        .layer("device")
        .definedBy(ROOT)
        .layer("object")
        .definedBy(ROOT + ".object")
        .layer("module")
        .definedBy(ROOT + ".module")
        .layer("codegen")
        .definedBy(ROOT + ".codegen")
        .layer("lowering")
        .definedBy(ROOT + ".lowering")
        .layer("analysis")
        .definedBy(ROOT + ".analysis")
        .layer("exec")
        .definedBy(ROOT + ".exec")
        .layer("ir")
        .definedBy(ROOT + ".ir")
        .layer("math")
        .definedBy(ROOT + ".math")
        .layer("image")
        .definedBy(ROOT + ".image")
        .layer("ptx")
        .definedBy(ROOT + ".ptx")
        .layer("memory")
        .definedBy(ROOT + ".memory")
        .whereLayer("device")
        .mayOnlyAccessLayers("object", "module", "exec", "lowering", "image", "ptx", "memory")
        .whereLayer("object")
        .mayOnlyAccessLayers("module", "exec", "lowering", "ir", "ptx", "memory")
        .whereLayer("module")
        .mayOnlyAccessLayers("codegen", "exec", "lowering", "memory", "ptx")
        .whereLayer("codegen")
        .mayOnlyAccessLayers("analysis", "exec", "ir", "lowering", "ptx")
        .whereLayer("lowering")
        .mayOnlyAccessLayers("analysis", "ir", "ptx")
        .whereLayer("analysis")
        .mayOnlyAccessLayers("ir", "ptx")
        .whereLayer("exec")
        .mayOnlyAccessLayers("ir", "lowering", "math", "memory")
        .whereLayer("ir")
        .mayOnlyAccessLayers("ptx")
        .whereLayer("image")
        .mayOnlyAccessLayers("memory")
        .whereLayer("math")
        .mayNotAccessAnyLayer()
        .whereLayer("ptx")
        .mayNotAccessAnyLayer()
        .whereLayer("memory")
        .mayNotAccessAnyLayer()
        .check(all);
  }

  @ArchTest
  static void noPackagesKnowEachOther(JavaClasses all) {
    slices().matching(ROOT + ".(**)").should().beFreeOfCycles().check(all);
  }

  /** The classes that users of the module see. */
  @ArchTest
  static void onlyTheBorderIsPublic(JavaClasses all) {
    classes()
        .that()
        .resideInAPackage(ROOT)
        .and()
        .areTopLevelClasses()
        .and(
            not(
                simpleName("SoftwareDevice")
                    .or(simpleName("SoftwareDeviceConfig"))
                    .or(simpleName("DeviceCode"))))
        .should()
        .bePackagePrivate()
        .check(all);
  }

  @ArchTest
  static void noPackageIsCrowded(JavaClasses all) {
    Map<String, Long> sizes =
        all.stream()
            .filter(JavaClass::isTopLevelClass)
            .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
    assertThat(sizes)
        .hasSizeGreaterThan(10)
        .allSatisfy((name, size) -> assertThat(size).as(name).isLessThanOrEqualTo(32));
  }
}
