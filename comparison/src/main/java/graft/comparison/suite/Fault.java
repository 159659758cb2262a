package graft.comparison.suite;

/**
 * An error in a suite.
 *
 * @param part the record with the error
 * @param key the key in that record; empty for the record itself
 * @param hint how to correct the error; empty if that is obvious
 */
public record Fault(Object part, String key, String message, String hint) {}
