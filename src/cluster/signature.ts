import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';
import { type ClientFacts, decodeFacts, encodeFacts } from './facts.ts';

/**
 * Signs requests between members (cluster.md 8.3). The header `x-troupe-member` of a forwarded request is
 *
 *     v1 from=<id> to=<id> client=<base64url of the facts> at=<ms> body=<none|signed> mac=<hex>
 *
 * Guarantees: a request that no member signed, that was signed for another member or more than `MOST_SKEW_MS` ago, or
 * whose method, target, facts or body differ from what was signed, is refused. `mac` covers the head, so it is checked
 * before anything else. A signed body is followed by `TAIL_BYTES` that cover `mac` and the body: it is forwarded while it
 * arrives, and its receiver learns its end only after they have been checked, see `verified-body.ts`.
 * Relies on the network for secrecy: the credentials of the client are part of the request. An attacker that reads them
 * has no need to repeat a signed request, so repetitions within `MOST_SKEW_MS` are not refused.
 * Cost: one HMAC for the head and one for the body.
 */
export type Signatures = {
  sign(request: Unsigned): Signed;
  /** Returns a text with the reason if the header is not valid for this request and member. */
  verify(header: string, request: Addressed): Verified | string;
};

/** `target` is the path with the query, `self` the id of the member that received the request. */
export type Addressed = { method: string; target: string; self: string; now: number };

export type Unsigned = {
  method: string;
  target: string;
  from: string;
  to: string;
  facts: ClientFacts;
  hasBody: boolean;
  now: number;
};

/** `tail` computes the bytes behind the body; absent for a request without one. */
export type Signed = { header: string; tail: Hmac | undefined };

export type Verified = { facts: ClientFacts; tail: Hmac | undefined };

export const TAIL_BYTES = 32;

export const MOST_SKEW_MS = 5 * 60_000;

/** @param secret what only members of the cluster have */
export const createSignatures = (secret: string): Signatures => {
  // The secret may also be used for other purposes.
  const key = createHmac('sha256', secret).update('requests between members, version 1').digest();
  const macOf = (fields: readonly string[]): Buffer =>
    createHmac('sha256', key).update(fields.join('\n')).digest();
  const tailOf = (mac: Buffer): Hmac => createHmac('sha256', key).update(mac);
  return {
    sign({ method, target, from, to, facts, hasBody, now }) {
      const client = encodeFacts(facts);
      const body = hasBody ? 'signed' : 'none';
      const mac = macOf([method, target, from, to, client, String(now), body]);
      return {
        header: `v1 from=${from} to=${to} client=${client} at=${now} body=${body} mac=${mac.toString('hex')}`,
        tail: hasBody ? tailOf(mac) : undefined,
      };
    },
    verify(header, { method, target, self, now }) {
      const [, from, to, client, at, body, hex] = FORM.exec(header) ?? [];
      if (!from || !to || !client || !at || !body || !hex) return UNSIGNED;
      const mac = macOf([method, target, from, to, client, at, body]);
      if (!timingSafeEqual(mac, Buffer.from(hex, 'hex'))) return UNSIGNED;
      if (to !== self) return `the request is addressed to member ${to}, and this is member ${self}`;
      const skew = now - Number(at);
      if (Math.abs(skew) > MOST_SKEW_MS) return skewed(skew);
      const facts = decodeFacts(client);
      if (!facts) return UNREADABLE;
      return { facts, tail: body === 'signed' ? tailOf(mac) : undefined };
    },
  };
};

const FORM =
  /^v1 from=([\w-]+) to=([\w-]+) client=([\w-]+) at=(\d{1,15}) body=(none|signed) mac=([\da-f]{64})$/;

const UNSIGNED = 'x-troupe-member is not a valid signature of a member of this cluster';

const UNREADABLE = 'the member that forwarded the request has another version';

const skewed = (ms: number): string =>
  `the request was signed ${Math.abs(Math.round(ms / 1000))} s ${ms > 0 ? 'ago' : 'in the future'}; the clocks of ` +
  `members may differ by at most ${MOST_SKEW_MS / 60_000} minutes`;
