package graft.deployment.step.guest;

import graft.common.disk.PrivateFiles;
import graft.common.program.HostProgram;
import graft.common.values.Seconds;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.guests.payload.Payload;
import graft.guests.payload.SetupArchive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Installs a guest's payload in its disk image by libguestfs, before the guest boots.
 *
 * @param disk the guest's own disk, not an image that others share
 * @param emulated whether libguestfs must not use KVM, which it does wherever it finds the device
 */
public record InstallIntoImage(String guest, Payload payload, Path disk, boolean emulated)
    implements Install {
  private static final Duration LIMIT = Duration.ofMinutes(20);

  @Override
  public String method() {
    return "into its disk image";
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    long start = System.nanoTime();
    Path folder = Files.createTempDirectory("graft-image"); // mode 0700
    try {
      Path archive = folder.resolve("setup.tar");
      Path script = folder.resolve("setup.sh");
      PrivateFiles.write(archive, new SetupArchive(payload)::writeTo);
      PrivateFiles.write(script, SetupArchive.script());
      customize(archive, script);
      return Map.of("seconds", Seconds.since(start));
    } finally {
      PrivateFiles.deleteFolder(folder);
    }
  }

  private void customize(Path archive, Path script) throws IOException {
    String there = "/var/lib/graft-incoming";
    List<String> arguments =
        List.of(
            "--no-logfile",
            "-q",
            "-a",
            disk.toString(),
            "--mkdir",
            there,
            "--chmod",
            "0700:" + there,
            "--copy-in",
            archive + ":" + there,
            "--copy-in",
            script + ":" + there,
            "--run-command",
            "GRAFT_OFFLINE=1 sh " + there + "/setup.sh " + there + "/setup.tar >&2",
            "--delete",
            there,
            "--hostname",
            payload.hostName());
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.putIfAbsent("LIBGUESTFS_BACKEND", "direct");
    if (emulated) {
      environment.putIfAbsent("LIBGUESTFS_BACKEND_SETTINGS", "force_tcg");
    }
    try {
      HostProgram.of("virt-customize", arguments).with(environment).output(LIMIT);
    } catch (IOException e) {
      throw new StepFailure(
          "virt-customize could not set up " + disk + ": " + e.getMessage(),
          "run libguestfs-test-tool to find out more; setup: {way: seed} needs no libguestfs",
          e);
    }
  }
}
