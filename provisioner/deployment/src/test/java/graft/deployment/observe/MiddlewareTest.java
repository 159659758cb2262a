package graft.deployment.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.values.Name;
import graft.deployment.descriptor.DescriptorReader;
import graft.guests.bundle.FoundBundle;
import graft.guests.bundle.PayloadBuilder;
import graft.guests.bundle.Variables;
import graft.guests.payload.Payload;
import graft.guests.payload.PayloadFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The profiles of other middleware, each with a tree of files as its makers lay them out. */
class MiddlewareTest {
  private static final Pattern STARTS = Pattern.compile("(?m)^ExecStart=(\\S+)");

  @TempDir Path folder;

  /**
   * A profile and what it should come to.
   *
   * @param tree the makers' files, programs with a star behind them
   * @param brought the files that are theirs, with their modes in the guest
   * @param says the settings that the guest's programs or the service see
   */
  record Profile(
      String bundle,
      List<String> tree,
      Map<String, String> set,
      List<String> brought,
      List<String> says) {
    @Override
    public String toString() {
      return bundle;
    }
  }

  static Stream<Profile> profiles() {
    return Stream.of(
        new Profile(
            "rcuda-client",
            List.of("lib/libcudart.so.12", "lib/cudnn/libcudnn.so.8"),
            Map.of("server", "gpu-host", "gpus", "1"),
            List.of(
                "0644 /opt/rcuda/lib/cudnn/libcudnn.so.8", "0644 /opt/rcuda/lib/libcudart.so.12"),
            List.of(
                "RCUDA_DEVICE_COUNT=1",
                "RCUDA_DEVICE_0=gpu-host:0",
                "LD_LIBRARY_PATH=/opt/rcuda/lib")),
        new Profile(
            "rcuda-server",
            List.of("bin/rCUDAd*", "lib/librcuda.so"),
            Map.of(),
            List.of("0755 /opt/rcuda/bin/rCUDAd", "0644 /opt/rcuda/lib/librcuda.so"),
            List.of("LD_LIBRARY_PATH=/usr/local/cuda/lib64:/opt/rcuda/lib")),
        new Profile(
            "gvirtus-client",
            List.of("lib/frontend/libcuda.so.1", "lib/libgvirtus-common.so"),
            Map.of("server", "10.0.0.7"),
            List.of(
                "0644 /opt/gvirtus/lib/frontend/libcuda.so.1",
                "0644 /opt/gvirtus/lib/libgvirtus-common.so"),
            List.of(
                "GVIRTUS_HOME=/opt/gvirtus",
                "LD_LIBRARY_PATH=/opt/gvirtus/lib/frontend:/opt/gvirtus/lib",
                "\"server_address\": \"10.0.0.7\", \"port\": \"9999\"")),
        new Profile(
            "gvirtus-server",
            List.of("bin/gvirtus-backend*", "lib/libgvirtus-plugin-cudart.so"),
            Map.of("port", "9998"),
            List.of(
                "0755 /opt/gvirtus/bin/gvirtus-backend",
                "0644 /opt/gvirtus/lib/libgvirtus-plugin-cudart.so"),
            List.of("\"port\": \"9998\"", "\"cudart\", \"cudadr\", \"cublas\", \"cudnn\"")),
        new Profile(
            "ds-cuda-client",
            List.of("lib/libdscuda_rpc.so", "lib/libcudart.so.4.1"),
            Map.of("server", "gpu-host:0,gpu-host:1"),
            List.of(
                "0644 /opt/dscuda/lib/libcudart.so.4.1", "0644 /opt/dscuda/lib/libdscuda_rpc.so"),
            List.of(
                "DSCUDA_SERVER=gpu-host:0,gpu-host:1",
                "DSCUDA_REMOTECALL=rpc",
                "DSCUDA_SVRPATH=/opt/dscuda")),
        new Profile(
            "ds-cuda-server",
            List.of("bin/dscudad", "bin/dscudasvr"),
            Map.of("transport", "ibv"),
            List.of("0755 /opt/dscuda/bin/dscudad", "0755 /opt/dscuda/bin/dscudasvr"),
            List.of(
                "DSCUDA_REMOTECALL=ibv", "DSCUDA_SVRPATH=/run/ds-cuda", "PATH=/opt/dscuda/bin:")),
        new Profile(
            "lupine-client",
            List.of("libcuda.so.1", "libnvidia-ml.so.1"),
            Map.of("server", "gpu-host:14833"),
            List.of("0644 /opt/lupine/lib/libcuda.so.1", "0644 /opt/lupine/lib/libnvidia-ml.so.1"),
            List.of("LUPINE_SERVER=gpu-host:14833", "LD_LIBRARY_PATH=/opt/lupine/lib")),
        new Profile(
            "lupine-server",
            List.of("lupine_driver_server"),
            Map.of(),
            List.of("0755 /opt/lupine/bin/lupine_driver_server"),
            List.of("LUPINE_PORT=14833")));
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void bringsItsMakersFilesAndSaysWhatTheyNeed(Profile profile) throws Exception {
    lay(profile.tree());
    Payload payload = payload(profile);

    assertThat(payload.files().stream().filter(file -> file.source().isPresent()))
        .extracting(file -> String.format(Locale.ROOT, "%04o %s", file.mode(), file.path()))
        .containsExactlyInAnyOrderElementsOf(profile.brought());
    String texts =
        payload.files().stream().flatMap(file -> file.text().stream()).reduce("", String::concat);
    assertThat(String.join("\n", payload.environment()) + "\n" + texts).contains(profile.says());
    // What a service starts is among the files, and is a program.
    Matcher starts = STARTS.matcher(texts);
    assertThat(starts.find()).isEqualTo(!payload.services().isEmpty());
    if (!payload.services().isEmpty()) {
      assertThat(profile.brought()).contains("0755 " + starts.group(1));
      assertThat(payload.files())
          .extracting(PayloadFile::path)
          .contains("/etc/systemd/system/" + payload.services().get(0));
    }
    // The folders in which the loader looks are brought, but for CUDA's own.
    payload.environment().stream()
        .filter(setting -> setting.startsWith("LD_LIBRARY_PATH="))
        .flatMap(setting -> Stream.of(setting.replaceFirst(".*=", "").split(":")))
        .forEach(
            path ->
                assertThat(profile.brought()).anyMatch(file -> file.contains(" " + path + "/")));
  }

  @ParameterizedTest
  @MethodSource("profiles")
  void anEmptyFolderIsNotTaken(Profile profile) throws Exception {
    lay(List.of());
    assertThatThrownBy(() -> payload(profile))
        .hasMessageStartingWith("there is no file " + folder.resolve("theirs"));
  }

  @Test
  void everyProfileOfOtherMiddlewareIsHere() throws Exception {
    List<String> tested = profiles().map(Profile::bundle).toList();
    assertThat(graft.guests.bundle.Bundles.near(folder).names())
        .filteredOn(name -> name.endsWith("-client") || name.endsWith("-server"))
        .filteredOn(name -> !name.startsWith("graft-"))
        .containsExactlyInAnyOrderElementsOf(tested);
  }

  /** As apply brings it in: found by what stands in the descriptor. */
  private Payload payload(Profile profile) throws Exception {
    Path lab = folder.resolve("lab.yaml");
    Files.writeString(
        lab,
        """
        graft: 1
        name: lab
        guests:
          - {name: alice, image: x.qcow2, setup: {bundles: [{name: %s, files: theirs}]}}
        """
            .formatted(profile.bundle()));
    InstallFacts facts =
        new BundleObserver(DescriptorReader.read(lab), folder, folder).observe(Map::of);
    Name name = new Name(profile.bundle());
    assertThat(facts.wrong()).isEmpty();
    FoundBundle found = facts.found().get(name);
    Variables given = Variables.none().with(Variables.FILES, folder.resolve("theirs").toString());
    for (Map.Entry<String, String> setting : profile.set().entrySet()) {
      given = given.with(setting.getKey(), setting.getValue());
    }
    PayloadBuilder builder = new PayloadBuilder(facts::tree);
    builder.add(found, given);
    return builder.build("alice");
  }

  private void lay(List<String> tree) throws IOException {
    Path theirs = Files.createDirectories(folder.resolve("theirs"));
    for (String one : tree) {
      Path file = theirs.resolve(one.replace("*", ""));
      Files.createDirectories(file.getParent());
      Files.writeString(file, one);
      assertThat(file.toFile().setExecutable(one.endsWith("*"))).isTrue();
    }
  }
}
