package graft.comparison.suite;

/**
 * Something wrong in a suite.
 *
 * @param part the record that has it
 * @param key its key, empty for the record itself
 * @param hint what to do, empty if that is plain
 */
public record Fault(Object part, String key, String message, String hint) {}
