import type { Answer } from '../http/answer.ts';
import { isMisframed } from '../http/framing.ts';
import { type Head, linesOf, readHead, requestOf } from '../http/head.ts';
import { chooseRequestId } from '../http/headers.ts';
import type { HostCheck } from '../http/hosts.ts';
import type { Scheme } from '../http/listen-address.ts';
import { MEMBER_HEADER } from '../http/member-headers.ts';
import type { Origin } from '../http/origin.ts';
import { peerOf } from '../http/senders.ts';
import type { WireRequest, WireResponse } from '../http/wire.ts';
import { type ClientFacts, originOf, senderOf } from './facts.ts';
import { createForwarder, type Forwarder } from './forward.ts';
import type { ForwardDeps } from './forwarding.ts';
import { bodyLength, headOfClient, targetOf } from './hops.ts';
import { type Refused, refuse } from './refusals.ts';
import { createSignatures, type Signatures, TAIL_BYTES, type Verified } from './signature.ts';
import { verifyBody } from './verified-body.ts';

/**
 * Answers all requests of a member (cluster.md 8): with its own service while that may serve, and otherwise by forwarding
 * them to the active member.
 *
 * Guarantees: a service receives only requests of clients and those that another member has signed, the latter with the
 * facts about their client; the header of members never reaches it. A forwarded request is not forwarded again: a member
 * that does not serve refuses it with 421, before any effect.
 */
export type FrontDeps = Omit<ForwardDeps, 'signatures'> & {
  /** What only members of the cluster have; undefined while no cluster is known. */
  secret(): string | undefined;
  /** The listener of clients. */
  listener: {
    scheme: Scheme;
    /** Whether only clients on this host can connect. */
    isLocal: boolean;
    /** If absent, any host is accepted. */
    acceptsHost?: HostCheck | undefined;
  };
  /** Returns whether pages of an origin may read responses. */
  allowsOrigin(origin: string): boolean;
  /** Returns the answer to a request that every member answers itself, such as for its health. */
  local?: ((req: WireRequest) => Answer | undefined) | undefined;
};

export type Front = {
  readonly answer: Answer;
  /** Resolves when each request that is being forwarded has its response, except for event streams. */
  answered(): Promise<void>;
  /** Ends everything that is being forwarded. Requests that have not begun to be answered receive a response. */
  cut(): void;
  /** Ends everything, and closes the connections to other members. */
  close(): Promise<void>;
};

type Parts = { deps: FrontDeps; forwarder: Forwarder; signatures(): Signatures | undefined };

export const createFront = (deps: FrontDeps): Front => {
  const signatures = createSignaturesOnce(deps.secret);
  const forwarder = createForwarder({ ...deps, signatures });
  const parts: Parts = { deps, forwarder, signatures };
  return {
    answer(res, req, from) {
      if (req.getHeader(MEMBER_HEADER) !== '') {
        receive(parts, { res, head: readHead(req), from });
        return;
      }
      const answer = deps.local?.(req) ?? deps.own();
      if (answer) answer(res, req, from);
      else forward(parts, { res, head: readHead(req), from });
    },
    answered: forwarder.answered,
    cut: forwarder.cut,
    async close() {
      forwarder.close();
    },
  };
};

/** The secret becomes known with the cluster. */
const createSignaturesOnce = (secret: FrontDeps['secret']): Parts['signatures'] => {
  let of: string | undefined;
  let signatures: Signatures | undefined;
  return () => {
    const current = secret();
    if (current !== of) signatures = current === undefined ? undefined : createSignatures(current);
    of = current;
    return signatures;
  };
};

type Incoming = { res: WireResponse; head: Head; from: Origin };

const forward = ({ deps, forwarder }: Parts, { res, head, from }: Incoming): void => {
  if (from.from === 'network' && isAmbiguous(head)) {
    res.close();
    return;
  }
  const { scheme, isLocal, acceptsHost } = deps.listener;
  const host = linesOf(head, 'host')[0] ?? '';
  const facts: ClientFacts = {
    host,
    address: peerOf(res),
    sender: senderOf(from, {
      scheme,
      isLocalListener: isLocal,
      isHostAccepted: !acceptsHost || acceptsHost(host),
    }),
  };
  forwarder.forward({ res, head, from, facts, requestId: requestIdOf(head), origin: originIn(deps, head) });
};

const isAmbiguous = (head: Head): boolean => isMisframed({ lines: (name) => linesOf(head, name) });

const originIn = ({ allowsOrigin }: FrontDeps, head: Head): string => {
  const origin = linesOf(head, 'origin')[0] ?? '';
  return allowsOrigin(origin) ? origin : '';
};

const requestIdOf = (head: Head): string => chooseRequestId(linesOf(head, 'x-request-id')[0] ?? '');

/** Serves a request that has the header of members, or refuses it before any effect. */
const receive = (parts: Parts, { res, head, from }: Incoming): void => {
  const { deps } = parts;
  if (isAmbiguous(head)) {
    res.close();
    return;
  }
  const to = {
    res,
    method: head.method,
    requestId: requestIdOf(head),
    member: deps.name,
    origin: originIn(deps, head),
  };
  const reject = (refused: Refused): void => refuse(to, refused);
  const verified = from.from === 'network' ? verify(parts, head) : BY_PROGRAM;
  if (typeof verified === 'string') {
    reject({ status: 400, error: verified, isUntouched: true });
    return;
  }
  const own = deps.own();
  if (!own) {
    reject(misdirected(deps.active()?.id));
    return;
  }
  const { facts, tail } = verified;
  const client = headOfClient(head, { host: facts.host, hasBody: tail !== undefined });
  res.getRemoteAddressAsText = () => new TextEncoder().encode(facts.address).buffer;
  const passed = tail
    ? verifyBody(res, tail, () =>
        res.cork(() => reject({ status: 400, error: CHANGED_BODY, isUntouched: true })),
      )
    : res;
  own(passed, requestOf(client), originOf(facts));
};

const BY_PROGRAM = `${MEMBER_HEADER} is set by members of a cluster only`;

const CHANGED_BODY = 'the body is not the one that a member of this cluster has signed';

const verify = ({ deps, signatures }: Parts, head: Head): Verified | string => {
  const self = deps.self();
  const known = signatures();
  if (self === undefined || !known) return 'this member has not joined a cluster yet';
  const lines = linesOf(head, MEMBER_HEADER);
  const verified = known.verify(lines.length === 1 ? (lines[0] ?? '') : '', {
    method: head.method.toUpperCase(),
    target: targetOf(head),
    self,
    now: deps.clock.now(),
  });
  const isShort = typeof verified === 'object' && verified.tail && isShorterThanTail(head);
  return isShort ? CHANGED_BODY : verified;
};

const isShorterThanTail = (head: Head): boolean => {
  const length = bodyLength(head);
  return length === undefined || (length !== 'unknown' && length < TAIL_BYTES);
};

/** @param owner the id of the active member, if this one has read it */
const misdirected = (owner: string | undefined): Refused => ({
  status: 421,
  error: 'this member does not serve requests now',
  isUntouched: true,
  ...(owner !== undefined && { headers: { 'x-troupe-owner': owner } }),
});
