import { createEventStream, type EventStream, type Stream, takePending } from './sse.ts';

/**
 * One event stream for several responses: a request that is repeated while its run executes receives the stream from
 * its first frame.
 *
 * Guarantees: each response receives all frames once and in order. A client that disconnects or does not read affects
 * neither the source nor the other responses.
 * Relies on the source never being bound to a response itself.
 * Cost: the text of the stream until it ends, at most `MOST_RECORDED`. A longer stream is not recorded any further and
 * accepts no new responses; those that read it continue.
 */
export type SharedStream = {
  /** Returns a stream with all frames; undefined once the beginning is not recorded any longer. */
  open(): EventStream | undefined;
};

/** In characters. */
const MOST_RECORDED = 4 * 1024 * 1024;

/** @param ended called when the source has ended, at once if it has already */
export const shareStream = (source: Stream, ended: () => void): SharedStream => {
  const responses = new Set<EventStream>();
  let frames = source.pendingFrames;
  let text: string | undefined = takePending(source);
  let isOver = false;

  const record = (chunk: string, count: number): void => {
    if (text === undefined) return;
    frames += count;
    text = text.length + chunk.length > MOST_RECORDED ? undefined : text + chunk;
  };

  source.write = (chunk, count = 1) => {
    if (source.closed) return;
    record(chunk, count);
    for (const response of responses) response.write(chunk, count);
  };
  source.onClose(() => {
    isOver = true;
    for (const response of responses) response.end();
    responses.clear();
    ended();
  });

  return {
    open() {
      if (text === undefined) return undefined;
      const response = createEventStream(source.options);
      if (text !== '') response.write(text, frames);
      if (isOver) response.end();
      else {
        responses.add(response);
        response.onClose(() => responses.delete(response));
      }
      return response;
    },
  };
};
