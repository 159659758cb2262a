/** The settings that a PF keeps for its VFs, by whichever way the host's driver offers. */
package graft.sriov.vf;
