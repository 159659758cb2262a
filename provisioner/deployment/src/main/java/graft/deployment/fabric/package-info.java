/**
 * Planning of devices: which virtual functions an adapter has, which devices a guest gets, and
 * where on the host the guest is placed. These classes neither examine nor change the host.
 */
package graft.deployment.fabric;
