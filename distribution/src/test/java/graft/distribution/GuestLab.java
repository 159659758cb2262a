package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * A set-up of guests that boot a cloud image, with a name and a network of its own.
 *
 * @param name of the set-up and of its network; its guests' names begin with it
 * @param folder holds its descriptor, {@code lab.yaml}, and its state
 */
record GuestLab(String name, Path folder) {
  private static final Duration LIMIT = Duration.ofMinutes(30);

  /** The image, which {@code ./graft test} builds. */
  static final String IMAGE = "GRAFT_CLOUD_IMAGE";

  static GuestLab in(Path folder) {
    return new GuestLab("cloud" + UUID.randomUUID().toString().substring(0, 6), folder);
  }

  Path descriptor() {
    return folder.resolve("lab.yaml");
  }

  static String image() {
    return System.getenv(IMAGE);
  }

  /** A network that no other set-up of this machine is likely to have. */
  String gateway() {
    int hash = Math.floorMod(name.hashCode(), 50 * 200);
    return "10." + (50 + hash % 50) + "." + (20 + hash / 50) + ".1";
  }

  /** Runs graft; gives all that it printed. */
  String graft(int expected, String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(Checkout.HOME.resolve("bin/graft").toString()));
    command.addAll(List.of(words));
    return run(expected, command);
  }

  /** Runs a program of this machine with the set-up's state; gives all that it printed. */
  String run(int expected, List<String> command) throws IOException, InterruptedException {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("GRAFT_STATE_DIR", folder.resolve("state").toString());
    environment.put("LC_ALL", "C.UTF-8");
    Finished finished = Finished.run(folder, environment, command, LIMIT);
    String said = finished.out() + finished.err();
    assertThat(finished.code()).as("%s:\n%s", command, said).isEqualTo(expected);
    return said;
  }

  /** Runs a script in a guest, as root. */
  String inGuest(String guest, String script) throws IOException, InterruptedException {
    return graft(0, "exec", name, guest, "--", "/bin/sh", "-c", script);
  }

  void destroy() throws IOException, InterruptedException {
    graft(0, "destroy", descriptor().toString());
  }
}
