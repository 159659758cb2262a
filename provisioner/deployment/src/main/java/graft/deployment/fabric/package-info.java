/**
 * Planning of devices: which virtual functions an adapter has, which devices a guest gets, and
 * where on the host the guest lies. Nothing here looks at the host or changes it.
 */
package graft.deployment.fabric;
