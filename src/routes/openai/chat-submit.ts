import type { Keyed } from '../../http/keyed.ts';
import { ownPartition } from '../../identity/access/own.ts';
import type { ResolvedAgent } from '../../loop/agent.ts';
import type { PositionOutcome } from '../../observability/metrics/openai-metrics.ts';
import { type ChatRequest, splitAtLastAnswer } from '../../protocols/openai/chat-decode.ts';
import { invalidValue, threadBusy } from '../../protocols/openai/errors.ts';
import { threadOfConversation } from '../../protocols/openai/ids.ts';
import {
  type Answers,
  createAnswerTexts,
  digestsOf,
  findPosition,
  type Position,
} from '../../protocols/openai/transcript.ts';
import type {
  Accepted as AcceptedRun,
  Attach,
  ImportedMessage,
  Submission,
  ThreadFields,
  ThreadView,
} from '../../runtime/index.ts';
import { actorOf } from '../../schema/actor.ts';
import { checkNewId, newIdProblem } from '../../schema/id.ts';
import type { Accept } from '../../schema/idempotency.ts';
import type { ContentBlock } from '../../schema/message.ts';
import { Conflict, NotFound } from '../../schema/outcome.ts';
import type { Place } from '../../schema/place.ts';
import type { Leg } from '../../schema/run.ts';
import type { Client } from '../protocol-runs.ts';
import { type ChatInput, chatInput, resultInput, toolResultsIn, waitingRun } from './chat-input.ts';
import { acceptReferences } from './file-references.ts';
import { type HangUps, nameOfChat, nameOfThread } from './hang-ups.ts';
import { newLeg } from './new-leg.ts';
import type { OpenAiDeps } from './openai-deps.ts';

/**
 * Finds the thread of a chat completion and submits its input (openai.md 5.1, 5.2).
 *
 * Guarantees: no run is displaced. A request continues a thread only behind the last answer that it repeats, while the
 * thread executes nothing; otherwise it continues a fork, a new thread with its history, or is rejected.
 */

export type ChatCall = {
  client: Client;
  agent: ResolvedAgent;
  request: ChatRequest;
  /** The chat that a front end names in a header. */
  chat: string | undefined;
  /** The thread that the client names. */
  thread: string | undefined;
  keyed: Keyed | undefined;
};

/** A request that was admitted to a thread: what its reader needs to know. */
export type Admitted = {
  place: Place;
  leg: Leg;
  thread: ThreadView;
  /** Whether the client can return to the thread. */
  isKeyed: boolean;
  resolution_id: string;
  /** Names of the functions of the client. */
  functions: ReadonlySet<string>;
};

/** The reader of an admitted request, and the row of its key. */
export type Joining = { attach: Attach; keyed: Accept<AcceptedRun> | undefined };

type AttachAdmitted = (admitted: Admitted) => Joining;

export type Accepted = { run_id: string; place: Place };

export type SubmitDeps = Pick<
  OpenAiDeps,
  'acceptFiles' | 'access' | 'clock' | 'fileLink' | 'ids' | 'runtime' | 'settings' | 'store' | 'observe'
> & { hangUps: HangUps };

/** @throws OpenAiError, and the errors of a submission */
export const submitChat = async (
  deps: SubmitDeps,
  call: ChatCall,
  attach: AttachAdmitted,
): Promise<Accepted> => {
  const answered = await answerCalls(deps, call, attach);
  if (answered) return answered;
  if (call.thread !== undefined) return continueThread(deps, call, { id: call.thread, attach });
  if (call.chat !== undefined) return continueChat(deps, call, { chat: call.chat, attach });
  return startUnkeyed(deps, call, attach);
};

/** Results for calls of a waiting run. Undefined if the request has none. */
const answerCalls = async (
  deps: SubmitDeps,
  call: ChatCall,
  attach: AttachAdmitted,
): Promise<Accepted | undefined> => {
  const given = toolResultsIn(call.request.messages);
  if (!given) return undefined;
  const { principal } = call.client;
  const scope = ownPartition(principal);
  const found = deps.store.runs.get(scope, given.run_id);
  if (found?.agent_id !== call.agent.spec.id) return undefined;
  const place = { scope, id: found.thread_id };
  const of = { agent_id: found.agent_id, user: principal.user };
  return admit(deps, call, {
    place,
    attach,
    outcome: 'continued',
    read(thread) {
      const run = waitingRun(thread, of);
      if (run?.run_id !== given.run_id) return undefined;
      const chat = run.activation?.options.leg?.chat;
      return {
        input: resultInput(given, run, thread.history()),
        isKeyed: chat !== undefined || thread.record?.expires_at === undefined,
        ...(chat && { chat: { id: chat.id, ...digestsOf(call.request.messages) } }),
      };
    },
  });
};

/** The history of a thread that the client names is that of the service: new is what stands behind the last answer. */
const continueThread = async (
  deps: SubmitDeps,
  call: ChatCall,
  { id, attach }: { id: string; attach: AttachAdmitted },
): Promise<Accepted> => {
  const { principal } = call.client;
  const thread_id = checkNewId('thread', 'thread_id', threadOfConversation(id));
  const place = deps.access.thread(principal, thread_id, 'write');
  await deps.hangUps.ended(nameOfThread(place));
  const { after } = splitAtLastAnswer(call.request.messages);
  const accepted = await admit(deps, call, {
    place,
    attach,
    outcome: deps.store.threads.get(place.scope, place.id) ? 'continued' : 'new',
    read: (thread) => {
      if (thread.executes !== undefined) throw threadBusy(thread_id);
      return { input: inputBehind(call, thread, after), isKeyed: true, keeps: true };
    },
  });
  if (!accepted) throw threadBusy(thread_id);
  return accepted;
};

const inputBehind = (
  { client, agent }: ChatCall,
  thread: ThreadView,
  after: readonly ImportedMessage[],
  isKeyed = true,
): ChatInput =>
  chatInput(after, waitingRun(thread, { agent_id: agent.spec.id, user: client.principal.user }), isKeyed);

type InChat = { chat: string; attach: AttachAdmitted };

const continueChat = async (
  deps: SubmitDeps,
  call: ChatCall,
  { chat, attach }: InChat,
): Promise<Accepted> => {
  const problem = newIdProblem('thread', chat);
  if (problem !== undefined) throw invalidValue('chat id', problem);
  const { store, hangUps } = deps;
  const scope = ownPartition(call.client.principal);
  await hangUps.ended(nameOfChat(scope, chat));
  const of = { scope, chat, agent_id: call.agent.spec.id };
  const answerTextIn = createAnswerTexts(store, deps.fileLink);
  const answers: Answers = {
    transcripts: store.transcripts,
    isThere: (thread_id) => store.threads.get(scope, thread_id)?.thread.resource_id === chat,
    answerText: (transcript) => answerTextIn(scope, transcript),
  };
  const position = findPosition(answers, of, call.request.messages);
  if (!position) return startInChat(deps, call, { chat, attach });
  const continued = await continueAt(deps, call, { position, chat, attach });
  return continued ?? forkAt(deps, call, { position, chat, attach });
};

/** The messages behind the position: history that the thread does not have, and new input. */
const behind = ({ request }: ChatCall, { anchor }: Position) =>
  splitAtLastAnswer(request.messages.slice(anchor.index + 1));

const chatOf = ({ request }: ChatCall, id: string) => ({ id, ...digestsOf(request.messages) });

/** Undefined if the position is not the end of the thread, or if it executes a run. */
const continueAt = (
  deps: SubmitDeps,
  call: ChatCall,
  { position, chat, attach }: InChat & { position: Position },
): Promise<Accepted | undefined> => {
  const { thread_id: id, seq } = position.transcript;
  const { before, after } = behind(call, position);
  return admit(deps, call, {
    place: { scope: ownPartition(call.client.principal), id },
    attach,
    outcome: 'continued',
    read(thread) {
      if (thread.executes !== undefined || thread.seq !== seq || !thread.record) return undefined;
      const input = inputBehind(call, thread, after);
      // Imported history is for a new run only.
      if (before.length > 0 && input.continued) return undefined;
      return {
        input,
        history: before,
        isKeyed: true,
        keeps: thread.record.expires_at !== undefined,
        chat: chatOf(call, chat),
      };
    },
  });
};

const forkAt = async (
  deps: SubmitDeps,
  call: ChatCall,
  { position, chat, attach }: InChat & { position: Position },
): Promise<Accepted> => {
  const { runtime } = deps;
  const scope = ownPartition(call.client.principal);
  const { thread_id, seq } = position.transcript;
  const { before, after } = behind(call, position);
  acceptAll(deps, call, [...before, ...after]);
  try {
    const fork = await runtime.threads.fork({
      from: { scope, id: thread_id },
      scope,
      fromId: thread_id,
      fork: { at: { upTo: seq }, resource_id: chat },
    });
    return await start(deps, call, {
      place: { scope, id: fork.id },
      attach,
      outcome: 'forked',
      history: before,
      after,
      fields: { expires_at: expiryOf(deps) },
      chat,
    });
  } catch (error) {
    // The thread was deleted since the position was found.
    if (error instanceof NotFound) return startInChat(deps, call, { chat, attach });
    throw error;
  }
};

const startInChat = (deps: SubmitDeps, call: ChatCall, { chat, attach }: InChat): Promise<Accepted> => {
  const scope = ownPartition(call.client.principal);
  const { before, after } = splitAtLastAnswer(call.request.messages);
  const isAside = !call.request.isStream || hasConversation(deps, scope, chat);
  return start(deps, call, {
    place: { scope, id: deps.ids.uuid() },
    attach,
    outcome: before.length > 0 ? 'imported' : 'new',
    history: before,
    after,
    fields: { resource_id: chat, ...(isAside && { expires_at: expiryOf(deps) }) },
    chat,
  });
};

/**
 * Front ends ask for a title before, during or after the first answer of a chat, and stream only the answers of a
 * conversation. A thread that expires is not the conversation until a request continues it.
 */
const hasConversation = ({ store }: SubmitDeps, scope: string, chat: string): boolean =>
  store.threads
    .list(scope, { resource_id: chat }, { offset: 0, limit: MOST_THREADS })
    .items.some(({ thread }) => thread.expires_at === undefined);

/** The newest threads of a chat that are read. */
const MOST_THREADS = 64;

const startUnkeyed = (deps: SubmitDeps, call: ChatCall, attach: AttachAdmitted): Promise<Accepted> => {
  const { before, after } = splitAtLastAnswer(call.request.messages);
  return start(deps, call, {
    place: { scope: ownPartition(call.client.principal), id: deps.ids.uuid() },
    attach,
    outcome: before.length > 0 ? 'imported' : 'new',
    history: before,
    after,
    fields: { expires_at: expiryOf(deps) },
  });
};

const expiryOf = ({ clock, settings }: SubmitDeps): number =>
  clock.now() + settings.openai.unkeyed_retention_secs * 1000;

type Start = {
  place: Place;
  attach: AttachAdmitted;
  outcome: PositionOutcome;
  history: readonly ImportedMessage[];
  after: readonly ImportedMessage[];
  fields: ThreadFields;
  chat?: string;
};

/** Starts the first run of a thread, or of a fork. */
const start = async (
  deps: SubmitDeps,
  call: ChatCall,
  { place, attach, outcome, history, after, fields, chat }: Start,
): Promise<Accepted> => {
  const accepted = await admit(deps, call, {
    place,
    attach,
    outcome,
    read: (thread) => ({
      input: inputBehind(call, thread, after),
      // Results of calls that no run waits for are history.
      history: [...history, ...after.filter(({ role }) => role === 'tool')],
      isKeyed: chat !== undefined,
      fields,
      ...(chat !== undefined && { chat: chatOf(call, chat) }),
    }),
  });
  // Another request cannot have the same new id.
  if (!accepted) throw new Conflict(`thread '${place.id}' exists already`);
  return accepted;
};

type Read = {
  input: ChatInput;
  history?: readonly ImportedMessage[];
  isKeyed: boolean;
  /** Fields of the thread. */
  fields?: ThreadFields;
  /** The thread no longer expires. */
  keeps?: boolean;
  chat?: NonNullable<Leg['chat']>;
};

type Admission = {
  place: Place;
  attach: AttachAdmitted;
  outcome: PositionOutcome;
  /** Undefined if the request does not fit the thread. */
  read(thread: ThreadView): Read | undefined;
};

const admit = async (
  deps: SubmitDeps,
  call: ChatCall,
  { place, attach, outcome, read }: Admission,
): Promise<Accepted | undefined> => {
  const { runtime, observe } = deps;
  const accepted = await runtime.admit(place.scope, place.id, (thread) => {
    const found = read(thread);
    return found && submissionOf(deps, call, { place, thread, found: withFiles(deps, call, found), attach });
  });
  if (accepted) observe.positioned('chat_completions', outcome);
  return accepted && { run_id: accepted.run_id, place };
};

/** Most requests have no references, and need no copy. @throws OpenAiError */
const withFiles = (deps: SubmitDeps, call: ChatCall, found: Read): Read =>
  call.request.references.size === 0
    ? found
    : {
        ...found,
        input: { ...found.input, messages: acceptAll(deps, call, found.input.messages) },
        ...(found.history && { history: acceptAll(deps, call, found.history) }),
      };

/** Accepts references to files, those of an imported history included. @throws OpenAiError */
const acceptAll = <Message extends Pick<ImportedMessage, 'content'>>(
  deps: SubmitDeps,
  { client, request: { references } }: ChatCall,
  messages: readonly Message[],
): readonly Message[] => {
  if (references.size === 0) return messages;
  const pathOf = (block: ContentBlock): string | undefined => references.get(block);
  return messages.map((message) => ({
    ...message,
    content: acceptReferences(deps, client.principal, message.content, pathOf),
  }));
};

const submissionOf = (
  { access, settings }: SubmitDeps,
  { client, agent, request, keyed }: ChatCall,
  { place, thread, found, attach }: { place: Place; thread: ThreadView; found: Read; attach: AttachAdmitted },
): Submission => {
  const { principal, context, from } = client;
  const { input, history = [], isKeyed, fields, keeps } = found;
  const { messages, decisions, decides, continued } = input;
  access.check(principal, place, 'write');
  if (decides) access.check(principal, place, 'decide');
  const isEmpty = messages.length === 0 && decisions.length === 0 && history.length === 0;
  if (isEmpty && thread.seq === 0) throw invalidValue('messages', 'must contain a message of the user');
  const before = continued?.activation?.options;
  const leg = newLeg(thread, found, keyed !== undefined);
  const { overrides, frontend_tools, output_schema } = request.parameters;
  const tools = frontend_tools.length > 0 ? frontend_tools : before?.frontend_tools;
  const instructions = settings.openai.client_instructions === 'append' ? request.instructions : undefined;
  return {
    mode: 'foreground',
    agent,
    named: decisions.length === 0,
    ...(decisions.length > 0 && continued && { into: continued.run_id }),
    messages,
    decisions: decisions.map((decision) => ({ ...decision, principal, mayWrite: true, from })),
    ...(history.length > 0 && { history }),
    thread: keeps ? { ...fields, expires_at: null } : fields,
    origin: 'user',
    adapter: 'openai',
    context,
    by: actorOf(principal),
    overrides,
    frontend_tools: frontend_tools.length > 0 ? frontend_tools : undefined,
    output_schema,
    instructions,
    continue_truncated: request.isLimited ? false : undefined,
    leg,
    request_echo: request.echo,
    ...attach({
      place,
      leg,
      thread,
      isKeyed,
      resolution_id: continued?.resolution_id ?? agent.resolution_id,
      functions: new Set(tools?.map(({ id }) => id)),
    }),
  };
};
