package graft.deployment.step.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.deployment.step.Await;
import graft.guests.connection.GuestConnectionException;
import org.junit.jupiter.api.Test;

class AwaitGuestTest {
  private static Await.Answer askedOf(GuestConnectionException failure) {
    return AwaitGuest.patiently(
        () -> {
          throw failure;
        });
  }

  @Test
  void aGuestThatIsTooBusyToAnswerInTimeIsNotReadyYet() {
    assertThat(askedOf(GuestConnectionException.late("'sh' did not end within 30 s", "", null)))
        .isEqualTo(Await.Answer.NOT_YET);
  }

  @Test
  void aGuestThatRebootsIsNotReadyYet() {
    assertThat(askedOf(new GuestConnectionException("no agent", "", true, null)))
        .isEqualTo(Await.Answer.NOT_YET);
  }

  @Test
  void aRefusalEndsTheWait() {
    GuestConnectionException refusal =
        new GuestConnectionException("the agent refuses", "", false, null);
    assertThatThrownBy(() -> askedOf(refusal)).isSameAs(refusal);
  }

  @Test
  void theAnswerOfAGuestIsTheAnswer() {
    assertThat(AwaitGuest.patiently(() -> Await.Answer.YES)).isEqualTo(Await.Answer.YES);
  }
}
