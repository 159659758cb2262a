/** Tests the operations on a real host and prints the results: see docs/hardware-checklist.md. */
package graft.sriov.check;
