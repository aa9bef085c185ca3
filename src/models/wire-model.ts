import { parseExactly } from '../schema/exact-integers.ts';
import type { JsonObject } from '../schema/json.ts';
import type { ModelSpec } from '../schema/model.ts';
import { createAnswer } from './answer.ts';
import { ModelError } from './errors.ts';
import { idleSecondsOf } from './idle.ts';
import type { Model, SentSettings } from './model.ts';
import { withOfferedTools } from './provider-tools.ts';
import { appliedOptions, withOptions } from './settings/body-options.ts';
import { withToolIds } from './tool-names.ts';
import type { EventReader } from './transport/stream.ts';
import type { Transport } from './transport/types.ts';
import { createWatchdog } from './watchdog.ts';
import type { Decoder, Finish, Wire } from './wire/wire.ts';

/**
 * One model of a provider that Troupe speaks to itself.
 *
 * Guarantees: one HTTP request an inference, one more for each pause of a provider that continues its answer, and one
 * more with a renewed token where the service refused one that expired (retries belong to the route and the loop); the
 * sink receives nothing after a cancel or a timeout; tokens that the provider has reported are part of the error when
 * the answer breaks off.
 * Costs a token one `JSON.parse` of its event, and no promise.
 */
export type Endpoint = {
  /** Loads the format of the model with this name at the provider. */
  wire(upstream: string): Promise<Wire>;
  /** Ends with `/`. */
  baseURL: string;
  /** Headers that authorize the request, and those of the provider's spec. `signal` ends the wait for a token. */
  headers(
    request: SignedRequest,
    signal: AbortSignal,
  ): Record<string, string> | Promise<Record<string, string>>;
  /** The service refused a request with these headers as unauthorized. Returns whether `headers` has other ones. */
  renew?(refused: Readonly<Record<string, string>>): boolean;
};

/** The request that a signature is made of. */
export type SignedRequest = {
  method: 'GET' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
};

export type WireModelOptions = {
  provider: string;
  /** The name of the adapter. */
  adapter: string;
  timeoutSeconds: number;
  transport: Transport;
};

/** Pauses of one answer; each one is a request with everything before it. */
const MOST_PAUSES = 16;

export const createWireModel = (
  endpoint: Endpoint,
  spec: ModelSpec,
  { provider, adapter, timeoutSeconds, transport }: WireModelOptions,
): Model => ({
  id: spec.id,
  provider,
  upstream: spec.upstream_model,
  async stream(given, sink, signal) {
    const upstream = given.overrides.upstream_model ?? spec.upstream_model;
    const request = withOfferedTools(given, { adapter, upstream });
    const wire = await endpoint.wire(upstream);
    const idle = idleSecondsOf(request, upstream);
    const watchdog = createWatchdog({ call: timeoutSeconds, idle }, signal);
    const answer = createAnswer(withToolIds(sink, request.tools), {
      provider,
      model: upstream,
      format: wire.format,
    });
    const call = { upstream, provider, adapter, spec, request };
    const options = appliedOptions(request.overrides.provider_options, [wire.format, adapter, provider]);
    try {
      if (signal.aborted) throw new ModelError('cancelled', '');
      const pauses: NonNullable<Finish['pause']>[] = [];
      for (;;) {
        const sent = wire.encode({ ...call, pauses });
        if (sent.sent) sink.sent?.(withSentOptions(sent.sent, options));
        const decoder = wire.decoder(answer);
        const streamed = {
          method: 'POST',
          url: endpoint.baseURL + sent.path,
          headers: { ...sent.headers, ...request.trace },
          body: JSON.stringify(withOptions(sent.body, options)),
        } as const;
        await authorized(endpoint, streamed, watchdog.signal, (headers) =>
          transport.stream({ ...streamed, headers }, readerOf(decoder, wire.framing), watchdog),
        );
        const finish = decoder.end();
        if (finish.reason !== 'paused' || !finish.pause) return answer.end(finish);
        if (pauses.length === MOST_PAUSES) return answer.end({ ...finish, reason: 'length' });
        pauses.push(finish.pause);
        answer.paused();
      }
    } catch (error) {
      const cause = watchdog.cause() ?? error;
      throw cause instanceof ModelError ? cause.using(answer.reported()) : cause;
    } finally {
      watchdog.close();
    }
  },
});

/** Of all provider options only those that this provider receives. */
const withSentOptions = (
  { settings, adjusted }: SentSettings,
  options: JsonObject | undefined,
): SentSettings => {
  const { provider_options: _, ...others } = settings;
  return { settings: options ? { ...others, provider_options: options } : others, adjusted };
};

/** Calls once more with other headers where the service refused the first ones because they expired. */
const authorized = async (
  endpoint: Pick<Endpoint, 'headers' | 'renew'>,
  request: SignedRequest,
  signal: AbortSignal,
  call: (headers: Record<string, string>) => Promise<unknown>,
): Promise<void> => {
  const given = await endpoint.headers(request, signal);
  try {
    await call(mergedHeaders(request.headers, given));
  } catch (error) {
    if (!hasExpired(error) || !endpoint.renew?.(given)) throw error;
    await call(mergedHeaders(request.headers, await endpoint.headers(request, signal)));
  }
};

/** AWS reports expired credentials with the status of those that lack a permission. */
const hasExpired = (error: unknown): boolean =>
  error instanceof ModelError &&
  error.class === 'unauthorized' &&
  (error.status === 401 || (error.status === 403 && /expired/i.test(error.detail)));

/** Features that a format and a spec enable are one list; of every other header the one of the spec holds. */
const mergedHeaders = (
  own: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>>,
): Record<string, string> => {
  const merged: Record<string, string> = { ...own };
  for (const [name, value] of Object.entries(given)) {
    const key = name.toLowerCase();
    merged[key] = key === BETA && own[BETA] !== undefined ? `${own[BETA]},${value}` : value;
  }
  return merged;
};

const BETA = 'anthropic-beta';

const readerOf = (decoder: Decoder, framing: Wire['framing']): EventReader => ({
  ...(framing && { framing }),
  event: (name, data) => decoder.push(name, data),
  isFinished: () => decoder.isFinished(),
  whole: (body) => decoder.whole(jsonOf(body)),
});

const jsonOf = (body: string): unknown => {
  try {
    return parseExactly(body);
  } catch {
    // A page or plain text; the transport reports it as what it is.
    return undefined;
  }
};
