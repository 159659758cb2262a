package graft.deployment.step.guest;

import graft.common.grants.DomainList;
import graft.common.grants.TokensFile;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.ServerUser;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Adds a guest's token and vGPU settings to the list of the GPU's server.
 *
 * @param token the file that keeps the guest's token
 * @param tokens the server's list
 * @param settings of the vGPU, as the list has them: {@code memory=BYTES device=INDEX}
 */
public record GrantAccess(String guest, String gpu, Path token, Path tokens, String settings)
    implements GuestStep {
  private static final String REGION = "region=";

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
    listDomain();
    list().grant(guest, Files.readString(token).strip(), settings);
    shareRegion();
    return Map.of();
  }

  /** Lets the starter, which does not trust the list of tokens, share pages with the guest. */
  private void listDomain() throws IOException {
    DomainList domains = DomainList.of(tokens);
    if (List.of(settings.split(" ")).contains("domain=" + guest)) {
      domains.add(guest);
    } else {
      domains.remove(guest);
    }
  }

  /**
   * Lets a server that runs as its own user open the guest's region, if a Graft whose servers ran
   * as root made it.
   */
  private void shareRegion() throws IOException {
    Optional<ServerUser> server = ServerUser.find();
    Optional<Path> region =
        Stream.of(settings.split(" "))
            .filter(setting -> setting.startsWith(REGION))
            .map(setting -> Path.of(setting.substring(REGION.length())))
            .filter(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
            .findFirst();
    if (server.isPresent() && region.isPresent() && server.get().owns(tokens)) {
      server.get().share(region.get());
    }
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    list().revoke(guest);
    DomainList.of(tokens).remove(guest);
  }

  /** The server's list. */
  public TokensFile list() {
    return new TokensFile(tokens);
  }
}
