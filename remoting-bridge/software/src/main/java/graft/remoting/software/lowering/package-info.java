/**
 * Lowers PTX to the intermediate form, or refuses it by line. One class for each group of
 * instructions of the PTX manual; a new instruction belongs into the group of its chapter.
 */
package graft.remoting.software.lowering;
