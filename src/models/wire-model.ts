import { parseExactly } from '../schema/exact-integers.ts';
import type { JsonObject } from '../schema/json.ts';
import type { ModelSpec } from '../schema/model.ts';
import { type Answer, createAnswer } from './answer.ts';
import { ModelError } from './errors.ts';
import { idleLimitSeconds } from './idle.ts';
import type { InferenceSink, Model, SentSettings } from './model.ts';
import { withOfferedTools } from './provider-tools.ts';
import { appliedOptions, withOptions } from './settings/body-options.ts';
import { withToolIds } from './tool-names.ts';
import type { EventReader } from './transport/stream.ts';
import type { Transport } from './transport/types.ts';
import { createWatchdog, type Watchdog } from './watchdog.ts';
import type { Decoder, Finish, Wire, WireCall } from './wire/wire.ts';

/**
 * One model of a provider that Troupe calls directly.
 *
 * Guarantees: one HTTP request per inference, one more for each pause of a provider that continues its completion, and
 * one more with a renewed token if the service rejected an expired one (retries belong to the route and the loop); the
 * sink receives nothing after a cancel or a timeout; if the completion is interrupted, the error includes the tokens that
 * the provider has reported.
 * Cost per token: one `JSON.parse` of its event, and no promise.
 */
export type Endpoint = {
  /** Loads the wire format of the model with this upstream name. */
  wire(upstream: string): Promise<Wire>;
  /** Ends with `/`. */
  baseURL: string;
  /** Headers that authorize the request, and those of the provider's spec. `signal` aborts the wait for a token. */
  headers(
    request: SignedRequest,
    signal: AbortSignal,
  ): Record<string, string> | Promise<Record<string, string>>;
  /**
   * Called when the service rejects a request with these headers as unauthorized. Returns whether `headers` has others.
   */
  renew?(refused: Readonly<Record<string, string>>): boolean;
};

/** The request that a signature covers. */
export type SignedRequest = {
  method: 'GET' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: Buffer;
};

export type WireModelOptions = {
  provider: string;
  adapter: string;
  timeoutSeconds: number;
  transport: Transport;
};

/** Pauses of one completion; each one is a request with everything before it. */
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
    const idle = idleLimitSeconds(request, upstream);
    const watchdog = createWatchdog({ call: timeoutSeconds, idle }, signal);
    const answer = createAnswer(withToolIds(sink, request.tools), {
      provider,
      model: upstream,
      format: wire.format,
    });
    const options = appliedOptions(request.overrides.provider_options, [wire.format, adapter, provider]);
    const exchange = { endpoint, transport, wire, answer, sink, options, watchdog };
    try {
      if (signal.aborted) throw new ModelError('cancelled', '');
      const finish = await complete(exchange, { upstream, provider, adapter, spec, request });
      return answer.end(finish);
    } catch (error) {
      const cause = watchdog.cause() ?? error;
      throw cause instanceof ModelError ? cause.using(answer.reported()) : cause;
    } finally {
      watchdog.close();
    }
  },
});

/** The data that all requests of one completion share. */
type Exchange = {
  endpoint: Endpoint;
  transport: Transport;
  wire: Wire;
  answer: Answer;
  sink: InferenceSink;
  options: JsonObject | undefined;
  watchdog: Watchdog;
};

/** Requests the completion, and its continuation after each pause. */
const complete = async (exchange: Exchange, call: Omit<WireCall, 'pauses'>): Promise<Finish> => {
  const pauses: NonNullable<Finish['pause']>[] = [];
  for (;;) {
    const finish = await send(exchange, { ...call, pauses });
    if (finish.reason !== 'paused' || !finish.pause) return finish;
    if (pauses.length === MOST_PAUSES) return { ...finish, reason: 'length' };
    pauses.push(finish.pause);
    exchange.answer.paused();
  }
};

const send = async (
  { endpoint, transport, wire, answer, sink, options, watchdog }: Exchange,
  call: WireCall,
): Promise<Finish> => {
  const { path, headers, body, sent } = wire.encode(call);
  if (sent) sink.sent?.(withSentOptions(sent, options));
  const decoder = wire.decoder(answer);
  const streamed = {
    method: 'POST',
    url: endpoint.baseURL + path,
    headers: { ...headers, ...call.request.trace },
    // A Buffer keeps the text out of the heap until the completion has ended.
    body: Buffer.from(JSON.stringify(withOptions(body, options))),
  } as const;
  await authorized(endpoint, streamed, watchdog.signal, (signed) =>
    transport.stream({ ...streamed, headers: signed }, readerOf(decoder, wire.framing), watchdog),
  );
  return decoder.end();
};

/** Reports only those provider options that this provider receives. */
const withSentOptions = (
  { settings, adjusted }: SentSettings,
  options: JsonObject | undefined,
): SentSettings => {
  const { provider_options: _, ...others } = settings;
  return { settings: options ? { ...others, provider_options: options } : others, adjusted };
};

/** Repeats the call once with new headers if the service rejected the first ones as expired. */
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

/** AWS reports expired credentials with the same status as missing permissions. */
const hasExpired = (error: unknown): boolean =>
  error instanceof ModelError &&
  error.class === 'unauthorized' &&
  (error.status === 401 || (error.status === 403 && /expired/i.test(error.detail)));

/** Beta features of the format and of the spec are combined into one list; for every other header the spec wins. */
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
    // For a page or plain text, the transport reports the error.
    return undefined;
  }
};
