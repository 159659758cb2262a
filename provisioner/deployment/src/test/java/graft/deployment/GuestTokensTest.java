package graft.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.common.grants.TokensFile;
import graft.common.values.Name;
import graft.common.values.TimeSpan;
import graft.deployment.apply.Steps;
import graft.deployment.journal.Journal;
import graft.deployment.state.StateFolder;
import graft.deployment.step.Step;
import graft.deployment.step.guest.DefineGuest;
import graft.deployment.step.guest.GrantAccess;
import graft.deployment.step.guest.InstallByAgent;
import graft.deployment.step.guest.MakeToken;
import graft.deployment.step.guest.StartGuest;
import graft.guests.payload.Payload;
import graft.guests.payload.PayloadFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tokens of a guest with several servers. */
class GuestTokensTest {
  private static final String URI = "qemu:///session";
  private static final String UUID = "6f3c1bd2-1f51-4d8e-8f0a-0d4f1f3f2f10";

  @TempDir Path folder;

  private Path tokens(String gpu) {
    return folder.resolve("gpu-" + gpu + ".tokens");
  }

  private Path token(String gpu) {
    return folder.resolve("guest-alice." + gpu + ".token");
  }

  /** A guest with a token for each of two servers, both of them in their lists. */
  private StateFolder applied() throws Exception {
    StateFolder state = new StateFolder(new Name("lab"), folder);
    List<Step> steps = new ArrayList<>();
    for (String gpu : List.of("gpu0", "gpu1")) {
      Files.writeString(token(gpu), TokensFile.fresh() + "\n");
      steps.add(new MakeToken("alice", token(gpu), Optional.of(gpu)));
      steps.add(new GrantAccess("alice", gpu, token(gpu), tokens(gpu), "memory=1"));
      new TokensFile(tokens(gpu)).grant("alice", Files.readString(token(gpu)).strip(), "");
      new TokensFile(tokens(gpu)).grant("bob", TokensFile.fresh(), "");
    }
    steps.add(new DefineGuest(URI, "alice", UUID, "1 CPU", "<domain type='qemu'/>"));
    steps.add(new StartGuest(URI, "alice", UUID, folder.resolve("console")));
    steps.add(
        new InstallByAgent(
            URI,
            "alice",
            UUID,
            new Payload(
                "alice",
                List.of(
                    PayloadFile.secret(token("gpu0"), "/etc/graft/token", 0600),
                    PayloadFile.secret(token("gpu1"), "/etc/graft/token-gpu1", 0600)),
                List.of(),
                List.of(),
                List.of()),
            Optional.empty(),
            TimeSpan.parse("1m")));
    try (Journal journal = Journal.open(state.journal(), Steps.CODEC, Clock.systemUTC())) {
      long run = journal.apply("/d/lab.yaml", URI);
      for (Step step : steps) {
        journal.begin(run, step, Map.of());
        journal.done(step, Map.of());
      }
    }
    return state;
  }

  private static void revoke(StateFolder state, String guest) throws Exception {
    GuestTokens.change(
        state, "revoke", Optional.of(List.of(guest)), (name, tokens) -> tokens.revoke(name));
  }

  @Test
  void revokingEndsTheAccessToEveryServerAndNoOtherGuests() throws Exception {
    StateFolder state = applied();
    revoke(state, "alice");
    for (String gpu : List.of("gpu0", "gpu1")) {
      assertThat(new TokensFile(tokens(gpu)).readIfThere()).containsOnlyKeys("bob");
    }
    assertThatThrownBy(() -> revoke(state, "carol"))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("there is no guest 'carol'");
  }

  @Test
  void eachTokenHasAPlaceOfItsOwnInTheGuest() throws Exception {
    AppliedGuest alice = AppliedGuest.of(Deployments.journal(applied()), "alice");
    assertThat(alice.place(token("gpu0"))).isEqualTo("/etc/graft/token");
    assertThat(alice.place(token("gpu1"))).isEqualTo("/etc/graft/token-gpu1");
    assertThat(AppliedGuest.withToken(Deployments.journal(applied()))).containsExactly("alice");
  }
}
