package graft.remoting.server;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;

/** The server uses only the public interface of the software device. */
@AnalyzeClasses(
    packages = "graft.remoting.server",
    importOptions = ImportOption.DoNotIncludeTests.class)
final class SoftwareBorderTest {
  @ArchTest
  static void theServerUsesOnlyTheBorder(JavaClasses all) {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAPackage("graft.remoting.software.*..")
        .check(all);
  }
}
