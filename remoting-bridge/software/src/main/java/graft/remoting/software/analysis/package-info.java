/** Analyses of functions in the intermediate form. */
package graft.remoting.software.analysis;
