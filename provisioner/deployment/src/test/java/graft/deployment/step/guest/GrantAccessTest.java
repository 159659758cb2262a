package graft.deployment.step.guest;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.grants.TokensFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The list of domains that a guest's access changes beside the server's list of tokens. */
class GrantAccessTest {
  @TempDir Path folder;
  private Path token;
  private Path tokens;
  private Path domains;

  @BeforeEach
  void files() throws Exception {
    token = Files.writeString(folder.resolve("token"), TokensFile.fresh());
    tokens = folder.resolve("tokens");
    domains = folder.resolve("tokens.domains");
  }

  private GrantAccess access(String guest, String settings) {
    return new GrantAccess(guest, "gpu0", token, tokens, settings);
  }

  @Test
  void aGuestWithVchanIsListedAsLongAsItHasAccess() throws Exception {
    access("alice", "memory=1 domain=alice").apply(null);
    access("bob", "domain=bob").apply(null);
    assertThat(domains).hasContent("alice\nbob\n");
    access("alice", "domain=alice").undo(null, Map.of());
    assertThat(domains).hasContent("bob\n");
    access("bob", "domain=bob").undo(null, Map.of());
    assertThat(domains).doesNotExist();
  }

  @Test
  void aGuestThatLosesVchanLeavesTheList() throws Exception {
    access("alice", "domain=alice").apply(null);
    access("alice", "memory=1").apply(null);
    assertThat(domains).doesNotExist();
    assertThat(new TokensFile(tokens).read()).containsKey("alice");
  }
}
