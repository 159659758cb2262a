/** The suite: its representation as read from the file, and its rules. */
package graft.comparison.suite;
