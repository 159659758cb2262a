package graft.comparison.run;

/** Receives the events of a comparison. */
public interface Progress {
  /** A visit begins. */
  void visit(int number, int of, Visit visit);

  /** A case was run. */
  void ran(Entry.Run run);

  /** A message to the user. */
  void note(String text);
}
