import { request as httpRequest, type IncomingMessage } from 'node:http';
import { checkedLookup, checkHost } from '../../../outbound/guarded-request.ts';
import type { Resolve } from '../../../outbound/public-address.ts';
import { loadHttps } from '../../../schema/https.ts';
import { timerMs } from '../../../schema/timer.ts';
import type { PushTarget } from '../../../store/index.ts';

/**
 * Sends one notification to an address that a client configured (a2a.md 11.2).
 *
 * Guarantees: it resolves for any 2xx response, and rejects otherwise or after a timeout. The response body is not read
 * and redirects are not followed, so credentials are sent to the configured address only. With a guard, the address is
 * checked when the socket resolves it, and only allowed addresses are used.
 */
export type Post = (target: PushTarget, body: string, signal: AbortSignal) => Promise<void>;

export type PostGuard = { resolve: Resolve; mayConnect(address: string): boolean };

const TIMEOUT_MS = 10_000;

export const createPost =
  ({ guard, timeoutMs = TIMEOUT_MS }: { guard?: PostGuard | undefined; timeoutMs?: number } = {}): Post =>
  async (target, body, signal) => {
    const url = new URL(target.url);
    if (guard) checkHost(url.hostname, guard);
    const timeout = AbortSignal.timeout(timerMs(timeoutMs));
    try {
      const { statusCode = 0 } = await send(url, target, body, {
        signal: AbortSignal.any([signal, timeout]),
        lookup: guard && checkedLookup(guard),
      });
      if (statusCode < 200 || statusCode > 299) throw new Error(`status ${statusCode}`);
    } catch (error) {
      if (timeout.aborted) throw new Error(`no answer within ${timeoutMs} ms`);
      throw error;
    }
  };

type Sending = { signal: AbortSignal; lookup: ReturnType<typeof checkedLookup> | undefined };

const send = (
  url: URL,
  target: PushTarget,
  body: string,
  { signal, lookup }: Sending,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const open = url.protocol === 'https:' ? loadHttps().request : httpRequest;
    const headers = headersOf(target, body);
    const request = open(url, { method: 'POST', agent: false, headers, signal, ...(lookup && { lookup }) });
    request.on('response', (response) => {
      response.destroy();
      resolve(response);
    });
    request.on('error', reject);
    request.end(body);
  });

const headersOf = ({ token, authentication }: PushTarget, body: string): Record<string, string> => ({
  'content-type': 'application/a2a+json',
  'content-length': String(Buffer.byteLength(body)),
  ...(token !== undefined && { 'x-a2a-notification-token': token }),
  ...(authentication && {
    authorization: `${authentication.scheme} ${authentication.credentials ?? ''}`.trim(),
  }),
});
