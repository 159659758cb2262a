package graft.comparison.run;

/**
 * How a program ended.
 *
 * @param exitCode its exit code, 128 and the signal's number if a signal ended it
 * @param timedOut whether it was killed because its time was over
 * @param seconds how long it ran
 * @param profile the breakdown of its time, empty if there is none
 */
public record Ended(
    int exitCode, boolean timedOut, double seconds, String output, String error, String profile) {}
