/**
 * Timelines of programs, which the client writes ({@code GRAFT_TRACE}): {@code graft trace}, {@code
 * graft bench timeline}.
 */
package graft.comparison.trace;
