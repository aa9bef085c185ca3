import { BOUNDS, excerpt } from '../bounds.ts';
import { interrupted, notAStream, toBrokenStream, toConnectError, toRefusal } from '../classify.ts';
import { ModelError } from '../errors.ts';
import type { Watchdog } from '../watchdog.ts';
import type { EventSink } from './events.ts';
import { EVENT_STREAM, type Framing } from './framing.ts';
import type { Headers, Receiver, ResponseHead } from './request.ts';

/** Receives one answer. */
export type EventReader = EventSink & {
  /** By default the body is a stream of server-sent events. */
  framing?: Framing;
  /**
   * One event of the stream: its name, `''` without one, and its data. Returns true when the answer is complete: nothing
   * after it is read. What it throws ends the request.
   */
  event(name: string, data: string): boolean;
  /**
   * The provider has reported the end of its answer, although more, such as usage, may follow. A connection that breaks
   * then is no failure, and a body that stays open is waited for only briefly.
   */
  isFinished(): boolean;
  /** The body where it is no event stream. Returns true when it was a whole answer. */
  whole?(body: string): boolean;
};

/** `ended`: the body ended in good order, and the reader did not report that the answer is complete. */
export type StreamEnd = 'complete' | 'ended';

/**
 * Reads an event stream. A failure is a `ModelError`: a redirect, a status of failure, a body that is no event stream,
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

/** Addresses may carry keys behind their path. */
const redirected = ({ status, headers }: { status: number; headers: Headers }): ModelError => {
  const { location } = headers;
  const to = typeof location === 'string' && URL.canParse(location) ? new URL(location) : undefined;
  const where = to ? excerpt(`${to.origin}${to.pathname}`, 200) : 'another address';
  const problem = `the provider redirects to ${where}; base_url must lead there itself`;
  return new ModelError('invalid_request', problem, { status });
};

export type BodyText = {
  /** Returns whether more is wanted. */
  add(chunk: Buffer): boolean;
  read(): string;
};

/** The beginning of a body, up to so many bytes. */
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
