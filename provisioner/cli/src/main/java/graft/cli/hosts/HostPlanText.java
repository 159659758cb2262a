package graft.cli.hosts;

import graft.deployment.hosts.HostReply;
import java.util.Map;

/** A host's plan as text. Its parts come from another machine, and may be anything. */
final class HostPlanText {
  private HostPlanText() {}

  static String of(HostReply reply) {
    StringBuilder text = new StringBuilder(reply.host().text()).append(": ");
    if (!reply.isDone()) {
      return text.append(HostsReport.words(reply)).append('\n').toString();
    }
    int steps = reply.objects("actions").size();
    text.append(steps == 0 ? "nothing to do" : HostsReport.count(steps, "step")).append('\n');
    reply
        .texts("warnings")
        .forEach(one -> text.append("  warning: ").append(HostStatusTable.line(one)).append('\n'));
    reply
        .texts("notes")
        .forEach(one -> text.append("  note: ").append(HostStatusTable.line(one)).append('\n'));
    String chain = "";
    for (Map<?, ?> action : reply.objects("actions")) {
      String its =
          HostStatusTable.line(action.get("id")).replaceFirst("/[^/]*$", "").replace('/', ' ');
      if (!its.equals(chain)) {
        text.append("  ").append(its).append('\n');
        chain = its;
      }
      Object why = action.get("why");
      text.append("do".equals(action.get("action")) ? "    + " : "    - undo: ")
          .append(HostStatusTable.line(action.get("description")))
          .append(why == null || "".equals(why) ? "" : " (" + HostStatusTable.line(why) + ")")
          .append('\n');
    }
    reply
        .texts("deletedData")
        .forEach(d -> text.append("  deletes data: ").append(HostStatusTable.line(d)).append('\n'));
    return text.toString();
  }
}
