package graft.deployment.step;

import graft.common.json.RecordTrees;
import graft.common.values.MacAddress;
import graft.common.values.PciAddress;
import graft.common.values.UserName;
import graft.guests.connection.HostAddress;
import graft.sriov.Guid;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes steps as JSON trees and reads them back. */
public final class StepCodec {
  private static final RecordTrees TREES =
      new RecordTrees(
          Map.of(
              HostAddress.class, HostAddress::parse,
              UserName.class, UserName::parse,
              PciAddress.class, PciAddress::parse,
              MacAddress.class, MacAddress::parse,
              Guid.class, Guid::parse));

  private final Map<String, StepKind> byId = new LinkedHashMap<>();
  private final Map<Class<? extends Step>, StepKind> byType = new LinkedHashMap<>();
  private final Map<String, String> formerNames;

  /**
   * A codec for these kinds of steps.
   *
   * @param formerNames the ids of kinds by the names that earlier journals have for them
   * @throws IllegalArgumentException if an id or a type occurs twice, or a former name stands for
   *     no kind
   */
  public StepCodec(List<StepKind> kinds, Map<String, String> formerNames) {
    for (StepKind kind : kinds) {
      if (byId.put(kind.id(), kind) != null || byType.put(kind.type(), kind) != null) {
        throw new IllegalArgumentException("two kinds of steps share an id or a type: " + kind);
      }
    }
    if (!byId.keySet().containsAll(formerNames.values())) {
      throw new IllegalArgumentException("a former name stands for no kind: " + formerNames);
    }
    this.formerNames = Map.copyOf(formerNames);
  }

  /** The id of a step's kind. */
  public String id(Step step) {
    StepKind kind = byType.get(step.getClass());
    if (kind == null) {
      throw new IllegalArgumentException(step.getClass() + " has no id for the journal");
    }
    return kind.id();
  }

  /** A step's components as a tree. */
  public static Map<String, Object> write(Step step) {
    return TREES.write((Record) step);
  }

  /**
   * Reads a step back.
   *
   * @param id its kind, or the former name of one
   * @throws IllegalArgumentException if there is no such kind or the tree does not fit it, as when
   *     another version of Graft wrote it
   */
  public Step read(String id, Map<String, Object> tree) {
    StepKind kind = byId.get(formerNames.getOrDefault(id, id));
    if (kind == null) {
      throw new IllegalArgumentException("there is no kind of step '" + id + "' in this version");
    }
    return TREES.read(kind.type(), tree);
  }
}
