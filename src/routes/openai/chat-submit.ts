import { ownPartition } from '../../identity/access/own.ts';
import type { PositionOutcome } from '../../observability/metrics/openai-metrics.ts';
import { splitAtLastAnswer } from '../../protocols/openai/chat-decode.ts';
import {
  type Answers,
  createTurns,
  findPositions,
  type Position,
} from '../../protocols/openai/chat-position.ts';
import { invalidValue, threadBusy } from '../../protocols/openai/errors.ts';
import { threadOfConversation } from '../../protocols/openai/ids.ts';
import { digestsOf } from '../../protocols/openai/transcript.ts';
import type { ImportedMessage, ThreadFields, ThreadView } from '../../runtime/index.ts';
import type { Leg } from '../../schema/activation.ts';
import { checkNewId, newIdProblem } from '../../schema/id.ts';
import { Conflict, NotFound } from '../../schema/outcome.ts';
import type { Place } from '../../schema/place.ts';
import {
  type Accepted,
  type AttachAdmitted,
  acceptAll,
  admit,
  type ChatCall,
  type SubmitDeps,
} from './chat-admission.ts';
import { type ChatInput, chatInput, resultInput, toolResultsIn, waitingRun } from './chat-input.ts';
import { expiryInChat, expiryOf, isFirstLeg, settleThread } from './chat-threads.ts';
import { nameOfChat, nameOfThread } from './hang-ups.ts';

/**
 * Finds the thread of a chat completion, to which `chat-admission.ts` submits its input (openai.md 5.1, 5.2).
 *
 * Guarantees: no run is displaced. A request continues a thread only behind the last answer that it repeats, while the
 * thread executes nothing; otherwise it continues a fork, a new thread with its history, or is rejected.
 */

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
        ...(chat && { chat: chatOf(call, chat.id) }),
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
  const turnIn = createTurns(store, deps.fileLink);
  const answers: Answers = {
    transcripts: store.transcripts,
    isThere: (thread_id) => store.threads.get(scope, thread_id)?.thread.resource_id === chat,
    turn: (transcript) => turnIn(scope, transcript),
  };
  let answer: Position | undefined;
  for (const position of findPositions(answers, of, call.request.messages)) {
    const continued = await continueAt(deps, call, { position, chat, attach });
    if (continued) return continued;
    if (position.isAnswer) answer = position;
  }
  return answer
    ? forkAt(deps, call, { position: answer, chat, attach })
    : startInChat(deps, call, { chat, attach });
};

/** The messages behind the position: history that the thread does not have, and new input. */
const behind = ({ request }: ChatCall, { index }: Position) =>
  splitAtLastAnswer(request.messages.slice(index + 1));

const chatOf = ({ request }: ChatCall, id: string): NonNullable<Leg['chat']> => ({
  id,
  ...digestsOf(request.messages),
  ...(!request.isStream && { is_whole: true }),
});

/** Undefined if the position is not the end of the thread, or if it executes a run. */
const continueAt = async (
  deps: SubmitDeps,
  call: ChatCall,
  { position, chat, attach }: InChat & { position: Position },
): Promise<Accepted | undefined> => {
  const { thread_id: id, seq } = position.transcript;
  const { before, after } = behind(call, position);
  const scope = ownPartition(call.client.principal);
  let isSecond = false;
  const accepted = await admit(deps, call, {
    place: { scope, id },
    attach,
    outcome: 'continued',
    read(thread) {
      if (thread.executes !== undefined || thread.seq !== seq || !thread.record) return undefined;
      const input = inputBehind(call, thread, after);
      // Imported history is for a new run only.
      if (before.length > 0 && input.continued) return undefined;
      // A repeated question, such as the request for a title, is no conversation.
      const isNext = before.length + after.length > 0;
      isSecond = isNext && hasOneLeg(thread);
      return {
        input,
        history: before,
        isKeyed: true,
        keeps: isNext && thread.record.expires_at !== undefined,
        chat: chatOf(call, chat),
      };
    },
  });
  if (accepted && isSecond) await settleThread(deps, { scope, chat }, id);
  return accepted;
};

const hasOneLeg = ({ record, run }: ThreadView): boolean =>
  record?.latest_run_id !== undefined && isFirstLeg(run(record.latest_run_id)?.activation?.options.leg);

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

const startInChat = async (deps: SubmitDeps, call: ChatCall, { chat, attach }: InChat): Promise<Accepted> => {
  const scope = ownPartition(call.client.principal);
  const { before, after } = splitAtLastAnswer(call.request.messages);
  const expires_at = await expiryInChat(deps, { scope, chat }, call.request);
  return start(deps, call, {
    place: { scope, id: deps.ids.uuid() },
    attach,
    outcome: before.length > 0 ? 'imported' : 'new',
    history: before,
    after,
    fields: { resource_id: chat, expires_at },
    chat,
  });
};

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
