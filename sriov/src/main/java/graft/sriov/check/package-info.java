/** Tries the operations on a real host and says what it saw: see docs/hardware-checklist.md. */
package graft.sriov.check;
