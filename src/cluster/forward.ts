import type { ClientRequest, IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Answer } from '../http/answer.ts';
import { createGate } from '../http/gate.ts';
import { requestOf } from '../http/head.ts';
import { UNTOUCHED_HEADER } from '../http/member-headers.ts';
import { openClientBody } from './client-body.ts';
import {
  type Arrived,
  type Attempt,
  abandon,
  cutOff,
  type ForwardDeps,
  type Forwarding,
  fail,
  finish,
  isSafe,
  type Parts,
  release,
} from './forwarding.ts';
import { bodyLength, forwardedHeaders, targetOf, toBytes } from './hops.ts';
import type { Peer } from './peer.ts';
import {
  BUSY,
  MISDIRECTED,
  NONE_ACTIVE,
  NOT_FORWARDABLE,
  tooSlow,
  UNREACHABLE,
  unavailable,
  unknownEffect,
} from './refusals.ts';
import { relay } from './relay.ts';
import { createUpstreams, followUpstream } from './upstream.ts';

/**
 * Forwards requests to the active member (cluster.md 8.1, 8.5).
 *
 * Guarantees: a request is sent again only if it cannot have had an effect: no connection was made, the other member
 * refused it as untouched, or its method is GET or HEAD. A client that disconnects ends the request at the other member.
 * A response that ends early is cut off for the client. At most `MOST_SOCKETS` connections are open, and a request that
 * waits for one keeps the beginning of its body only.
 * Relies on `ClientBody` and `relay` for backpressure in both directions.
 * Cost: two HMACs for a request, and one write for each read of a response.
 */
export type Forwarder = {
  /** Called in the callback of the request. */
  forward(request: Arrived): void;
  /** Resolves when each request that is being forwarded has its response, except for event streams. */
  answered(): Promise<void>;
  /** Ends everything that is being forwarded. */
  cut(): void;
  /** Ends everything, and closes the connections to other members. */
  close(): void;
};

export const MOST_SOCKETS = 512;

/** Milliseconds before each attempt. */
const PAUSES = [0, 100, 500, 1000] as const;

/** Milliseconds from the first attempt, within which the last one needs a connection. */
const PATIENCE_MS = 2000;

export const createForwarder = (deps: ForwardDeps): Forwarder => {
  const parts: Parts = {
    deps,
    gate: createGate({ limit: MOST_SOCKETS, waitMs: PATIENCE_MS }),
    upstreams: createUpstreams(MOST_SOCKETS, deps.tls),
    open: new Set(),
    changed() {},
  };
  const cut = (): void => {
    for (const forwarding of parts.open) cutOff(forwarding);
  };
  return {
    forward: (arrived) => forward(parts, arrived),
    answered: () =>
      new Promise((resolve) => {
        parts.changed = () => {
          if ([...parts.open].every(({ attempt }) => attempt?.isStream)) resolve();
        };
        parts.changed();
      }),
    cut,
    close() {
      cut();
      parts.gate.close();
      parts.upstreams.close();
    },
  };
};

const forward = (parts: Parts, arrived: Arrived): void => {
  const { res, head, from } = arrived;
  const method = head.method.toUpperCase();
  const length = from.from === 'network' ? bodyLength(head) : lengthOfProgram(method);
  const forwarding: Forwarding = {
    ...arrived,
    parts,
    method,
    length,
    body: length === undefined ? undefined : openClientBody(res, () => start(forwarding)),
    attempts: 0,
    misdirected: 0,
    startedAt: 0,
    timer: undefined,
    waiter: undefined,
    attempt: undefined,
    isOver: false,
  };
  parts.open.add(forwarding);
  res.onAborted(() => {
    forwarding.body?.close();
    finish(forwarding);
  });
  if (!forwarding.body) {
    start(forwarding);
    return;
  }
  const { bodyTimeoutMs } = parts.deps;
  forwarding.timer = setTimeout(() => fail(forwarding, tooSlow(bodyTimeoutMs)), bodyTimeoutMs).unref();
};

/** A request of the Fetch API does not declare whether it has a body. */
const lengthOfProgram = (method: string): 'unknown' | undefined =>
  method === 'GET' || method === 'HEAD' ? undefined : 'unknown';

const start = (forwarding: Forwarding): void => {
  clearTimeout(forwarding.timer);
  forwarding.startedAt = performance.now();
  enter(forwarding);
};

/** Answers the request here, if this member may serve by now, or sends it once a connection is free. */
const enter = (forwarding: Forwarding): void => {
  const { gate, deps } = forwarding.parts;
  const own = deps.own();
  if (own) {
    handOver(forwarding, own);
    return;
  }
  forwarding.attempts += 1;
  if (gate.enter()) {
    send(forwarding);
    return;
  }
  forwarding.waiter = {
    start() {
      forwarding.waiter = undefined;
      send(forwarding);
    },
    expire: () => fail(forwarding, unavailable(BUSY, 0)),
  };
  if (!gate.wait(forwarding.waiter)) fail(forwarding, unavailable(BUSY, 0));
};

const handOver = (forwarding: Forwarding, own: Answer): void => {
  const { res, head, from, body } = forwarding;
  finish(forwarding);
  const answer = (): void => own(res, requestOf(head), from);
  if (body) body.handOver(answer);
  else res.cork(answer);
};

/** Called with a connection that is free. */
const send = (forwarding: Forwarding): void => {
  const { parts, body, method, head, facts, requestId, length } = forwarding;
  const { deps, gate, upstreams } = parts;
  const [peer, self, signatures] = [deps.active(), deps.self(), deps.signatures()];
  if (!peer || self === undefined || !signatures) {
    gate.leave();
    deps.metrics.forwarded('unreachable');
    retry(forwarding, NONE_ACTIVE);
    return;
  }
  const target = targetOf(head);
  const { header: signature, tail } = signatures.sign({
    ...{ method, target, facts, from: self, to: peer.id, now: deps.clock.now() },
    hasBody: body !== undefined,
  });
  const url = new URL(peer.url);
  const headers = forwardedHeaders({ head, host: url.host, requestId, signature, length });
  let request: ClientRequest;
  try {
    request = upstreams.open(url, { method, path: toBytes(target), headers });
  } catch {
    gate.leave();
    fail(forwarding, NOT_FORWARDABLE);
    return;
  }
  follow(forwarding, peer, request);
  if (body && tail) body.sendTo(request, tail);
  else request.end();
};

const follow = (forwarding: Forwarding, peer: Peer, request: ClientRequest): void => {
  const startedAt = performance.now();
  const attempt: Attempt = {
    ...{ peer, request, startedAt },
    isConnected: false,
    isStream: false,
    relay: undefined,
    isOver: false,
  };
  forwarding.attempt = attempt;
  const left = Math.max(1, forwarding.startedAt + PATIENCE_MS - startedAt);
  followUpstream(request, left, {
    connected() {
      attempt.isConnected = true;
    },
    response: (message) => receive(forwarding, attempt, message),
    failed() {
      if (!attempt.relay) lose(forwarding, attempt);
    },
  });
};

/** No response has arrived, or nothing of it has been sent to the client. */
const lose = (forwarding: Forwarding, attempt: Attempt): void => {
  if (attempt.isOver) return;
  const { deps } = forwarding.parts;
  deps.metrics.forwarded(attempt.isConnected ? 'unknown' : 'unreachable');
  deps.reached(attempt.peer.id, false);
  const mayRepeat = !attempt.isConnected || isSafe(forwarding);
  release(forwarding, attempt);
  if (mayRepeat) retry(forwarding, UNREACHABLE);
  else fail(forwarding, unknownEffect(deps.leaseMs()));
};

const receive = (forwarding: Forwarding, attempt: Attempt, message: IncomingMessage): void => {
  if (attempt.isOver) return;
  const { deps } = forwarding.parts;
  const seconds = (performance.now() - attempt.startedAt) / 1000;
  deps.reached(attempt.peer.id, true);
  if (message.statusCode !== 421 && message.headers[UNTOUCHED_HEADER] !== '1') {
    deps.metrics.forwarded('ok', seconds);
    pass(forwarding, attempt, message);
    return;
  }
  deps.metrics.forwarded('misdirected', seconds);
  release(forwarding, attempt);
  forwarding.misdirected += 1;
  const { misdirected } = forwarding;
  if (misdirected === MISDIRECTIONS) {
    deps.log.warn('cluster.misdirected', { member: attempt.peer.name, status: message.statusCode });
  }
  retry(forwarding, MISDIRECTED);
};

/** Number of refusals of one request after which they are reported. */
const MISDIRECTIONS = 3;

const pass = (forwarding: Forwarding, attempt: Attempt, message: IncomingMessage): void => {
  const { parts, res, method, body } = forwarding;
  attempt.isStream = message.headers['content-type']?.startsWith('text/event-stream') ?? false;
  if (attempt.isStream) {
    parts.deps.metrics.stream(1);
    parts.changed();
  }
  const isCut = (): boolean => body?.isComplete() === false;
  attempt.relay = relay(res, message, {
    method,
    closes: () => message.headers.connection === 'close' && isCut(),
    ended() {
      finish(forwarding, !isCut());
      body?.discard();
    },
    cut() {
      if (attempt.relay?.hasBegun()) abandon(forwarding);
      else lose(forwarding, attempt);
    },
  });
};

/** @param error sent after the last attempt */
const retry = (forwarding: Forwarding, error: string): void => {
  if (forwarding.isOver) return;
  const { attempts, startedAt, body, parts } = forwarding;
  const pause = PAUSES[attempts] ?? Number.POSITIVE_INFINITY;
  const isLate = performance.now() + pause > startedAt + PATIENCE_MS;
  if (isLate || body?.canRestart() === false) {
    fail(forwarding, unavailable(error, parts.deps.leaseMs()));
    return;
  }
  body?.stop();
  forwarding.timer = setTimeout(enter, pause, forwarding);
};
