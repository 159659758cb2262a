/** Commands on a descriptor and its deployment, such as plan, apply, status and undo. */
package graft.cli.deployment;
