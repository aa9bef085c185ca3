import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import canonicalize from 'canonicalize';
import type { Json } from './json.ts';
import type { TicketBelow, WaitingTicket } from './run.ts';

/**
 * Digests of the contents of tickets: SHA-256, in hex, of RFC 8785 JSON. The service, its client and its console
 * compute them with this module, so a client can name the call that it has shown.
 */

/**
 * Returns the digest of a call, which binds a decision to the displayed arguments (runtime.md 12): SHA-256, in hex,
 * of the RFC 8785 JSON of `{"arguments":…,"tool":"…"}`. Missing arguments are null.
 *
 * @example
 * ```ts
 * const digest = digestOfCall({ tool: 'transfer', arguments: { to: 'Ada', amount: 500 } });
 * const answer = { action: 'resume', payload: { approved: true } } as const;
 * const decision: Decision = { runId: 'run-1', toolCallId: 'call_1', ...answer, digest };
 * ```
 */
export const digestOfCall = ({ tool, arguments: args = null }: { tool: string; arguments?: Json }): string =>
  digestOf({ tool, arguments: args });

/** Digest of the tickets below a delegating call, as the service lists them. */
export const digestOfTickets = (tickets: readonly TicketBelow[]): string => digestOf(tickets);

/** Tickets that were stored before tickets had digests have none. */
export const digestOfTicket = (ticket: Pick<WaitingTicket, 'tool_name' | 'arguments' | 'digest'>): string =>
  ticket.digest ??
  digestOfCall({
    tool: ticket.tool_name,
    ...(ticket.arguments !== undefined && { arguments: ticket.arguments }),
  });

// Every value except undefined has a canonical form.
const digestOf = (value: unknown): string => bytesToHex(sha256(utf8ToBytes(canonicalize(value) ?? '')));
