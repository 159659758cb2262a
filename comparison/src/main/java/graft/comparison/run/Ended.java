package graft.comparison.run;

/**
 * How a program ended.
 *
 * @param exitCode the exit code; 128 plus the signal's number if a signal ended the program
 * @param timedOut whether the program was killed at its time limit
 * @param seconds the run time
 * @param profile the breakdown of the program's time; empty if there is none
 */
public record Ended(
    int exitCode, boolean timedOut, double seconds, String output, String error, String profile) {}
