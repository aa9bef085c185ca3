import { parseExactly } from '../schema/exact-integers.ts';
import type { JsonObject } from '../schema/json.ts';
import type { ModelSpec } from '../schema/model.ts';
import { createAnswer } from './answer.ts';
import { ModelError } from './errors.ts';
import { idleSecondsOf } from './idle.ts';
import type { Model, SentSettings } from './model.ts';
import { appliedOptions, withOptions } from './settings/body-options.ts';
import { withToolIds } from './tool-names.ts';
import type { EventReader } from './transport/stream.ts';
import type { Transport } from './transport/types.ts';
import { createWatchdog } from './watchdog.ts';
import type { Decoder, Finish, Wire } from './wire/wire.ts';

/**
 * One model of a provider that Troupe speaks to itself.
 *
 * Guarantees: one HTTP request an inference, and one more for each pause of a provider that continues its answer
 * (retries belong to the route and the loop); the sink receives nothing after a cancel or a timeout; tokens that the
 * provider has reported are part of the error when the answer breaks off.
 * Costs a token one `JSON.parse` of its event, and no promise.
 */
export type Endpoint = {
  /** Loads the format. */
  wire(): Promise<Wire>;
  /** Ends with `/`. */
  baseURL: string;
  /** Headers of every request, with the key. `signal` ends the wait for a token. */
  headers(signal: AbortSignal): Record<string, string> | Promise<Record<string, string>>;
};

export type WireModelOptions = {
  provider: string;
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
  async stream(request, sink, signal) {
    const upstream = request.overrides.upstream_model ?? spec.upstream_model;
    const wire = await endpoint.wire();
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
        const headers = await endpoint.headers(watchdog.signal);
        const decoder = wire.decoder(answer);
        await transport.stream(
          {
            url: endpoint.baseURL + sent.path,
            headers: mergedHeaders({ ...sent.headers, ...request.trace }, headers),
            body: JSON.stringify(withOptions(sent.body, options)),
          },
          readerOf(decoder),
          watchdog,
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

const readerOf = (decoder: Decoder): EventReader => ({
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
