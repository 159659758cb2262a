package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How {@code ./graft demo} and {@code ./graft test} start and stop libvirt, with stand-ins. */
@Timeout(120)
final class LibvirtTest {
  /** Uses libvirt.sh as ready.sh does: prints "ready", and ends at the end of its input. */
  private static final String RUN =
      """
      set -euo pipefail
      say() { echo "$*" >&2; }
      give_up() { say "$*"; exit 4; }
      run=run
      . %s
      ready_libvirt
      echo ready
      read -r _ || true
      """
          .formatted(Checkout.ROOT.resolve("distribution/launcher/libvirt.sh"));

  @TempDir Path folder;
  private final List<Process> runs = new ArrayList<>();

  @BeforeEach
  void standIns() throws IOException {
    Files.createDirectory(folder.resolve("bin"));
    program("id", "echo 1000");
    // The stand-in answers while a daemon lives; a guest runs while the file exists.
    program(
        "virsh",
        """
        case "$*" in
          *" list "*) cat guest 2>/dev/null || true ;;
          *) kill -0 "$(cat run/libvirtd.pid)" ;;
        esac""");
    for (String daemon : List.of("virtlogd", "libvirtd")) {
      program(
          daemon,
          """
          echo %s >>started
          sleep 600 >/dev/null 2>&1 &
          echo $! >"$3"
          """
              .formatted(daemon));
    }
  }

  @AfterEach
  void endRuns() throws Exception {
    Files.deleteIfExists(folder.resolve("guest"));
    for (Process run : runs) {
      end(run);
    }
    for (String daemon : List.of("virtlogd", "libvirtd")) {
      Path number = folder.resolve("run/" + daemon + ".pid");
      if (Files.exists(number)) {
        ProcessHandle.of(Long.parseLong(Files.readString(number).trim()))
            .ifPresent(ProcessHandle::destroyForcibly);
      }
    }
  }

  private void program(String name, String script) throws IOException {
    Path file =
        Files.writeString(folder.resolve("bin").resolve(name), "#!/bin/bash\n" + script + "\n");
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  /** Starts a run that uses libvirt. */
  private Process begin() throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder("/bin/bash", "-c", RUN)
            .directory(folder.toFile())
            .redirectError(folder.resolve("err-" + runs.size()).toFile());
    builder.environment().put("PATH", folder.resolve("bin") + ":/usr/bin:/bin");
    Process run = builder.start();
    runs.add(run);
    BufferedReader out = run.inputReader(StandardCharsets.UTF_8);
    assertThat(out.readLine()).as(said(runs.size() - 1)).isEqualTo("ready");
    return run;
  }

  private static void end(Process run) throws Exception {
    run.getOutputStream().close();
    assertThat(run.waitFor(30, TimeUnit.SECONDS)).as("it ends").isTrue();
  }

  private String said(int run) throws IOException {
    return Files.readString(folder.resolve("err-" + run));
  }

  private boolean answers() throws Exception {
    return Finished.run(
                folder,
                Map.of("PATH", "/usr/bin:/bin"),
                List.of(folder.resolve("bin/virsh").toString(), "uri"))
            .code()
        == 0;
  }

  @Test
  void stopsWhatItStarted() throws Exception {
    Process run = begin();
    assertThat(said(0)).contains("starting libvirt (qemu:///session)");
    assertThat(answers()).isTrue();
    end(run);
    assertThat(answers()).isFalse();
    assertThat(folder.resolve("started")).content().isEqualTo("virtlogd\nlibvirtd\n");
  }

  @Test
  void aSecondRunDoesNotWaitAndTheLastOneStopsLibvirt() throws Exception {
    Process first = begin();
    Process second = begin();
    assertThat(said(1)).isEmpty();
    end(first);
    assertThat(answers()).as("while the second run continues").isTrue();
    end(second);
    assertThat(answers()).isFalse();
    assertThat(folder.resolve("started")).content().isEqualTo("virtlogd\nlibvirtd\n");
  }

  @Test
  void leavesLibvirtAloneThatRanBefore() throws Exception {
    Process before = begin();
    Files.delete(
        folder.resolve("run/libvirt.started")); // as if another program had started libvirt
    end(before);
    end(begin());
    assertThat(answers()).isTrue();
  }

  @Test
  void goesOnWhileGuestsRun() throws Exception {
    Process run = begin();
    Files.writeString(folder.resolve("guest"), "alice\n");
    end(run);
    assertThat(said(0)).contains("libvirt goes on: guests are running");
    assertThat(answers()).isTrue();
  }
}
