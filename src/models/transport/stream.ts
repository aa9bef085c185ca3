import { BOUNDS, excerpt } from '../bounds.ts';
import { interrupted, notAStream, toBrokenStream, toConnectError, toRefusal } from '../classify.ts';
import { ModelError } from '../errors.ts';
import type { Watchdog } from '../watchdog.ts';
import type { EventSink } from './events.ts';
import { EVENT_STREAM, type Framing } from './framing.ts';
import type { Headers, Receiver, ResponseHead } from './request.ts';

/** Receives one completion. */
export type EventReader = EventSink & {
  /** Default: a stream of server-sent events. */
  framing?: Framing;
  /**
   * Receives one event of the stream: its name, `''` without one, and its data. Returns true when the completion has
   * ended: nothing after it is read. An exception ends the request.
   */
  event(name: string, data: string): boolean;
  /**
   * Whether the provider has reported the end of its completion, although more data, such as usage, may follow. A
   * connection that then breaks is not a failure, and a body that stays open gets only a short time.
   */
  isFinished(): boolean;
  /** Receives a body that is not an event stream. Returns true if it was a whole completion. */
  whole?(body: string): boolean;
};

/** `ended`: the body ended regularly, and the reader did not report the end of the completion. */
export type StreamEnd = 'complete' | 'ended';

/**
 * Reads an event stream. A failure is a `ModelError`: a redirect, an error status, a body that is not an event stream,
 * a broken connection, or more bytes than `BOUNDS` allow.
 */
export const createStreamReceiver = (reader: EventReader, watchdog: Watchdog): Receiver<StreamEnd> => {
  const reading = (reader.framing ?? EVENT_STREAM)();
  let text: BodyText | undefined;
  let refused: ResponseHead | undefined;
  const sink: EventSink = {
    event(name, data) {
      watchdog.touch();
      return reader.event(name, data);
    },
  };
  /** @throws ModelError */
  const endOfText = (body: string): StreamEnd => {
    if (refused) throw toRefusal({ ...refused, message: refused.text, body });
    if (reader.whole?.(body)) return 'complete';
    throw notAStream(body.slice(0, BOUNDS.errorBytes));
  };
  const collect = (most: number, chunk: Buffer): StreamEnd | undefined => {
    text ??= createBodyText(most);
    return text.add(chunk) ? undefined : endOfText(text.read());
  };
  return {
    start(head) {
      if (head.status < 300) watchdog.opened();
      else if (head.status < 400) throw redirected(head);
      else {
        refused = head;
        text = createBodyText(BOUNDS.errorBytes);
      }
      return undefined;
    },
    data(chunk) {
      if (text) return collect(0, chunk);
      const decoded = reading.read(chunk, sink);
      if (decoded === 'more') return undefined;
      if (decoded === 'complete') return 'complete';
      return collect(reader.whole ? BOUNDS.frameBytes : BOUNDS.errorBytes, reading.unframed());
    },
    end() {
      if (text) return endOfText(text.read());
      const decoded = reading.end(sink);
      if (decoded === 'unframed') return endOfText(reading.unframed().toString());
      if (decoded === 'cut' && !reader.isFinished()) throw interrupted('connection reset');
      return decoded === 'complete' ? 'complete' : 'ended';
    },
    broke(error, started) {
      if (text) return endOfText(text.read());
      if (!started) throw toConnectError(error);
      if (reader.isFinished()) return 'ended';
      throw toBrokenStream(error);
    },
    isFinished: () => text === undefined && reader.isFinished(),
  };
};

/** Only the host and path are quoted, because the rest of an address may contain keys. */
const redirected = ({ status, headers }: { status: number; headers: Headers }): ModelError => {
  const { location } = headers;
  const to = typeof location === 'string' && URL.canParse(location) ? new URL(location) : undefined;
  const where = to ? excerpt(`${to.origin}${to.pathname}`, 200) : 'another address';
  const problem = `the provider redirects to ${where}; base_url must lead there itself`;
  return new ModelError('invalid_request', problem, { status });
};

export type BodyText = {
  /** Returns whether more data is needed. */
  add(chunk: Buffer): boolean;
  read(): string;
};

/** Collects the beginning of a body, up to `most` bytes. */
export const createBodyText = (most: number): BodyText => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    add(chunk) {
      chunks.push(chunk);
      bytes += chunk.length;
      return bytes < most;
    },
    read: () => Buffer.concat(chunks).toString('utf8', 0, most),
  };
};
