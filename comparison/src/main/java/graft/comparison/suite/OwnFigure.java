package graft.comparison.suite;

import java.util.Optional;

/**
 * A figure that a program of the user prints.
 *
 * @param pattern a regular expression whose first group is the number; the last match counts
 * @param unit the unit; rates such as {@code GB/s} or {@code 1/s} are better when higher
 */
public record OwnFigure(String name, String pattern, Optional<String> unit) {}
