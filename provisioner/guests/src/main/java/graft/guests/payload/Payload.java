package graft.guests.payload;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Everything that a guest gets, by whichever install method.
 *
 * @param hostName the guest's name
 * @param packages packages of the guest's distribution
 * @param environment {@code NAME=VALUE}, for shells, logins and services
 * @param services systemd services to be enabled and started
 */
public record Payload(
    String hostName,
    List<PayloadFile> files,
    List<String> packages,
    List<String> environment,
    List<String> services) {

  /** The folder in the guest that holds the client's libraries. */
  public static final String CLIENT_FOLDER = "/usr/lib/graft";

  /** The path of a guest's token in the guest. */
  public static final String TOKEN = "/etc/graft/token";

  /** The path of the client's configuration in the guest. */
  public static final String CLIENT_CONFIGURATION = "/etc/graft/client.conf";

  /**
   * The path of the guest's token for a server.
   *
   * @param gpu the server's GPU, if it is that of a further vGPU
   */
  public static String token(Optional<String> gpu) {
    return TOKEN + gpu.map(name -> "-" + name).orElse("");
  }

  private static boolean isToken(PayloadFile file) {
    return file.path().equals(TOKEN) || file.path().startsWith(TOKEN + "-");
  }

  /** A payload that contains only the guest's name. */
  public static Payload empty(String hostName) {
    return new Payload(hostName, List.of(), List.of(), List.of(), List.of());
  }

  public boolean isEmpty() {
    return files.isEmpty() && packages.isEmpty() && environment.isEmpty() && services.isEmpty();
  }

  /** Whether the payload contains the client, because the guest has a vGPU. */
  public boolean hasClient() {
    return files.stream().anyMatch(file -> file.path().startsWith(CLIENT_FOLDER + "/"));
  }

  /** The files and the guest's name, for a root file system in which nothing runs yet. */
  public List<GuestFile> read() {
    List<GuestFile> read = new ArrayList<>();
    for (PayloadFile file : files) {
      read.add(new GuestFile(file.path(), file.mode(), file.content()));
    }
    read.add(new GuestFile("/etc/hostname", 0644, Content.of(hostName + "\n")));
    return read;
  }

  /** A summary in a few words: {@code 8 files, its token, 2 packages}. */
  public String summary() {
    List<String> parts = new ArrayList<>();
    long plain = files.stream().filter(file -> file.secret().isEmpty()).count();
    if (plain > 0) {
      parts.add(count(plain, "file"));
    }
    long tokens = files.stream().filter(Payload::isToken).count();
    if (tokens > 0) {
      parts.add(tokens == 1 ? "its token" : "its " + tokens + " tokens");
    }
    if (files.stream().anyMatch(file -> file.secret().isPresent() && !isToken(file))) {
      parts.add("its SSH keys");
    }
    if (!packages.isEmpty()) {
      parts.add(count(packages.size(), "package"));
    }
    if (!services.isEmpty()) {
      parts.add(count(services.size(), "service"));
    }
    return String.join(", ", parts);
  }

  private static String count(long number, String what) {
    return number + " " + what + (number == 1 ? "" : "s");
  }
}
