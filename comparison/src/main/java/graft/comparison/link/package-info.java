/** Measures programs over a link with a given round trip: {@code graft bench remoting --rtt}. */
package graft.comparison.link;
