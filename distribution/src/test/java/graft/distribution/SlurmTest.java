package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jobs of Debian's Slurm, with a controller and two nodes on this machine: the checks of a script.
 */
@Tag("integration")
@EnabledIfSystemProperty(named = "user.name", matches = "root")
@EnabledIfEnvironmentVariable(named = "GRAFT_SLURM_TESTS", matches = "all")
final class SlurmTest {
  @TempDir Path folder;

  @Test
  void jobsUseAServersGpuByATokenThatEndsWithThem() throws Exception {
    List<String> command =
        List.of(
            "scripts/slurm-check",
            Checkout.HOME.toString(),
            "--rounds",
            "1",
            "--out",
            folder.toString());
    Finished check = Finished.run(Checkout.ROOT, System.getenv(), command, Duration.ofMinutes(3));
    assertThat(check.out()).doesNotContain("FAILED").contains("ok      Slurm's files are as");
    assertThat(check.code()).as(check.out() + check.err()).isZero();
  }
}
