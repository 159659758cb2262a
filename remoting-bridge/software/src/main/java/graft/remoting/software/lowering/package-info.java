/**
 * Lowers PTX to the intermediate form, or refuses it by line. There is one class for each group of
 * instructions of the PTX manual; a new instruction belongs to the group of its chapter.
 */
package graft.remoting.software.lowering;
