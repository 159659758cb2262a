/**
 * Commands on guests, and on what is brought into guests: programs, files, tokens, images, bundles.
 */
package graft.cli.guest;
