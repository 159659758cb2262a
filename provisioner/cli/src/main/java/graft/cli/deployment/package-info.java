/** Commands on a descriptor and its deployment: plan, apply, status, undo and their like. */
package graft.cli.deployment;
