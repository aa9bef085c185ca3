import type { Answer } from './answer.ts';
import { readHead, requestOf } from './head.ts';
import type { Origin } from './origin.ts';
import type { WireRequest, WireResponse } from './wire.ts';

/**
 * Keeps requests that arrive while their routes are being loaded.
 *
 * Guarantees: each request is answered as soon as the routes are loaded, in the order of arrival, as if it had arrived
 * then. The first chunks of its body are kept, and the client is read no further until then.
 * Relies on the limit of connections: each has at most one such request.
 */
export type EarlyRequests = {
  /** Answers a request, or keeps it if it is not served yet. */
  answer: Answer;
  /** Answers the requests whose clients are still connected, and all later ones at once. */
  release(): void;
};

type Kept = {
  res: WireResponse;
  req: WireRequest;
  from: Origin;
  isGone: boolean;
  body: KeptBody;
};

/** @param isServed whether the route of a request has been loaded; not called after the release */
export const createEarlyRequests = (
  answer: Answer,
  isServed: (req: WireRequest) => boolean,
): EarlyRequests => {
  let isReleased = false;
  let kept: Kept[] = [];
  return {
    answer(res, req, from) {
      if (isReleased || isServed(req)) answer(res, req, from);
      else kept.push(keep(res, req, from));
    },
    release() {
      isReleased = true;
      const waiting = kept;
      kept = [];
      for (const { res, req, from, isGone, body } of waiting) {
        if (isGone) continue;
        // Before the answer, after which the response may have ended. No chunk arrives until this function returns.
        body.resume();
        res.cork(() => answer(res, req, from));
        body.pass();
      }
    },
  };
};

const keep = (res: WireResponse, req: WireRequest, from: Origin): Kept => {
  const request: Kept = { res, req: requestOf(readHead(req)), from, isGone: false, body: keepBody(res) };
  res.onAborted(() => {
    request.isGone = true;
  });
  return request;
};

type KeptBody = {
  /** Reads further chunks from the client. */
  resume(): void;
  /** Passes the chunks, and all later ones, to the listener that the answer has set. */
  pass(): void;
};

/** uWebSockets.js discards chunks without a listener, also those that arrived together with the head. */
const keepBody = (res: WireResponse): KeptBody => {
  const chunks: { bytes: ArrayBuffer; isLast: boolean }[] = [];
  let isPassing = false;
  let isPaused = false;
  let listener = (_chunk: ArrayBuffer, _isLast: boolean): void => {};
  res.onData((chunk, isLast) => {
    if (isPassing) {
      listener(chunk, isLast);
      return;
    }
    chunks.push({ bytes: chunk.slice(0), isLast });
    if (isLast || isPaused) return;
    isPaused = true;
    res.pause();
  });
  res.onData = (next) => {
    listener = next;
  };
  return {
    resume() {
      if (isPaused) res.resume();
    },
    pass() {
      isPassing = true;
      for (const { bytes, isLast } of chunks.splice(0)) listener(bytes, isLast);
    },
  };
};
