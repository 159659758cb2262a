/** Finds the PTX in the images that programs pass to the driver: fat binaries, cubins, PTX text. */
package graft.remoting.software.image;
