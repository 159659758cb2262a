package graft.comparison.run;

/** Who is told what goes on. */
public interface Progress {
  /** A visit begins. */
  void visit(int number, int of, Visit visit);

  /** A case was run. */
  void ran(Entry.Run run);

  /** Something that a reader should know. */
  void note(String text);
}
