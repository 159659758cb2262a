/** The settings that a PF keeps for its VFs, by the interface that the host's driver offers. */
package graft.sriov.vf;
