// graft-usernet is the network of guests that may reach one server and nothing else. QEMU connects its network card
// to this program (<interface type='client'>, -netdev socket) and sends and receives Ethernet frames. For each card
// the program starts a process of its own that has the guest's end of every TCP connection (libslirp) and is sealed:
// it has no network, no files and few system calls. All that the sealed process can reach is a Unix socket, whose
// connections the main process, which never parses a frame, forwards to the server.
//
//   QEMU == frames over loopback ==> sealed process: libslirp == Unix socket ==> main process: relay == TCP ==> server
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

// The name of the relay's socket in its folder, which is the root folder of the sealed processes.
#define RELAY_SOCKET "relay"

struct options {
  const char *listen_host, *listen_port; // where QEMU connects
  const char *to_host, *to_port;         // the server
  uint16_t guest_port;                   // the server's port for guests, at 10.0.2.2
  const char *pid_file;
};

// Prints what failed, with errno if it is set, and ends the process.
void fail(const char *what, ...) __attribute__((format(printf, 1, 2), noreturn));

// Creates the relay's folder and starts to forward the connections that are made to its socket. Returns the folder.
const char *start_relay(const struct options *options);
void remove_relay_folder(void);

// Runs the network of the card at the descriptor until the card is gone. Seals the process first.
void run_stack(int card, const char *relay_folder, uint16_t guest_port) __attribute__((noreturn));

// Why guests cannot have a closed network on this machine; null if they can.
const char *stack_obstacle(void);

// Gives up everything that the stack does not need: the network, files but for the folder, descriptors above the one
// that is kept, privileges and most system calls. Ends the process if that is not possible.
void seal(const char *root, int kept);

// Why this machine does not let a process be sealed; null if it does. Called before there are threads.
const char *seal_obstacle(void);
