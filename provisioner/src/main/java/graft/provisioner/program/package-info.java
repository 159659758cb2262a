/** Programs of this host that Graft runs. */
package graft.provisioner.program;
