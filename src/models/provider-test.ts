import { z } from 'zod';
import { type Clock, monotonic } from '../schema/clock.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import type { ProviderSpec } from '../schema/model.ts';
import { maskForeign } from '../schema/redaction/foreign.ts';
import { secretsOf } from '../schema/redaction/masking.ts';
import { ModelError } from './errors.ts';
import { addressOf, createListRequest, type ListRequest, sendListRequest } from './list-request.ts';
import { adapterName, connect, createProvider } from './provider.ts';
import { type Environment, timeoutSecondsOf } from './provider-options.ts';
import { describeMissingResponse } from './response.ts';
import { backoffMs, DEFAULT_RETRY, type Pause, pause as pauseReally } from './retry.ts';
import type { Transport } from './transport/types.ts';

/**
 * Tests whether a provider is usable (config.md 12). Builds the provider, then requests its list of models, or a token
 * from its token service.
 *
 * Guarantees: no inference is requested, a failure is a result and not an exception, and no text quotes a key.
 * Cost: one request of at most 15 s; up to three for a token, if the first ones fail with a transient error.
 */
export const ProviderTest = z
  .object({
    ok: z.boolean(),
    latency_ms: z.int(),
    network_tested: z.boolean(),
    status: z.int().optional().meta({ description: 'HTTP status because of which the test failed' }),
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

export const createProviderTest = (deps: ProviderTestDeps) => {
  const probe = createProviderProbe(deps);
  return async (spec: ProviderSpec): Promise<ProviderTest> => (await probe(spec)).result;
};

/** The test of a provider, with the response to the request for its list of models. */
export const createProviderProbe = ({ clock, env, transport, pause = pauseReally }: ProviderTestDeps) => {
  // Each attempt gets this timeout instead of the longer one of the token source.
  const inTime: Transport['text'] = (request) =>
    transport.text({ ...request, signal: AbortSignal.timeout(LONGEST_SECONDS * 1000) });
  const tokens = { text: inTime, now: () => clock.now() };

  /** Requests a token and nothing else. */
  const mint = async ({ headers, connection }: ReturnType<typeof connect>): Promise<void> => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await headers({ method: 'GET', url: connection.baseURL, headers: {} }, NEVER);
        return;
      } catch (cause) {
        const error =
          cause instanceof ModelError ? cause : new ModelError('provider', describeMissingResponse(cause));
        if (!error.transient || attempt + 1 === TOKEN_ATTEMPTS) throw error;
        await pause(backoffMs(DEFAULT_RETRY, error, attempt), NEVER);
      }
    }
  };

  /** The network request that tests the provider after it was built, if there is one. */
  const probeOf = (
    spec: ProviderSpec,
    most: number,
  ): (() => Promise<ListResponse | undefined>) | undefined => {
    createProvider(spec, env, transport);
    if (adapterName(spec.adapter) === 'scripted') return undefined;
    const request = createListRequest(spec, { env, tokens });
    if (request) return () => ask(transport, request, { most, timeoutSeconds: timeoutSecondsOf(spec) });
    const connected = connect(spec, { env, tokens });
    // Only credentials with an issued token can be renewed.
    return connected.renew && (() => mint(connected).then(() => undefined));
  };

  /** `most`: bytes of the list that are read. */
  return async (spec: ProviderSpec, most = 0): Promise<ListedTest> => {
    const startedAt = monotonic(clock);
    let network_tested = false;
    const ended = () => ({
      latency_ms: Math.max(0, Math.round(monotonic(clock) - startedAt)),
      network_tested,
    });
    try {
      const probe = probeOf(spec, most);
      network_tested = probe !== undefined;
      const list = await probe?.();
      const problem = list && problemOf(list);
      if (list && problem !== undefined) {
        const { status } = list;
        return { result: { ok: false, ...ended(), status, error: masked(problem, spec) }, list };
      }
      return { result: { ok: true, ...ended() }, list };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { result: { ok: false, ...ended(), error: masked(message, spec) }, list: undefined };
    }
  };
};

/** The response of the provider to the request for its list of models. */
export type ListResponse = Pick<ListRequest, 'schema' | 'url'> & { status: number; body: string };

/** `list`: undefined if no list was requested or no response arrived. */
type ListedTest = { result: ProviderTest; list: ListResponse | undefined };

/** A test has its own timeouts, so it needs no signal. */
const NEVER = new AbortController().signal;

/**
 * Gemini and xAI return 400 for a wrong key. A request for a list has no body, so that its input cannot be the reason.
 */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403]);

/** Any response except a refusal or a server error shows that the service is reachable and accepts the key. */
const problemOf = ({ url, status }: ListResponse): string | undefined =>
  REFUSALS.has(status) || status >= 500 ? `${addressOf(url)}: status ${status}` : undefined;

const ask = async (
  transport: Pick<Transport, 'text'>,
  request: ListRequest,
  { most, timeoutSeconds }: { most: number; timeoutSeconds: number },
): Promise<ListResponse> => {
  const seconds = Math.min(timeoutSeconds, LONGEST_SECONDS);
  const signal = AbortSignal.timeout(seconds * 1000);
  const { status, body } = await sendListRequest(transport, request, { most, signal });
  return { schema: request.schema, url: request.url, status, body };
};

/** No message in this module quotes a secret, but those of packages and of the platform might. */
const masked = (text: string, spec: ProviderSpec): string =>
  // A parsed spec is JSON.
  maskForeign(text, secretsOf({ ...spec } as JsonObject));
