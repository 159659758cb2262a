package graft.cli.deployment;

import graft.deployment.DeploymentStatus;
import graft.deployment.SmallRegion;
import graft.deployment.step.guest.AwaitGuest;
import graft.guests.connection.CudaCheck;
import java.util.Map;

/** The status of a deployment as text: a line for each server and guest. */
final class StatusText {
  private StatusText() {}

  static String of(DeploymentStatus status) {
    StringBuilder text = new StringBuilder();
    for (Map<String, Object> server : status.servers()) {
      String pid = server.containsKey("pid") ? " (process " + server.get("pid") + ")" : "";
      text.append("  GPU ").append(server.get("gpu")).append(": server ");
      text.append(server.get("state")).append(pid).append(" at ").append(server.get("listen"));
      text.append(", device ").append(server.get("device"));
      if (server.get("sessions") instanceof Integer sessions) {
        text.append(", ").append(sessions).append(sessions == 1 ? " session" : " sessions");
      }
      text.append(Boolean.FALSE.equals(server.get("answers")) ? ", DOES NOT ANSWER\n" : "\n");
      for (SmallRegion small : SmallRegion.in(server)) {
        text.append("  ").append(small).append('\n');
      }
    }
    for (Map<String, Object> guest : status.guests()) {
      text.append("  guest ").append(guest.get("name")).append(": ").append(guest.get("state"));
      if (guest.containsKey("machine")) {
        text.append("existing".equals(guest.get("state")) ? " machine " : ", ");
        text.append(guest.get("machine"));
      }
      if (guest.containsKey("since")) {
        text.append(" since ").append(guest.get("since"));
      }
      if (!DeploymentStatus.isRunning(guest)) {
        text.append('\n'); // what was true when the guest was started is not true now
        continue;
      }
      if (Boolean.FALSE.equals(guest.get("answers"))) {
        text.append(", DOES NOT ANSWER");
      }
      if (guest.containsKey(AwaitGuest.BOOT_SECONDS)) {
        text.append(", ready after ").append(guest.get(AwaitGuest.BOOT_SECONDS)).append(" s");
      }
      if (guest.get("cuda") instanceof Map<?, ?> cuda) {
        text.append(", CUDA ").append(cuda.get("result"));
        text.append(" on ").append(CudaCheck.devices(cuda, "by"));
      }
      text.append('\n');
    }
    return text.toString();
  }
}
