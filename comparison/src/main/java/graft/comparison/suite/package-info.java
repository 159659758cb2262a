/** What to compare: the suite as its file has it, and the rules that it keeps. */
package graft.comparison.suite;
