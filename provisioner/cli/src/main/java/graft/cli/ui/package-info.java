/** The page for the GPU room: what this host serves, to look at in a browser. */
package graft.cli.ui;
