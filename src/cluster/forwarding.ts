import type { ClientRequest } from 'node:http';
import type { Answer } from '../http/answer.ts';
import type { Gate, Waiter } from '../http/gate.ts';
import type { Head } from '../http/head.ts';
import type { Origin } from '../http/origin.ts';
import type { WireResponse } from '../http/wire.ts';
import type { Clock } from '../schema/clock.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import type { ClientBody } from './client-body.ts';
import type { ClientFacts } from './facts.ts';
import type { Peer } from './peer.ts';
import { NONE_ACTIVE, type Refused, refuse, unavailable, unknownEffect } from './refusals.ts';
import type { Relay } from './relay.ts';
import type { Signatures } from './signature.ts';
import type { Upstreams, UpstreamTls } from './upstream.ts';

/** One request that is being forwarded, and the ways in which that ends. */

export type Arrived = {
  res: WireResponse;
  head: Head;
  from: Origin;
  facts: ClientFacts;
  requestId: string;
  /** The origin whose pages may read the response, or an empty text. */
  origin: string;
};

export type ForwardMetrics = {
  /** Counts an attempt; with the seconds until the head of the response, if one arrived. */
  forwarded(result: 'ok' | 'misdirected' | 'unreachable' | 'unknown', seconds?: number): void;
  /** Counts the open event streams. */
  stream(delta: 1 | -1): void;
};

export type ForwardDeps = {
  /** Name of this member. */
  name: string;
  /** Id of this membership. */
  self(): string | undefined;
  active(): Peer | undefined;
  /** The answer of the own service while it may serve. */
  own(): Answer | undefined;
  /** Undefined while no cluster is known. */
  signatures(): Signatures | undefined;
  /** Milliseconds until the lease of an active member could be over. */
  leaseMs(): number;
  /** Receives how a request to a member ended. */
  reached(id: string, ok: boolean): void;
  /** Milliseconds for a short body to arrive. */
  bodyTimeoutMs: number;
  clock: Pick<Clock, 'now'>;
  log: Pick<ServiceLog, 'warn'>;
  metrics: ForwardMetrics;
  tls?: UpstreamTls | undefined;
};

export type Parts = {
  deps: ForwardDeps;
  gate: Gate;
  upstreams: Upstreams;
  open: Set<Forwarding>;
  /** Called when a request that is being forwarded has ended, or streams events. */
  changed: () => void;
};

export type Forwarding = Arrived & {
  readonly parts: Parts;
  /** Upper case. */
  readonly method: string;
  readonly body: ClientBody | undefined;
  readonly length: number | 'unknown' | undefined;
  attempts: number;
  misdirected: number;
  /** Time of the first attempt, on the monotonic clock. */
  startedAt: number;
  timer: NodeJS.Timeout | undefined;
  /** Set while it waits for a connection. */
  waiter: Waiter | undefined;
  attempt: Attempt | undefined;
  isOver: boolean;
};

export type Attempt = {
  readonly peer: Peer;
  readonly request: ClientRequest;
  readonly startedAt: number;
  isConnected: boolean;
  isStream: boolean;
  /** Set once the head of the response has arrived. */
  relay: Relay | undefined;
  /** Whether its connection has been released, so that its result no longer matters. */
  isOver: boolean;
};

/** Whether a request may be sent again although the first one may have had its effect. */
export const isSafe = ({ method }: Forwarding): boolean => method === 'GET' || method === 'HEAD';

export const fail = (forwarding: Forwarding, refused: Refused): void => {
  if (forwarding.isOver) return;
  const { parts, res, method, requestId, origin, body } = forwarding;
  finish(forwarding);
  body?.discard();
  res.cork(() => refuse({ res, method, requestId, origin, member: parts.deps.name }, refused));
};

/** The response has begun, so a broken connection is the only sign of failure that the client can receive. */
export const abandon = (forwarding: Forwarding): void => {
  if (forwarding.isOver) return;
  finish(forwarding);
  forwarding.res.close();
};

export const cutOff = (forwarding: Forwarding): void => {
  const { attempt, parts } = forwarding;
  const leaseMs = parts.deps.leaseMs();
  if (attempt?.relay?.hasBegun()) abandon(forwarding);
  else if (attempt?.isConnected && !isSafe(forwarding)) fail(forwarding, unknownEffect(leaseMs));
  else fail(forwarding, unavailable(NONE_ACTIVE, leaseMs));
};

/**
 * Releases everything. The response has ended, or the caller ends it.
 *
 * @param isComplete whether the connection to the other member can be used again
 */
export const finish = (forwarding: Forwarding, isComplete = false): void => {
  if (forwarding.isOver) return;
  const { parts, attempt, waiter } = forwarding;
  forwarding.isOver = true;
  clearTimeout(forwarding.timer);
  parts.open.delete(forwarding);
  if (waiter) parts.gate.withdraw(waiter);
  if (attempt) release(forwarding, attempt, isComplete);
  parts.changed();
};

export const release = ({ parts }: Forwarding, attempt: Attempt, isComplete = false): void => {
  if (attempt.isOver) return;
  attempt.isOver = true;
  attempt.relay?.stop();
  if (attempt.isStream) parts.deps.metrics.stream(-1);
  if (!isComplete) attempt.request.destroy();
  parts.gate.leave();
};
