/** Finds the PTX in what programs hand to the driver: fat binaries, cubins, PTX text. */
package graft.remoting.software.image;
