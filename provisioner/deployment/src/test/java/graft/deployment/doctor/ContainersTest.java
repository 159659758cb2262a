package graft.deployment.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What of a host's cgroups keeps libvirt from starting containers. */
class ContainersTest {
  private static final String FIRST = "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n";
  private static final String SECOND = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";

  @TempDir Path proc;

  private void process(int number, String name, String mounts) throws IOException {
    Path folder = Files.createDirectories(proc.resolve(String.valueOf(number)));
    Files.writeString(folder.resolve("comm"), name + "\n");
    Files.writeString(folder.resolve("mounts"), mounts);
  }

  @Test
  void bothVersionsTogetherAreReported() throws IOException {
    process(1, "systemd", FIRST + SECOND);
    assertThat(Containers.cgroups(proc).orElseThrow().fix()).contains("unified_cgroup_hierarchy");
  }

  @Test
  void eitherVersionAloneIsWell() throws IOException {
    process(1, "systemd", FIRST);
    assertThat(Containers.cgroups(proc)).isEmpty();
    process(1, "systemd", SECOND);
    assertThat(Containers.cgroups(proc)).isEmpty();
  }

  /** The launcher of the tests gives the daemon mounts of its own. */
  @Test
  void whatTheDaemonSeesCounts() throws IOException {
    process(1, "systemd", FIRST + SECOND);
    process(42, "libvirtd", FIRST);
    assertThat(Containers.cgroups(proc)).isEmpty();
  }
}
