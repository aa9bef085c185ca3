import type { Accept, IdempotencyRow, StoredAnswer } from '../schema/idempotency.ts';
import type { JsonObject } from '../schema/json.ts';
import { isReply, reply } from './reply.ts';

/**
 * The rows that handlers add to the commits of their requests, so that repeats are recognized (runtime.md 0.8).
 *
 * @example
 * const respond = (thread: Thread) => reply(201, thread);
 * return respond(await runtime.threads.create(scope, body, keyed?.answers(respond)));
 */
export type Keyed = {
  /**
   * Stores the response. One of more than 64 KiB is made again by the route from `created`.
   *
   * @param respond returns the response of the handler, which is the same whenever it is called
   */
  answers<Result>(
    respond: (result: Result) => unknown,
    created?: (result: Result) => JsonObject,
  ): Accept<Result>;
  /** For an event stream: stores what the route makes it from again. */
  creates<Result>(created: (result: Result) => JsonObject): Accept<Result>;
  /** For a response that follows its commit after some time: a repeat in that time waits for it as the route does. */
  holds<Result>(created: (result: Result) => JsonObject): Accept<Result>;
  /**
   * For a route that reads its body as a stream: adds the content to the fingerprint of the request. Returns the
   * response to an earlier request with this content; undefined if the request is the first one.
   *
   * @throws Refusal for the key of another request
   */
  earlier(content: string): Promise<unknown> | undefined;
};

export type KeyedDeps = {
  accepted(answer: StoredAnswer): IdempotencyRow;
  /** Called when a request that holds its response is accepted. */
  held(): void;
  earlier: Keyed['earlier'];
};

export const createKeyed = ({ accepted, held, earlier }: KeyedDeps): Keyed => ({
  answers: (respond, created) => (result) => ({
    row: accepted(answerOf(respond(result), created && (() => created(result)))),
    visible: ignore,
  }),
  creates: (created) => (result) => ({
    row: accepted({ kind: 'created', of: created(result) }),
    visible: ignore,
  }),
  holds: (created) => (result) => ({
    row: accepted({ kind: 'created', of: created(result) }),
    visible: held,
  }),
  earlier,
});

const ignore = (): void => {};

/** Bytes of a stored body. */
const MOST_STORED = 64 * 1024;

const answerOf = (result: unknown, created: (() => JsonObject) | undefined): StoredAnswer => {
  const { status, text, contentType, headers } = isReply(result) ? result : reply(200, result);
  const body = typeof text === 'string' ? { body: text } : undefined;
  if (created && body && Buffer.byteLength(body.body) > MOST_STORED)
    return { kind: 'created', of: created() };
  return { kind: 'text', status, content_type: contentType, ...(headers && { headers }), ...body };
};
