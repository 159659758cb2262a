package graft.guests.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Finds the cgroups of a container in both versions of Linux's interface. */
class CgroupsTest {
  @TempDir Path proc;

  private void given(String mountinfo, String cgroup) throws IOException {
    Files.writeString(
        Files.createDirectories(proc.resolve("self")).resolve("mountinfo"), mountinfo);
    Files.writeString(Files.createDirectories(proc.resolve("42")).resolve("cgroup"), cgroup);
  }

  @Test
  void ofVersion2() throws IOException {
    given(
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
        "0::/machine.slice/lxc-1.scope/init.scope\n");
    assertThat(Cgroups.of(42, proc))
        .containsExactly("/sys/fs/cgroup/machine.slice/lxc-1.scope/init.scope/cgroup.procs");
  }

  @Test
  void optionsOfAMountThatAreNoControllers() throws IOException {
    given(
        "31 30 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset,cpuset_v2_mode\n"
            + "32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,noprefix,memory\n",
        "4:memory:/machine/a\n3:cpuset:/machine/a\n");
    assertThat(Cgroups.of(42, proc))
        .containsExactly(
            "/sys/fs/cgroup/memory/machine/a/cgroup.procs",
            "/sys/fs/cgroup/cpuset/machine/a/cgroup.procs");
  }

  @Test
  void aLimitThatWouldNotHoldIsAnError() throws IOException {
    given("34 23 0:30 / /tmp rw - tmpfs tmpfs rw\n", "4:memory:/machine/a\n");
    assertThatIOException()
        .isThrownBy(() -> Cgroups.of(42, proc))
        .withMessageContaining("4:memory:/machine/a is mounted nowhere");
  }

  @Test
  void ofVersion1WithoutThoseOfTheHost() throws IOException {
    given(
        "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
            + "32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
            + "33 30 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
            + "34 23 0:30 / /tmp rw - tmpfs tmpfs rw\n",
        "4:memory:/machine/a\n3:cpu,cpuacct:/machine/a\n2:pids:/\n1:name=systemd:/\n0::/\n");
    assertThat(Cgroups.of(42, proc))
        .containsExactly(
            "/sys/fs/cgroup/memory/machine/a/cgroup.procs",
            "/sys/fs/cgroup/cpu,cpuacct/machine/a/cgroup.procs");
  }
}
