/**
 * What can be done with a deployment: plan, apply, take back, attach, look at its guests.
 *
 * <p>The commands of the command line call these classes and print what they return; nothing here
 * reads arguments or prints.
 */
package graft.deployment;
