import { get, type IncomingMessage } from 'node:http';
import type { Test } from 'tap';
import { z } from 'zod';
import { CanonicalEvent } from '../../src/schema/canonical-event.ts';

/** An event stream client that a test can pause. */

export type Frame = { id: string; event: CanonicalEvent };

export type EventClient = {
  status: number;
  headers: IncomingMessage['headers'];
  /** All frames received so far. */
  frames: Frame[];
  /**
   * Resolves when this many frames were received. @throws when the stream ends earlier or contains anything but frames
   */
  until(count: number): Promise<Frame[]>;
  /** Stops reading, so that the socket buffers fill up. */
  stop(): void;
  goOn(): void;
  /** @throws when the stream contained anything but frames */
  closed(): boolean;
};

/** Exactly `id` and `data`; the rest must be one JSON value. */
const HEAD = /^id: (\S+)\ndata: (?=\{)/;

const parseFrame = (text: string): Frame => {
  const [head = '', id = ''] = HEAD.exec(text) ?? [];
  if (head === '' || !text.endsWith('}')) throw new Error(`not a frame of an event stream: ${text}`);
  return { id, event: CanonicalEvent.parse(JSON.parse(text.slice(head.length))) };
};

export const followEvents = (
  t: Test,
  url: string,
  headers: Record<string, string> = {},
): Promise<EventClient> =>
  new Promise((resolve, reject) => {
    const request = get(url, { headers, agent: false }, (response) => resolve(readEvents(response)));
    request.on('error', reject);
    t.teardown(() => request.destroy());
  });

const readEvents = (response: IncomingMessage): EventClient => {
  const frames: Frame[] = [];
  let unread = '';
  let closed = false;
  let failure: unknown;
  let changed = (): void => {};
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    const parts = (unread + text).split('\n\n');
    unread = parts.pop() ?? '';
    try {
      frames.push(...parts.filter((part) => !part.startsWith(':')).map(parseFrame));
    } catch (error) {
      failure = error;
      response.destroy();
    }
    changed();
  });
  response.on('error', () => {});
  response.on('close', () => {
    closed = true;
    changed();
  });
  return {
    status: z.int().parse(response.statusCode),
    headers: response.headers,
    frames,
    async until(count) {
      while (frames.length < count) {
        if (failure) throw failure;
        if (closed) throw new Error(`the stream ended after ${frames.length} frames`);
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      }
      return frames.slice(0, count);
    },
    stop: () => response.pause(),
    goOn: () => response.resume(),
    closed() {
      if (failure) throw failure;
      return closed;
    },
  };
};
