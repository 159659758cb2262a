package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * JCuda on the client: in a separate program, and in the queries of {@code doctor} and {@code
 * inspect}.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class JCudaTest {
  private static final Path PROGRAM = Checkout.HOME.resolve("examples/built/vectorAddJCuda");
  private static final String PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

  @TempDir Path folder;
  private SoftwareServer server;

  @BeforeEach
  void serve() throws Exception {
    server = SoftwareServer.start(folder, "unix://" + folder.resolve("socket"));
  }

  @AfterEach
  void stopTheServer() throws Exception {
    server.stop();
  }

  @Test
  void aJavaProgramRunsOnARemoteGpu() throws Exception {
    Finished program =
        Finished.run(folder, Map.of("PATH", PATH), server.command(List.of(PROGRAM.toString())));
    assertThat(program.out())
        .as("%s", program)
        .isEqualTo("device=Graft software device 0\nelements=50000\nresult=ok\n");
    assertThat(program.code()).isZero();
  }

  @Test
  void aJavaProgramIsOneOfFidelity() throws Exception {
    Path programs = Files.createDirectory(folder.resolve("programs"));
    Path program = programs.resolve("vectorAddJCuda");
    Files.writeString(program, "#!/bin/sh\nexec " + PROGRAM + "\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    Finished fidelity =
        Finished.run(
            folder,
            Map.of("PATH", PATH),
            List.of(
                SoftwareServer.GRAFT,
                "fidelity",
                "--server",
                server.address(),
                "--name",
                SoftwareServer.NAME,
                "--token-file",
                SoftwareServer.secret(folder.resolve("token"), SoftwareServer.TOKEN).toString(),
                programs.toString()));
    assertThat(fidelity.out()).contains("| vectorAddJCuda |  | passed | passes |");
    assertThat(fidelity.code()).as("%s", fidelity).isZero();
  }

  @Test
  void doctorAndInspectSayWhatTheDriverSays() throws Exception {
    Map<String, String> environment = new HashMap<>(server.environment(server.address()));
    environment.put("PATH", PATH);
    Finished doctor = graft(environment, "doctor");
    assertThat(doctor.out())
        .contains("ok       CUDA 0     Graft software device 0, compute capability ");
    Finished inspect = graft(environment, "inspect", "--output", "json");
    assertThat(inspect.out())
        .as("%s", inspect)
        .contains("\"name\" : \"Graft software device 0\"", "\"problem\" : \"\"");
  }

  @Test
  void aDriverThatDoesNotAnswerIsNamedWithItsReason() throws Exception {
    Map<String, String> environment = new HashMap<>(server.environment("unix:///nowhere"));
    environment.put("PATH", PATH);
    Finished inspect = graft(environment, "inspect", "--output", "json");
    assertThat(inspect.code()).as("%s", inspect).isZero();
    assertThat(inspect.out()).containsPattern("\"problem\" : \"cuInit: .*unix:///nowhere");
  }

  /** JCuda by default would load the planted library, and {@code doctor} is often run by root. */
  @Test
  void aLibraryThatLiesInTheTemporaryFolderIsNotLoaded() throws Exception {
    Path temporary = Files.createDirectory(folder.resolve("tmp"));
    Path loaded = folder.resolve("loaded");
    Path source = folder.resolve("planted.c");
    Files.writeString(
        source,
        "#include <stdio.h>\n__attribute__((constructor)) static void run(void) { fclose(fopen(\""
            + loaded
            + "\", \"w\")); }\n");
    String name;
    try (Stream<Path> files = Files.list(Checkout.HOME.resolve("lib"))) {
      name =
          files
              .map(file -> file.getFileName().toString())
              .filter(file -> file.startsWith("libJCudaDriver-"))
              .findFirst()
              .orElseThrow();
    }
    Path planted = temporary.resolve(name);
    Finished gcc =
        Finished.run(
            folder,
            System.getenv(),
            List.of("gcc", "-shared", "-fPIC", "-o", planted.toString(), source.toString()));
    assertThat(gcc.code()).as("%s", gcc).isZero();
    Map<String, String> environment =
        Map.of("PATH", PATH, "JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + temporary);
    assertThat(graft(environment, "doctor").out()).contains(" GPU        ");
    assertThat(graft(environment, "inspect").code()).isZero();
    assertThat(loaded).doesNotExist();
  }

  private Finished graft(Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    List<String> words =
        Stream.concat(Stream.of(SoftwareServer.GRAFT), Stream.of(arguments)).toList();
    return Finished.run(folder, environment, words);
  }
}
