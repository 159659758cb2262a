/** Commands on guests and on their programs, files, tokens, images and bundles. */
package graft.cli.guest;
