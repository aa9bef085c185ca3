import { z } from 'zod';
import { route } from '../../http/route.ts';
import { ownPartition } from '../../identity/access/own.ts';
import {
  ConversationItem,
  type FindRun,
  type ItemOfMessage,
  itemsOfMessage,
} from '../../protocols/openai/conversation-items.ts';
import {
  conversationLocked,
  invalidValue,
  OPENAI_ERRORS,
  OpenAiError,
  parseRequest,
} from '../../protocols/openai/errors.ts';
import {
  conversationId,
  parseItemId,
  threadOfConversation,
  unixSeconds,
} from '../../protocols/openai/ids.ts';
import { decodeInput, Input, importedFrom } from '../../protocols/openai/input.ts';
import { readRun } from '../../protocols/openai/items.ts';
import {
  ListQuery,
  listBody,
  listOfItems,
  type Page,
  pageOf,
  unknownAfter,
} from '../../protocols/openai/list.ts';
import { given, sharedFields } from '../../protocols/openai/parameters.ts';
import { conversationNotFound } from '../../protocols/openai/response-request.ts';
import { type Appended, type ImportedMessage, viewed } from '../../runtime/index.ts';
import { Conflict } from '../../schema/outcome.ts';
import type { Place } from '../../schema/place.ts';
import type { Principal } from '../../schema/principal.ts';
import type { Thread } from '../../schema/thread.ts';
import { acceptEntries } from './file-references.ts';
import { TAG } from './models.ts';
import type { OpenAiDeps } from './openai-deps.ts';

/** Conversations are threads (openai-responses.md 8): every thread can be read so, whichever protocol has made it. */

const Conversation = z
  .object({
    id: z.string(),
    object: z.literal('conversation'),
    created_at: z.int().meta({ description: 'seconds since the epoch' }),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'OpenAiConversation', description: 'A conversation: a thread.' });

const MOST_ADDED = 20;

const Items = z.object({ items: Input.meta({ description: `at most ${MOST_ADDED} items` }) });
const Metadata = z.object({ metadata: sharedFields.metadata });

const NewConversation = z
  .object({ items: given(Input), metadata: sharedFields.metadata })
  .meta({ id: 'OpenAiConversationRequest', description: 'A new conversation.', examples: [{ items: [] }] });
const NewItems = Items.meta({
  id: 'OpenAiItemsRequest',
  description: 'Items that are appended without a run.',
  examples: [{ items: [{ type: 'message', role: 'user', content: 'Hello' }] }],
});
const NewMetadata = Metadata.meta({
  id: 'OpenAiConversationChange',
  description: 'New metadata.',
  examples: [{ metadata: { topic: 'rome' } }],
});

const Deleted = z
  .object({ id: z.string(), object: z.literal('conversation.deleted'), deleted: z.literal(true) })
  .meta({ id: 'OpenAiDeletedConversation', description: 'The deleted conversation.' });

const ItemList = listOfItems(ConversationItem).meta({
  id: 'OpenAiConversationItemList',
  description: 'One page of items.',
});

const Params = z.object({ id: z.string().meta({ description: 'id of a conversation or of a thread' }) });
const ItemParams = Params.extend({
  item_id: z.string().meta({ description: 'id of an item of the conversation' }),
});

const COMMON = { tag: TAG, errors: OPENAI_ERRORS } as const;
const NOT_FOUND = { 404: OPENAI_ERRORS.schema };
const REFUSED = { 400: OPENAI_ERRORS.schema, 409: OPENAI_ERRORS.schema };

export const conversationRoutes = (deps: OpenAiDeps) => [
  ...ownRoutes(deps),
  ...itemRoutes(deps),
  ...itemChangeRoutes(deps),
];

const ownRoutes = (deps: OpenAiDeps) => [
  route.post('/v1/conversations', {
    ...COMMON,
    id: 'createOpenAiConversation',
    summary: 'Create a conversation, with items',
    description: 'Creates a thread. No run is started.',
    needs: 'invoke',
    body: NewConversation,
    reads: 'anyJson',
    bodyLimit: 'attachments',
    idempotent: true,
    responses: { 200: Conversation, 400: OPENAI_ERRORS.schema },
    async handle({ principal, body, keyed }) {
      const { items, metadata } = parseRequest(NewConversation, body ?? {});
      const custom = metadata ?? {};
      const messages = messagesIn(deps, principal, items ?? []);
      const respond = ({ thread }: Appended) => conversationOf(thread);
      const id = deps.ids.uuid();
      const added = { messages, custom };
      const scope = ownPartition(principal);
      return respond(await deps.runtime.threads.append(scope, id, added, keyed?.answers(respond)));
    },
  }),
  route.get('/v1/conversations/:id', {
    ...COMMON,
    id: 'getOpenAiConversation',
    summary: 'One conversation',
    description: 'Also a thread that another protocol has made.',
    needs: 'read',
    params: Params,
    responses: { 200: Conversation, ...NOT_FOUND },
    handle: ({ principal, params }) => conversationOf(existing(deps, principal, params.id).thread),
  }),
  route.post('/v1/conversations/:id', {
    ...COMMON,
    id: 'updateOpenAiConversation',
    summary: 'Change the metadata of a conversation',
    description: 'Replaces all metadata.',
    needs: 'invoke',
    params: Params,
    body: NewMetadata,
    reads: 'anyJson',
    responses: { 200: Conversation, 400: OPENAI_ERRORS.schema, ...NOT_FOUND },
    async handle({ principal, params, body }) {
      const { metadata } = parseRequest(NewMetadata, body);
      const { place } = writable(deps, principal, params.id);
      return conversationOf(
        await deps.runtime.threads.update(place.scope, place.id, { custom: metadata ?? {} }),
      );
    },
  }),
  route.delete('/v1/conversations/:id', {
    ...COMMON,
    id: 'deleteOpenAiConversation',
    summary: 'Delete a conversation with its items',
    description: 'Deletes the thread; threads below it are kept.',
    needs: 'invoke',
    params: Params,
    responses: { 200: Deleted, ...NOT_FOUND },
    async handle({ principal, params }) {
      const { place, thread } = writable(deps, principal, params.id);
      deps.access.checkSharing(principal, place);
      await deps.runtime.threads.remove(place.scope, place.id, 'detach');
      return { id: conversationId(thread.id), object: 'conversation.deleted', deleted: true };
    },
  }),
];

const itemRoutes = (deps: OpenAiDeps) => [
  route.get('/v1/conversations/:id/items', {
    ...COMMON,
    id: 'listOpenAiConversationItems',
    summary: 'Items of a conversation',
    description: 'Messages, reasoning, calls and results, newest first by default.',
    needs: 'read',
    params: Params,
    query: ListQuery.extend({ include: z.string().optional().meta({ description: 'ignored' }) }),
    responses: { 200: ItemList, 400: OPENAI_ERRORS.schema, ...NOT_FOUND },
    handle({ principal, params, query }) {
      const { place } = existing(deps, principal, params.id);
      const page = pageOf(query);
      const found = listItems(deps, place, page);
      return listBody(
        found.slice(0, page.limit).map(({ item }) => item),
        found.length > page.limit,
      );
    },
  }),
  route.get('/v1/conversations/:id/items/:item_id', {
    ...COMMON,
    id: 'getOpenAiConversationItem',
    summary: 'One item of a conversation',
    description: 'An id that a list or a response has returned.',
    needs: 'read',
    params: ItemParams,
    responses: { 200: ConversationItem, ...NOT_FOUND },
    handle: ({ principal, params }) =>
      itemIn(deps, existing(deps, principal, params.id).place, params.item_id).item,
  }),
];

const itemChangeRoutes = (deps: OpenAiDeps) => [
  route.post('/v1/conversations/:id/items', {
    ...COMMON,
    id: 'createOpenAiConversationItems',
    summary: 'Append items to a conversation',
    description: 'No run is started. 409 while a run is open.',
    needs: 'invoke',
    params: Params,
    body: NewItems,
    reads: 'anyJson',
    bodyLimit: 'attachments',
    idempotent: true,
    responses: { 200: ItemList, ...REFUSED, ...NOT_FOUND },
    async handle({ principal, params, body, keyed }) {
      const { items } = parseRequest(NewItems, body);
      const { place } = writable(deps, principal, params.id);
      const messages = messagesIn(deps, principal, items);
      const accept = keyed?.creates(({ after, last }: Appended) => ({ scope: place.scope, after, last }));
      const appended = await locking(params.id, () =>
        deps.runtime.threads.append(place.scope, place.id, { messages }, accept),
      );
      return addedItems(deps, place, appended);
    },
    again({ principal, params }, created) {
      const { scope, ...added } = AddedItems.parse(created);
      const { place } = existing(deps, principal, params.id);
      if (place.scope !== scope) throw conversationNotFound(params.id);
      return addedItems(deps, place, added);
    },
  }),
  route.delete('/v1/conversations/:id/items/:item_id', {
    ...COMMON,
    id: 'deleteOpenAiConversationItem',
    summary: 'Delete an item of a conversation',
    description:
      'Deletes the message of the item; a call is deleted with its result. 409 while a run is open.',
    needs: 'invoke',
    params: ItemParams,
    responses: { 200: Conversation, ...NOT_FOUND, 409: OPENAI_ERRORS.schema },
    async handle({ principal, params }) {
      const { place, thread } = writable(deps, principal, params.id);
      const { message_id } = itemIn(deps, place, params.item_id);
      await locking(params.id, () => deps.runtime.threads.retract(place.scope, place.id, message_id));
      return conversationOf(thread);
    },
  }),
];

/** The stored part of appended items: their place. */
const AddedItems = z.object({ scope: z.string(), after: z.int(), last: z.int() });

const addedItems = (
  { store }: Pick<OpenAiDeps, 'store'>,
  { scope, id }: Place,
  { after, last }: Pick<Appended, 'after' | 'last'>,
) => {
  const bounds = { order: 'asc', visibility: 'external', after, before: last + 1 } as const;
  const added = [...viewed({ store, scope, thread_id: id }, bounds)];
  const found = added.flatMap((message) => itemsOfMessage(message, () => undefined));
  return listBody(
    found.map(({ item }) => item),
    false,
  );
};

const conversationOf = ({
  id,
  metadata: { created_at = 0, custom = {} },
}: Thread): z.output<typeof Conversation> => ({
  id: conversationId(id),
  object: 'conversation',
  created_at: unixSeconds(created_at),
  metadata: Object.fromEntries(
    Object.entries(custom).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  ),
});

type Existing = { place: Place; thread: Thread };

/** @throws OpenAiError 404 */
const existing = (
  { access, store }: Pick<OpenAiDeps, 'access' | 'store'>,
  principal: Principal,
  id: string,
): Existing => {
  const place = access.thread(principal, threadOfConversation(id), 'read');
  const thread = store.threads.get(place.scope, place.id)?.thread;
  if (!thread) throw conversationNotFound(id);
  return { place, thread };
};

const writable = (deps: OpenAiDeps, principal: Principal, id: string): Existing => {
  const found = existing(deps, principal, id);
  deps.access.check(principal, found.place, 'write');
  return found;
};

/** @throws OpenAiError 409 while a run is open */
const locking = async <Value>(conversation: string, act: () => Promise<Value>): Promise<Value> => {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Conflict) throw conversationLocked(conversation);
    throw error;
  }
};

/** @throws OpenAiError */
const messagesIn = (
  deps: Pick<OpenAiDeps, 'acceptFiles'>,
  principal: Principal,
  items: z.output<typeof Input>,
): ImportedMessage[] => {
  const entries = decodeInput(items, 'items');
  if (entries.length > MOST_ADDED) throw invalidValue('items', `must have at most ${MOST_ADDED} items`);
  const other = entries.find(({ kind }) => kind === 'reference' || kind === 'approval');
  if (other) throw invalidValue(`${other.at}.type`, 'a conversation has no items of this type');
  return importedFrom(acceptEntries(deps, principal, entries));
};

/** Returns one item more than the page has, if there are more. @throws OpenAiError for an unknown `after` */
const listItems = (deps: OpenAiDeps, place: Place, page: Page): ItemOfMessage[] => {
  const found: ItemOfMessage[] = [];
  const items = itemsFrom(deps, place, page);
  for (const each of page.after === undefined ? items : behind(items, page.after)) {
    found.push(each);
    if (found.length > page.limit) break;
  }
  return found;
};

/** Returns the items from the message of `after` on, lazily. @throws OpenAiError */
function* itemsFrom(deps: OpenAiDeps, place: Place, { order, after }: Page): Iterable<ItemOfMessage> {
  const from = after === undefined ? undefined : seqOf(deps, place, after);
  if (after !== undefined && from === undefined) throw unknownAfter(after);
  const of = { store: deps.store, scope: place.scope, thread_id: place.id };
  const start = from === undefined ? {} : order === 'asc' ? { after: from - 1 } : { before: from + 1 };
  const findRun = createFindRun(deps, place);
  for (const message of viewed(of, { order, visibility: 'external', ...start })) {
    const items = itemsOfMessage(message, findRun);
    yield* order === 'asc' ? items : items.reverse();
  }
}

/** @throws OpenAiError if the first items do not contain `after` */
function* behind(items: Iterable<ItemOfMessage>, after: string): Iterable<ItemOfMessage> {
  let isBehind = false;
  for (const each of items) {
    if (isBehind) yield each;
    else if (each.item.id === after) isBehind = true;
  }
  if (!isBehind) throw unknownAfter(after);
}

/** @throws OpenAiError 404 */
const itemIn = (deps: OpenAiDeps, place: Place, id: string): ItemOfMessage => {
  const seq = seqOf(deps, place, id);
  if (seq !== undefined) {
    const of = { store: deps.store, scope: place.scope, thread_id: place.id };
    const bounds = { order: 'asc', visibility: 'external', after: seq - 1, before: seq + 1 } as const;
    for (const message of viewed(of, bounds)) {
      const found = itemsOfMessage(message, createFindRun(deps, place)).find(({ item }) => item.id === id);
      if (found) return found;
    }
  }
  throw new OpenAiError(404, `Item with id '${id}' not found.`);
};

/** Returns the number of the message of an item. */
const seqOf = (
  { store }: Pick<OpenAiDeps, 'store'>,
  { scope, id }: Place,
  item_id: string,
): number | undefined => {
  // Further items of an imported message have a suffix.
  const named = parseItemId(item_id.replace(/^(msg_s[0-9a-f]{8})_\d+$/, '$1'));
  if (!named) return undefined;
  if (named.kind === 'stored') return named.seq;
  for (const { seq, message } of store.messages.ofRun(scope, id, named.run_id, {})) {
    const isIt =
      named.kind === 'input'
        ? message.id === item_id
        : message.role === 'assistant' && message.metadata?.step_index === named.step;
    if (isIt) return seq;
  }
  return undefined;
};

/** The runs of a page are read once. */
const createFindRun = ({ store }: Pick<OpenAiDeps, 'store'>, { scope, id }: Place): FindRun => {
  const known = new Map<string, ReturnType<FindRun>>();
  const find = (run_id: string): ReturnType<FindRun> => {
    const { trace, options } = store.runs.get(scope, run_id)?.activation ?? {};
    if (trace?.adapter !== 'openai') return undefined;
    const names = new Set(options?.frontend_tools?.map((tool) => tool.id));
    const rows = Array.from(store.messages.ofRun(scope, id, run_id, {}), ({ message }) => message);
    const { calls, results } = readRun(rows);
    const numbered = [...calls].map(([call_id, { name }], number) => ({ call_id, name, number }));
    const functions = numbered.filter(({ name }) => names.has(name));
    return { functions: new Map(functions.map(({ call_id, number }) => [call_id, number])), results };
  };
  return (run_id) => {
    if (!known.has(run_id)) known.set(run_id, find(run_id));
    return known.get(run_id);
  };
};
