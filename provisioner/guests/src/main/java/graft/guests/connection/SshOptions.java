package graft.guests.connection;

import graft.common.GraftException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The options that ssh gets from Graft, and from Ansible on Graft's behalf. */
public final class SshOptions {
  /** The characters that are special to ssh_config(5) or Ansible's shlex, even in quotes. */
  private static final Pattern UNFIT = Pattern.compile("[\\p{Cntrl}\"'\\\\]|\\$\\{");

  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

  private SshOptions() {}

  /**
   * The options, each as words of a command line. They forward neither agent nor display nor ports
   * to a guest, whatever the caller's ssh configuration contains.
   *
   * @throws GraftException if the path of a file cannot be passed to ssh
   */
  static List<String> words(SshLogin login) {
    return words(login, "accept-new");
  }

  /** The options for a machine whose host key has to be known before the first contact. */
  static List<String> wordsForKnown(SshLogin login) {
    List<String> options = words(login, "yes");
    // ERROR hides the banner that a server may send before the login, so that standard error has
    // ssh's own messages only.
    options.addAll(List.of("-o", "LogLevel=ERROR"));
    return options;
  }

  private static List<String> words(SshLogin login, String strict) {
    List<String> options = new ArrayList<>();
    for (String option :
        List.of(
            "BatchMode=yes",
            "ConnectTimeout=10",
            "ServerAliveInterval=10",
            "ForwardAgent=no",
            "ForwardX11=no",
            "ClearAllForwardings=yes",
            "PermitLocalCommand=no",
            "StrictHostKeyChecking=" + strict,
            "UserKnownHostsFile=\"" + file(login.knownHosts()) + "\"")) {
      options.add("-o");
      options.add(option);
    }
    if (login.key().isPresent()) {
      String key = "IdentityFile=\"" + file(login.key().get()) + "\"";
      options.addAll(List.of("-o", "IdentitiesOnly=yes", "-o", key));
    }
    return options;
  }

  /** The options on one line, as a shell and Ansible split it. */
  public static String line(SshLogin login) {
    return words(login).stream().map(SshOptions::quoted).collect(Collectors.joining(" "));
  }

  /** Quotes a word for a shell. */
  static String quoted(String word) {
    return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
  }

  private static String file(Path file) {
    String text = file.toAbsolutePath().toString();
    if (UNFIT.matcher(text).find()) {
      throw new GraftException(
          "ssh cannot use the file " + file + ", because of characters in its name",
          "move it to a folder and a name without quotes, backslashes and ${");
    }
    return text.replace("%", "%%");
  }
}
