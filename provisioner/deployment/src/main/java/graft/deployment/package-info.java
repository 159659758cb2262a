/**
 * Operations on a deployment: plan, apply, undo, attach, and queries about its guests.
 *
 * <p>The commands of the command line call these classes and print what they return; nothing here
 * reads arguments or prints.
 */
package graft.deployment;
