import { z } from 'zod';
import { isCancellable, isTerminalLeg } from '../../../machines/response.ts';
import { type DescribedAnswer, EVENT_STREAM, TRACE_HEADERS } from '../../http/described.ts';
import { reply } from '../../http/reply.ts';
import { type RouteRequest, route } from '../../http/route.ts';
import { createEventStream, type EventStream } from '../../http/sse.ts';
import { ConversationItem } from '../../protocols/openai/conversation-items.ts';
import { OPENAI_ERRORS } from '../../protocols/openai/errors.ts';
import { ResponseEvent } from '../../protocols/openai/event-schema.ts';
import { responseId } from '../../protocols/openai/ids.ts';
import { ListQuery, listBody, listOfItems, pageOf, unknownAfter } from '../../protocols/openai/list.ts';
import { endOf, followLeg, type Leg } from '../../protocols/openai/open-leg.ts';
import { type FoundLeg, findResponse } from '../../protocols/openai/position.ts';
import { ResponseResource as Resource, withOutputText } from '../../protocols/openai/response.ts';
import { runHeaders, STREAM_HEADERS } from '../../protocols/openai/response-headers.ts';
import {
  decodeResponse,
  ResponseBody,
  type ResponseRequest,
  responseNotFound,
} from '../../protocols/openai/response-request.ts';
import type { JsonObject } from '../../schema/json.ts';
import { asInteger } from '../../schema/paging.ts';
import type { Place } from '../../schema/place.ts';
import type { Principal } from '../../schema/principal.ts';
import type { Reading } from '../../schema/reader.ts';
import type { StoredResponse } from '../../schema/stored-response.ts';
import { clientOf } from '../protocol-runs.ts';
import { inputItems } from './input-items.ts';
import { TAG } from './models.ts';
import type { OpenAiDeps } from './openai-deps.ts';
import { acceptResponse } from './response-admission.ts';
import { acceptedReply } from './response-submission.ts';

/** Responses (openai-responses.md 7): each is a leg of a run. */

const ResponseParams = z.object({
  id: z.string().meta({ description: 'id of a response', examples: [`resp_${'0'.repeat(35)}1`] }),
});

const ReadQuery = z.object({
  stream: z.string().optional().meta({ description: '`true`: the events of the response' }),
  starting_after: z
    .string()
    .optional()
    .meta({ description: 'number of an event: the stream begins after it', ...asInteger() }),
  include: z.string().optional().meta({ description: 'ignored' }),
});

const EITHER: DescribedAnswer = {
  description:
    'The response, or with `stream` server-sent events until its last event and `[DONE]`. The schema of the stream is that of the JSON in the `data` of one event.',
  content: { 'application/json': Resource, [EVENT_STREAM]: ResponseEvent },
};

const Deleted = z
  .object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) })
  .meta({ id: 'OpenAiDeletedResponse', description: 'The deleted response.' });

const ItemList = listOfItems(ConversationItem).meta({
  id: 'OpenAiItemList',
  description: 'One page of items.',
});

const NOT_FOUND = { 404: OPENAI_ERRORS.schema };

export const responseRoutes = (deps: OpenAiDeps) => [
  createRoute(deps),
  readRoute(deps),
  ...changeRoutes(deps),
  inputItemsRoute(deps),
];

const createRoute = (deps: OpenAiDeps) =>
  route.post('/v1/responses', {
    id: 'createOpenAiResponse',
    summary: 'Start a run, or answer one that waits',
    description:
      'Continues the thread of `previous_response_id`, of `conversation`, or of the items that `input` refers to. The run is cancelled when its client disconnects, unless `background` is true or the request has an `Idempotency-Key`.',
    tag: TAG,
    needs: 'invoke',
    errors: OPENAI_ERRORS,
    headers: TRACE_HEADERS,
    body: ResponseBody,
    reads: 'anyJson',
    bodyLimit: 'attachments',
    idempotent: true,
    responses: { 200: EITHER, 400: OPENAI_ERRORS.schema, ...NOT_FOUND, 409: OPENAI_ERRORS.schema },
    handle: (request) => create(deps, request),
    again: (request, created) => createdAgain(deps, request, created),
  });

type Call = RouteRequest<undefined, undefined, unknown>;

const create = async (deps: OpenAiDeps, call: Call): Promise<unknown> => {
  const request = decodeResponse(call.body);
  const accepted = await acceptResponse(deps, { client: clientOf(call), keyed: call.keyed }, request);
  if ('row' in accepted) {
    const { row, thread } = accepted;
    return answerEnded(deps, thread.scope, row, request.isStream);
  }
  const { leg, isEarlier } = accepted;
  // The repeat of a request with a key is expected.
  const mayCancel =
    !isEarlier &&
    !request.isBackground &&
    call.keyed === undefined &&
    deps.settings.openai.on_disconnect === 'cancel';
  return answerOpen(deps, { call, request, leg }, () => {
    if (mayCancel) cancelUnread(deps, leg);
  });
};

/** Responds with the leg of a request while its end is not stored. */
const answerOpen = (
  deps: OpenAiDeps,
  { call, request, leg }: { call: Call; request: ResponseRequest; leg: Leg },
  hangUp: () => void,
): unknown => {
  if (request.isStream) {
    const thread = { scope: leg.scope, id: leg.row.thread_id };
    return streamOf(leg, -1, deps.access.reading('thread', thread, 'read'), hangUp);
  }
  if (request.isBackground) return acceptedReply(leg);
  return held(deps, call, leg, hangUp);
};

const CreatedLeg = z.object({
  scope: z.string(),
  thread_id: z.string(),
  run_id: z.string(),
  leg: z.int(),
});

/** Responds to the repeat of an accepted request. @throws OpenAiError 404 for a response that was deleted */
const createdAgain = (deps: OpenAiDeps, call: Call, created: JsonObject): unknown => {
  const { scope, thread_id, run_id, leg: number } = CreatedLeg.parse(created);
  const rows = deps.store.responses.ofRun(scope, { thread_id, run_id });
  const row = rows.find((each) => each.leg === number);
  const isReadable = deps.access
    .reading('thread', { scope, id: thread_id }, 'read')
    .isAllowed(call.principal);
  if (!row || !isReadable) throw responseNotFound(responseId({ run_id, leg: number }));
  const request = decodeResponse(call.body);
  const leg = deps.legs.find(scope, row);
  return leg
    ? answerOpen(deps, { call, request, leg }, () => {})
    : answerEnded(deps, scope, row, request.isStream);
};

/** Waits for the end of the leg, at most `openai.blocking_wait_ms`. */
const held = async (
  deps: OpenAiDeps,
  { hold, onGone }: Call,
  leg: Leg,
  hangUp: () => void,
): Promise<unknown> => {
  hold();
  onGone(hangUp);
  const ended = await within(deps.settings.openai.blocking_wait_ms, endOf(leg));
  return ended ? reply(200, withOutputText(ended), runHeaders(leg.row)) : answer(deps, leg.scope, leg.row);
};

/** @param ms 0 for no limit */
const within = async <Value>(ms: number, value: Promise<Value>): Promise<Value | undefined> => {
  if (ms === 0) return value;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
};

const answer = (deps: OpenAiDeps, scope: string, row: StoredResponse): unknown =>
  reply(200, withOutputText(deps.legs.read(scope, row)), runHeaders(row));

const answerEnded = (deps: OpenAiDeps, scope: string, row: StoredResponse, isStream: boolean): unknown =>
  isStream ? replayed(deps, scope, row, -1) : answer(deps, scope, row);

/** Cancels the run of a leg without readers. */
const cancelUnread = ({ runtime, log }: OpenAiDeps, leg: Leg): void => {
  const { run_id, thread_id, status } = leg.row;
  if (isTerminalLeg(status) || leg.followers.length > 0) return;
  runtime
    .cancelRun(leg.scope, thread_id, run_id)
    .catch((err) => log.warn('openai.leg_failed', { err, run_id, thread_id }));
};

const streamOf = (leg: Leg, after: number, reading: Reading, hangUp: () => void): EventStream => {
  const stream = createEventStream({ headers: { ...STREAM_HEADERS, ...runHeaders(leg.row) }, reading });
  const leave = followLeg(leg, after, stream);
  stream.onClose(() => {
    leave();
    if (stream.lost) hangUp();
  });
  return stream;
};

const replayed = (deps: OpenAiDeps, scope: string, row: StoredResponse, after: number): EventStream => {
  const stream = createEventStream({ headers: { ...STREAM_HEADERS, ...runHeaders(row) } });
  const frames = deps.legs.replay(scope, row, after);
  if (frames.length > 0) stream.write(frames.join(''), frames.length);
  stream.end();
  return stream;
};

const readRoute = (deps: OpenAiDeps) =>
  route.get('/v1/responses/:id', {
    id: 'getOpenAiResponse',
    summary: 'One response, or its events',
    description:
      'With `stream=true` the events from the beginning, or after `starting_after`, and then the live ones.',
    tag: TAG,
    needs: 'read',
    errors: OPENAI_ERRORS,
    params: ResponseParams,
    query: ReadQuery,
    responses: { 200: EITHER, ...NOT_FOUND },
    checkReading: ({ principal, params: { id = '' } }) => existing(deps, principal, id),
    handle({ principal, params, query }) {
      const { thread, row } = existing(deps, principal, params.id);
      const leg = deps.legs.find(thread.scope, row);
      if (query.stream !== 'true') return answer(deps, thread.scope, row);
      const after = positionIn(query.starting_after);
      if (!leg) return replayed(deps, thread.scope, row, after);
      return streamOf(leg, after, deps.access.reading('thread', thread, 'read'), () => {});
    },
  });

/** Anything that is no number is the beginning. */
const positionIn = (text: string | undefined): number =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : -1;

/** @throws OpenAiError 404 */
const existing = (deps: OpenAiDeps, principal: Principal, id: string): FoundLeg => {
  const found = findResponse(deps, principal, id);
  if (!found) throw responseNotFound(id);
  return found;
};

const changeRoutes = (deps: OpenAiDeps) => [
  route.post('/v1/responses/:id/cancel', {
    id: 'cancelOpenAiResponse',
    summary: 'Cancel a response that has not ended, or whose run waits',
    description: 'Any other response is returned as it is.',
    tag: TAG,
    needs: 'invoke',
    errors: OPENAI_ERRORS,
    params: ResponseParams,
    responses: { 200: Resource, ...NOT_FOUND },
    async handle({ principal, params }) {
      const { thread, row } = existing(deps, principal, params.id);
      deps.access.check(principal, thread, 'write');
      await cancel(deps, thread, row);
      return answer(deps, thread.scope, existing(deps, principal, params.id).row);
    },
  }),
  route.delete('/v1/responses/:id', {
    id: 'deleteOpenAiResponse',
    summary: 'Delete a response',
    description:
      'Its thread is deleted too if it has nothing else; a response that has not ended is cancelled.',
    tag: TAG,
    needs: 'invoke',
    errors: OPENAI_ERRORS,
    params: ResponseParams,
    responses: { 200: Deleted, ...NOT_FOUND },
    async handle({ principal, params }) {
      const { thread, row } = existing(deps, principal, params.id);
      deps.access.check(principal, thread, 'write');
      await cancel(deps, thread, row);
      await remove(deps, thread, row);
      return { id: responseId(row), object: 'response', deleted: true };
    },
  }),
];

/** Resolves when the end of the leg is stored. */
const cancel = async (
  { legs, runtime, store }: OpenAiDeps,
  { scope, id }: Place,
  row: StoredResponse,
): Promise<void> => {
  const { run_id, leg } = row;
  const open = legs.find(scope, row);
  const isLast = store.responses.ofRun(scope, { thread_id: id, run_id }).at(-1)?.leg === leg;
  const isOpen = open
    ? isCancellable(open.row.status)
    : isLast && store.runs.get(scope, run_id)?.status === 'waiting';
  if (isOpen) await runtime.cancelRun(scope, id, run_id);
  // Another request may have cancelled it, and its end is not stored yet.
  if (open) await endOf(open);
};

const remove = async (
  { store, runtime }: OpenAiDeps,
  { scope, id }: Place,
  row: StoredResponse,
): Promise<void> => {
  const isAlone = row.from_seq === 0 && !store.responses.hasOther(scope, row);
  const last = store.messages.last(scope, id)?.seq ?? 0;
  if (isAlone && (row.to_seq === undefined || last <= row.to_seq)) {
    await runtime.threads.remove(scope, id, 'detach');
    return;
  }
  const batch = store.batch({ scope, thread_id: id });
  store.responses.remove(batch, scope, row);
  await store.commit(batch, 'input');
};

const inputItemsRoute = (deps: OpenAiDeps) =>
  route.get('/v1/responses/:id/input_items', {
    id: 'listOpenAiInputItems',
    summary: 'Items of the input of a response',
    description: 'The items of its request, without those of the responses before it.',
    tag: TAG,
    needs: 'read',
    errors: OPENAI_ERRORS,
    params: ResponseParams,
    query: ListQuery.extend({ include: z.string().optional().meta({ description: 'ignored' }) }),
    responses: { 200: ItemList, 400: OPENAI_ERRORS.schema, ...NOT_FOUND },
    handle({ principal, params, query }) {
      const { thread, row } = existing(deps, principal, params.id);
      const { limit, order, after } = pageOf(query);
      const items = inputItems(deps, thread, row);
      if (order === 'desc') items.reverse();
      const start = after === undefined ? 0 : items.findIndex(({ id }) => id === after) + 1;
      if (after !== undefined && start === 0) throw unknownAfter(after);
      return listBody(items.slice(start, start + limit), items.length > start + limit);
    },
  });
