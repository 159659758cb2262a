package graft.deployment;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Something that is wrong with what runs, and that {@code graft apply} does not repair.
 *
 * @param subject the guest, the GPU or the node: {@code guest alice}
 * @param what what is wrong with it, in a few words
 * @param fix what to do
 */
public record LiveFinding(String subject, String what, String fix) {
  @Override
  public String toString() {
    return subject + ": " + what;
  }

  /** As a tree for JSON. */
  public Map<String, Object> toTree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("subject", subject);
    tree.put("what", what);
    tree.put("fix", fix);
    return tree;
  }
}
