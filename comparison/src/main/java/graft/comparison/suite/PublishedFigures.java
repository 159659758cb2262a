package graft.comparison.suite;

import java.util.List;

/** A file of published figures. */
public record PublishedFigures(List<Published> figures) {}
