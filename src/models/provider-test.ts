import { z } from 'zod';
import { type Clock, monotonic } from '../schema/clock.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import type { ProviderSpec } from '../schema/model.ts';
import { maskForeign } from '../schema/redaction/foreign.ts';
import { secretsOf } from '../schema/redaction/masking.ts';
import { ModelError } from './errors.ts';
import { addressOf, type ListRequest, listRequestOf, sendListRequest } from './list-request.ts';
import { adapterName, connect, createProvider } from './provider.ts';
import { type Environment, timeoutSecondsOf } from './provider-options.ts';
import { reasonOf } from './response.ts';
import { backoffMs, DEFAULT_RETRY, type Pause, pause as pauseReally } from './retry.ts';
import type { Transport } from './transport/types.ts';

/**
 * Can a provider be used (config.md 12)? It is built, and then asked for its list of models, or the service of its tokens
 * for one.
 *
 * Guarantees: no inference is asked for, a failure is an answer and not an exception, and no text quotes a key.
 * Costs one request of at most 15 s; for a token up to three, where the first ones fail for the moment.
 */
export const ProviderTest = z
  .object({
    ok: z.boolean(),
    latency_ms: z.int(),
    network_tested: z.boolean(),
    error: z.string().optional(),
  })
  .meta({ id: 'ProviderTest', description: 'Whether the provider can be used.' });
export type ProviderTest = z.infer<typeof ProviderTest>;

type ProviderTestDeps = {
  clock: Clock;
  env: Environment;
  transport: Transport;
  pause?: Pause;
};

const LONGEST_SECONDS = 15;
const TOKEN_ATTEMPTS = 3;

export const createProviderTest = ({ clock, env, transport, pause = pauseReally }: ProviderTestDeps) => {
  // Each attempt has its own time; the one that the source of tokens would give is longer.
  const inTime: Transport['text'] = (request) =>
    transport.text({ ...request, signal: AbortSignal.timeout(LONGEST_SECONDS * 1000) });
  const tokens = { text: inTime, now: () => clock.now() };

  /** Asks for a token, and for nothing else. */
  const mint = async ({ headers, connection }: ReturnType<typeof connect>): Promise<void> => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await headers({ method: 'GET', url: connection.baseURL, headers: {} }, NEVER);
        return;
      } catch (cause) {
        const error = cause instanceof ModelError ? cause : new ModelError('provider', reasonOf(cause));
        if (!error.transient || attempt + 1 === TOKEN_ATTEMPTS) throw error;
        await pause(backoffMs(DEFAULT_RETRY, error, attempt), NEVER);
      }
    }
  };

  /** What there is to try beyond building it. */
  const probeOf = (spec: ProviderSpec): (() => Promise<void>) | undefined => {
    createProvider(spec, env, transport);
    if (adapterName(spec.adapter) === 'scripted') return undefined;
    const request = listRequestOf(spec, { env, tokens });
    if (request) return () => ask(transport, request, timeoutSecondsOf(spec));
    const connected = connect(spec, { env, tokens });
    // Only credentials that a token is issued for can be renewed.
    return connected.renew && (() => mint(connected));
  };

  return async (spec: ProviderSpec): Promise<ProviderTest> => {
    const startedAt = monotonic(clock);
    let network_tested = false;
    const ended = () => ({
      latency_ms: Math.max(0, Math.round(monotonic(clock) - startedAt)),
      network_tested,
    });
    try {
      const probe = probeOf(spec);
      network_tested = probe !== undefined;
      await probe?.();
      return { ok: true, ...ended() };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { ok: false, ...ended(), error: masked(message, spec) };
    }
  };
};

/** A test ends by itself. */
const NEVER = new AbortController().signal;

const REFUSALS: ReadonlySet<number> = new Set([401, 403]);

/** Any answer but a refusal or a failure of the service tells that it is there. */
const ask = async (
  transport: Pick<Transport, 'text'>,
  request: ListRequest,
  timeoutSeconds: number,
): Promise<void> => {
  const seconds = Math.min(timeoutSeconds, LONGEST_SECONDS);
  const signal = AbortSignal.timeout(seconds * 1000);
  const { status } = await sendListRequest(transport, request, { most: 0, signal });
  if (REFUSALS.has(status) || status >= 500) throw new Error(`${addressOf(request.url)}: status ${status}`);
};

/** No text here quotes a secret on purpose; those of the packages and of the platform are not known. */
const masked = (text: string, spec: ProviderSpec): string =>
  // A spec that was parsed is JSON.
  maskForeign(text, secretsOf({ ...spec } as JsonObject));
