package graft.remoting.server.exchange;

/**
 * The program of a session as its guest names it. Nothing checks the claim: it is for operators to
 * read, and decides nothing.
 *
 * @param name at most {@link #LONGEST} printable characters of ASCII
 * @param process the number of its process in the guest
 * @param job the batch job that it belongs to, in the same form; empty if it belongs to none
 */
public record GuestProgram(String name, long process, String job) {
  /** The longest name, and the longest name of a job. */
  public static final int LONGEST = 64;

  /** Cuts the texts, and replaces what could control a terminal or look like other text. */
  public GuestProgram {
    name = shown(name);
    job = shown(job);
  }

  private static String shown(String text) {
    return text.substring(0, Math.min(text.length(), LONGEST)).replaceAll("[^ -~]", "?");
  }
}
