package graft.remoting.server.exchange;

/**
 * The program of a session as its guest names it. Nothing checks the claim: it is for operators to
 * read, and decides nothing.
 *
 * @param name at most {@link #LONGEST} printable characters of ASCII
 * @param process the number of its process in the guest
 */
public record GuestProgram(String name, long process) {
  /** The longest name. */
  public static final int LONGEST = 64;

  /** Cuts the name, and replaces what could control a terminal or look like other text. */
  public GuestProgram {
    name = name.length() <= LONGEST ? name : name.substring(0, LONGEST);
    name = name.replaceAll("[^ -~]", "?");
  }
}
