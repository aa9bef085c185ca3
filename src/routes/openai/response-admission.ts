import type { Keyed } from '../../http/keyed.ts';
import { ownPartition } from '../../identity/access/own.ts';
import type { ResolvedAgent } from '../../loop/agent.ts';
import { conversationLocked } from '../../protocols/openai/errors.ts';
import { isConversationId, parseCallId, threadOfConversation } from '../../protocols/openai/ids.ts';
import { type InputEntry, importedFrom } from '../../protocols/openai/input.ts';
import { announceLeg, endOf, type Leg } from '../../protocols/openai/open-leg.ts';
import { behindResponse, type Located, locate, type Position } from '../../protocols/openai/position.ts';
import { conversationNotFound, type ResponseRequest } from '../../protocols/openai/response-request.ts';
import type { ImportedMessage, ThreadView } from '../../runtime/index.ts';
import { checkNewId } from '../../schema/id.ts';
import type { Place } from '../../schema/place.ts';
import type { StoredResponse } from '../../schema/stored-response.ts';
import type { Client } from '../protocol-runs.ts';
import { acceptEntries } from './file-references.ts';
import { agentOfModel } from './models.ts';
import type { OpenAiDeps } from './openai-deps.ts';
import { unknownRequest } from './response-answers.ts';
import { type Begun, type Context, type Placement, submissionFor } from './response-submission.ts';

/**
 * Accepts requests for responses (openai-responses.md 5.3, 7.2): each starts a run, or continues the one that waits at its
 * position. The position is checked in the event-loop tick that submits the request, so of two requests at one position,
 * the first continues the thread and the second forks it. No run is displaced.
 */
export type Accepted = {
  leg: Leg;
  /** A leg that a decision of another protocol has started before; nothing was submitted. */
  isEarlier: boolean;
};

/** The leg of an approval that was decided elsewhere, after its end was stored. */
export type Ended = { row: StoredResponse; thread: Place };

/** @throws OpenAiError */
export const acceptResponse = async (
  deps: OpenAiDeps,
  { client, keyed }: { client: Client; keyed: Keyed | undefined },
  request: ResponseRequest,
): Promise<Accepted | Ended> => {
  const { principal } = client;
  const { position, entries: given } = findPosition(deps, client, request);
  const entries = acceptEntries(deps, principal, given);
  const decided = position && decidedElsewhere(deps, position, entries);
  if (decided) return decided;
  const agent = await agentOf(deps, client, request, position);
  const context: Context = { deps, client, keyed, request, agent, entries };
  if (!position) {
    const thread = { scope: ownPartition(principal), id: deps.ids.uuid() };
    return admitted(await admit(context, { thread, seq: undefined, row: undefined }, { isNew: true }));
  }
  // The thread of a response that is not stored is erased as a whole.
  const mustFork = !request.isStored && position.row?.echo.store !== false;
  const first = mustFork ? 'fork' : await admit(context, position, { isNew: false, outcome: 'continued' });
  if (typeof first !== 'string') return first;
  const since = decidedElsewhere(deps, position, entries);
  if (since) return since;
  if (first === 'locked') throw conversationLocked(request.conversation ?? '');
  return admitted(await admitFork(context, position));
};

/** @throws Error for a thread that was just created, which is free */
const admitted = (outcome: Accepted | 'fork' | 'locked'): Accepted => {
  if (typeof outcome !== 'string') return outcome;
  throw new Error('a new thread has accepted no run');
};

const findPosition = (deps: OpenAiDeps, { principal }: Client, request: ResponseRequest): Located => {
  const { previous, conversation, entries } = request;
  if (previous !== undefined) return { position: behindResponse(deps, principal, previous), entries };
  if (conversation !== undefined) {
    const thread = conversationThread(deps, principal, conversation);
    // Nothing is there to fork, and the conversation must not begin with a response that is erased.
    if (!request.isStored && !deps.store.threads.get(thread.scope, thread.id))
      return { position: undefined, entries: withoutReferences(entries) };
    return { position: { thread, seq: undefined, row: undefined }, entries: withoutReferences(entries) };
  }
  return locate(deps, principal, entries);
};

/** Items of the conversation itself are not its input. */
const withoutReferences = (entries: readonly InputEntry[]): InputEntry[] =>
  entries.filter(({ kind }) => kind !== 'reference');

/** @throws OpenAiError 404 */
export const conversationThread = (
  { access, store }: Pick<OpenAiDeps, 'access' | 'store'>,
  principal: Client['principal'],
  conversation: string,
): Place => {
  const id = checkNewId('thread', 'conversation', threadOfConversation(conversation));
  const place = access.thread(principal, id, 'read');
  if (isConversationId(conversation) && !store.threads.get(place.scope, place.id))
    throw conversationNotFound(conversation);
  return place;
};

/**
 * Returns the leg that followed an approval which was decided elsewhere. A request that is still open is undefined.
 *
 * @throws OpenAiError 404 for an approval that is not known
 */
const decidedElsewhere = (
  { legs, store }: OpenAiDeps,
  { thread, row }: Position,
  entries: readonly InputEntry[],
): Accepted | Ended | undefined => {
  const approval = entries.find((entry) => entry.kind === 'approval');
  if (!approval || !row) return undefined;
  const rows = store.responses.ofRun(thread.scope, row);
  const asked = rows.find(({ items }) => items.some(({ id }) => id === approval.request));
  if (!asked) throw unknownRequest(approval);
  const next = rows.find(({ leg }) => leg > asked.leg);
  // A leg has a row from its commit on.
  const leg = next ? legs.find(thread.scope, next) : legs.openOf(thread.scope, asked.run_id);
  if (leg && leg.row.leg > asked.leg) return { leg, isEarlier: true };
  return next && { row: next, thread };
};

/** The agent of the request, else the last one of the thread, else the default. */
const agentOf = (
  deps: OpenAiDeps,
  { principal }: Client,
  { model }: ResponseRequest,
  position: Position | undefined,
): ResolvedAgent | Promise<ResolvedAgent> => {
  if (model !== undefined) return agentOfModel(deps, principal, model);
  const { thread } = position ?? {};
  const last = thread && deps.runtime.lastAgent(thread.scope, thread.id);
  return agentOfModel(
    deps,
    principal,
    last !== undefined && deps.isAgent(last) ? last : deps.settings.default_agent_id,
  );
};

/** Submits the request at the end of the thread; reports that it has to be submitted elsewhere. */
const admit = async (
  context: Context,
  position: Position,
  placement: Placement,
): Promise<Accepted | 'fork' | 'locked'> => {
  const { deps, request } = context;
  const { thread } = position;
  let refused: 'fork' | 'locked' = 'fork';
  const begun: Begun = { leg: undefined, isImport: false };
  const accepted = await deps.runtime.admit(thread.scope, thread.id, (view) => {
    const isAtEnd = position.seq === undefined || placement.isNew || view.seq === position.seq;
    if (view.executes !== undefined && request.conversation !== undefined) refused = 'locked';
    if (view.executes !== undefined || !isAtEnd || isForOther(context, view)) return undefined;
    return submissionFor(context, { thread, view, placement, begun });
  });
  if (!accepted || !begun.leg) return refused;
  const { leg } = begun;
  if (accepted.status === 'queued') announceLeg(leg);
  deps.observe.positioned('responses', placement.outcome ?? (begun.isImport ? 'imported' : 'new'));
  // A repeat of a request with a key needs the response: its thread expires within the hour.
  if (!request.isStored && !context.keyed) eraseAfter(deps, thread, leg);
  return { leg, isEarlier: false };
};

/**
 * Whether the request gives the results of a waiting run to another agent, as clients do that hand off from one agent to
 * another. A conversation has no other place for them, and only the agent of the run can act on an approval.
 */
const isForOther = ({ request, agent, entries }: Context, { run_id, run }: ThreadView): boolean => {
  const waiting = run_id === undefined ? undefined : run(run_id);
  if (!waiting || request.model === undefined || request.conversation !== undefined) return false;
  return waiting.agent_id !== agent.spec.id && entries.every(({ kind }) => kind !== 'approval');
};

/** @throws OpenAiError */
const admitFork = async (context: Context, position: Position): Promise<Accepted | 'fork' | 'locked'> => {
  const { deps, client } = context;
  const { thread: from, seq = Number.MAX_SAFE_INTEGER, row } = position;
  const approval = context.entries.find((entry) => entry.kind === 'approval');
  // The call that it decides stays with its run.
  if (approval) throw unknownRequest(approval);
  const scope = ownPartition(client.principal);
  const source = deps.store.threads.get(from.scope, from.id)?.thread;
  const fromId = from.scope === scope ? from.id : (source?.uid ?? from.id);
  const { forked_from, id } = await deps.runtime.threads.fork({
    from,
    scope,
    fromId,
    fork: { at: { upTo: seq } },
  });
  const history = row ? answeredStep(deps, position, context.entries, forked_from?.seq ?? 0) : [];
  const isAnswered = history.length > 0;
  const entries = isAnswered ? context.entries.filter(({ kind }) => kind !== 'output') : context.entries;
  const thread = { scope, id };
  const free: Position = { thread, seq: undefined, row: undefined };
  return admit({ ...context, entries }, free, { isNew: true, history, outcome: 'forked' });
};

/** Returns the step that a fork leaves out because its calls were open, with the results of the request. */
const answeredStep = (
  { store }: OpenAiDeps,
  { thread, seq = 0, row }: Position,
  entries: readonly InputEntry[],
  copied: number,
): ImportedMessage[] => {
  const outputs = entries.flatMap((entry) => (entry.kind === 'output' ? [entry] : []));
  if (outputs.length === 0 || copied >= seq) return [];
  const rest = Array.from(store.messages.range(thread.scope, thread.id, { from: copied + 1, to: seq }));
  const asked = rest.find(({ message }) => message.tool_calls)?.message;
  if (!asked) return [];
  const names = namesOfCalls(row ? [row] : []);
  const results = importedFrom(
    outputs.map((output) => ({
      ...output,
      call_id: names.get(parseCallId(output.call_id)?.ordinal) ?? output.call_id,
    })),
  );
  const { role, content, tool_calls } = asked;
  return [{ role, content, ...(tool_calls && { tool_calls }) }, ...results];
};

/** Ids of calls in the history, by their ordinals. */
const namesOfCalls = (rows: readonly StoredResponse[]): Map<number | undefined, string> => {
  const names = new Map<number | undefined, string>();
  for (const { items } of rows) {
    for (const { call, n } of items) if (call !== undefined && n !== undefined) names.set(n, call);
  }
  return names;
};

/** Nothing is kept of a response that is not stored, once its run has ended. */
const eraseAfter = ({ runtime, store, log }: OpenAiDeps, { scope, id }: Place, leg: Leg): void => {
  endOf(leg)
    .then(async () => {
      if (store.runs.get(scope, leg.row.run_id)?.status === 'done') await runtime.threads.erase(scope, id);
    })
    .catch((err) => log.warn('thread.expiry_failed', { err, thread_id: id }));
};
