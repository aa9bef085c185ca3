import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import canonicalize from 'canonicalize';
import type { Json } from './json.ts';
import type { TicketBelow, WaitingTicket } from './run.ts';

/**
 * Digests of what a ticket asks for: SHA-256, in hex, of RFC 8785 JSON. The service, its client and its console
 * compute them with this module, so a client can name the call that it has shown.
 */

/** Of a call: `{"arguments":…,"tool":"…"}`. Missing arguments are null. */
export const digestOfCall = ({ tool, arguments: args = null }: { tool: string; arguments?: Json }): string =>
  digestOf({ tool, arguments: args });

/** Of the tickets below a delegating call, as the service lists them. */
export const digestOfTickets = (tickets: readonly TicketBelow[]): string => digestOf(tickets);

/** Tickets that were stored before tickets had digests have none. */
export const digestOfTicket = (ticket: Pick<WaitingTicket, 'tool_name' | 'arguments' | 'digest'>): string =>
  ticket.digest ??
  digestOfCall({
    tool: ticket.tool_name,
    ...(ticket.arguments !== undefined && { arguments: ticket.arguments }),
  });

// What is not undefined has a canonical form.
const digestOf = (value: unknown): string => bytesToHex(sha256(utf8ToBytes(canonicalize(value) ?? '')));
