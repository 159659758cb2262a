package graft.comparison.local;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The environment by which programs reach a GPU.
 *
 * @param name the displayed name: {@code native}, or the channel
 * @param environment the variables that are set for a program; {@code LD_LIBRARY_PATH} is put
 *     before an existing value
 */
public record ProgramEnvironment(String name, Map<String, String> environment) {
  private static final String LIBRARIES = "LD_LIBRARY_PATH";

  /** The environment of this machine's own driver. */
  public static ProgramEnvironment ofThisMachine() {
    return new ProgramEnvironment("native", Map.of());
  }

  /**
   * The environment of a server.
   *
   * @param name the displayed name
   * @param client the folder of the client's libraries
   * @param url the server's address in the client's form
   * @param user the name under which the server keeps the token
   * @param token the file with the token; null for a server that requires none
   */
  public static ProgramEnvironment remote(
      String name, Path client, String url, String user, Path token) {
    Map<String, String> environment = new LinkedHashMap<>();
    environment.put(LIBRARIES, client.toString());
    environment.put("GRAFT_SERVER", url);
    environment.put("GRAFT_NAME", user);
    if (token != null) {
      environment.put("GRAFT_TOKEN_FILE", token.toString());
    }
    return new ProgramEnvironment(name, environment);
  }

  public boolean isNative() {
    return !environment.containsKey(LIBRARIES);
  }

  /** This environment with one more variable. */
  public ProgramEnvironment with(String variable, String value) {
    Map<String, String> more = new LinkedHashMap<>(environment);
    more.put(variable, value);
    return new ProgramEnvironment(name, more);
  }

  /** This environment with all caches of compiled kernels in an existing folder. */
  public ProgramEnvironment withCaches(Path folder) {
    Map<String, String> more = new LinkedHashMap<>(environment);
    more.putAll(CompilerCaches.in(folder.toString()));
    return new ProgramEnvironment(name, more);
  }

  /** Sets the variables in a program's environment. */
  public void applyTo(Map<String, String> program) {
    environment.forEach(
        (variable, value) -> {
          if (variable.equals(LIBRARIES)) {
            program.merge(variable, value, (old, ours) -> ours + ":" + old);
          } else {
            program.put(variable, value);
          }
        });
  }
}
