/** What the compiler computes about functions in the intermediate form. */
package graft.remoting.software.analysis;
