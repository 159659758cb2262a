package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.remoting.server.jail.Isolation;
import graft.remoting.server.jail.IsolationException;
import graft.remoting.server.jail.JailConfig;
import graft.remoting.server.jail.JailFolder;
import graft.remoting.server.jail.NvidiaFiles;
import graft.remoting.server.jail.SubordinateUsers;
import graft.remoting.server.jail.WorkerFiles;
import graft.remoting.server.pool.WorkerEnvironment;
import graft.remoting.server.pool.WorkerStarters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The parts of a jail that a host allows, and the jail that is built from them. */
@Timeout(120)
class IsolationTest {
  @TempDir Path folder;

  @Test
  void whatTheProgramPrintsIsRead() {
    Isolation isolation =
        Isolation.parse(List.of("mounts ok", "user setgroups: Operation not permitted", ""));
    assertThat(isolation.parts()).containsExactly("mounts");
    assertThat(isolation.missing()).isEqualTo(Map.of("user", "setgroups: Operation not permitted"));
    assertThat(isolation.isComplete()).isFalse();
    assertThat(isolation.describe())
        .isEqualTo(
            "workers are confined by: mounts; missing: user (setgroups: Operation not permitted)");
    assertThat(Isolation.parse(List.of()).isComplete()).isFalse();
    assertThat(Isolation.parse(List.of("seccomp ok", "user-namespace ok")).describe())
        .isEqualTo("workers are confined by: seccomp");
  }

  /** A host without such folders is as safe; on a GPU, one feature of CUDA does not work there. */
  @Test
  void aGuestsFolderIsNoProtection() {
    Isolation without = Isolation.parse(List.of("user ok", "mounts ok", "guest-folder Linux 6.1"));
    assertThat(without.isComplete()).isTrue();
    assertThat(without.hasGuestFolders()).isFalse();
    assertThat(without.describe())
        .isEqualTo(
            "workers are confined by: user, mounts; on a GPU the processes of a guest cannot share"
                + " CUDA events (Linux 6.1)");
    Isolation with = Isolation.parse(List.of("user ok", "mounts ok", "guest-folder ok"));
    assertThat(with.hasGuestFolders()).isTrue();
    assertThat(with.describe()).isEqualTo("workers are confined by: user, mounts");
    assertThat(Isolation.parse(List.of("mounts ok", "guest-folder ok")).hasGuestFolders())
        .as("it maps workers' users")
        .isFalse();
  }

  @Test
  void aServerThatMustConfineItsWorkersDoesNotStartWhereItCannot() throws Exception {
    assumeTrue(
        !WorkerStarters.isolationOfThisMachine().isComplete(), "this machine gives everything");
    ServerConfig config =
        ServerFixture.config(folder).jail(JailConfig.defaults().withRequired(true)).build();
    assertThatThrownBy(() -> GraftServer.start(config))
        .isInstanceOf(IsolationException.class)
        .hasMessageContaining("missing: ")
        .hasMessageContaining("--require-isolation");
  }

  @Test
  void rangesOfUsersHoldNeitherRootNorNobody() {
    JailConfig usual = JailConfig.defaults();
    for (int[] range : new int[][] {{0, 10}, {5, 4}, {65_000, 66_000}}) {
      assertThatThrownBy(() -> usual.withUsers(range[0], range[1]))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> usual.withThreads(1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> usual.withMemory(1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void containersUsersAreNotTheWorkers() throws Exception {
    JailConfig workers = JailConfig.defaults().withUsers(2_000, 2_999);
    assertThat(SubordinateUsers.overlap(folder, workers)).as("no files").isEmpty();
    Files.writeString(folder.resolve("subuid"), "a:1000:1000\n# b:2000:10\nc:3000:65536\n\n");
    assertThat(SubordinateUsers.overlap(folder, workers)).isEmpty();
    Files.writeString(folder.resolve("subgid"), "a:100000:65536\nd:1500:501\n");
    assertThat(SubordinateUsers.overlap(folder, workers).orElseThrow())
        .isEqualTo(folder.resolve("subgid") + " has d:1500:501");
    Files.writeString(folder.resolve("subuid"), "root:1:4294967294\n");
    assertThat(SubordinateUsers.overlap(folder, workers).orElseThrow()).contains("subuid has root");
  }

  @Test
  void aWorkerSeesTheRuntimeItsClassesAndTheSystemsLibraries() throws Exception {
    WorkerFiles files = WorkerFiles.ofThisRuntime();
    assertThat(files.paths())
        .contains(Path.of(System.getProperty("java.home")).toRealPath())
        .allMatch(path -> path.isAbsolute() && Files.exists(path))
        .doesNotContain(Path.of("/"), Path.of("/etc"), Path.of("/usr"), Path.of("/usr/lib"));
    for (Path path : files.paths()) {
      assertThat(path.toRealPath()).isEqualTo(path);
    }
  }

  @Test
  void linksAreShownAsLinks() throws Exception {
    Path real = Files.createDirectories(folder.resolve("real/inner"));
    Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("real"));
    WorkerFiles files = WorkerFiles.ofThisRuntime();
    files.add(link.resolve("inner"));
    assertThat(files.paths()).contains(real.toRealPath());
    assertThat(files.links()).containsEntry(folder.toRealPath().resolve("link"), Path.of("real"));
  }

  /** The layout is that of NVIDIA's packages. */
  @Test
  void aProfilingLibraryIsShownWithWhatItLoadsAndNothingElseOfItsFolder() throws Exception {
    Path real = Files.createDirectories(folder.resolve("cuda-13.0/targets/lib")).toRealPath();
    for (String file : List.of("libcupti.so.2025.3.1", "libnvperf_host.so", "libcufft.so", "key")) {
      Files.createFile(real.resolve(file));
    }
    Files.createSymbolicLink(real.resolve("libcupti.so.13"), Path.of("libcupti.so.2025.3.1"));
    Path links = Files.createDirectories(folder.resolve("cuda-13.0/extras/lib64")).toRealPath();
    for (String file :
        List.of("libcupti.so.13", "libnvperf_host.so", "libcufft.so", "libcupti.a")) {
      Files.createSymbolicLink(links.resolve(file), Path.of("../../targets/lib", file));
    }
    Path cuda = Files.createSymbolicLink(folder.resolve("cuda"), Path.of("cuda-13.0"));

    WorkerFiles files = WorkerFiles.ofProfiler(cuda.resolve("extras/lib64/libcupti.so.13"));

    assertThat(files.paths())
        .containsExactlyInAnyOrder(
            real.resolve("libcupti.so.2025.3.1"), real.resolve("libnvperf_host.so"));
    assertThat(files.links())
        .containsOnlyKeys(
            cuda.getParent().toRealPath().resolve("cuda"),
            links.resolve("libcupti.so.13"),
            links.resolve("libnvperf_host.so"),
            real.resolve("libcupti.so.13"));
  }

  @Test
  void aSessionSeesTheNodesOfItsGpuAlone() throws Exception {
    for (String node : List.of("nvidiactl", "nvidia-uvm", "nvidia0", "nvidia1", "nvidia-modeset")) {
      Files.createDirectories(folder.resolve("dev"));
      Files.createFile(folder.resolve("dev").resolve(node));
    }
    String uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef";
    gpu("0000:17:00.0", "GPU-11111111-89ab-cdef-0123-456789abcdef", 1);
    gpu("0000:65:00.0", uuid, 0);
    NvidiaFiles files = new NvidiaFiles(folder);
    Optional<NvidiaFiles.Gpu> second = files.gpu(1);
    assertThat(second).contains(new NvidiaFiles.Gpu(uuid, folder.resolve("dev/nvidia0")));
    assertThat(names(files.nodes(second))).containsExactly("nvidiactl", "nvidia-uvm", "nvidia0");
    assertThat(names(files.nodes(Optional.empty())))
        .containsExactly("nvidiactl", "nvidia-uvm", "nvidia0", "nvidia1");
    assertThat(files.gpu(2)).isEmpty();
  }

  private void gpu(String address, String uuid, int minor) throws Exception {
    Path its = Files.createDirectories(folder.resolve("proc/driver/nvidia/gpus/" + address));
    Files.writeString(
        its.resolve("information"),
        "Model: \t\t NVIDIA H200\nGPU UUID: \t " + uuid + "\nDevice Minor: \t " + minor + "\n");
  }

  private static List<String> names(List<Path> paths) {
    return paths.stream().map(path -> path.getFileName().toString()).toList();
  }

  @Test
  void whatAKilledServerLeftIsRemoved() throws Exception {
    Path dead = Files.createDirectories(folder.resolve("graft-jail-999999999-x/native"));
    Path other = Files.createDirectory(folder.resolve("graft-jail-x"));
    try (JailFolder made = JailFolder.make(folder)) {
      assertThat(dead.getParent()).doesNotExist();
      assertThat(other).exists();
      assertThat(made.libraries().resolve("libjnidispatch.so")).isRegularFile();
      assertThat(made.root()).isEmptyDirectory();
    }
    assertThat(folder).isDirectoryNotContaining("glob:**graft-jail-*-*");
  }

  @Test
  void aWorkersEnvironmentHasNothingOfTheOperators() {
    Map<String, String> environment =
        new java.util.HashMap<>(
            Map.of("AWS_SECRET", "x", "HOME", "/root", "CUDA_VISIBLE_DEVICES", "1", "LANG", "C"));
    WorkerEnvironment.restrict(environment);
    assertThat(environment)
        .doesNotContainKey("AWS_SECRET")
        .containsEntry("HOME", "/tmp")
        .containsEntry("CUDA_VISIBLE_DEVICES", "1")
        .containsEntry("LANG", "C");
  }
}
