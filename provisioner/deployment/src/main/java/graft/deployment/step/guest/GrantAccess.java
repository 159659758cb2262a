package graft.deployment.step.guest;

import graft.common.grants.TokensFile;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Adds a guest's token and vGPU settings to the list of the GPU's server.
 *
 * @param token the file that keeps the guest's token
 * @param tokens the server's list
 * @param settings of the vGPU, as the list has them: {@code memory=BYTES device=INDEX}
 */
public record GrantAccess(String guest, String gpu, Path token, Path tokens, String settings)
    implements GuestStep {
  @Override
  public String name() {
    return "access-" + gpu;
  }

  @Override
  public String describe() {
    return "grant it access to '" + gpu + "'" + (settings.isEmpty() ? "" : " (" + settings + ")");
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return settings.equals(snapshot.grants().getOrDefault(tokens, Map.of()).get(guest));
  }

  @Override
  public boolean isInPlace() {
    return true; // the guest is not affected
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    list().grant(guest, Files.readString(token).strip(), settings);
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    list().revoke(guest);
  }

  /** The server's list. */
  public TokensFile list() {
    return new TokensFile(tokens);
  }
}
